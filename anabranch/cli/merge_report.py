"""What merging brought and cost, location by location: `--merge-report`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anabranch.cli.wording import count, near

_SHOWN = 30


def merge_report(reductions: dict[str, Any]) -> str:
    """A table of the ledger, why states were not merged, and what was found in loops."""
    return "\n".join((
        *_lines(reductions.get("merging")),
        *_summary_lines(reductions.get("summaries", {})),
        *_loop_lines(reductions.get("loops", {})),
    ))  # fmt: skip


def _lines(reductions: dict[str, Any] | None) -> Iterator[str]:
    if reductions is None:
        yield "Nothing was merged: the run had --merge none."
        return
    yield f"Merging: {count(reductions.get('merges', 0), 'merge')}."
    refused = reductions.get("refused", {})
    if refused:
        reasons = sorted(refused.items(), key=lambda item: -item[1])
        yield "Kept apart: " + ", ".join(f"{number:,} x {reason}" for reason, number in reasons) + "."
    if "forwarded" in reductions:
        yield f"Fast-forwarded {count(reductions['forwarded'], 'state')}."
    if "verified" in reductions:
        yield (
            f"Proved {reductions['verified']:,} merges; {reductions['wrong']:,} wrong, "
            f"{reductions['not decided']:,} not decided."
        )
    fit = reductions.get("paths")
    if fit is not None:
        yield f"Paths p and multiplicity m: log p = {fit['c1']:.3f} + {fit['c2']:.3f} log m."
    rows = reductions.get("ledger", [])
    yield f"{'merges':>8} {'turns':>8} {'forks':>8} {'effort':>10} {'seconds':>9}  location"
    for row in rows[:_SHOWN]:
        note = "  given up: it does not pay" if row["given up"] else ""
        yield (
            f"{row['merges']:>8,} {row['turns']:>8,} {row['forks']:>8,} {row['effort']:>10,} "
            f"{row['seconds']:>9.3f}  {near(row['location'])}{note}"
        )
    if len(rows) > _SHOWN:
        yield f"and {len(rows) - _SHOWN} more; see reductions in run.json"


def _summary_lines(summaries: dict[str, Any]) -> Iterator[str]:
    """The loops whose rounds were followed all at once, with their conditions."""
    if not summaries:
        return
    if summaries["summaries"]:
        yield f"Loops followed without asking the solver: {count(summaries['summaries'], 'time')}."
    for row in summaries["loops"][:_SHOWN]:
        yield f"{row['summaries']:>8,} x the loop at {near(row['location'])}"
        yield from _pattern_lines(row)
    for reason, number in summaries["refused"].items():
        yield f"Loops run as ever: {number:,} x {reason}."


def _loop_lines(loops: dict[str, Any]) -> Iterator[str]:
    """The exits of loops where states became one, with the patterns of their conditions."""
    if not loops.get("joins"):
        return
    yield f"Loops: {count(loops['states'], 'state')} became {loops['joins']:,}."
    for row in loops["exits"][:_SHOWN]:
        yield f"{row['states']:>8,} -> {row['joins']:,}  behind the loop at {near(row['location'])}"
        yield from _pattern_lines(row)
    for reason, number in loops["refused"].items():
        yield f"Merged in pairs instead: {number:,} x {reason}."


def _pattern_lines(row: dict[str, Any]) -> Iterator[str]:
    return (f"{'':>10}{pattern}" for pattern in row["patterns"])
