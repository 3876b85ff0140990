"""Runs programs in this process and reads what a subject expects from the comments in it.

A subject says, in comments anywhere in the file:

    OPTIONS: --check overflow -DX=1        flags of `anabranch run`
    EXPECT paths: exit 3 error 1           ends of paths (the error count includes repeated ones)
    EXPECT exit codes: 0 3                 the set of exit codes
    EXPECT output: "a\\n"                   one of the outputs (a Python literal); all must be named if any is
    EXPECT loss: unsupported: instruction  start of a loss; without any the run must be complete
    EXPECT error: overflow line 3          an error, where a marker on its line cannot stand
    EXPECT message: line 12 text           the error at that line says so (message, info, stack: one text)
    EXPECT warning: text                   part of a warning
    EXPECT test: name=0x0102 ...           some test has these inputs (little-endian bytes in hex)
    ERROR: kind                            on the line of the error; several may stand there
    NEAR: text                             part of the text of the error of that line
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.cli.flags import settings_from_args
from anabranch.cli.settings import RunSettings
from anabranch.explore.checks import FOLDED
from anabranch.explore.engine import Exploration
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.frontend import FrontendOptions, Program, load_program
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import Collector
from anabranch.report.result import RunResult

SUBJECTS = Path(__file__).parent / "subjects"


@dataclass
class Expectations:
    """What the comments of a subject say."""

    options: list[str] = field(default_factory=list)
    paths: tuple[int, int] | None = None
    exit_codes: set[int] | None = None
    outputs: set[bytes] | None = None
    losses: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    messages: list[tuple[int, str]] = field(default_factory=list)
    errors: list[tuple[str, int]] = field(default_factory=list)
    tests: list[dict[str, bytes]] = field(default_factory=list)


def read_expectations(text: str) -> Expectations:
    wanted = Expectations()
    for number, line in enumerate(text.split("\n"), 1):
        for kind in re.findall(r"ERROR: ([a-z-]+)", line):
            wanted.errors.append((kind, number))
        for words in re.findall(r"NEAR: (.*?)\s*(?:\*/|ERROR:|NEAR:|$)", line):
            wanted.messages.append((number, words))
        if found := re.search(r"OPTIONS: (.*?)\s*(\*/)?$", line):
            wanted.options += found[1].split()
        if found := re.search(r"EXPECT ([a-z ]+): (.*?)\s*(\*/)?$", line):
            _expect(wanted, found[1], found[2])
    return wanted


def _expect(wanted: Expectations, what: str, value: str) -> None:
    if what == "paths":
        found = re.fullmatch(r"exit (\d+) error (\d+)", value)
        assert found, value
        wanted.paths = int(found[1]), int(found[2])
    elif what == "exit codes":
        wanted.exit_codes = set(map(int, value.split()))
    elif what == "output":
        wanted.outputs = (wanted.outputs or set()) | {ast.literal_eval("b" + value)}
    elif what == "loss":
        wanted.losses.append(value)
    elif what == "warning":
        wanted.warnings.append(value)
    elif what == "error":
        kind, _, line = value.partition(" line ")
        wanted.errors.append((kind, int(line)))
    elif what == "message":
        found = re.fullmatch(r"line (\d+) (.*)", value)
        assert found, value
        wanted.messages.append((int(found[1]), found[2]))
    elif what == "test":
        pairs = [word.split("=") for word in value.split()]
        wanted.tests.append({name: bytes.fromhex(data.removeprefix("0x")) for name, data in pairs})
    else:
        raise AssertionError(f"unknown expectation {what}")


def load(settings: RunSettings) -> Program:
    return load_program(
        settings.inputs,
        FrontendOptions(
            include_dirs=settings.build.include_dirs,
            defines=settings.build.defines,
            opt_level=settings.simplification,
            sanitizers=FOLDED,
            entry=settings.build.entry,
        ),
    )


@dataclass
class Outcome:
    """All that a run found."""

    exploration: Exploration
    result: RunResult
    collector: Collector

    def errors(self) -> list[tuple[str, int]]:
        return sorted((error.kind, error.line) for error in self.collector.errors)

    def losses(self) -> dict[str, int]:
        return {
            kind: sum(places.values()) for kind, places in self.exploration.reporter.losses.as_dict().items()
        }

    def summary(self) -> dict[str, object]:
        """What must not depend on how the program was run."""
        result = self.result
        return {
            "paths": (result.paths_exit, result.paths_error, result.paths_total),
            "errors": self.errors(),
            "tests": sorted(
                (
                    t.end,
                    t.kind or "",
                    t.line or 0,
                    t.exit_code if t.exit_code is not None else -1,
                    t.output or b"",
                )
                for t in self.collector.tests
            ),
            "lines": sorted(self.exploration.table.lines_covered(self.exploration.machine.counters.N)),
            "losses": self.losses(),
            "complete": result.complete,
        }


def error_text(error: ErrorRecord) -> str:
    stack = " < ".join(entry.text(0).split(" in ", 1)[1] for entry in error.stack)
    return "\n".join([error.message, *error.info, stack])


def prepare(directory: Path, source: str, *options: str) -> Exploration:
    """An exploration of a program given as text, not yet run."""
    path = directory / "subject.c"
    path.write_text(source)
    settings = settings_from_args([str(path), *options])
    return prepare_exploration(load(settings), settings, Collector())


def run_program(program: Program, settings: RunSettings) -> Outcome:
    collector = Collector()
    exploration = prepare_exploration(program, settings, collector)
    result = exploration.run()
    return Outcome(exploration, result, collector)


def run_files(paths: list[Path], *options: str) -> Outcome:
    settings = settings_from_args([*map(str, paths), "--tests", "all", *options])
    return run_program(load(settings), settings)


def run_source(directory: Path, source: str, *options: str, suffix: str = ".c") -> Outcome:
    """Explore a program given as text."""
    path = directory / f"subject{suffix}"
    path.write_text(source)
    return run_files([path], *options)
