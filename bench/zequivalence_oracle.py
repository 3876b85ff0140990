"""Z-equivalence against exploring everything: random programs with unknown functions.

Each program is explored once without reductions, and then with z-equivalent states removed: every search
order, with merging and without. Reached lines, failing assertions and places of all other errors have to be
the same. Exit code 1 if anything differs; such programs are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

from bench.lib.engine import EngineFailure, EngineRun, run_engine
from bench.lib.table import print_table
from bench.lib.unknown import unknown_program
from bench.lib.work import common_arguments, each, keep_failure, tell

ORDERS = ("dfs", "bfs", "random-path", "random-state", "nurs:covnew", "nurs:md2u", "places", "topological")
MERGES = ("none", "all-static", "qce-static", "auto-static", "all-dynamic", "qce-dynamic")
KINDS = ("rules", "exact")
OBSERVE = ("live", "function")
UNKNOWN = ("--externals", "fresh")
MOST_FORKS = 3_000  # of a program that is looked at: everything is explored without reductions, too


@dataclass(frozen=True)
class Combination:
    """One way to explore."""

    search: str
    merge: str
    zeq: str
    observe: str

    @property
    def flags(self) -> tuple[str, ...]:
        policy, _, kind = self.merge.partition("-")
        merging = ("--merging", kind) if kind else ()
        return ("--zeq", self.zeq, "--zeq-observe", self.observe, "--merge", policy, *merging)

    def __str__(self) -> str:
        return f"{self.search.replace(':', '-')}-{self.merge}-{self.zeq}-{self.observe}"


@dataclass
class Outcome:
    """What came of one program."""

    seed: int
    paths: int = 0
    runs: int = 0
    removed: int = 0
    least: int = 0  # states that ended in the run that needed the fewest
    removing: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    usable: bool = True


def every_combination() -> list[Combination]:
    return [Combination(*c) for c in product(ORDERS, MERGES, KINDS, OBSERVE)]


def chosen(every: Sequence[Combination], seed: int, number: int | None) -> list[Combination]:
    """``number`` of the combinations, others for each seed; all of them without a number."""
    if number is None or number >= len(every):
        return list(every)
    step = 37  # has no factor in common with the number of combinations
    return [every[(seed * number + i) * step % len(every)] for i in range(number)]


def findings(run: EngineRun, source: Path) -> tuple[set[int], set[tuple[str, int, str]]]:
    """The lines reached and the errors found."""
    errors = {(str(e["kind"]), int(e["line"]), str(e["message"])) for e in run.run["errors"]}
    return run.covered_lines(source)[0], errors


def compare(
    source: Path, directory: Path, combination: Combination, plain: EngineRun, extra: tuple[str, ...]
) -> tuple[list[str], int]:
    """What differs from a run without reductions, and how many states were removed."""
    try:
        run = run_engine(
            [source],
            directory,
            search=combination.search,
            tests="covering",
            extra=(*combination.flags, *UNKNOWN, *extra),
        )
    except EngineFailure as failure:
        return [str(failure)], 0
    problems = []
    if not run.complete:
        problems.append(f"not complete: {run.run.get('losses')}")
    (lines, errors), (all_lines, all_errors) = findings(run, source), findings(plain, source)
    if lines != all_lines:
        problems.append(f"lines: missing {sorted(all_lines - lines)}, more {sorted(lines - all_lines)}")
    if errors != all_errors:
        problems.append(f"errors: missing {sorted(all_errors - errors)}, more {sorted(errors - all_errors)}")
    figures = run.run["reductions"]["zequivalence"]
    if figures.get("wrong"):
        problems.append(f"{figures['wrong']} states wrongly removed")
    return problems, int(figures["removed"])


def check_seed(
    seed: int,
    every: Sequence[Combination],
    number: int | None = None,
    keep: Path | None = None,
    extra: tuple[str, ...] = (),
) -> Outcome:
    """One program, under the combinations chosen for it."""
    outcome = Outcome(seed)
    with tempfile.TemporaryDirectory(prefix="anabranch-zequivalence-") as scratch:
        directory = Path(scratch)
        source = directory / "program.c"
        source.write_text(unknown_program(seed))
        try:
            plain = run_engine(
                [source],
                directory / "plain",
                search="dfs",
                tests="none",
                extra=("--max-forks", str(MOST_FORKS), *UNKNOWN),
            )
        except EngineFailure as failure:
            outcome.problems.append(str(failure))
            return outcome
        outcome.paths = plain.paths
        if not plain.complete:
            outcome.usable = False
            return outcome
        for combination in chosen(every, seed, number):
            problems, removed = compare(source, directory / str(combination), combination, plain, extra)
            outcome.runs += 1
            outcome.removed += removed
            if removed:
                name = f"{combination.merge}"
                outcome.removing[name] = outcome.removing.get(name, 0) + removed
            outcome.problems += [f"seed {seed}, {combination}: {p}" for p in problems]
        if outcome.problems and keep is not None:
            keep_failure(directory, keep, f"zequivalence-{seed}", outcome.problems)
    return outcome


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.zequivalence_oracle", description=__doc__)
    common_arguments(parser, 200)
    parser.add_argument(
        "--each", type=int, default=8, metavar="K",
        help="combinations a program, other ones for each (default 8; 0: all)",
    )  # fmt: skip
    parser.add_argument(
        "--engine-flag", action="append", default=[], metavar="FLAG",
        help="one more flag for every run, such as --verify-reductions",
    )  # fmt: skip
    arguments = parser.parse_args(argv)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    every = every_combination()
    check = partial(
        check_seed,
        every=every,
        number=arguments.each or None,
        keep=arguments.keep,
        extra=tuple(arguments.engine_flag),
    )
    found: list[Outcome] = []
    skipped = 0
    seeds = iter(range(arguments.first, arguments.first + 20 * arguments.count))
    while len(found) < arguments.count:
        batch = [next(seeds) for _ in range(min(32, arguments.count - len(found)))]
        for outcome in each(check, batch, arguments.jobs):
            if not outcome.usable:
                skipped += 1
                continue
            found.append(outcome)
            for problem in outcome.problems[:5]:
                print(problem[:400], flush=True)
            tell(
                f"seed {outcome.seed}: {outcome.paths} paths, {outcome.runs} runs, {outcome.removed} removed"
            )
    rows = []
    for merge in MERGES:
        having = [o for o in found if o.removing.get(merge)]
        rows.append((merge, len(having), sum(o.removing[merge] for o in having)))
    print_table(("merging", "programs with removals", "states removed"), rows)
    bad = [o.seed for o in found if o.problems]
    print(
        f"{len(found)} programs ({skipped} larger ones left out), {sum(o.paths for o in found)} paths, "
        f"{sum(o.runs for o in found)} runs, {sum(o.removed > 0 for o in found)} programs with removals; "
        f"programs that differ: {len(bad)} {bad}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
