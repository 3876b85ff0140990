"""Dropping states that cannot reach new code (`--redundancy`) on GNU coreutils.

    python -m bench.redundancy exhaust [NAME...]  small inputs to the end, depth first, with and without:
                                                  lines covered, instructions, states, CPU, dead lines
    python -m bench.redundancy race [NAME...]     the arguments of the paper and equal CPU: time to the same
                                                  coverage, coverage at the end, dead code

`--flag FLAG` is one more flag of the runs that drop states, for ablations. `python -m bench.coreutils build`
builds the utilities. Exit code 1 if a bar is missed or anything fails.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from bench.lib.coreutils import bitcode
from bench.lib.coverage_race import Comparison, Course, course
from bench.lib.debian import source
from bench.lib.engine import EngineFailure, call_engine
from bench.lib.plot import bar_plot, write_plot
from bench.lib.table import print_table
from bench.lib.work import each, jobs_argument, tell

PLAIN, REDUCED = ("--redundancy", "off"), ("--redundancy", "on")

# ---- exhaustion


@dataclass(frozen=True)
class Shape:
    """A utility with a small input."""

    utility: str
    inputs: str
    named: bool = False
    """Is it one of those with a bar of their own?"""

    def __str__(self) -> str:
        return f"{self.utility} {self.inputs}"


SHAPES = (
    Shape("paste", "--sym-args 0 2 2 --sym-stdin 3", named=True),
    Shape("paste", "--sym-args 0 1 2 --sym-stdin 3"),
    Shape("tr", "--sym-args 1 2 2 --sym-stdin 2", named=True),
    Shape("tr", "--sym-args 2 2 2 --sym-stdin 3", named=True),
    Shape("cut", "-b --sym-arg 2 --sym-stdin 4", named=True),
    Shape("cut", "--sym-args 0 1 2 --sym-stdin 2"),
    Shape("comm", "--sym-args 0 2 1 --sym-stdin 2"),
    Shape("wc", "--sym-stdin 3"),
    Shape("wc", "--sym-args 0 1 2 --sym-stdin 2"),
    Shape("fold", "--sym-args 0 1 2 --sym-stdin 3"),
    Shape("uniq", "--sym-args 0 1 2 --sym-stdin 3"),
    Shape("cat", "-s --sym-stdin 6"),
)
FEWER_INSTRUCTIONS = 8.0
SPEEDUP, FROM_SECONDS = 2.0, 5.0


@dataclass(frozen=True)
class Exhausted:
    """One exploration to the end."""

    complete: bool = False
    seconds: float = 0.0
    instructions: int = 0
    states: int = 0
    covered: frozenset[int] = frozenset()
    """Lines of the utility's own source."""
    lines: frozenset[int] = frozenset()
    problem: str = ""

    @property
    def dead(self) -> frozenset[int]:
        """Lines that no input of this shape reaches."""
        return self.lines - self.covered if self.complete else frozenset()


def own_source(utility: str) -> str:
    return str(source("coreutils") / "src" / f"{utility}.c")


def came_to_the_end(data: dict[str, Any]) -> bool:
    """Did a run follow all paths, but for those of states that it dropped?"""
    return data["stopped"] is None and all(kind.startswith("pruned: ") for kind in data["losses"])


def exhausted(shape: Shape, flags: Sequence[str], limit: float) -> Exhausted:
    """Explore without tests, interrupted at a limit of CPU time."""
    command = [
        "run",
        "--libc",
        "musl",
        "--goal",
        "coverage",
        "--search",
        "dfs",
        "--tests",
        "none",
        "-q",
        *flags,
    ]
    with tempfile.TemporaryDirectory(prefix="anabranch-redundancy-") as name:
        run = Path(name) / "run"
        command += ["--output-dir", str(run), "--program-name", shape.utility, str(bitcode(shape.utility))]
        try:
            called = call_engine(
                [*command, "--", *shape.inputs.split()], Path(name), 20 * limit, cpu_limit=limit
            )
        except EngineFailure as failure:
            return Exhausted(problem=str(failure))
        if not (run / "run.json").exists():
            return Exhausted(problem=f"exit code {called.code}: {called.stderr.strip()[-300:]}")
        data = json.loads((run / "run.json").read_text())
    own = data["coverage"]["files"][own_source(shape.utility)]
    return Exhausted(
        complete=came_to_the_end(data),
        seconds=data["timers"]["explore"],
        instructions=data["instructions"],
        states=data["states"]["explored"],
        covered=frozenset(own["lines_covered"]),
        lines=frozenset(own["lines_total"]),
        problem="" if came_to_the_end(data) else f"not complete: {sorted(data['losses']) or 'time'}",
    )


def exhaust(arguments: argparse.Namespace) -> int:
    rows: list[tuple[object, ...]] = []
    dead: dict[str, str] = {}
    problems, speedups = [], []
    for shape in SHAPES:
        if arguments.utilities and shape.utility not in arguments.utilities:
            continue
        plain = exhausted(shape, PLAIN if arguments.known else (), arguments.time)
        tell(f"{shape}: plain {plain.seconds:.1f} s")
        reduced = exhausted(shape, (*REDUCED, *arguments.flag) if arguments.known else (), arguments.time)
        tell(f"{shape}: reduced {reduced.seconds:.1f} s")
        fewer = plain.instructions / max(reduced.instructions, 1)
        faster = plain.seconds / max(reduced.seconds, 1e-3)
        rows.append(
            (shape, len(plain.covered), len(reduced.covered), plain.states, reduced.states,
             plain.instructions, reduced.instructions, fewer, plain.seconds, reduced.seconds, faster,
             len(reduced.dead))
        )  # fmt: skip
        problems += [
            f"{shape}, {way}: {r.problem}" for way, r in (("plain", plain), ("reduced", reduced)) if r.problem
        ]
        if arguments.lines:
            dead[str(shape)] = listed(reduced.dead)
        if plain.covered - reduced.covered:
            problems.append(f"{shape}: lost lines {listed(plain.covered - reduced.covered)}")
        if shape.named and fewer < FEWER_INSTRUCTIONS:
            problems.append(f"{shape}: {fewer:.1f} times fewer instructions (bar: {FEWER_INSTRUCTIONS:g})")
        if plain.seconds >= FROM_SECONDS:
            speedups.append(faster)
    print_table(
        ("shape", "lines", "reduced", "states", "reduced", "instructions", "reduced", "fewer", "CPU s",
         "reduced", "faster", "dead lines"),
        rows,
    )  # fmt: skip
    for what, lines in dead.items():
        print(f"{what}: no input reaches lines {lines}")
    if speedups:
        mean = geometric_mean(speedups)
        print(
            f"{len(speedups)} shapes of {FROM_SECONDS:g} s and more: {mean:.2f} times less CPU "
            f"(bar: {SPEEDUP:g})"
        )
        if mean < SPEEDUP:
            problems.append("too little CPU saved")
    return told(problems)


def listed(lines: Iterable[int]) -> str:
    """Line numbers, neighbours as ranges."""
    ranges: list[list[int]] = []
    for line in sorted(lines):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def told(problems: Sequence[str]) -> int:
    for problem in problems:
        print(problem[:400])
    return 1 if problems else 0


# ---- the race of the paper

PAPERS = ["--sym-args", "0", "1", "10", "--sym-args", "0", "2", "2", "--sym-files", "1", "8", "--sym-stdout"]
RACED = (
    "join", "csplit", "stty", "dd", "tail", "od", "tr", "ptx", "pr", "ls", "cut", "wc", "paste", "comm",
    "expr", "fold", "uniq", "cat", "head", "sort", "nl", "seq",
)  # fmt: skip
"""The ten of the paper's Table 2, and more until there are 20 that do not saturate early."""
WANTED = 20
SATURATED = 10.0
"""Seconds: who covers nothing new after that is left out."""
SLOWEST, LOWER = 0.9, 1.0


def raced(utility: str, seconds: float, flags: Sequence[str], unlimited: bool) -> Course:
    """One side. The limit that the engine knows is far away, because it is of wall time; `unlimited`: it
    knows of none, as where all may be explored."""
    command = ["--libc", "musl", "--goal", "coverage", "--tests", "none"]
    command += [] if unlimited else ["--max-time", f"{20 * seconds:g}"]
    command += [*flags, "--program-name", utility, str(bitcode(utility)), "--", *PAPERS]
    return course(own_source(utility), seconds, command)


def compared(
    utility: str, seconds: float, flags: Sequence[str], known: bool, unlimited: bool, own: bool
) -> Comparison | str:
    """Both sides, one right after the other; the reason if there is nothing to compare."""
    if own:
        flags = (*flags, "--cover", own_source(utility))
    try:
        plain = raced(utility, seconds, PLAIN if known else (), unlimited)
        full = plain.reached("instructions", plain.last("instructions"))
        if full < min(SATURATED, seconds / 2):
            return f"{utility}: left out, nothing new after {full:.1f} s"
        reduced = raced(utility, seconds, flags, unlimited)
    except EngineFailure as failure:
        return f"{utility}: {failure}"
    found = Comparison(utility, plain, reduced)
    tell(
        f"{utility}: speed-up {found.speedup('instructions'):.2f}, coverage {found.gain('instructions'):+.1f}"
    )
    return found


def race(arguments: argparse.Namespace) -> int:
    flags = (*REDUCED[:1], arguments.how, *arguments.flag) if arguments.known else ()
    one = partial(
        compared, seconds=arguments.time, flags=flags, known=arguments.known,
        unlimited=arguments.unlimited, own=arguments.own,
    )  # fmt: skip
    found: list[Comparison] = []
    problems: list[str] = []
    for outcome in each(one, arguments.utilities or RACED, arguments.jobs):
        if isinstance(outcome, str):
            print(outcome)
            problems += [] if "left out" in outcome else [outcome]
        elif len(found) < WANTED:
            found.append(outcome)
    if not found:
        return told(problems or ["nothing to compare"])
    _tables(found)
    if arguments.figures:
        _figures(found, arguments.figures)
    speedups = [c.speedup("instructions") for c in found]
    gains = [c.gain("instructions") for c in found]
    print(
        f"speed-up: median {statistics.median(speedups):.2f}, least {min(speedups):.2f}, "
        f"most {max(speedups):.1f}, faster on {sum(s > 1 for s in speedups)} of {len(found)}; "
        f"coverage: mean {statistics.mean(gains):+.2f}, "
        f"higher on {sum(g > 0 for g in gains)}, lower on {sum(g < 0 for g in gains)} (percentage points)"
    )
    problems += [
        f"{c.name}: {s:.2f} times as fast" for c, s in zip(found, speedups, strict=True) if s < SLOWEST
    ]
    problems += [
        f"{c.name}: {g:+.1f} points of coverage" for c, g in zip(found, gains, strict=True) if g < -LOWER
    ]
    return told(problems)


SUMS: tuple[tuple[str, Callable[[Course], float]], ...] = (
    ("instructions", lambda c: c.executed),
    ("states", lambda c: c.states),
    ("paths", lambda c: c.paths),
    ("queries", lambda c: c.queries),
    ("solver s", lambda c: c.solver),
    ("solver %", lambda c: 100 * c.solver / c.seconds),
    ("exhausted", lambda c: int(c.complete)),
)


def _tables(found: Sequence[Comparison]) -> None:
    """The paper's Table 1 (sums; of the share of the solver, the mean) and Table 2."""
    rows = []
    for name, of in SUMS:
        plain, reduced = (sum(of(getattr(c, side)) for c in found) for side in ("plain", "reduced"))
        if name.endswith("%"):
            plain, reduced = plain / len(found), reduced / len(found)
        rows.append((name, f"{plain:,.0f}", f"{reduced:,.0f}", f"{plain / reduced:.1f}" if reduced else ""))
    print_table(("all", "plain", "reduced", "reduction"), rows)
    print()
    for what, title in (
        ("instructions", "of the program's instructions"),
        ("lines", "of the lines of its source"),
    ):
        print_table(
            (title, "T", "cov", "Tc", "T", "cov", "Tc", "X", "cov inc", "exhausted", "dead lines", "dropped"),
            [_row(c, what) for c in found],
        )
        print()


def _row(c: Comparison, what: str) -> tuple[object, ...]:
    cells: list[object] = [c.name]
    for side in (c.plain, c.reduced):
        total = side.wanted if what == "lines" else side.instructions
        cells += [
            round(side.reached(what, side.last(what)), 1),
            round(100 * side.last(what) / max(total, 1), 1),
            round(side.reached(what, c.common(what)), 1),
        ]
    dead = c.reduced.wanted - len(c.reduced.lines) if c.reduced.complete else 0
    dropped = c.reduced.reductions.get("redundancy", {}).get("dropped", 0)
    return (*cells, round(c.speedup(what), 2), round(c.gain(what), 1), c.reduced.complete, dead, dropped)


def _figures(found: Sequence[Comparison], directory: Path) -> None:
    """The paper's Figures 5 and 6: sorted from least to most."""
    for file, of, title, label, logarithmic in (
        ("redundancy_speedup", Comparison.speedup, "Time to the same coverage", "times as fast", True),
        ("redundancy_coverage", Comparison.gain, "Coverage at the end", "percentage points more", False),
    ):
        values = sorted(((c.name, of(c, "instructions")) for c in found), key=itemgetter(1))
        write_plot(directory / f"{file}.svg", bar_plot(title, label, values, logarithmic))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.redundancy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, limit in (("exhaust", exhaust, 300), ("race", race, 300)):
        command = commands.add_parser(name)
        command.add_argument("utilities", nargs="*", metavar="NAME")
        command.add_argument("--time", type=float, default=limit, metavar="S", help="CPU seconds of each run")
        command.add_argument(
            "--flag", action="append", default=[], help="one more flag of the runs that drop"
        )
        command.add_argument(
            "--same", dest="known", action="store_false", help="plain against plain: what differs by chance"
        )
        command.set_defaults(function=function)
        if function is exhaust:
            command.add_argument("--lines", action="store_true", help="also list the lines that are dead")
        else:
            jobs_argument(command)
            command.add_argument("--how", default="auto", help="the value of --redundancy (default auto)")
            command.add_argument(
                "--unlimited", action="store_true",
                help="the engine knows of no limit on time, so that `auto` detects as long as it pays",
            )  # fmt: skip
            command.add_argument(
                "--own", action="store_true", help="those that drop cover the utility's own source only"
            )
            command.add_argument("--figures", type=Path, metavar="DIR", help="write the figures there")
    arguments = parser.parse_args(argv)
    if missing := [u for u in arguments.utilities if not bitcode(u).exists()]:
        parser.error(f"not built: {', '.join(missing)} (python -m bench.coreutils build)")
    code: int = arguments.function(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
