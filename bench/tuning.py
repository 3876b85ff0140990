"""Configurations of the decision procedure on the queries of real runs, by class and on unseen programs.

python -m bench.tuning sweep DIR CLASS...       each change of one parameter alone, on the training programs;
                                                those that gain there, measured anew on the test programs
python -m bench.tuning compare DIR CONFIG...    configurations (names or files) against the default, on test
                                                programs of each class: the slowest part, and a sample of all

DIR has been made by `python -m bench.corpora`. CPU seconds, the least of some repetitions that take turns;
the intervals hold the factor with a probability of 95%. `again` is the default against itself: the noise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from anabranch import expr
from anabranch.solver.config import PRESETS, SolverConfig, read_config
from anabranch.tune.instances import Instance, load, slowest
from anabranch.tune.measure import Runs, Solver
from anabranch.tune.paramils import tunable
from anabranch.tune.result import Speedup, measured, speedup
from anabranch.tune.sweep import AGAIN, neighbours, noise_of, sample, sweep
from bench.lib.table import print_table

CLASSES = ("libc", "parser", "arithmetic", "unit", "check")


def instances(directory: Path, kind: str, role: str, share: float, seconds: float) -> list[Instance]:
    """The slowest part of each program's instances that their run solved, and of these so many seconds of
    logged time."""
    place = directory / kind / role
    found = slowest([i for i in load([place]) if i.was_solved], share) if place.is_dir() else []
    return sample(found, seconds, 1) if found else []


def usual(kind: str) -> SolverConfig:
    """What such runs use."""
    return PRESETS["check" if kind == "check" else "default"]


def gains(
    configs: Mapping[str, SolverConfig],
    start: SolverConfig,
    group: Sequence[Instance],
    given: argparse.Namespace,
) -> dict[str, tuple[float, float, Speedup]]:
    """CPU seconds of the start and of each configuration, and the factor between; `AGAIN` is the start."""
    cutoff, repetitions = given.cutoff, given.repetitions
    columns = measured(
        Runs(Solver()), {"start": start} | dict(configs), group, cutoff, repetitions, factor=10.0
    )
    columns[AGAIN] = measured(Runs(Solver()), {"start": start}, group, cutoff, repetitions)["start"]
    base = columns.pop("start")
    return {
        name: (base.total, column.total, speedup(base.seconds, column.seconds))
        for name, column in columns.items()
    }


def single_changes(directory: Path, kind: str, given: argparse.Namespace) -> None:
    """Every value of every parameter alone: what gains in training, and what it does on other programs."""
    expr.reset()
    training = instances(directory, kind, "training", given.share, given.seconds)
    test = instances(directory, kind, "test", given.share, given.seconds)
    if not training:
        return
    start = usual(kind)
    names = [name for name in tunable(training) if not given.only or any(o in name for o in given.only)]
    names = [name for name in names if start.is_active(name)]
    effects = sweep(Runs(Solver()), start, names, training, given.cutoff, given.repetitions)
    noise = noise_of(effects)
    good = {f"{e.name} = {e.value}": e.config for e in effects if e.name != AGAIN and e.gain.low > 1 + noise}
    print(f"\n{kind}: {len(training)} instances for training, {len(test)} for test, "
          f"{len(neighbours(start, names))} changes, noise {100 * noise:.0f}%")  # fmt: skip
    unseen = gains(good, start, test, given) if test else {}
    rows = [
        (name, effect.gain, unseen[name][2] if name in unseen else "")
        for effect in effects
        for name in [AGAIN if effect.name == AGAIN else f"{effect.name} = {effect.value}"]
    ]
    print_table(("change", "training", "test"), rows)


def compare(directory: Path, names: Sequence[str], given: argparse.Namespace) -> None:
    """Configurations on the test programs."""
    configs = {name: read_config(name) for name in names}
    for kind in given.classes:
        for part, share in ((f"slowest {100 * given.share:.0f}%", given.share), ("all", 1.0)):
            expr.reset()
            group = instances(directory, kind, given.role, share, given.seconds)
            if not group:
                continue
            found = gains(configs, usual(kind), group, given)
            rows = [(Path(name).stem, *values) for name, values in found.items()]
            print(f"\n{kind}, {part}: {len(group)} instances")
            print_table(("configuration", "default, s", "CPU s", "times the default"), rows)
            sys.stdout.flush()


def main(argv: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=("sweep", "compare"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="+", help="classes, or configurations")
    parser.add_argument("--classes", nargs="+", choices=CLASSES, default=CLASSES)
    parser.add_argument("--role", choices=("training", "test"), default="test")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="parameters with such a word in their name")
    parser.add_argument("--share", type=float, default=0.1, help="the slowest part of a program's instances")
    parser.add_argument("--seconds", type=float, default=10.0, help="of logged time, for each set")
    parser.add_argument("--cutoff", type=float, default=5.0, help="CPU seconds of an instance")
    parser.add_argument("--repetitions", type=int, default=3)
    given = parser.parse_args(argv)
    if given.what == "compare":
        compare(given.directory, given.names, given)
    for kind in given.names if given.what == "sweep" else ():
        single_changes(given.directory, kind, given)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
