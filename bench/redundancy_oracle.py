"""Redundant state detection against exploring everything: generated programs, traps, and the subjects.

Each program is explored to exhaustion without reductions, and then with redundant states dropped, in two
orders. The blocks that were covered have to be the same, also what lies behind calls; with `--keep-errors`
the places of errors, too. Programs of which either run has lost something are left out. Exit code 1 if
anything is lost; such programs are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.lib.coverage_runs import Covered, explore_covering, load
from bench.lib.generate import generate
from bench.lib.redundancy_programs import redundant_program
from bench.lib.subjects import HERE
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure, tell

ORDERS = ("dfs", "random-path")
MOST_FORKS = 600  # of a program that is looked at
MOST_INSTRUCTIONS = 300_000
BESIDE = (
    (), ("--merge", "qce"), (), ("--merge", "all"), (), ("--merge", "all", "--merging", "dynamic"), (),
    (), ("--zeq", "rules"), (),
)  # fmt: skip
"""Other techniques of a run with detection."""
SUBJECTS = (
    "base64", "brackets", "isbn", "key_value", "maze", "memspn", "number_list", "regexp", "rle_decode",
    "tokens", "utf8_valid",
)  # fmt: skip


@dataclass
class Outcome:
    """What came of one program."""

    name: str
    runs: int = 0
    left_out: int = 0
    states: tuple[int, int] = (0, 0)
    """Without and with detection, of the runs that count."""
    problems: list[str] = field(default_factory=list)


def differences(plain: Covered, reduced: Covered, errors: bool) -> list[str]:
    """What the run with detection has lost."""
    found = []
    if reduced.defects:
        found.append(f"{reduced.defects} failures of the engine")
    if reduced.figures.get("wrong"):
        found.append(f"{reduced.figures['wrong']} states dropped that reach new code")
    if plain.pieces - reduced.pieces:
        found.append(f"not covered: {sorted(plain.pieces - reduced.pieces)[:5]}")
    if reduced.pieces - plain.pieces:
        found.append(f"covered only with detection: {sorted(reduced.pieces - plain.pieces)[:5]}")
    places = {error[1:] for error in plain.errors} - {error[1:] for error in reduced.errors}
    if errors and places:
        found.append(f"places of errors lost: {sorted(places)[:5]}")
    return found


def check_source(
    source: Path, flags: Sequence[str] = (), extra: Sequence[str] = (), errors: bool = False
) -> Outcome:
    """One program, in all orders."""
    outcome = Outcome(source.stem)
    program = load(source, flags)
    for order in ORDERS:
        common = (*flags, "--search", order)
        limits = ("--max-forks", str(MOST_FORKS), "--max-instructions", str(MOST_INSTRUCTIONS))
        plain = explore_covering(program, source, (*common, *limits))
        if not plain.is_exact:
            outcome.left_out += 1
            continue
        how = () if errors else ("--no-keep-errors",)
        reduced = explore_covering(program, source, (*common, "--redundancy", "on", *how, *extra))
        if not reduced.is_exact and not reduced.defects:
            outcome.left_out += 1
            continue
        outcome.runs += 1
        before, after = outcome.states
        outcome.states = (before + plain.states, after + reduced.states)
        outcome.problems += [f"{order}: {text}" for text in differences(plain, reduced, errors)]
    return outcome


def check_seed(
    seed: int, extra: Sequence[str] = (), errors: bool = False, keep: Path | None = None
) -> Outcome:
    """A generated program; one in four is of the kind that other oracles run. Two in five of the runs with
    detection use another technique as well, and one in three compares at forks and calls only."""
    with tempfile.TemporaryDirectory(prefix="anabranch-redundancy-") as scratch:
        source = Path(scratch) / "program.c"
        text = redundant_program(seed) if seed % 4 else generate(seed).text
        source.write_text(text)
        flags = ("--libc", "musl") if "open(" in text else ()
        joins = ("--no-redundancy-joins",) if seed % 3 == 0 else ()
        how = (*BESIDE[seed // 4 % len(BESIDE)], *joins, *extra)
        outcome = check_source(source, flags, how, errors)
        outcome.name = f"seed {seed}"
        if outcome.problems and keep is not None:
            keep_failure(Path(scratch), keep, f"redundancy-{seed}", outcome.problems)
    return outcome


def check_subject(name: str, extra: Sequence[str] = (), errors: bool = False) -> Outcome:
    return check_source(HERE / f"{name}.c", (), extra, errors)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.redundancy_oracle", description=__doc__)
    common_arguments(parser, 400)
    parser.add_argument("--subjects", action="store_true", help="the subjects, too")
    parser.add_argument(
        "--keep-errors", action="store_true", help="places of errors have to be the same, too"
    )
    parser.add_argument(
        "--engine-flag", action="append", default=[], metavar="FLAG",
        help="one more flag for the runs with detection, such as --verify-reductions",
    )  # fmt: skip
    arguments = parser.parse_args(argv)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    errors = arguments.keep_errors
    extra = tuple(arguments.engine_flag)
    check = partial(check_seed, extra=extra, errors=errors, keep=arguments.keep)
    seeds = list(range(arguments.first, arguments.first + arguments.count))
    found = []
    for outcome in each(check, seeds, arguments.jobs):
        found.append(outcome)
        show(outcome)
    if arguments.subjects:
        for outcome in each(partial(check_subject, extra=extra, errors=errors), SUBJECTS, arguments.jobs):
            found.append(outcome)
            show(outcome)
    bad = [outcome.name for outcome in found if outcome.problems]
    before, after = (sum(outcome.states[side] for outcome in found) for side in (0, 1))
    print_table(
        ("programs", "runs", "runs left out", "states", "with detection", "programs that lose"),
        [
            (
                len(found),
                sum(outcome.runs for outcome in found),
                sum(outcome.left_out for outcome in found),
                before,
                after,
                len(bad),
            )
        ],
    )
    print("lost:", *(bad or ["nothing"]), sep=" ")
    return 1 if bad else 0


def show(outcome: Outcome) -> None:
    before, after = outcome.states
    tell(f"{outcome.name}: {outcome.runs} runs, states {before} -> {after}")
    for problem in outcome.problems[:4]:
        print(f"{outcome.name}: {problem[:300]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
