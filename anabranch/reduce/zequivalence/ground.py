"""What calls have in common that are made in the same situation: most are, again and again.

A situation is what memory holds, by content, and which variables can be told apart. What states with some
looks show at a place is the same in all calls that were made in it, so it is found once for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from anabranch.reduce.zequivalence.pieces import PageNumbers
from anabranch.reduce.zequivalence.variables import PageVariables

GROUNDS_KEPT = 2_000
LOOKED_KEPT = 50_000  # looks, over all grounds
NO_COUNTS: Counter[int] = Counter()

Looks = tuple[Hashable, ...]
"""All of a state but its path condition: numbers of pages, then values."""
Observable = dict[Hashable, tuple[frozenset[int], Any]]
"""By what has changed: the observable variables, and what is held so that it keeps its identity."""


class Looked:
    """What is known of states with some looks at a place."""

    __slots__ = ("asked", "changed", "looks", "shown")

    def __init__(self, looks: Looks, changed: list[int], asked: tuple[int, ...]) -> None:
        self.looks = looks
        self.changed = changed  # positions of the pages that are there and not what they were
        self.asked = asked  # the variables that the caller can see, or that are in outputs
        # What `state` keeps: their outputs, by the version of what is touched.
        self.shown: dict[int, Any] = {}


class Ground:
    """Pages of a base and the variables that can be told apart, with what is known of states there."""

    __slots__ = ("by_page", "fixed", "keys", "looked", "numbers", "observable", "order", "total", "unclear")

    def __init__(
        self,
        pages: Mapping[int, Any],
        numbers: tuple[int, ...],
        fixed: frozenset[int],
        variables: PageVariables,
    ) -> None:
        self.keys = tuple(pages)
        self.numbers = numbers
        held = [v for page in pages.values() if page.__class__ is list for v in variables.of(page)]
        self.by_page = Counter(held) if held else NO_COUNTS  # variable -> pages that hold it
        self.fixed = fixed
        self.total = fixed.union(self.by_page)
        self.order = tuple(sorted(self.total))
        self.observable: Observable = {}
        # By place and variables that are observable in any case:
        self.looked: dict[Hashable, dict[Looks, Looked]] = {}
        # By the first state of a place and another: where the one is not known to be other than the other.
        self.unclear: dict[tuple[Looked, Looked], tuple[int, ...]] = {}


class Grounds:
    """Those of a run."""

    def __init__(self, numbers: PageNumbers, variables: PageVariables) -> None:
        self._numbers = numbers
        self._variables = variables
        self._known: dict[Hashable, Ground] = {}
        self._looked = 0

    def of(self, pages: Mapping[int, Any], fixed: frozenset[int]) -> Ground:
        """The one with pages of these contents, and these observable variables besides those in pages."""
        numbers = self._numbers.of_all(pages.values())
        key = (tuple(pages), numbers, fixed)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= GROUNDS_KEPT:
                self._known.clear()
            known = self._known[key] = Ground(pages, numbers, fixed, self._variables)
        return known

    def keep(self, ground: Ground, looked: dict[Looks, Looked], one: Looked) -> None:
        """What is known of some looks, for those to come."""
        self._looked += 1
        if self._looked > LOOKED_KEPT:
            self._looked = 0
            for other in (*self._known.values(), ground):
                for known in other.looked.values():
                    known.clear()
                other.unclear.clear()
        looked[one.looks] = one
