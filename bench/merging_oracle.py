"""The exhaustive oracle and native replay under merging: every policy, static and dynamic, in three orders.

Each generated program is run natively on all its inputs once, then explored under each combination: with a
test for every path (ends, output, errors, lines and paths have to be equal) and with the tests that a user
gets by default (every test ends as predicted, the same errors and lines are found). With `--loops`,
programs of loops over data of unknown size, also path by path and with every mode of merging loops.
`--replay` also runs the tests of the reference subjects natively. Exit code 1 if anything
differs; such programs are kept.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, product
from pathlib import Path

from anabranch.reduce.merging import tuning
from anabranch.reduce.merging.tuning import LaneShares, LedgerRules, MergeTuning
from bench.lib.compare import differences, differences_of_covering
from bench.lib.engine import EngineFailure, EngineRun, run_engine
from bench.lib.generate import Program
from bench.lib.loop_modes import chosen_modes, flags_of, mode_argument
from bench.lib.native import NativeError
from bench.lib.oracle import MAX_PATHS, Truth
from bench.lib.program_kinds import KINDS as PROGRAMS
from bench.lib.program_kinds import kind_arguments
from bench.lib.subjects import SUBJECTS
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure, tell
from bench.replay import replay_subject

POLICIES = ("all", "qce", "auto")
KINDS = ("static", "dynamic", "limited")
"""The last one: dynamic merging in its share of a limited time, which only `auto` has."""
LIMIT = 20_000  # seconds, far more than any of the programs takes
HARD = 200  # seconds for hard queries: the run is not complete if one is given up
LIMITED = ("--max-time", str(LIMIT), "--max-solver-time", str(HARD))
ORDERS = ("dfs", "random-path", "nurs:covnew")
TESTS = ("all", "covering")
STRICT = ("--externals", "fresh")
"""For every other program: nothing is unknown in it, but what pointers are based on is looked at closely."""


@dataclass(frozen=True)
class Combination:
    """One way of merging, under one search order, with one choice of tests and one way of merging loops."""

    merge: str
    merging: str
    search: str
    tests: str = "all"
    loops: str | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        errors = ("--all-errors",) if self.tests == "all" else ()
        kind = (self.merging,) if self.merging != "limited" else ("dynamic", *LIMITED)
        return (*errors, "--merge", self.merge, "--merging", *kind, *flags_of(self.loops))

    def __str__(self) -> str:
        words = (self.merge, self.merging, self.search.replace(":", "-"), self.tests, self.loops)
        return "-".join(word for word in words if word is not None)


@dataclass
class Result:
    """What came out for one combination, on one program or summed over many."""

    combination: Combination
    programs: int = 0
    merges: int = 0
    merged_programs: int = 0
    paths: int = 0
    ends: int = 0
    tests: int = 0
    problems: list[str] = field(default_factory=list)
    differing: int = 0

    def count(self, run: EngineRun) -> None:
        self.programs = 1
        self.merges = int(run.run.get("reductions", {}).get("merging", {}).get("merges", 0))
        self.merged_programs = int(self.merges > 0)
        self.paths, self.ends = run.paths, int(run.run["paths"]["total"])
        self.tests = len(run.tests)

    def add(self, other: Result) -> None:
        self.programs += other.programs
        self.merges += other.merges
        self.merged_programs += other.merged_programs
        self.paths += other.paths
        self.ends += other.ends
        self.tests += other.tests
        self.problems += other.problems
        self.differing += bool(other.problems)


def combinations(
    policies: Iterable[str] = POLICIES,
    kinds: Iterable[str] = KINDS,
    orders: Iterable[str] = ORDERS,
    tests: Iterable[str] = TESTS,
    loops: Iterable[str | None] = (None,),
) -> list[Combination]:
    """Every combination that means something: no merging is one way, whatever else is asked of merging."""
    every = [Combination(*c) for c in product(policies, kinds, orders, tests, loops)]
    return list(dict.fromkeys(_meant(c) for c in every if c.merge == "auto" or c.merging != "limited"))


def _meant(combination: Combination) -> Combination:
    if combination.merge != "none":
        return combination
    return replace(combination, merging="static", loops=None)


def chosen(every: Sequence[Combination], seed: int, number: int | None) -> list[Combination]:
    """``number`` of the combinations, others for each seed in turn; all of them without a number."""
    if number is None or number >= len(every):
        return list(every)
    # Apart from each other: seven are all policies, static and dynamic, and dynamic in limited time.
    return [every[(seed + i * len(every) // number) % len(every)] for i in range(number)]


def hasten(seed: int) -> None:
    """Make `auto` go over to merging, and give locations up, on programs as small as the generated ones.

    Runs are forked children of this process, and see what is set here.
    """
    draw = random.Random(seed)
    # By this clock every comparison of the lanes takes a second: on some programs each lane finishes first.
    lanes = LaneShares(
        first=draw.choice((-1000, -20, 0, 20)), turns=draw.choice((1, 3)), merged_turns=draw.choice((1, 8)),
        clock=count().__next__,
    )  # fmt: skip
    rules = LedgerRules(draw.choice((1, 3, 40)), draw.choice((0, 20, 400)))
    tuning.DEFAULT = MergeTuning(lanes, ledger=rules)


def compare(
    program: Program, truth: Truth, directory: Path, combination: Combination, extra: tuple[str, ...]
) -> Result:
    """Explore one program under one combination and compare with the native runs."""
    result = Result(combination)
    source = directory.parent / "program.c"
    try:
        run = run_engine(
            [source], directory, search=combination.search, tests=combination.tests,
            extra=(*combination.flags, *extra),
        )  # fmt: skip
        result.count(run)
        check = differences if combination.tests == "all" else differences_of_covering
        result.problems = check(program, truth, run, source)
    except EngineFailure as failure:
        result.problems.append(str(failure))
    return result


def check_seed(
    seed: int,
    every: Sequence[Combination],
    number: int | None = None,
    keep: Path | None = None,
    extra: tuple[str, ...] = (),
    most: int = MAX_PATHS,
    kind: str = "small",
) -> list[Result]:
    """All chosen combinations on the program of a seed; natively it runs once."""
    results = []
    hasten(seed)
    with tempfile.TemporaryDirectory(prefix="anabranch-merging-oracle-") as scratch:
        directory = Path(scratch)
        try:
            program, truth = PROGRAMS[kind].drawn(seed, directory, most)
        except NativeError as failure:
            result = Result(every[0], problems=[f"seed {seed}: {failure}"])
            return [result]
        if seed % 2:
            extra = (*extra, *STRICT)
        for combination in chosen(every, seed, number):
            result = compare(program, truth, directory / str(combination), combination, extra)
            if result.problems:
                name = f"merging-{seed}-{combination}"
                kept = ""
                if keep is not None:
                    kept = f" (kept in {keep_failure(directory, keep, name, result.problems)})"
                result.problems = [f"seed {seed}, {combination}{kept}: {p}" for p in result.problems]
            results.append(result)
    return results


def oracle(arguments: argparse.Namespace, every: list[Combination]) -> bool:
    """The table of the exhaustive oracle; whether all is well."""
    seeds = range(arguments.first, arguments.first + arguments.count)
    extra = (*arguments.engine_flag, *PROGRAMS[arguments.kind].flags)
    check = partial(
        check_seed, every=every, number=arguments.each, keep=arguments.keep, extra=extra,
        most=arguments.paths, kind=arguments.kind,
    )  # fmt: skip
    sums = {c: Result(c) for c in every}
    bad: set[int] = set()
    for seed, results in zip(seeds, each(check, seeds, arguments.jobs), strict=True):
        for result in results:
            sums[result.combination].add(result)
            if result.problems:
                bad.add(seed)
                print("\n".join(p[:400] for p in result.problems[:5]), flush=True)
        tell(f"seed {seed}: {len(results)} runs, {sum(r.merges for r in results)} merges")
        if bad and arguments.stop:
            break
    rows = [s for s in sums.values() if s.programs or s.problems]
    print_table(
        ("merge", "merging", "search", "tests", "loops", "programs", "that merge", "merges", "paths",
         "merged paths", "tests written", "programs that differ"),
        [(s.combination.merge, s.combination.merging, s.combination.search, s.combination.tests,
          s.combination.loops or "-", s.programs, s.merged_programs, s.merges, s.paths, s.ends,
          s.tests, s.differing) for s in rows],
    )  # fmt: skip
    print(f"{sum(s.programs for s in rows)} explorations; programs that differ: {len(bad)} {sorted(bad)}")
    return not bad


def replays(arguments: argparse.Namespace, every: list[Combination]) -> bool:
    """The table of native replay of the reference subjects; whether all is well."""
    subjects = [s for s in SUBJECTS if s.paths <= arguments.max_paths]
    rows, problems = [], []
    for combination in [c for c in every if c.tests == "all"]:
        replay = partial(
            replay_subject,
            programs=None,
            search=combination.search,
            extra=(*combination.flags, *arguments.engine_flag),
        )
        tests = wrong = 0
        for row in each(replay, subjects, arguments.jobs):
            tests += row.tally.tests
            wrong += len(row.tally.problems)
            problems += [f"{row.name}, {combination}: {p}" for p in row.tally.problems[:5]]
            tell(f"{row.name}, {combination}: {row.tally.tests} tests")
        rows.append((combination.merge, combination.merging, combination.search, len(subjects), tests, wrong))
    print_table(("merge", "merging", "search", "subjects", "tests replayed", "not as predicted"), rows)
    for problem in problems:
        print(problem[:400])
    return not problems


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.merging_oracle", description=__doc__)
    common_arguments(parser, 300)
    for name, values in (
        ("merge", ("none", *POLICIES)), ("merging", KINDS), ("search", ORDERS), ("tests", TESTS),
    ):  # fmt: skip
        parser.add_argument(
            f"--{name}", action="append", choices=values, help="only these (repeatable; default: all)"
        )
    parser.add_argument(
        "--each", type=int, metavar="K", help="only K combinations a program, other ones for each in turn"
    )
    parser.add_argument(
        "--paths", type=int, default=MAX_PATHS, metavar="N", help="draw programs of at most N paths"
    )
    parser.add_argument(
        "--engine-flag", action="append", default=[], metavar="FLAG", help="one more flag for every run"
    )
    kind_arguments(parser)
    mode_argument(parser)
    parser.add_argument("--stop", action="store_true", help="end at the first program that differs")
    parser.add_argument("--replay", action="store_true", help="also replay the reference subjects natively")
    parser.add_argument(
        "--max-paths", type=int, default=2_000, metavar="N", help="leave out larger reference subjects"
    )
    arguments = parser.parse_args(argv)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    loops = arguments.kind == "loops"
    every = combinations(
        arguments.merge or (("none", *POLICIES) if loops else POLICIES),
        arguments.merging or KINDS,
        arguments.search or ORDERS,
        arguments.tests or TESTS,
        chosen_modes(arguments.mode) if loops or arguments.mode else (None,),
    )
    right = oracle(arguments, every) if arguments.count else True
    if arguments.replay:
        right = replays(arguments, every) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
