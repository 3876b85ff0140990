"""Reports: findings with where the bad value comes from, grouped by it, ranked, told as steps of source
lines."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from anabranch.check.findings import Finding
from anabranch.check.program import Program
from anabranch.check.rarity import needs_one_value
from anabranch.check.trace import (
    Shown,
    Step,
    call_steps,
    failed_function,
    in_order,
    late_test,
    origin_of,
    path_steps,
    shown_values,
    source_name,
    tested_pointer,
)
from anabranch.error_kinds import error_kind

RANKS = ("likely", "possible", "caller")
"""likely: nothing was taken as unknown; possible: something was; caller: it depends on unknown callers."""
UNCHECKED_RESULT = 690
"""The entry of the Common Weakness Enumeration for a NULL that a function returned and nobody looked at."""
_IGNORE = re.compile(r"anabranch:\s*ignore(?:\[([\w, ]+)\])?")


@dataclass(slots=True)
class Report:
    property: str
    kind: str
    cwe: int | None
    message: str
    file: str
    line: int
    column: int
    function: str
    """The function of the place, by its symbol."""
    checked_in: str
    """The function from which on it was followed, by its symbol."""
    source_function: str
    """The name of `function` in the source: a linker renames static functions."""
    rank: str
    because: tuple[str, ...]
    """What it assumes, for a report that is not likely."""
    origin: Step | None
    steps: tuple[Step, ...]
    values: tuple[Shown, ...]
    flows: bool
    """It is about a value that flows: places that the same value comes to are one report."""
    fingerprint: str = ""
    also: list[tuple[str, int]] = field(default_factory=list)
    """Further places that the same bad value comes to."""
    confirmation: dict[str, Any] = field(default_factory=dict)
    """What the engine made of it (`--confirm`), as `check.json` tells it."""

    def as_json(self) -> dict[str, Any]:
        return {
            "property": self.property,
            "kind": self.kind,
            "cwe": self.cwe,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "function": self.source_function,
            "symbol": self.function,
            "checked_in": self.checked_in,
            "rank": self.rank,
            "because": list(self.because),
            "origin": None if self.origin is None else self.origin.as_json(),
            "steps": [step.as_json() for step in self.steps],
            "values": {shown.label: shown.value for shown in self.values},
            "also": [{"file": file, "line": line} for file, line in self.also],
            "fingerprint": self.fingerprint,
            "confirmation": self.confirmation or None,
        }


def group_reports(reports: Iterable[Report]) -> tuple[list[Report], int]:
    """One report for each cause, most likely first, and how many a comment in the source suppresses."""
    _lines.cache_clear()  # files may have changed since the last check of this process
    found: dict[object, Report] = {}
    suppressed = 0
    for told in reports:
        report = replace(told, fingerprint=_fingerprint(told))
        if _ignored(report):
            suppressed += 1
            continue
        key = _group(report)
        known = found.get(key)
        if known is None:
            found[key] = report
            continue
        better, other = sorted((known, report), key=_order)
        place = (other.file, other.line)
        better.also = [*known.also, *report.also]
        if place != (better.file, better.line) and place not in better.also:
            better.also.append(place)
        found[key] = better
    return sorted(found.values(), key=_order), suppressed


def _order(report: Report) -> tuple[int, bool, int, str, int, int]:
    """Compilers make instructions that have no place in the source: others are told first."""
    place = (report.file, report.line, report.column)
    return RANKS.index(report.rank), not report.file, len(report.steps), *place


def _group(report: Report) -> object:
    """One report for one `return NULL`; a place that several callers make fail is one report too."""
    origin = report.origin
    if report.flows and origin is not None and origin.line:
        return report.property, origin.file, origin.line, origin.function
    return report.property, report.file, report.line, report.message


def make_report(program: Program, finding: Finding) -> Report:
    """What is told of a finding; the source is not looked at yet."""
    condition = finding.condition
    place = condition.loc
    root = condition.root()
    failure = failed_function(program, finding)
    origin = failure or origin_of(program, finding)
    rank, because = _rank(program, finding)
    file, line, column = (place.file, place.line, place.column) if place is not None else ("", 0, 0)
    name = source_name(program, root.function.name)
    last = Step(file, line, name, condition.message)
    calls = call_steps(program, condition)
    before = [*in_order(origin, path_steps(finding)), *calls]
    steps = [*(step for step in before if (step.file, step.line) != (file, line)), last]
    kind = condition.kind or condition.property.kind
    cwe = error_kind(kind).cwe
    if failure is not None:
        late = late_test(finding)
        if late is None:
            cwe = UNCHECKED_RESULT
        else:
            steps.append(late)
    return Report(
        condition.property.name,
        kind,
        cwe,
        condition.message,
        file,
        line,
        column,
        root.function.name,
        condition.function.name,
        name,
        rank,
        because,
        origin,
        tuple(dict.fromkeys(steps)),
        shown_values(program, finding),
        condition.property.flows,
    )


def _rank(program: Program, finding: Finding) -> tuple[str, tuple[str, ...]]:
    if finding.open_to == "parameters":
        return "caller", ("a caller passes such values",)
    if finding.open_to == "elsewhere":
        return "caller", ("code that is not here changes a global",)
    if finding.open_to == "globals":
        return "possible", ("globals hold such values", *finding.approximate)
    if finding.approximate:
        return "possible", finding.approximate
    if program.settings.any_null and program.leaves.left_open((finding.bad,)):
        return "possible", ("an unknown caller passes NULL",)
    if finding.condition.property.name == "null" and tested_pointer(program, finding) is not None:
        return "possible", ("the pointer can be NULL, as the test says",)
    if finding.condition.property.name == "null" and needs_one_value(program.leaves, finding):
        return "possible", ("a callee returns NULL for one particular value only",)
    return "likely", ()


def _fingerprint(report: Report) -> str:
    """The same for a report after lines were added or removed elsewhere."""
    code = " ".join(source_line(report.file, report.line).split())
    parts = [report.property, report.message, report.source_function, os.path.basename(report.file), code]
    if report.origin is not None:
        parts += [report.origin.function, report.origin.text]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _ignored(report: Report) -> bool:
    """Is there a comment `anabranch: ignore` or `anabranch: ignore[null]` on the line, or on the one
    before?"""
    for line in (report.line, report.line - 1):
        found = _IGNORE.search(source_line(report.file, line))
        if found is not None:
            names = found[1]
            return names is None or report.property in [name.strip() for name in names.split(",")]
    return False


def source_line(file: str, line: int) -> str:
    lines = _lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=256)
def _lines(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            return source.read().splitlines()
    except OSError:
        return []


def shown(reports: Iterable[Report], everything: bool) -> list[Report]:
    """What is shown by default: not what only an unknown caller could make happen."""
    return [r for r in reports if everything or r.rank != "caller"]
