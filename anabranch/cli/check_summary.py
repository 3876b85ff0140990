"""What `anabranch check` shows: reports as text, the summary, and the document `check.json`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from anabranch.check.records import CheckResult
from anabranch.check.reports import RANKS, Report, source_line
from anabranch.check.trace import Step
from anabranch.report.exporters import Issue, Place

_RANKED = {"likely": "likely", "possible": "possible", "caller": "about unknown callers"}


def _place(file: str, line: int) -> str:
    if not file:
        return "?"
    shown = os.path.relpath(file)
    return f"{file if shown.startswith('..') else shown}:{line}"


def print_report(report: Report) -> None:
    name = report.property + (f", CWE-{report.cwe}" if report.cwe else "")
    print(f"{_place(report.file, report.line)}: {report.rank}: {report.message} [{name}]")
    steps = report.steps
    width = max(len(_place(step.file, step.line)) for step in steps)
    for step in steps:
        print(f"    {_place(step.file, step.line):<{width}}  {_told(step)}")
    if report.values:
        print(f"    with {', '.join(f'{shown.label} = {shown.value}' for shown in report.values)}")
    if report.because:
        print(f"    assuming: {'; '.join(report.because[:3])}")
    if report.also:
        places = ", ".join(_place(file, line) for file, line in report.also[:8])
        more = f" and {len(report.also) - 8} more" if len(report.also) > 8 else ""
        print(f"    the same value also comes to {places}{more}")
    if report.confirmation:
        print(f"    {_confirmed(report.confirmation)}")
    print()


def print_warning(report: Report, stream: TextIO) -> None:
    """A report as a C compiler tells a warning: editors and build servers find the places in it."""
    place = _place(report.file, report.line)
    name = report.property + (f", CWE-{report.cwe}" if report.cwe else "")
    print(f"{place}:{report.column}: warning: {report.message} [{name}, {report.rank}]", file=stream)
    for step in report.steps[:-1]:
        print(f"{_place(step.file, step.line)}: note: {step.text}", file=stream)


def _confirmed(found: dict[str, Any]) -> str:
    if found["verdict"] != "confirmed":
        return f"not confirmed: {found['note']}"
    assumed = f" with {found['note']}" if found["note"] else ""
    return f"confirmed: {found['function']} fails there natively{assumed}: {found['harness']}"


def confirmed_summary(left: Sequence[Report], impossible: Sequence[Report], directory: Path) -> str:
    """What the engine made of the reports."""
    confirmed = sum(report.confirmation["verdict"] == "confirmed" for report in left)
    text = f"explored: {_count(confirmed, 'report')} confirmed, {len(left) - confirmed:,} not decided, "
    return f"{text}{len(impossible):,} impossible and dropped; programs that fail are in {directory}"


def _told(step: Step) -> str:
    code = " ".join(source_line(step.file, step.line).split())
    code = code if len(code) <= 60 else code[:57] + "..."
    return f"{code:<44}  {step.text}" if code else step.text


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def summary(
    result: CheckResult,
    new: Sequence[Report],
    visible: Sequence[Report],
    known: Sequence[Report],
    suppressed: int,
) -> str:
    """Never just "no errors": what the verdicts rest on is named."""
    verdicts = result.verdicts
    ranks = [(rank, sum(report.rank == rank for report in visible)) for rank in RANKS]
    listed = ", ".join(f"{count:,} {_RANKED[rank]}" for rank, count in ranks if count)
    told = f" ({listed})" if listed else ""
    lines = [
        f"{_count(len(visible), 'report')}{told} in {_count(result.functions, 'function')}",
        f"{_count(result.conditions, 'condition')}: {verdicts['proved']:,} proved, "
        f"{verdicts['refuted']:,} refuted, {verdicts['left to the callers']:,} left to the callers, "
        f"{verdicts['as the caller says']:,} open to unknown callers, {verdicts['undecided']:,} undecided",
    ]
    hidden = len(new) - len(visible)
    if hidden:
        lines.append(f"hidden: {_count(hidden, 'report')} about unknown callers (--all-ranks shows them)")
    if known or suppressed:
        lines.append(f"not shown: {len(known):,} of the baseline, {suppressed:,} by comments")
    if result.undecided:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in result.undecided.most_common())
        lines.append(f"undecided because: {reasons}")
    if result.failed:
        lines.append("not checked: " + ", ".join(f"{n} ({why})" for n, why in result.failed.items()))
    if result.order.skipped:
        lines.append(f"skipped: {_count(len(result.order.skipped), 'function')} that nobody can call (--all)")
    losses = result.losses
    if losses:
        lines.append("the verdicts rest on these assumptions:")
        lines += [f"  {kind} ({count:,})" for kind, count in losses.most_common()]
    else:
        lines.append("no unsound choice was made on the way to these verdicts")
    lines.append("not looked at: concurrency, signals, exceptions; unknown callers pass valid pointers")
    return "\n".join(lines)


def issue_of_report(report: Report) -> Issue:
    """A report as other tools are told of it."""
    steps = tuple(Place(step.file, step.line, step.text) for step in report.steps)
    place = Place(report.file, report.line, report.message, report.column)
    details: dict[str, Any] = {
        "property": report.property,
        "rank": report.rank,
        "function": report.source_function,
        "values": {shown.label: shown.value for shown in report.values},
        "assuming": list(report.because),
    }
    if report.confirmation:
        details["confirmation"] = report.confirmation
    likely = report.rank == "likely"
    return Issue(report.kind, likely, place, steps, report.cwe, report.fingerprint, details)


def document(
    result: CheckResult,
    new: Sequence[Report],
    known: Sequence[Report],
    suppressed: int,
    seconds: float,
) -> dict[str, Any]:
    """`check.json`."""
    return {
        "version": 1,
        "reports": [report.as_json() for report in new],
        "known": [report.fingerprint for report in known],
        "suppressed": suppressed,
        "functions": result.functions,
        "skipped": list(result.order.skipped),
        "not_checked": result.failed,
        "instructions": result.instructions,
        "conditions": result.conditions,
        "verdicts": dict(result.verdicts),
        "undecided": dict(result.undecided),
        "unsound": dict(result.losses),
        "unknown_values": dict(result.imprecise),
        "functions_without_contract": dict(result.unknown_externals.most_common()),
        "queries": result.queries,
        "expansions": result.expansions,
        "seconds": {name: round(value, 3) for name, value in {**result.seconds, "total": seconds}.items()},
    }
