"""A return point: where states that came back from a call are compared, and who represents them.

Most states are the same as one that was there before, byte for byte and clause for clause. That shows in a
*fingerprint* of what all states share by identity: contents of pages, and live values. Of states with equal
fingerprints and equal slices of the path condition, the first is the representative. For any other state the
canonical form of its state constraint is made and looked up.

New or ended objects, variable arguments and changed notes have no place in a fingerprint: such a state is
always compared by its form.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not, ne
from typing import Any

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.reduce.zequivalence.calls import Call
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.contents import Content
from anabranch.reduce.zequivalence.context import CallContext, Changes, Tables
from anabranch.reduce.zequivalence.encoding import Encoded, Encoding, live_names, live_values
from anabranch.reduce.zequivalence.variables import variables_of
from anabranch.solver import Slice

Fingerprint = tuple[Hashable, ...]
"""All of a state but its path condition: contents of pages, then live values."""

FORMED_ANEW = 64  # states that get another form when there are more outputs; older ones are left out
ONLY_INTEGERS = frozenset((int,))


@dataclass(slots=True, eq=False)
class FingerprintClass:
    """States with the same fingerprint: they differ in their path conditions at most."""

    variables: tuple[int, ...]  # those that the caller can see, or that are in outputs
    representatives: dict[tuple[Slice | None, ...], State] = field(default_factory=dict)  # by their slices


class ReturnPoint:
    """One location inside a call (the scope), behind a call that was made there."""

    def __init__(self, scope: Call, first: State, more: frozenset[int], tables: Tables) -> None:
        self._tables = tables
        self._context = CallContext(scope, first, tables)
        self._changes = Changes(self._context, tables.contents)
        self._names = live_names(first, scope.continuation)
        self._classes: dict[Fingerprint, FingerprintClass] = {}
        self._unformed: list[tuple[State, frozenset[int]]] = []  # states that needed no form so far
        self._forms: dict[frozenset[int], State] = {}
        self._formed: dict[State, frozenset[int]] = {}  # with the variables that are observable anyway
        self._same_objects: Any = None  # the latest map of objects that are those of the context
        self._latest: tuple[Any, tuple[Content, ...]] = (None, ())  # the latest pages, and their contents
        self.representative(first, more)

    def representative(self, state: State, more: frozenset[int]) -> State | None:
        """The state that shows all that this one could, if there is one; else it may represent others from
        now on. `more` variables are observable in any case."""
        fingerprint = self._fingerprint(state)
        if fingerprint is None:
            return self._by_form(state, more)
        key = (*fingerprint, more) if more else fingerprint
        found, needs_form = self._classes.get(key), True
        if found is None:
            needs_form = bool(self._forms) or not self._differs_in_known_values(fingerprint)
            found = self._classes[key] = FingerprintClass(self._variables(state, fingerprint, more))
        condition = tuple(map(state.slices.get, found.variables))
        kept = found.representatives.get(condition)
        if kept is None:
            if needs_form:
                kept = self._by_form(state, more)
            else:
                self._unformed.append((state, more))
            found.representatives[condition] = kept or state
        return kept

    def _differs_in_known_values(self, fingerprint: Fingerprint) -> bool:
        """Is all that tells a state from the first one known? Where that holds for all, no two have the same
        form, and none is made. (On the drivers, this saves a third of them.)"""
        first = next(iter(self._classes), fingerprint)
        different = compress(zip(first, fingerprint, strict=False), map(ne, first, fingerprint))
        return all([is_known(x) and is_known(y) for x, y in different])

    # ---- fingerprints --------------------------------------------------------------------------------

    def _fingerprint(self, state: State) -> Fingerprint | None:
        """What a state is but for its path condition, if that can be told by identity."""
        context = self._context
        if state.objects is not self._same_objects:
            if not context.layout.same_as(state.objects):
                return None
            self._same_objects = state.objects
        pages, contents = self._latest
        if state.pages is not pages:
            pages, contents = state.pages, context.contents
            for key in context.first_unfilled:
                if key in pages:
                    return None
            for key in context.layout.sparse_pages(pages):
                if key not in context.pages:
                    return None
            there = list(map(pages.get, context.keys))
            changed = list(compress(count(), map(is_not, there, context.before)))
            if changed:
                known, of = list(contents), self._tables.contents.of
                for position in changed:
                    known[position] = of(there[position])
                contents = tuple(known)
            self._latest = (pages, contents)
        notes = state.tables[1]
        if notes is not context.base.notes:
            if len(notes) != len(context.base.notes):
                return None
            for key, value in context.notes:
                if notes.get(key) is not value:
                    return None
        values = live_values(state, self._context.outer)
        if ONLY_INTEGERS.issuperset(map(type, values)):
            return contents + values
        try:
            return contents + tuple([x if x.__class__ is int else by_identity(x) for x in values])
        except NotPlain:
            return None

    def _variables(self, state: State, fingerprint: Fingerprint, more: frozenset[int]) -> tuple[int, ...]:
        """What two states with a fingerprint may know that makes a difference."""
        context = self._context
        found = variables_of(live_values(state, self._context.outer))
        for content in compress(fingerprint, map(is_not, fingerprint, context.contents)):
            found |= content.variables  # type: ignore[attr-defined]
        if more or not found <= context.variables:
            return tuple(sorted(found.union(context.variables, more)))
        return context.order

    # ---- forms ---------------------------------------------------------------------------------------

    def _by_form(self, state: State, more: frozenset[int]) -> State | None:
        """The state that had the form of this one before, if any."""
        before, self._unformed = self._unformed, []
        for other, observed in before:
            self._changes.add(other)
            self._formed[other] = observed
        if self._changes.add(state) or before:
            self._form_anew()
        return self._form(state, more)

    def _form(self, state: State, more: frozenset[int]) -> State | None:
        kept = self._forms.setdefault(self._tables.forms.form(self._encoded(state, more)), state)
        if kept is not state:
            return kept
        self._formed[state] = more
        return None

    def _form_anew(self) -> None:
        """A page has changed on a path that had not on those before: it is now an output of all."""
        before = list(self._formed.items())[-FORMED_ANEW:]
        self._forms.clear()
        self._formed.clear()
        for state, more in before:
            self._form(state, more)

    def _encoded(self, state: State, more: frozenset[int]) -> Encoded:
        return Encoding(state, self._changes, self._names, self._tables, more).encoded

    def constraint(self, state: State, more: frozenset[int]) -> StateConstraint:
        """The state constraint of a state that is here."""
        return self._encoded(state, more).constraint()


def is_known(part: Any) -> bool:
    """Is a part of a fingerprint known: a number, or a page without expressions?"""
    if part.__class__ is Content:
        return part.page.__class__ is not list
    return part.__class__ is bool or (part.__class__ is int and part >= 0)


class NotPlain(Exception):
    """A value that is more than bits."""


def by_identity(value: Any) -> Hashable:
    """A live value as part of a fingerprint: expressions are interned, and their numbers are taken negative
    so that they equal no known value."""
    kind = value.__class__
    if kind is int or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is Expr:
        return -1 - value.id  # type: ignore[no-any-return]
    if kind is tuple:
        return tuple([by_identity(part) for part in value])
    raise NotPlain
