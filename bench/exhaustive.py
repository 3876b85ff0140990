"""The exhaustive oracle: generated programs, all inputs natively against one run of the engine.

For each program it compares the ends (exit code or kind and line of the error), the output, the covered
lines and the paths. Exit code 1 if anything differs; such programs are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.lib.compare import differences
from bench.lib.engine import EngineFailure, run_engine
from bench.lib.native import NativeError
from bench.lib.program_kinds import KINDS, kind_arguments
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure

FLAGS = ("--all-errors",)


@dataclass
class Verdict:
    """The comparison for one program."""

    seed: int
    inputs: int = 0
    native_paths: int = 0
    paths: int = 0
    errors: int = 0
    lines: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    kept: Path | None = None


def check_seed(
    seed: int,
    keep: Path | None = None,
    extra: tuple[str, ...] = FLAGS,
    search: str = "dfs",
    kind: str = "small",
) -> Verdict:
    """Generate, run natively on all inputs, run the engine, compare."""
    verdict = Verdict(seed)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anabranch-exhaustive-") as scratch:
        directory = Path(scratch)
        try:
            program, truth = KINDS[kind].drawn(seed, directory)
            source = directory / "program.c"
            verdict.inputs, verdict.native_paths = program.input_count, truth.path_count()
            verdict.errors, verdict.lines = len(truth.errors()), len(truth.lines())
            run = run_engine([source], directory, search=search, extra=extra)
            verdict.paths = run.paths
            verdict.problems = differences(program, truth, run, source)
        except (NativeError, EngineFailure) as failure:
            verdict.problems.append(str(failure))
        verdict.seconds = time.monotonic() - start
        if verdict.problems and keep is not None:
            verdict.kept = keep_failure(directory, keep, f"exhaustive-{seed}", verdict.problems)
    return verdict


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.exhaustive", description=__doc__)
    common_arguments(parser, 300)
    parser.add_argument("--search", default="dfs", help="search order of the engine")
    parser.add_argument("--merge", default="none", help="which states to merge: none, all, qce, auto")
    parser.add_argument("--merging", default="auto", help="how: static, dynamic, auto")
    kind_arguments(parser)
    parser.add_argument("--verbose", action="store_true", help="a line for every program")
    arguments = parser.parse_args(argv)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    seeds = range(arguments.first, arguments.first + arguments.count)
    merging = ("--merge", arguments.merge, "--merging", arguments.merging)
    flags = (*FLAGS, *KINDS[arguments.kind].flags, *merging)
    check = partial(
        check_seed, keep=arguments.keep, extra=flags, search=arguments.search, kind=arguments.kind
    )
    verdicts = []
    for verdict in each(check, seeds, arguments.jobs):
        verdicts.append(verdict)
        if verdict.problems:
            print(f"seed {verdict.seed}: {len(verdict.problems)} differences, kept in {verdict.kept}")
            for problem in verdict.problems[:5]:
                print(f"  {problem[:400]}")
        elif arguments.verbose:
            print(f"seed {verdict.seed}: {verdict.paths} paths, {verdict.seconds:.2f} s")
        sys.stdout.flush()
    bad = sum(1 for v in verdicts if v.problems)
    print_table(
        ("programs", "native inputs", "native paths", "engine paths", "error places", "lines", "seconds",
         "programs that differ"),
        [(len(verdicts), sum(v.inputs for v in verdicts), sum(v.native_paths for v in verdicts),
          sum(v.paths for v in verdicts), sum(v.errors for v in verdicts), sum(v.lines for v in verdicts),
          sum(v.seconds for v in verdicts), bad)],
    )  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
