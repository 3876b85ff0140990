"""What z-equivalence removed, function by function: `--zeq-report`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anabranch.cli.wording import count

_SHOWN = 30


def zeq_report(reductions: dict[str, Any]) -> str:
    """A table of the states behind the calls of each function."""
    return "\n".join(_lines(reductions.get("zequivalence")))


def _lines(found: dict[str, Any] | None) -> Iterator[str]:
    if found is None:
        yield "No state was looked at: the run had no --zeq."
        return
    yield f"Z-equivalence: {count(found['removed'], 'state')} removed, detected in {found['seconds']:.3f} s."
    if found["opened calls"]:
        yield f"Callers of {count(found['opened calls'], 'call')} went on before all paths had returned."
    if found["given up call sites"]:
        yield f"Given up for lack of twins: {count(found['given up call sites'], 'call site')}."
    if "exact checks" in found:
        yield f"Exact checks: {found['exact checks']:,}, of which {found['not answered']:,} not answered."
    if "verified" in found:
        yield (
            f"Explored {found['verified']:,} removed states; {found['wrong']:,} wrong, "
            f"{found['not decided']:,} not decided."
        )
    rows = found["functions"]
    yield f"{'states':>8} {'kept':>8} {'paths':>12} {'orders of magnitude':>20} {'seconds':>9}  function"
    for row in rows[:_SHOWN]:
        yield (
            f"{row['states']:>8,} {row['kept']:>8,} {_number(row['paths']):>12} {row['orders']:>20.1f} "
            f"{row['seconds']:>9.3f}  {row['function']}"
        )
    if len(rows) > _SHOWN:
        yield f"and {len(rows) - _SHOWN} more; see reductions in run.json"


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"10^{len(str(value)) - 1}"
