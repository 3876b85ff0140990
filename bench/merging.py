"""Exhaustive exploration with merging: speed, growth, and what plain exploration takes for the same.

    python -m bench.merging echo        echo_bare with query count estimates: time in units, states explored
    python -m bench.merging exhaust     large inputs: finished with merging, not without
    python -m bench.merging growth      speed-up over plain exploration as the input grows; table and plot

Without a name, all three. Times are CPU time of exploration without tests. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.lib.calibrate import unit_seconds
from bench.lib.plot import Line, log_plot, write_plot
from bench.lib.scaling import (
    AUTO,
    GROWING,
    LEAST_R2,
    PLAIN,
    QCE,
    Growth,
    Point,
    grow,
    measure,
    measure_well,
)
from bench.lib.table import magnitude, print_table
from bench.lib.work import tell

FIGURE = Path(__file__).resolve().parent / "figures" / "merging_growth.svg"

# Units allowed for echo_bare of N arguments of up to L characters.
ECHO = (((4, 8), 0.4), ((6, 10), 1.0), ((10, 10), 3.0))
# States explored for each character of input may not grow; so much is noise of the small cases.
ECHO_STATES_SLACK = 1.1

LARGE = (
    ("memspn.c", ("-DM=40",)),
    ("regexp.c", ("-DSIZE=12",)),
    ("rle_decode.c", ("-DSIZE=16",)),
    ("utf8_valid.c", ("-DSIZE=16",)),
    ("key_value.c", ("-DSIZE=16",)),
)
LARGE_QUICK = (("memspn.c", ("-DM=40",)), ("utf8_valid.c", ("-DSIZE=16",)))
PLAIN_MAY_FINISH = 1

EXPONENTIAL_SHARE = 6 / 8
SLOWEST = 1.3
SHORTEST_JUDGED = 0.2  # seconds of plain exploration: below it, merging has not begun, and noise decides


@dataclass(frozen=True)
class Options:
    quick: bool
    limit: float
    longest: float
    only: str
    figure: Path
    flags: tuple[str, ...]


def echo(options: Options) -> list[str]:
    """echo_bare under query count estimation, in units of this machine's speed at the time."""
    rows, problems = [], []
    first_ratio = 0.0
    for (n, length), bar in ECHO[: 2 if options.quick else 3]:
        before = unit_seconds(rounds=2)
        done = measure_well("echo_bare.c", (f"-DN={n}", f"-DL={length}"), (*QCE, *options.flags), 120)
        units = done.seconds * 2 / (before + unit_seconds(rounds=2))
        ratio = done.states / (n * length)
        first_ratio = first_ratio or ratio
        rows.append((f"{n}x{length}", done.states, ratio, done.merges, done.seconds, units, bar))
        name = f"echo_bare {n}x{length}"
        if not done.complete:
            problems.append(f"{name}: not finished {done.problem}")
        if units > bar:
            problems.append(f"{name}: {units:.2f} units, bar {bar}")
        if ratio > first_ratio * ECHO_STATES_SLACK:
            problems.append(
                f"{name}: {ratio:.2f} states a character of input, {first_ratio:.2f} in the first case"
            )
    print_table(("echo_bare", "states", "states/(N*L)", "merges", "seconds", "units", "bar"), rows)
    return problems


def exhaust(options: Options) -> list[str]:
    """Large inputs to the end with `auto`; plain exploration gets the same time."""
    rows: list[tuple[object, ...]] = []
    problems = []
    plain_finished = 0
    for file, defines in LARGE_QUICK if options.quick else LARGE:
        name = " ".join([file.removesuffix(".c"), *defines])
        if options.only not in name:
            continue
        merged = measure(file, defines, (*AUTO, *options.flags), cpu_limit=options.limit)
        tell(f"{name}: {merged.seconds:.1f} s with merging, complete: {merged.complete}")
        plain = measure(file, defines, PLAIN, cpu_limit=options.limit)
        tell(f"{name}: {plain.seconds:.1f} s plain, complete: {plain.complete}")
        rows.append(
            (name, merged.complete, merged.seconds, merged.states, merged.merges,
             magnitude(merged.multiplicity), plain.complete, plain.seconds, plain.ends)
        )  # fmt: skip
        plain_finished += plain.complete
        if not merged.complete:
            problems.append(
                f"{name}: not finished in {options.limit:g} s with merging; "
                f"{merged.ends} ends, {merged.states} states {merged.problem[:200]}"
            )
        if plain.complete and merged.complete and plain.errors != merged.errors:
            problems.append(f"{name}: errors {sorted(merged.errors)}, plain {sorted(plain.errors)}")
        elif plain.errors - merged.errors and merged.complete:
            problems.append(f"{name}: errors missed: {sorted(plain.errors - merged.errors)}")
    if plain_finished > PLAIN_MAY_FINISH:
        problems.append(f"plain exploration finishes {plain_finished} subjects in {options.limit:g} s")
    print_table(
        ("subject", "finished", "seconds", "states", "merges", "multiplicity", "plain finished",
         "plain seconds", "plain paths"),
        rows,
    )  # fmt: skip
    return problems


def growth(options: Options) -> list[str]:
    """The speed-up as the input grows, subject by subject; the plot is written beside the tables."""
    grown = [
        grow(subject, options.flags, longest=options.longest, tell=tell)
        for subject in GROWING
        if options.only in subject.name
    ]
    print_table(
        ("subject", "size", "plain s", "merged s", "speed-up", "auto s", "auto/plain", "plain paths",
         "merged states", "merges", "multiplicity", "finished"),
        [
            (g.subject.name, p.size, p.plain.seconds, p.merged.seconds, p.speedup, p.auto.seconds,
             p.slowdown, p.plain.ends, p.merged.states, p.merged.merges,
             magnitude(p.merged.multiplicity), p.merged.complete)
            for g in grown for p in g.points
        ],
    )  # fmt: skip
    print()
    print_table(
        ("subject", "points", "growth of the speed-up", "R2", "R2 of a power", "exponential",
         "largest speed-up", "auto/plain at worst", "at the largest"),
        [_summary(g) for g in grown],
    )  # fmt: skip
    print(
        "exponential: least squares of log(speed-up) on the size has a slope above zero (t test, 95%) and "
        f"R2 of at least {LEAST_R2}; auto is compared where plain takes {SHORTEST_JUDGED} s or more"
    )
    lines = [Line(g.subject.name, tuple((float(p.size), p.speedup) for p in g.finished)) for g in grown]
    write_plot(
        options.figure,
        log_plot("Speed-up of merging over plain exploration", "size of the input", "speed-up", lines),
    )
    print(f"plot: {options.figure}")
    return _growth_problems(grown)


def _summary(g: Growth) -> tuple[object, ...]:
    line, power = g.exponential, g.power
    return (
        g.subject.name,
        len(g.points),
        f"x {line.factor:.2f} a step of {g.subject.macro}" if line else "-",
        line.r2 if line else 0.0,
        power.r2 if power else 0.0,
        g.is_exponential,
        max((p.speedup for p in g.points), default=0.0),
        g.worst,
        g.points[-1].slowdown if g.points else 0.0,
    )


def _growth_problems(grown: list[Growth]) -> list[str]:
    problems = []
    exponential = [g.subject.name for g in grown if g.is_exponential]
    if len(exponential) < EXPONENTIAL_SHARE * len(grown):
        problems.append(f"exponential on {len(exponential)} of {len(grown)} subjects: {exponential}")
    for g in grown:
        if not g.points:
            problems.append(f"{g.subject.name}: no size at which plain exploration takes its time")
        for p in g.points:
            problems += _point_problems(f"{g.subject.name} {p.size}", p)
    return problems


def _point_problems(name: str, p: Point) -> list[str]:
    problems = []
    if not p.auto.complete:
        problems.append(f"{name}: not finished with auto {p.auto.problem[:200]}")
    elif p.slowdown > SLOWEST and p.plain.seconds >= SHORTEST_JUDGED:
        problems.append(f"{name}: auto {p.slowdown:.2f} times as slow as plain")
    for way, run in (("merged", p.merged), ("auto", p.auto)):
        if run.complete and run.errors != p.plain.errors:
            problems.append(f"{name}, {way}: errors {sorted(run.errors)}, plain {sorted(p.plain.errors)}")
    return problems


PARTS = {"echo": echo, "exhaust": exhaust, "growth": growth}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.merging",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="few and short runs, to see that all works")
    parser.add_argument("--only", default="", metavar="TEXT", help="only subjects with TEXT in their name")
    parser.add_argument(
        "--limit", type=float, default=60, metavar="S", help="CPU time for a large input (default 60)"
    )
    parser.add_argument(
        "--longest", type=float, metavar="S", help="let sizes grow until plain takes so long (default 30)"
    )
    parser.add_argument("--figure", type=Path, metavar="FILE", help="where to write the plot")
    parser.add_argument(
        "--engine-flag", action="append", default=[], metavar="FLAG", help="one more flag for merged runs"
    )
    arguments = parser.parse_args(argv)
    wrong = [p for p in arguments.parts if p not in PARTS]
    if wrong:
        parser.error(f"no such part: {', '.join(wrong)}")
    options = Options(
        arguments.quick,
        arguments.limit,
        arguments.longest or (2.0 if arguments.quick else 30.0),
        arguments.only,
        arguments.figure or (FIGURE.with_stem("merging_quick") if arguments.quick else FIGURE),
        tuple(arguments.engine_flag),
    )
    problems = []
    for name in arguments.parts or PARTS:
        print(f"-- {name}")
        problems += PARTS[name](options)
        print(flush=True)
    for problem in problems:
        print(f"missed: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
