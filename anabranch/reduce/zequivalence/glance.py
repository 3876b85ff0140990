"""States at a glance: what tells them apart where nothing needs to be proved.

Most states behind a call are the same as one that was there before, byte for byte and clause for clause, or
have other known values. Both show in a key that is made of what all states share by identity: numbers of
pages, values, slices of the path condition. Equal keys are equal constraints, so the later state goes.
States without symbolic outputs and with other keys have other forms: none needs to be made.

Whatever has new objects, variable arguments, or something else in what models keep, is not looked at in this
way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import compress, count
from operator import is_not, itemgetter, ne
from typing import Any

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.reduce.zequivalence.calls import Call
from anabranch.reduce.zequivalence.ground import Grounds, Looked, Looks
from anabranch.reduce.zequivalence.observable import Common, Shared
from anabranch.reduce.zequivalence.pieces import PageNumbers
from anabranch.reduce.zequivalence.variables import NOTHING, PageVariables, variables_of
from anabranch.solver import Slice

ONLY_INTEGERS = frozenset((int,))
Condition = tuple[Slice | None, ...]


class Alike:
    """States at a place that look the same: they differ in their path conditions at most."""

    __slots__ = ("asked", "looked", "more", "stands", "touched")

    def __init__(self, looked: Looked, more: frozenset[int]) -> None:
        self.looked = looked  # what all states with these looks have in common, here and elsewhere
        self.asked = looked.asked
        self.more = more  # variables that are observable in any case
        self.touched = False  # are their changes taken into account?
        self.stands: dict[Condition, State] = {}  # who goes on

    def condition(self, state: State) -> Condition:
        """What a state knows of the variables that matter."""
        return tuple(map(state.slices.get, self.asked))


class Group:
    """States at a place that nothing known tells apart: only those of a group may have equal forms."""

    __slots__ = ("formed", "looks", "unformed")

    def __init__(self, looks: Looks) -> None:
        self.looks = looks  # of one of them
        self.unformed: list[tuple[State, Alike]] = []  # kept without a form, which nobody has asked for yet
        self.formed = False  # do others have theirs?

    def join(self, other: Group) -> None:
        self.unformed += other.unformed
        self.formed = self.formed or other.formed


class Glance:
    """Looks of the states at one place."""

    __slots__ = (
        "_before",
        "_first",
        "_ground",
        "_grounds",
        "_groups",
        "_keys",
        "_latest",
        "_layout",
        "_notes",
        "_numbers",
        "_outer",
        "_pages",
        "_plain",
        "_present",
        "_same",
        "_unfilled",
        "_ungrouped",
        "_vague",
        "alike",
        "others",
        "place",
        "seen",
    )

    def __init__(
        self,
        scope: Call,
        place: Hashable,
        shared: Shared,
        numbers: PageNumbers,
        grounds: Grounds,
    ) -> None:
        self.place = place
        self.alike: dict[Looked, Alike] = {}
        self.others = False  # are there states that cannot be looked at in this way?
        self._groups: dict[Hashable, Group] = {}
        self._ungrouped: list[tuple[State, Alike]] = []  # kept without a form, in no group yet
        self._outer = scope.continuation
        self._numbers = numbers
        self._grounds = grounds
        self._ground = shared.ground
        self._keys = shared.ground.keys
        self._present = shared.pages
        self.seen = self.seen_with(NOTHING)
        self._before = shared.before
        self._layout = shared.layout
        self._unfilled = shared.unfilled
        self._notes = (scope.base.notes, shared.note_items)
        self._same: Any = None  # the latest objects that were the same
        self._latest: tuple[Any, tuple[int, ...]] = (None, ())  # the latest pages, and their numbers
        # The first state that was looked at, and in what others are not just known to be something else:
        self._first: Looked | None = None
        self._pages: Mapping[int, Any] = {}
        self._vague: set[int] = set()
        self._plain: Callable[[Looks], Hashable] = lambda looks: looks  # what is known of all states so far

    def looks(self, state: State) -> Looks | None:
        """What a state is but for its path condition; None if that cannot be told at a glance."""
        pages, numbers = self._latest
        if state.objects is not self._same:
            if not self._layout.same_as(state.objects):
                return None
            self._same = state.objects
        if state.pages is not pages:
            pages = state.pages
            for key in self._unfilled:
                if key in pages:
                    return None
            for key in self._layout.sparse_pages(pages):
                if key not in self._present:
                    return None
            numbers = self._ground.numbers
            there = list(map(pages.get, self._keys))
            changed = list(compress(count(), map(is_not, there, self._before)))
            if changed:
                known = list(numbers)
                for position in changed:
                    known[position] = self._numbers.of(there[position])
                numbers = tuple(known)
            self._latest = (pages, numbers)
        notes, (before, items) = state.tables[1], self._notes
        if notes is not before:
            if len(notes) != len(before):
                return None
            for key, value in items:
                if notes.get(key) is not value:
                    return None
        continuation, outer = state.continuation, self._outer
        values = state.values
        while continuation is not outer and continuation[1] is not None:
            values += continuation[3:]
            continuation = continuation[0]
        if not ONLY_INTEGERS.issuperset(map(type, values)):
            try:
                # As `plain_value` has them, the most frequent kinds at once.
                values = tuple(
                    [
                        x if x.__class__ is int else -1 - x.id if x.__class__ is Expr else plain_value(x)
                        for x in values
                    ]
                )
            except NotPlain:
                return None
        return numbers + values

    def values(self, looks: Looks) -> Looks:
        """The live values among the looks of a state."""
        return looks[len(self._keys) :]

    def wait(self, state: State, alike: Alike) -> None:
        """Keep a state without a form; what group it is in is asked when others get theirs."""
        self._ungrouped.append((state, alike))

    def groups(self) -> Iterable[Group]:
        """All of them."""
        self._group_waiting()
        return self._groups.values()

    def group(self, state: State, alike: Alike) -> Group:
        """The states that may have the form of one that looks like these."""
        self._group_waiting()
        return self._group(state, alike.looked)

    def _group_waiting(self) -> None:
        if self._ungrouped:
            for state, alike in self._ungrouped:
                self._group(state, alike.looked).unformed.append((state, alike))
            self._ungrouped = []

    def _group(self, state: State, looked: Looked) -> Group:
        if self._first is None:
            self._first, self._pages = looked, state.pages
        pair = (self._first, looked)
        unclear = self._ground.unclear.get(pair)
        if unclear is None:
            unclear = self._ground.unclear[pair] = self._unclear(state, looked.looks)
        vague, looks = self._vague, looked.looks
        if unclear and not vague.issuperset(unclear):
            vague.update(unclear)
            plain = [position for position in range(len(looks)) if position not in vague]
            self._plain = itemgetter(*plain) if plain else lambda looks: ()
            before, self._groups = self._groups, {}
            for group in before.values():
                self._groups.setdefault(self._plain(group.looks), Group(group.looks)).join(group)
        part = self._plain(looks)
        found = self._groups.get(part)
        if found is None:
            found = self._groups[part] = Group(looks)
        return found

    def _unclear(self, state: State, looks: Looks) -> tuple[int, ...]:
        """Where a state looks other than the first one and is not known to be."""
        assert self._first is not None
        first, keys = self._first.looks, self._keys
        found: list[int] = []
        for position in compress(count(), map(ne, first, looks)):
            if position >= len(keys):
                known = is_known(looks[position]) and is_known(first[position])
            else:
                key = keys[position]
                known = _known_changes(self._pages.get(key), state.pages.get(key))
            if not known:
                found.append(position)
        return tuple(found)

    def seen_with(self, more: frozenset[int]) -> dict[Looks, Looked]:
        """The looks of states that were here, in this call or in others that were made in the same situation,
        where `more` variables are observable."""
        return self._ground.looked.setdefault((self.place, more), {})

    def alike_to(
        self,
        state: State,
        looks: Looks,
        looked: Looked | None,
        more: frozenset[int],
        variables: PageVariables,
    ) -> Alike:
        """A place for states that look like this one."""
        if looked is None:
            looked = self._looked(state, looks, more, variables)
            self._grounds.keep(self._ground, self.seen_with(more) if more else self.seen, looked)
        alike = self.alike[looked] = Alike(looked, more)
        return alike

    def touch(self, state: State, alike: Alike, common: Common) -> None:
        """Take into account what has changed in states that look like this one."""
        alike.touched = True
        pages, keys, looks = state.pages, self._keys, alike.looked.looks
        for position in alike.looked.changed:
            number: Any = looks[position]
            common.touch(keys[position], pages[keys[position]], number)

    def _looked(self, state: State, looks: Looks, more: frozenset[int], variables: PageVariables) -> Looked:
        """What is known of states that look like this one."""
        ground = self._ground
        found = variables_of(state.values)
        continuation = state.continuation
        while continuation is not self._outer and continuation[1] is not None:
            found |= variables_of(continuation[3:])
            continuation = continuation[0]
        changed = [at for at in compress(count(), map(ne, ground.numbers, looks)) if looks[at]]
        for position in changed:
            number: Any = looks[position]
            found |= variables.numbered(number, state.pages[self._keys[position]])
        if more or not found <= ground.total:
            return Looked(looks, changed, tuple(sorted(found.union(ground.total, more))))
        return Looked(looks, changed, ground.order)


def is_known(look: Hashable) -> bool:
    kind = look.__class__
    return kind is bool or (kind is int and look >= 0)  # type: ignore[operator]


class NotPlain(Exception):
    """A value that is more than bits."""


def plain_value(value: Any) -> Hashable:
    """A value of a register as part of a key: known values are not negative, expressions are."""
    kind = value.__class__
    if kind is int or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is Expr:
        return -1 - value.id  # type: ignore[no-any-return]
    if kind is tuple:
        return tuple([plain_value(part) for part in value])
    raise NotPlain


def _known_changes(before: Any, page: Any) -> bool:
    """Is a page known to be another: has it other known bytes, and no expressions where they differ?"""
    if page is None or page.__class__ is bytearray:
        return before.__class__ is bytearray and page != before
    if before.__class__ is bytearray or len(before) != len(page):
        return False
    pairs = list(compress(zip(before, page, strict=True), map(is_not, before, page)))
    return bool(pairs) and all([a.__class__ is int and b.__class__ is int for a, b in pairs])


class Same:
    """A thing that is equal to nothing but itself, held so that its identity stays its own."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)
