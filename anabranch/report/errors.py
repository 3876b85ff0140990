"""Errors found in the program under test, and their text in the layout of KLEE's `.err` files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from anabranch.error_kinds import error_kind, safe_suffix

SHOWN = 20  # decisions of a trail in the text about an error


@dataclass(frozen=True, slots=True)
class StackEntry:
    """One frame of the call stack at the error, innermost first in an `ErrorRecord`."""

    function: str
    file: str = ""
    line: int = 0
    arguments: tuple[tuple[str, str], ...] = ()
    assembly_line: int = 0

    def text(self, index: int) -> str:
        arguments = ", ".join(f"{name}={value}" if name else value for name, value in self.arguments)
        location = f" at {self.file}:{self.line}" if self.file else ""
        return f"#{index}{self.assembly_line:08d} in {self.function}({arguments}){location}"


class Step(NamedTuple):
    """A decision on the way to an error: where, on which condition on the input, and whether that holds."""

    file: str
    line: int
    function: str
    condition: str
    taken: bool


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One error: what, where, how it was reached, and the test that shows it.

    `info` holds lines about the access (address, object, size); `test` is the number of the reproducing
    test, None when none was written; `suffix` is only given where the kind's own one is not wanted, as
    for `klee_report_error`; `trail` has the last decisions in the user's code, `untold` earlier ones are
    left out.
    """

    kind: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    function: str = ""
    stack: tuple[StackEntry, ...] = ()
    info: tuple[str, ...] = ()
    test: int | None = None
    assembly_line: int = 0
    state: int = 0
    suffix: str = ""
    trail: tuple[Step, ...] = ()
    untold: int = 0

    @property
    def file_suffix(self) -> str:
        given = self.suffix.removesuffix(".err")
        return safe_suffix(given) if given else error_kind(self.kind).suffix

    @property
    def location(self) -> str:
        if not self.file:
            return "unknown location"
        return f"{self.file}:{self.line}" if self.line else self.file


def error_text(error: ErrorRecord) -> str:
    """The body of the `.err` file."""
    lines = [f"Error: {error.message}"]
    if error.file:
        lines += [f"File: {error.file}", f"Line: {error.line}"]
    lines += [f"assembly.ll line: {error.assembly_line}", f"State: {error.state}", "Stack: "]
    lines += [f"\t{entry.text(index)}" for index, entry in enumerate(error.stack)]
    info = [f"kind: {error.kind}", *error.info]
    lines.append("Info: ")
    lines += [f"\t{line}" for line in info]
    if error.trail:
        lines.append("Trail: ")
        lines += [f"\t{line}" for line in trail_lines(error)]
    return "\n".join(lines) + "\n"


def trail_lines(error: ErrorRecord) -> Iterator[str]:
    """The last decisions before the error, for people."""
    shown = error.trail[-SHOWN:]
    before = error.untold + len(error.trail) - len(shown)
    if before:
        yield f"... {before} decisions before"
    for step in shown:
        yield f"{step.file}:{step.line} in {step.function}: {'' if step.taken else 'not '}{step.condition}"


def error_json(error: ErrorRecord) -> dict[str, Any]:
    """The entry of `run.json` for an error."""
    return {
        "kind": error.kind,
        "file": error.file,
        "line": error.line,
        "column": error.column,
        "function": error.function,
        "message": error.message,
        "test": error.test,
        "stack": [
            {"function": e.function, "file": e.file, "line": e.line, "arguments": dict(e.arguments)}
            for e in error.stack
        ],
        "info": list(error.info),
        "trail": {
            "untold": error.untold,
            "decisions": [step._asdict() for step in error.trail],
        },
    }
