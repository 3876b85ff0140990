"""Where an address points: a terminal pointer and an offset, by cases.

An address is a graph of choices and sums over terminal pointers (section 3.1.3). `places` splits it into
cases `(condition, base, offset)`; conditions exclude each other. Offsets are numbers where the sum folds
to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anabranch.check.leaves import Leaves
from anabranch.expr import MASK, Expr, Value, add, ite, sub
from anabranch.expr.node import ADD, CONCAT, ITE, MUL, SHL, SUB, VAR, ZEXT

LIMIT = 12
"""Cases of one address; the rest of a larger one is unknown, which is counted."""


SMALL = 8
"""Bits of a number whose values may be looked at one by one."""


class Place(NamedTuple):
    """One case of an address; without a base it is not known where it points, or a plain number."""

    condition: Value
    base: Expr | None
    offset: Value


def sum_terms(value: Expr) -> tuple[list[Expr], int]:
    """The terms of a sum that are no numbers, and the number."""
    found: list[Expr] = []
    constant = 0
    stack: list[Value] = [value]
    while stack:
        current = stack.pop()
        if current.__class__ is not Expr:
            constant += current
        elif current.op == ADD:
            stack += [current.b, current.a]
        else:
            found.append(current)
    return found, constant & MASK[64]


def multiple_of(value: Value, step: int) -> bool:
    """Is a value a multiple of `step` by its form?"""
    if step & (step - 1):
        return False  # sums are modulo 2**64, which only powers of two divide
    if value.__class__ is not Expr:
        return bool(value % step == 0)
    if value.op == SUB:
        return multiple_of(value.a, step) and multiple_of(value.b, step)
    terms, constant = sum_terms(value)
    return constant % step == 0 and all(_scaled(term)[1] % step == 0 for term in terms)


def offset_range(value: Expr) -> tuple[int, int] | None:
    """Bounds of a sum of small numbers, by its form; None if there are none."""
    terms, low = sum_terms(value)
    high = low
    for term in terms:
        core, factor = _scaled(term)
        if core.w > SMALL:
            return None
        high += ((1 << core.w) - 1) * factor
    return (low, high) if high < 1 << 32 else None


def _scaled(term: Expr) -> tuple[Expr, int]:
    """A term as a number of few bits times a factor."""
    factor = 1
    while True:
        if term.op == ZEXT:
            term = term.a
        elif term.op == MUL and term.b.__class__ is int:
            term, factor = term.a, factor * int(term.b)
        elif term.op == CONCAT and term.b.__class__ is int and term.b == 0:
            term, factor = term.a, factor << (term.w - term.a.w)
        elif term.op == SHL and term.b.__class__ is int:
            return term, factor << term.b
        else:
            return term, factor


Cases = dict[tuple[Expr | None, Value], Value]
"""The condition of each base and offset."""


def _choice(condition: Value, yes: Cases, no: Cases) -> Cases:
    """The choice restricted to each case (Definition 7): one that both sides have is not taken apart."""
    keys = dict.fromkeys((*yes, *no))
    return {key: ite(condition, yes.get(key, False), no.get(key, False), 1) for key in keys}


class Places:
    """The cases of addresses, each worked out once."""

    def __init__(self, leaves: Leaves, expanded: Callable[[Expr], Value]) -> None:
        self.leaves = leaves
        self.expanded = expanded
        """A summary operator that is dereferenced, opened if it is small; else itself."""
        self.given_up = 0
        self._known: dict[Expr, tuple[Place, ...]] = {}

    def of(self, address: Value) -> tuple[Place, ...]:
        if address.__class__ is not Expr:
            return (Place(True, None, address),)
        found = self._known.get(address)
        if found is None:
            found = self._known[address] = self._split(address)
        return found

    def _split(self, address: Expr) -> tuple[Place, ...]:
        cases = self._cases(address, 0, [LIMIT - 1])
        return tuple(Place(condition, base, offset) for (base, offset), condition in cases.items())

    def _cases(self, value: Value, offset: Value, left: list[int]) -> Cases:
        """`left` is the number of choices that may still be looked into, for all parts of one address."""
        if value.__class__ is not Expr:
            return {(None, add(value, offset, 64)): True}
        if value.op == VAR:
            opened = self.expanded(value)
            return {(value, offset): True} if opened is value else self._cases(opened, offset, left)
        if value.op == ITE:
            if not left[0]:
                self.given_up += 1
                return {(None, None): True}
            left[0] -= 1
            return _choice(value.a, self._cases(value.b, offset, left), self._cases(value.c, offset, left))
        pointer = self._pointer(value)
        if pointer is None:
            return {(None, None): True}
        return self._cases(pointer, add(offset, sub(value, pointer, 64), 64), left)

    def subject(self, address: Value) -> Value:
        """The pointer that an address is an offset from."""
        places = self.of(address)
        if len(places) == 1 and places[0].base is not None:
            return places[0].base
        if address.__class__ is Expr and address.op == ADD:
            pointer = self._pointer(address)
            return address if pointer is None else pointer
        return address

    def pointer(self, address: Expr) -> Expr:
        """The pointer of a sum, else the address itself; no operator is opened for it."""
        found = self._pointer(address) if address.op == ADD else None
        return address if found is None else found

    def _pointer(self, value: Expr) -> Expr | None:
        """The term of a sum that is the pointer; the others are its offset."""
        terms, _ = sum_terms(value)
        for term in terms:
            if term.op == VAR and self.leaves.is_pointer(term.a):
                return term
        choices = [term for term in terms if term.op == ITE]
        if len(choices) == 1:
            return choices[0]
        return terms[0] if len(terms) == 1 and terms[0].op == VAR else None
