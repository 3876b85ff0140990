"""Errors and reports in the formats of other tools: one function a format, found by its name.

`run` and `check` tell what they found as `Issue`s; an exporter makes the text of a file of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.error_kinds import error_kind
from anabranch.report.errors import ErrorRecord, trail_lines


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the source, and what happens there."""

    file: str
    line: int
    text: str
    column: int = 0


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong with a program."""

    kind: str
    """A row of `error_kinds`."""
    certain: bool
    """An error that was seen, or is likely; otherwise it is a possible one."""
    place: Place
    steps: tuple[Place, ...] = ()
    """How it comes to the place, in order; the last is the place itself."""
    cwe: int | None = None
    fingerprint: str = ""
    """The same after lines were added or removed elsewhere; empty if there is none."""
    details: dict[str, Any] = field(default_factory=dict)
    """What else is known, as JSON has it."""


Exporter = Callable[[list[Issue]], str]
EXPORTERS: dict[str, Exporter] = {}
"""Name of a format -> what makes its text."""


def exporter(name: str) -> Callable[[Exporter], Exporter]:
    """Registers a function as the exporter of a format."""

    def register(function: Exporter) -> Exporter:
        EXPORTERS[name] = function
        return function

    return register


class ExportError(Exception):
    """A file cannot be written; the message is one line."""


def export(name: str, path: Path, issues: Iterable[Issue]) -> None:
    from anabranch.report import sarif  # noqa: F401  registers itself

    try:
        path.write_text(EXPORTERS[name](list(issues)), encoding="utf-8")
    except OSError as error:
        raise ExportError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def issue_of(error: ErrorRecord) -> Issue:
    """An error of a run: the calls that lead to it, outermost first."""
    calls = [
        Place(entry.file, entry.line, f"in {entry.function}") for entry in reversed(error.stack) if entry.file
    ]
    place = Place(error.file, error.line, error.message, error.column)
    details: dict[str, Any] = {"function": error.function, "decisions": list(trail_lines(error))}
    if error.test is not None:
        details["ktest"] = f"test{error.test:06d}.ktest"
    return Issue(error.kind, True, place, (*calls[:-1], place), error_kind(error.kind).cwe, "", details)
