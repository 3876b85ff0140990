"""Programs on objects of unknown size: are their errors found, each of them, and no others?

    python -m bench.sizes [--max 8] [--only NAME] [--no-replay]

Each program in `subjects/sizes` marks the lines of its errors by comments. It is explored with sizes up to
`--max`, path by path and with `--merge auto`; the run has to be complete, and every test has to end natively
as predicted. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.lib.engine import EngineFailure, EngineRun, call_engine, run_engine
from bench.lib.table import print_table
from bench.lib.work import tell

SUBJECTS = Path(__file__).resolve().parent / "subjects" / "sizes"
WAYS: dict[str, tuple[str, ...]] = {"plain": (), "auto": ("--merge", "auto", "--count-paths")}
REPLAY_LIMIT = 120.0


def expected_errors(source: Path) -> set[tuple[str, int]]:
    """Kind and line of the errors that a program is to have."""
    lines = enumerate(source.read_text().split("\n"), 1)
    return {(kind, number) for number, line in lines for kind in re.findall(r"ERROR: ([a-z-]+)", line)}


def problems_of(source: Path, run: EngineRun, scratch: Path, replay: bool) -> list[str]:
    """What is not as it should be."""
    found = [] if run.complete else [f"not complete: {run.run['losses'] or run.run.get('stopped')}"]
    expected, errors = expected_errors(source), run.errors()
    found += [f"not found: {kind} at line {line}" for kind, line in sorted(expected - errors)]
    found += [f"no error: {kind} at line {line}" for kind, line in sorted(errors - expected)]
    if replay and not found:
        done = call_engine(["replay", str(run.directory), "--quiet"], scratch, REPLAY_LIMIT)
        if done.code:
            found.append(f"replay: {(done.stdout + done.stderr).strip()[-200:]}")
    return found


def explore(source: Path, most: int, way: Sequence[str], replay: bool) -> tuple[EngineRun | None, list[str]]:
    """One program with some flags: the run, and what is wrong with it."""
    flags = (*way, "--capacity", str(max(64, most * most * 2)), "--no-check", "bounds")
    with tempfile.TemporaryDirectory(prefix="anabranch-sizes-") as name:
        scratch = Path(name)
        try:
            run = run_engine([source], scratch, defines=(f"-DMAX={most}",), tests="covering", extra=flags)
            return run, problems_of(source, run, scratch, replay)
        except EngineFailure as failure:
            return None, [str(failure)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.sizes", description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="these programs (repeatable)")
    parser.add_argument("--max", type=int, default=8, metavar="N", help="largest size (default 8)")
    parser.add_argument("--no-replay", action="store_true", help="do not run the tests natively")
    options = parser.parse_args(arguments)
    rows, wrong = [], 0
    for name in options.only or sorted(path.stem for path in SUBJECTS.glob("*.c")):
        row: list[object] = [name, len(expected_errors(SUBJECTS / f"{name}.c"))]
        for flags in WAYS.values():
            run, problems = explore(SUBJECTS / f"{name}.c", options.max, flags, not options.no_replay)
            wrong += bool(problems)
            seconds = run.run["timers"]["explore"] if run is not None else 0.0
            row += [run.run["paths"]["total"] if run is not None else "-", f"{seconds:.2f}"]
            row.append("; ".join(problems) or "as expected")
        rows.append(row)
        tell(" ".join(map(str, row)))
    columns = [text for way in WAYS for text in (f"{way}: states", "s", "verdict")]
    print_table(("program", "errors", *columns), rows)
    print(f"{len(rows)} programs, {wrong} of {len(rows) * len(WAYS)} runs not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
