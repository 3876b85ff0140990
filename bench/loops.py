"""Loops over data of unknown size: time, paths and merges, with merging in pairs and with `--loops`.

    python -m bench.loops bars [--only NAME] [--mode auto] [--seconds 30] [--plain] [--any-size]
    python -m bench.loops shapes [--max 20]
    python -m bench.loops cbmc [--mode auto]
    python -m bench.loops growth [--seconds 20]

`bars`: the programs of `subjects/loops` at the sizes that have a bar. `shapes`: paths of the programs of
`bench.sizes`, never more than with merging in pairs. `cbmc`: the whole command with `--goal bugs` beside
times of CBMC. `growth`: speed-up over merging in pairs and over plain exploration against the size,
in `figures/`. Times are CPU seconds or units of `lib/calibrate.py`, taken in the same run, one run each.
Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import sizes
from bench.lib.calibrate import unit_seconds
from bench.lib.engine import EngineFailure, run_engine
from bench.lib.loop_modes import OLD, chosen_modes, flags_of, known_modes
from bench.lib.plot import Line, log_plot, write_plot
from bench.lib.table import print_table
from bench.lib.work import tell

SUBJECTS = Path(__file__).resolve().parent / "subjects" / "loops"
FIGURES = Path(__file__).resolve().parent / "figures"
WALL = 10  # times the CPU limit: a machine that does other things, too


@dataclass(frozen=True)
class Case:
    """A subject at a size: its limit in units (None: not slower than merging in pairs) and in paths."""

    subject: str
    size: int
    units: float | None
    paths: int | None = None
    aim: bool = False
    """More than a bar asks for: shown, not counted."""


CASES = (
    Case("memspn", 20, 0.15, 3), Case("memspn", 200, 0.6, 3), Case("memspn", 500, 2.5, 3),
    *(Case(name, 200, 0.6, 3) for name in (
        "strlen", "strchr", "memchr", "skip", "strspn", "strcpy", "count", "sum",
    )),
    Case("hex", 200, 3, 3), Case("checksum", 200, 3, 3),
    Case("trim", 500, 2), Case("chain2", 25, 0.5), Case("chain2", 100, 4), Case("chain2", 400, 10, aim=True),
    Case("chain3", 100, 5), Case("chain4", 100, 5), Case("nested", 25, None), Case("url", 50, None),
)  # fmt: skip

CBMC = {
    ("strlen", 200): 0.27, ("strchr", 200): 0.68, ("memchr", 200): 0.56, ("sum", 200): 0.54,
    ("atoi", 200): 0.54, ("checksum", 200): 0.6, ("skip", 200): 0.67, ("count", 200): 0.61,
    ("strspn", 200): 3.9, ("hex", 200): 1.5, ("url", 50): 4.8, ("nested", 50): 20.0,
}  # fmt: skip
"""CPU seconds of CBMC with `--unwind M+2`, measured on this kind of machine; nested did not end in 20."""

GROWTH = {
    "memspn": (5, 10, 20, 50, 100), "strchr": (10, 25, 50, 100, 200), "trim": (10, 25, 50, 100),
    "chain2": (4, 8, 16, 25), "chain3": (5, 10, 25, 50), "sum": (10, 25, 50, 100),
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One run: CPU of exploring and of the whole command, and what it left; floors if not `complete`."""

    complete: bool
    explore: float
    whole: float
    paths: int
    merges: int

    def time(self, unit: float = 1.0) -> str:
        return f"{'' if self.complete else '>'}{self.explore / unit:.2f}"


def measure(
    case: Case,
    merging: Sequence[str],
    seconds: int,
    goal: str = "paths",
    fresh: bool = False,
    any_size: bool = False,
) -> Measured:
    """Explore one subject for at most so many CPU seconds. `any_size`: the size of the block is of the input,
    too, as that of memspn always is; else it has M bytes, and how many of them count is of the input."""
    one_size = () if any_size or case.subject == "memspn" else ("-DONE_SIZE",)
    before = _child_seconds()
    with tempfile.TemporaryDirectory(prefix="anabranch-loops-") as scratch:
        try:
            run = run_engine(
                [SUBJECTS / f"{case.subject}.c"], Path(scratch), defines=(f"-DM={case.size}", *one_size),
                search=None,
                tests="errors", extra=("--goal", goal, "--capacity", str(case.size + 1), *merging),
                time_limit=seconds * WALL, cpu_limit=seconds, read_tests=False, fresh=fresh,
            )  # fmt: skip
        except EngineFailure as failure:
            tell(f"{case.subject} {case.size}: {failure}")
            spent = _child_seconds() - before
            return Measured(False, spent, spent, 0, 0)
    merges = int(run.run.get("reductions", {}).get("merging", {}).get("merges", 0))
    return Measured(
        run.complete, float(run.run["timers"]["explore"]), _child_seconds() - before,
        int(run.run["paths"]["total"]), merges,
    )  # fmt: skip


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def old_flags() -> tuple[str, ...]:
    """Merging in pairs, as it was before loops became one state."""
    return ("--merge", "qce", *flags_of(OLD if OLD in known_modes() else None))


def new_flags(mode: str | None) -> tuple[str, ...]:
    return ("--merge", "qce", *flags_of(mode))


def verdict(case: Case, old: Measured, new: Measured, unit: float) -> str:
    """What of the bar is missed. "Not slower than in pairs" allows for 10% of noise."""
    if case.units is None and not old.complete and not new.complete:
        return "undecided: neither ends"
    if not new.complete:
        return "miss: not complete"
    limit = case.units if case.units is not None else old.explore / unit * 1.1
    late = new.explore / unit > limit and (case.units is not None or old.complete)
    missed = ["time"] * late + ["paths"] * (case.paths is not None and new.paths > case.paths)
    return f"miss: {', '.join(missed)}" if missed else "pass"


def bars(options: argparse.Namespace) -> int:
    """Each subject at each size, with merging in pairs and with loops merged."""
    (mode, *_) = _new_modes(options.mode)
    rows, missed = [], 0
    for case in CASES:
        if options.only and case.subject not in options.only:
            continue
        unit = unit_seconds()
        sized = options.any_size
        old = measure(case, old_flags(), options.seconds, any_size=sized)
        new = measure(case, new_flags(mode), options.seconds, any_size=sized) if mode is not None else old
        plain = "-"
        if options.plain:
            plain = measure(case, ("--merge", "none"), options.seconds, any_size=sized).time(unit)
        result = verdict(case, old, new, unit)
        missed += result.startswith("miss") and not case.aim
        limit = "old" if case.units is None else f"{case.units:g}{' (aim)' if case.aim else ''}"
        most = "-" if case.paths is None else case.paths
        rows.append((
            case.subject, case.size, plain, old.time(unit), new.time(unit), limit, old.paths, new.paths, most,
            old.merges, new.merges, result,
        ))  # fmt: skip
        tell(" ".join(map(str, rows[-1])))
    print(f"new: {mode or 'the engine has no --loops: the same as old'}; times in units, CPU of exploring")
    print_table(
        ("program", "M", "plain", "old", "new", "bar", "old: paths", "new: paths", "bar", "old: merges",
         "new: merges", "verdict"),
        rows,
    )  # fmt: skip
    return 1 if missed else 0


def _new_modes(asked: Sequence[str] | None) -> tuple[str | None, ...]:
    return tuple(mode for mode in chosen_modes(asked) if mode != OLD) or (None,)


def shapes(options: argparse.Namespace) -> int:
    """The programs of `bench.sizes`: paths at the end, errors as expected."""
    modes = _new_modes(options.mode)
    ways = {"old": old_flags(), **{str(m): new_flags(m) for m in modes if m is not None}}
    rows, wrong = [], 0
    for source in sorted(sizes.SUBJECTS.glob("*.c")):
        if options.only and source.stem not in options.only:
            continue
        row: list[object] = [source.stem]
        paths = []
        for flags in ways.values():
            run, problems = sizes.explore(source, options.max, flags, replay=False)
            paths.append(run.run["paths"]["total"] if run is not None else 0)
            wrong += bool(problems) or paths[-1] > paths[0]
            row += [paths[-1], "; ".join(problems) or "as expected"]
        rows.append(row)
        tell(" ".join(map(str, row)))
    print_table(("program", *(text for way in ways for text in (f"{way}: paths", "errors"))), rows)
    print(f"{len(rows)} programs up to size {options.max}, {wrong} runs not as expected or with more paths")
    return 1 if wrong else 0


def cbmc(options: argparse.Namespace) -> int:
    """The whole command in a process of its own, beside CBMC's time."""
    (mode, *_) = _new_modes(options.mode)
    rows, near, faster = [], 0, 0
    for (subject, size), theirs in CBMC.items():
        if options.only and subject not in options.only:
            continue
        run = measure(Case(subject, size, None), new_flags(mode), options.seconds, goal="bugs", fresh=True)
        near += run.complete and run.whole <= 2 * theirs
        faster += run.complete and run.whole < theirs
        rows.append((subject, size, f"{'' if run.complete else '>'}{run.whole:.2f}", f"{theirs:.2f}"))
        tell(" ".join(map(str, rows[-1])))
    print_table(("program", "M", "CPU s, whole command", "CBMC"), rows)
    print(f"within twice CBMC's time: {near} of {len(rows)} (bar 8 of 12); faster: {faster} (bar 4)")
    return 0 if near >= 8 and faster >= 4 else 1


def growth(options: argparse.Namespace) -> int:
    """Speed-up against the size. A run that does not end in time gives a lower bound, and is the last one."""
    (mode, *_) = _new_modes(options.mode)
    over: dict[str, list[Line]] = {"old": [], "plain": []}
    for subject, several in GROWTH.items():
        if options.only and subject not in options.only:
            continue
        for name, flags in (("old", old_flags()), ("plain", ("--merge", "none"))):
            points = []
            for size in several:
                case = Case(subject, size, None)
                new, other = (
                    measure(case, new_flags(mode), options.seconds),
                    measure(case, flags, options.seconds),
                )
                if not new.complete:
                    break
                points.append((float(size), other.explore / new.explore))
                tell(f"{subject} {size} over {name}: {other.time()} / {new.time()} s")
                if not other.complete:
                    break
            over[name].append(Line(subject, tuple(points)))
    for name, lines in over.items():
        title = (
            f"Speed-up of merged loops over {'merging in pairs' if name == 'old' else 'plain exploration'}"
        )
        text = log_plot(title, "size of the data", "times as fast", lines)
        write_plot(options.figures / f"loops_over_{name}.svg", text)
        rows = [(line.name, *(f"{x:.0f}: {y:.1f}" for x, y in line.points)) for line in lines]
        print(title)
        for row in rows:
            print("  " + "  ".join(row))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.loops", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    for function, seconds in ((bars, 30), (shapes, 0), (cbmc, 30), (growth, 20)):
        command = commands.add_parser(function.__name__, help=(function.__doc__ or "").split("\n")[0])
        command.set_defaults(function=function)
        command.add_argument("--only", action="append", metavar="NAME", help="these programs (repeatable)")
        command.add_argument(
            "--mode", action="append", metavar="MODE", help="mode of --loops (default: auto)"
        )
        if seconds:
            command.add_argument(
                "--seconds", type=int, default=seconds, metavar="N", help=f"CPU limit (default {seconds})"
            )
        if function is bars:
            command.add_argument("--plain", action="store_true", help="also path by path")
            command.add_argument(
                "--any-size", action="store_true", help="blocks of symbolic size for all (harder)"
            )
        if function is shapes:
            command.add_argument("--max", type=int, default=20, metavar="N", help="largest size (default 20)")
        if function is growth:
            command.add_argument("--figures", type=Path, default=FIGURES, metavar="DIR", help="where to plot")
    options = parser.parse_args(arguments)
    return int(options.function(options))


if __name__ == "__main__":
    sys.exit(main())
