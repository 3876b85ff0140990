"""Native replay: every test of every reference subject and of generated programs is run natively.

The native build has the address and undefined-behaviour checks on; a test is right if it ends as the engine
predicts (exit code and output, or the kind of the error). Exit code 1 if any does not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.lib.engine import EngineFailure, run_engine
from bench.lib.native import NativeError
from bench.lib.oracle import draw
from bench.lib.replay import Tally, build_for_replay, replay
from bench.lib.subjects import SUBJECTS, Subject, find
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure, tell

FLAGS = ("--all-errors",)


@dataclass
class Row:
    name: str
    paths: int
    tally: Tally


def replay_source(
    name: str,
    source: Path,
    defines: tuple[str, ...],
    directory: Path,
    bounds: bool = False,
    search: str = "dfs",
    extra: tuple[str, ...] = FLAGS,
) -> Row:
    """Explore with a test for every path, then run them all natively."""
    tally, paths = Tally(), 0
    try:
        run = run_engine([source], directory, defines=defines, search=search, extra=extra, time_limit=900)
        paths = run.paths
        tally = replay(run, build_for_replay(source, directory, defines, bounds=bounds))
        if len(run.tests) != paths:
            tally.problems.append(f"{len(run.tests)} tests for {paths} paths")
    except (EngineFailure, NativeError) as failure:
        tally.problems.append(str(failure))
    return Row(name, paths, tally)


def replay_subject(
    subject: Subject, programs: Path | None, search: str = "dfs", extra: tuple[str, ...] = FLAGS
) -> Row:
    with tempfile.TemporaryDirectory(prefix="anabranch-replay-") as scratch:
        source = find(subject.file, programs)
        row = replay_source(subject.name, source, subject.defines, Path(scratch), search=search, extra=extra)
        if row.paths and row.paths != subject.paths:
            row.tally.problems.append(f"{row.paths} paths, {subject.paths} expected")
        return row


def replay_seed(
    seed: int, keep: Path | None = None, search: str = "dfs", extra: tuple[str, ...] = FLAGS
) -> Row:
    with tempfile.TemporaryDirectory(prefix="anabranch-replay-") as scratch:
        directory = Path(scratch)
        draw(seed, directory)
        row = replay_source(
            f"generated {seed}", directory / "program.c", (), directory, bounds=True, search=search,
            extra=extra,
        )  # fmt: skip
        if row.tally.problems and keep is not None:
            kept = keep_failure(directory, keep, f"replay-{seed}", row.tally.problems)
            row.tally.problems.append(f"kept in {kept}")
        return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.replay", description=__doc__)
    common_arguments(parser, 100)
    parser.add_argument(
        "--programs", type=Path, metavar="DIR", help="reference subjects from here, not our own"
    )
    parser.add_argument(
        "--max-paths", type=int, default=100_000, metavar="N", help="leave out larger subjects"
    )
    parser.add_argument("--search", default="dfs", help="search order of the engine")
    parser.add_argument("--merge", default="none", help="which states to merge: none, all, qce, auto")
    parser.add_argument("--merging", default="auto", help="how: static, dynamic, auto")
    arguments = parser.parse_args(argv)
    flags = (*FLAGS, "--merge", arguments.merge, "--merging", arguments.merging)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    chosen = [s for s in SUBJECTS if s.paths <= arguments.max_paths]
    rows = []
    for row in each(
        partial(replay_subject, programs=arguments.programs, search=arguments.search, extra=flags),
        chosen,
        arguments.jobs,
    ):
        rows.append(row)
        tell(f"{row.name}: {row.tally.tests} tests")
    generated = Row(f"{arguments.count} generated programs", 0, Tally())
    seeds = range(arguments.first, arguments.first + arguments.count)
    for row in each(
        partial(replay_seed, keep=arguments.keep, search=arguments.search, extra=flags), seeds, arguments.jobs
    ):
        tell(f"{row.name}: {row.tally.tests} tests")
        generated.paths += row.paths
        row.tally.problems = [f"{row.name}: {p}" for p in row.tally.problems]
        generated.tally.add(row.tally)
    rows.append(generated)
    print_table(
        ("program", "paths", "tests replayed", "of them errors", "not as predicted"),
        [(r.name, r.paths, r.tally.tests, r.tally.errors, len(r.tally.problems)) for r in rows],
    )
    for row in rows:
        for problem in row.tally.problems[:10]:
            print(f"{row.name}: {problem[:300]}")
    return 1 if any(r.tally.problems for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
