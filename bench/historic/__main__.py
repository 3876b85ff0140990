"""Publicly known crashes in old releases of C libraries: is each found, how fast, and does its test replay?

python -m bench.historic
python -m bench.historic --only cjson --goal bugs
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from bench.historic.bugs import BUGS
from bench.historic.table import Trial
from bench.historic.trial import CPU_LIMIT, try_bug
from bench.lib.table import print_table
from bench.lib.work import each, jobs_argument, tell

GOALS = ("default", "bugs")


def _row(trial: Trial) -> list[object]:
    bug = trial.bug
    cells: list[object] = [
        bug.name, bug.package.library, f"{bug.package.registry}:{bug.package.name} {bug.package.version}",
        bug.number, f"{bug.kind} in {bug.function}", "yes" if trial.native_holds else trial.native,
    ]  # fmt: skip
    for found in trial.found:
        cells.append("no" if found.seconds is None else f"{found.seconds:.1f} s")
        cells.append(found.confirmed)
    return cells


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.historic", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="bugs whose name contains NAME (repeatable)"
    )
    parser.add_argument("--goal", choices=GOALS, action="append", help="default: both")
    parser.add_argument("--list", action="store_true", help="show names only")
    jobs_argument(parser)
    options = parser.parse_args(arguments)
    chosen = [b for b in BUGS if not options.only or any(part in b.name for part in options.only)]
    if options.list:
        print("\n".join(b.name for b in chosen))
        return 0
    goals = tuple(options.goal or GOALS)
    trials = []
    for trial in each(partial(try_bug, goals=goals), chosen, options.jobs):
        trials.append(trial)
        tell(
            f"{trial.bug.name}: native {trial.native}; " + "; ".join(str(f) for f in trial.found) + trial.note
        )
    header = ["bug", "library", "package", "number", "expected", "native"]
    for goal in goals:
        header += [goal, "replayed"]
    complete = [t for t in trials if t.found]
    print_table(header, [_row(t) for t in complete])
    good = [
        t for t in complete if t.native_holds and all(f.seconds is not None and f.confirmed for f in t.found)
    ]
    libraries = {t.bug.package.library.split()[0] for t in good}
    tried = f"{len(good)} of {len(trials)} found within {CPU_LIMIT:.0f} CPU s each and confirmed"
    print(f"\n{tried}, in {len(libraries)} libraries")
    for trial in trials:
        notes = [trial.note, *(f"{f.goal}: {f.note}" for f in trial.found if f.note)]
        for note in filter(None, notes):
            print(f"  {trial.bug.name}: {note}")
    return 0 if len(good) == len(trials) else 1


if __name__ == "__main__":
    sys.exit(main())
