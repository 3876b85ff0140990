"""What was removed behind which call, and where comparing has stopped to pay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from anabranch.machine.translator.sites import CallSite

IN_VAIN = 64  # states behind a call for each that was removed, and one more: beyond that nobody stops there
ASKED_IN_VAIN = 32  # exact checks at a call site that find nothing: one takes as long as many states do


@dataclass(slots=True)
class Row:
    """One function: the states that came back from it, those that went on, and the paths they represent."""

    function: str
    returned: int = 0
    removed: int = 0
    paths: int = 0  # multiplicity of all that came back
    seconds: float = 0.0  # that comparing took
    exact: int = 0  # removed by the solver

    @property
    def kept(self) -> int:
        return self.returned - self.removed

    @property
    def orders(self) -> float:
        """Orders of magnitude from the states that went on to the paths that came back (Li et al., 5.1)."""
        return math.log10(self.paths / self.kept) if self.kept and self.paths > self.kept else 0.0


@dataclass(slots=True)
class SiteRow:
    """One call site."""

    returned: int = 0
    removed: int = 0
    closed: bool = False
    asked: int = 0  # exact checks
    found: int = 0  # that removed a state

    @property
    def worth_asking(self) -> bool:
        """Does the solver find twins here, as far as it was asked?"""
        return self.asked - self.found < ASKED_IN_VAIN


@dataclass(slots=True)
class ZLedger:
    """Counts by function, and which call sites are worth looking at."""

    in_vain: int = IN_VAIN
    rows: dict[str, Row] = field(default_factory=dict)
    sites: dict[CallSite, SiteRow] = field(default_factory=dict)

    def row(self, function: str) -> Row:
        return self.rows.setdefault(function, Row(function))

    def site_row(self, site: CallSite) -> SiteRow:
        return self.sites.setdefault(site, SiteRow())

    def open(self, site: CallSite) -> bool:
        known = self.sites.get(site)
        return known is None or not known.closed

    def came_back(self, site: SiteRow, row: Row, states: int, multiplicity: int) -> None:
        """So many states, none of which has been looked at yet, with the paths that they represent."""
        if site.returned >= self.in_vain * (1 + site.removed):
            site.closed = True
        site.returned += states
        row.returned += states
        row.paths += multiplicity

    def removed(self, site: SiteRow, row: Row, exact: bool = False) -> None:
        site.removed += 1
        row.removed += 1
        row.exact += exact
        site.found += exact

    def figures(self) -> list[dict[str, Any]]:
        """For the report and the run's summary, the most fruitful first."""
        rows = sorted(self.rows.values(), key=lambda row: (-row.removed, row.function))
        return [
            {
                "function": row.function,
                "states": row.returned,
                "kept": row.kept,
                "paths": row.paths,
                "orders": round(row.orders, 2),
                "seconds": row.seconds,
                "exact": row.exact,
            }
            for row in rows
            if row.returned
        ]
