"""What redundant state detection costs, on runs of GNU coreutils with a fixed number of instructions.

Three sides in turns, the least CPU time of each counts: plain; with a tape that is written and copied at
forks, but never read; with detection. Says how many times the CPU time of plain the tape takes, how long an
item of it takes backwards, and the share of detection. `python -m bench.coreutils build` builds the
utilities. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

from anabranch.cli.flags import settings_from_args
from anabranch.cli.run import load
from anabranch.explore.build import Parts
from anabranch.explore.engine import TechniqueMaker, prepare
from anabranch.explore.settings import LoadedProgram
from anabranch.explore.technique import Technique
from anabranch.machine import Machine, State
from anabranch.machine.recording import RecordingMachine
from anabranch.reduce.redundancy.stretches import Stretch
from anabranch.reduce.redundancy.technique import Redundancy
from anabranch.report.events import Collector
from bench.lib.coreutils import bitcode
from bench.lib.table import print_table
from bench.lib.work import tell
from bench.redundancy import own_source

RUNS = (
    ("paste", "--sym-args 0 2 2 --sym-stdin 3", "dfs"),
    ("cut", "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdout", "random-path"),
    ("tr", "--sym-args 1 2 2 --sym-stdin 2", "dfs"),
    ("wc", "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdout", "random-path"),
)
TIMES = frozenset(("backwards", "seconds"))
TAPE, ITEM, SHARE = 1.15, 1.5, 0.2


class OnlyTape(Redundancy):
    """Keeps the tapes of all paths, and never looks at them nor at the program."""

    def begin(self, states: Sequence[State]) -> Sequence[State]:
        return states

    def figures(self) -> dict[str, Any]:
        return {}

    def _close(self, stretch: Stretch) -> None:
        pass

    def covers(self, state: State) -> bool:
        return False

    def settle(self) -> Sequence[Any]:
        return ()


@dataclass
class Side:
    """One way to explore."""

    name: str
    make: Callable[[Parts], list[Technique]]
    machine: type[Machine]
    flags: tuple[str, ...] = ()
    seconds: float = 1e9
    figures: dict[str, Any] = field(default_factory=dict)
    instructions: int = 0

    def run(self, program: LoadedProgram, arguments: Sequence[str]) -> None:
        settings = settings_from_args([*self.flags, *arguments])
        began, at = process_time(), perf_counter()
        run = prepare(program, settings, Collector(), None, TechniqueMaker(self.make, self.machine))
        result = run.run()
        taken = process_time() - began
        self.instructions = result.instructions
        scale = taken / (
            perf_counter() - at
        )  # the technique's own times are of a clock that others move, too
        if taken < self.seconds:
            figures = run.techniques.figures().get("redundancy", {})
            self.seconds = taken
            self.figures = {name: scale * n if name in TIMES else n for name, n in figures.items()}


def sides(extra: Sequence[str]) -> tuple[Side, ...]:
    how = ("--redundancy", "on", "--no-keep-errors", *extra)
    return (
        Side("plain", lambda parts: [], Machine),
        Side("tape", lambda parts: [OnlyTape(parts)], RecordingMachine, (*how, "--no-redundancy-joins")),
        Side("detection", lambda parts: [Redundancy(parts)], RecordingMachine, how),
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.redundancy_cost", description=__doc__)
    parser.add_argument("utilities", nargs="*", metavar="NAME")
    parser.add_argument("--instructions", type=int, default=4_000_000, metavar="N", help="of each run")
    parser.add_argument("--times", type=int, default=5, metavar="N", help="how often (default 5)")
    parser.add_argument("--tape", action="store_true", help="without the side with detection")
    parser.add_argument("--flag", action="append", default=[], help="one more flag of detection")
    arguments = parser.parse_args(argv)
    heading = ["run", "instructions", "plain s", "tape s", "ratio"]
    if not arguments.tape:
        heading += ["detection s", "instructions", "items", "skipped", "us an item", "share", "dropped"]
    rows: list[tuple[object, ...]] = []
    problems = []
    for utility, inputs, order in RUNS:
        if arguments.utilities and utility not in arguments.utilities:
            continue
        command = ["--libc", "musl", "--tests", "none", "--search", order, "--program-name", utility]
        command += ["--max-instructions", str(arguments.instructions), str(bitcode(utility)), "--"]
        command += inputs.split()
        program = load(settings_from_args(command))
        plain, tape, detection = sides(("--cover", own_source(utility), *arguments.flag))
        for _ in range(arguments.times):
            for side in (plain, tape) if arguments.tape else (plain, tape, detection):
                side.run(program, command)
        ratio = tape.seconds / plain.seconds
        tell(f"{utility}: {plain.seconds:.2f} s, with a tape {tape.seconds:.2f} s ({ratio:.3f})")
        row: list[object] = [f"{utility} {inputs}", plain.instructions, plain.seconds, tape.seconds, ratio]
        measured = [("tape", ratio, TAPE)]
        if not arguments.tape:
            figures = detection.figures
            item = 1e6 * figures["backwards"] / max(figures["items"] + figures["skipped"], 1)
            share = figures["seconds"] / detection.seconds
            row += [
                detection.seconds,
                detection.instructions,
                figures["items"],
                figures["skipped"],
                item,
                share,
            ]
            row.append(figures["dropped"])
            measured += [("item", item, ITEM), ("share", share, SHARE)]
            tell(f"{utility}: {detection.seconds:.2f} s with detection, {item:.2f} us an item, {share:.0%}")
        rows.append(tuple(row))
        problems += [
            f"{utility}: {what} {value:.2f} (bar: {bar:g})" for what, value, bar in measured if value > bar
        ]
    print_table(tuple(heading), rows)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
