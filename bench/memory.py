"""Memory of a waiting state: growth of the process between two breadth-first runs of different length.

Both runs stop at a number of forks, when nearly every state still waits. The growth of peak memory over the
growth of waiting states includes everything that comes with a state (its share of slices, expressions,
execution tree), so the figure is an upper bound. A loop that counts up to an input, depth first, shows that
memory does not grow with the square of the forks of a path. Exit code 1 if a figure is over its bar.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.engine import EngineFailure, run_engine
from bench.lib.subjects import find
from bench.lib.table import print_table

BAR_BYTES = 3 * 1024
MIN_STATES = 5_000
# Longer inputs than in the reference, so that enough states wait at once. The bar is that of regexp;
# echo_bare, whose states are larger, is shown for comparison.
CHOSEN: tuple[tuple[str, tuple[str, ...], int | None], ...] = (
    ("regexp.c", ("-DSIZE=12",), BAR_BYTES),
    ("echo_bare.c", ("-DN=6", "-DL=12"), None),
)
LONG_PATHS: tuple[tuple[str, ...], ...] = ((), ("-DBYTES",))
ROUNDS = 8_000
LONG_PATH_MB = 150


@dataclass
class Row:
    name: str
    bar: int | None = None
    states: int = 0
    megabytes: float = 0.0
    bytes_a_state: float = 0.0
    problems: list[str] = field(default_factory=list)


def peak(file: str, defines: tuple[str, ...], forks: int, programs: Path | None) -> tuple[int, int]:
    """(waiting states, peak KB) of a run that stops after so many forks."""
    with tempfile.TemporaryDirectory(prefix="anabranch-memory-") as scratch:
        run = run_engine(
            [find(file, programs)], Path(scratch), defines=defines, search="bfs", tests="none",
            extra=("--max-forks", str(forks)), fresh=True,
        )  # fmt: skip
        return int(run.run["states"]["waiting_max"]), run.peak_kb


def measure(file: str, defines: tuple[str, ...], bar: int | None, programs: Path | None, large: int) -> Row:
    row = Row(" ".join([file.removesuffix(".c"), *defines]), bar)
    try:
        # the first run fills the cache: compiling takes more memory than the exploration that is measured
        _, floor = peak(file, defines, 1, programs)
        _, floor = peak(file, defines, 1, programs)
        few, low = peak(file, defines, large // 10, programs)
        many, high = peak(file, defines, large, programs)
    except EngineFailure as failure:
        row.problems.append(str(failure)[:500])
        return row
    if low <= floor:
        row.problems.append(f"the shorter run does not grow beyond the {floor} KB of a start")
    row.states = many - few
    row.megabytes = high / 1024
    if row.states < MIN_STATES:
        row.problems.append(f"only {row.states} waiting states")
        return row
    row.bytes_a_state = (high - low) * 1024 / row.states
    return row


def long_path(defines: tuple[str, ...], programs: Path | None) -> Row:
    """The counting loop: every path, in little memory."""
    row = Row(" ".join(["count_up", *defines]))
    with tempfile.TemporaryDirectory(prefix="anabranch-memory-") as scratch:
        try:
            run = run_engine(
                [find("count_up.c", programs)], Path(scratch), defines=(f"-DROUNDS={ROUNDS}", *defines),
                search="dfs", tests="none", fresh=True,
            )  # fmt: skip
        except EngineFailure as failure:
            row.problems.append(str(failure)[:500])
            return row
    row.megabytes = run.peak_kb / 1024
    if run.paths != ROUNDS + 1 or not run.complete:
        row.problems.append(f"{run.paths} paths, complete: {run.complete}")
    if row.megabytes > LONG_PATH_MB:
        row.problems.append(f"{row.megabytes:.0f} MB, bar {LONG_PATH_MB}")
    return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--programs", type=Path, metavar="DIR", help="subjects from here, not our own")
    parser.add_argument("--forks", type=int, default=30_000, metavar="N", help="length of the longer run")
    arguments = parser.parse_args(argv)
    rows = [measure(*chosen, arguments.programs, arguments.forks) for chosen in CHOSEN]
    rows += [long_path(defines, arguments.programs) for defines in LONG_PATHS]
    for row in rows:
        if row.bar is not None and row.bytes_a_state > row.bar:
            row.problems.append(f"{row.bytes_a_state:.0f} bytes a state, bar {row.bar}")
    print_table(
        ("subject", "waiting states", "peak MB", "bytes a state", "bar"),
        [(r.name, r.states, r.megabytes, r.bytes_a_state, r.bar or "-") for r in rows],
    )
    for row in rows:
        for problem in row.problems:
            print(f"{row.name}: {problem}")
    return 1 if any(r.problems for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
