"""What was removed behind which call, and where looking has stopped to pay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from anabranch.machine.translator.sites import CallSite

IN_VAIN = 64  # states behind a call for each that was removed, and one more: beyond that nobody looks there
ASKED_IN_VAIN = 32  # exact checks at a call site that find nothing: one takes as long as many states do
FORM = 4  # what a form in vain counts for, where a state that needs none because it is alone counts for one
IN_VAIN_FORMS = 16 * FORM  # after which fewer are made
WORTH = 8 * FORM  # what a form makes up for which another state had
FEWEST = 6  # the binary logarithm of how many states there are for each form then, at most
MOST_IN_VAIN = IN_VAIN_FORMS + FORM * FEWEST  # so that one form which finds something is enough for more


@dataclass(slots=True)
class Row:
    """One function: the states that came back from it, those that went on, and the paths they stand for."""

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
        """Orders of magnitude from the states that went on to the paths that came back (seed 000, 5.1)."""
        return math.log10(self.paths / self.kept) if self.kept and self.paths > self.kept else 0.0


@dataclass(slots=True)
class Place:
    """One call site."""

    returned: int = 0
    removed: int = 0
    closed: bool = False
    asked: int = 0  # exact checks
    found: int = 0  # that removed a state
    vain: int = 0  # forms that were those of no other state, less what others were worth
    passed: int = 0  # states since the last form

    @property
    def worth_asking(self) -> bool:
        """Does the solver find twins here, as far as it was asked?"""
        return self.asked - self.found < ASKED_IN_VAIN

    @property
    def pays(self) -> bool:
        """Do forms find twins here?"""
        return self.vain < IN_VAIN_FORMS

    def worth_forming(self) -> bool:
        """Is a state to get a form? Where forms find nothing, fewer and fewer are made."""
        self.passed += 1
        vain = self.vain - IN_VAIN_FORMS
        return vain < 0 or self.passed >= 1 << min(vain // FORM, FEWEST)

    def formed(self, found: bool) -> None:
        """A state got a form, and that of another or not."""
        self.passed = 0
        self.vain = max(0, self.vain - WORTH) if found else min(self.vain + FORM, MOST_IN_VAIN)

    def alone(self) -> None:
        """A state was worth a form and got none: no other can have it."""
        self.passed = 0
        self.vain = min(self.vain + 1, MOST_IN_VAIN)


@dataclass(slots=True)
class ZLedger:
    """Counts by function, and which call sites are worth looking at."""

    in_vain: int = IN_VAIN
    rows: dict[str, Row] = field(default_factory=dict)
    places: dict[CallSite, Place] = field(default_factory=dict)

    def row(self, function: str) -> Row:
        found = self.rows.get(function)
        if found is None:
            found = self.rows[function] = Row(function)
        return found

    def place(self, site: CallSite) -> Place:
        found = self.places.get(site)
        if found is None:
            found = self.places[site] = Place()
        return found

    def open(self, site: CallSite) -> bool:
        place = self.places.get(site)
        return place is None or not place.closed

    def came_back(self, place: Place, row: Row, states: int, multiplicity: int) -> None:
        """So many states, none of which has been looked at yet, with the paths that they stand for."""
        if place.returned >= self.in_vain * (1 + place.removed):
            place.closed = True
        place.returned += states
        row.returned += states
        row.paths += multiplicity

    def removed(self, place: Place, row: Row, exact: bool = False) -> None:
        place.removed += 1
        row.removed += 1
        row.exact += exact
        place.found += exact

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
