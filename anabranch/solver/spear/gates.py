"""Gates in conjunctive normal form, hashed by structure.

A literal is a number, negative if negated; literal 1 is true. A gate is asked for by what it computes: one
that is there already, or that is a literal or a constant, costs neither a variable nor a clause. Negations
are free, so that every function is kept in one form only: `or` is an `and` of negations, and the negations of
`xor`, `maj` and `mux` stand outside. Each function is written with the fewest clauses over its inputs and no
variable between them (Tseitin's transform), in both directions: gates only define, so that clauses may stay
in a solver whatever is asked of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

Clause: TypeAlias = list[int]
TRUE, FALSE = 1, -1


class Gates:
    """The gates made so far. Clauses go to `emit` as they arise."""

    __slots__ = ("_all", "_and", "_emit", "_maj", "_mux", "_redundant", "_xor", "_xor3", "variables")

    def __init__(self, emit: Callable[[Clause], object], redundant: bool = False) -> None:
        self._emit = emit
        self._redundant = redundant
        """Whether a choice also says what follows from both branches alone: two clauses that add nothing but
        propagation."""
        self.variables = 1
        self._and: dict[tuple[int, int], int] = {}
        self._all: dict[tuple[int, ...], int] = {}
        self._xor: dict[tuple[int, int], int] = {}
        self._xor3: dict[tuple[int, int, int], int] = {}
        self._maj: dict[tuple[int, int, int], int] = {}
        self._mux: dict[tuple[int, int, int], int] = {}
        emit([TRUE])

    def new(self) -> int:
        """A fresh variable."""
        self.variables += 1
        return self.variables

    def and_(self, a: int, b: int) -> int:
        """Both hold."""
        if a == b or b == TRUE:
            return a
        if a == TRUE:
            return b
        if a == FALSE or b == FALSE or a == -b:
            return FALSE
        key = (a, b) if a < b else (b, a)
        g = self._and.get(key)
        if g is None:
            g = self._and[key] = self.new()
            emit = self._emit
            emit([-g, a])
            emit([-g, b])
            emit([g, -a, -b])
        return g

    def or_(self, a: int, b: int) -> int:
        """One of them holds."""
        return -self.and_(-a, -b)

    def all_(self, literals: Iterable[int]) -> int:
        """All hold: one gate however many."""
        inputs = set(literals)
        inputs.discard(TRUE)
        if FALSE in inputs or any(-a in inputs for a in inputs):
            return FALSE
        if not inputs:
            return TRUE
        key = tuple(sorted(inputs))
        if len(key) == 1:
            return key[0]
        if len(key) == 2:
            return self.and_(*key)
        g = self._all.get(key)
        if g is None:
            g = self._all[key] = self.new()
            for a in key:
                self._emit([-g, a])
            self._emit([g, *(-a for a in key)])
        return g

    def any_(self, literals: Iterable[int]) -> int:
        """One of them holds."""
        return -self.all_(-a for a in literals)

    def xor(self, a: int, b: int) -> int:
        """Exactly one holds."""
        sign = 1
        if a < 0:
            a, sign = -a, -sign
        if b < 0:
            b, sign = -b, -sign
        if a == b:
            return -sign
        if a == TRUE:
            return -sign * b
        if b == TRUE:
            return -sign * a
        key = (a, b) if a < b else (b, a)
        g = self._xor.get(key)
        if g is None:
            g = self._xor[key] = self.new()
            emit = self._emit
            emit([-g, a, b])
            emit([-g, -a, -b])
            emit([g, -a, b])
            emit([g, a, -b])
        return sign * g

    def xor3(self, a: int, b: int, c: int) -> int:
        """An odd number holds: the sum of a full adder."""
        sign = 1
        if a < 0:
            a, sign = -a, -sign
        if b < 0:
            b, sign = -b, -sign
        if c < 0:
            c, sign = -c, -sign
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
            if a > b:
                a, b = b, a
        if a == TRUE:
            return -sign * self.xor(b, c)
        if a == b:
            return sign * c
        if b == c:
            return sign * a
        key = (a, b, c)
        g = self._xor3.get(key)
        if g is None:
            g = self._xor3[key] = self.new()
            emit = self._emit
            emit([g, -a, b, c])
            emit([g, a, -b, c])
            emit([g, a, b, -c])
            emit([g, -a, -b, -c])
            emit([-g, a, b, c])
            emit([-g, a, -b, -c])
            emit([-g, -a, b, -c])
            emit([-g, -a, -b, c])
        return sign * g

    def maj(self, a: int, b: int, c: int) -> int:
        """At least two hold: the carry of a full adder, and one step of a comparison."""
        x, y, z = abs(a), abs(b), abs(c)
        if x > y:
            a, b, x, y = b, a, y, x
        if y > z:
            b, c, y, z = c, b, z, y
            if x > y:
                a, b, x, y = b, a, y, x
        if x == TRUE:
            return self.or_(b, c) if a == TRUE else self.and_(b, c)
        if x == y:
            return a if a == b else c
        if y == z:
            return b if b == c else a
        if a < 0:  # the majority of the negations is the negation of the majority
            return -self.maj(-a, -b, -c)
        key = (a, b, c)
        g = self._maj.get(key)
        if g is None:
            g = self._maj[key] = self.new()
            emit = self._emit
            emit([-g, a, b])
            emit([-g, a, c])
            emit([-g, b, c])
            emit([g, -a, -b])
            emit([g, -a, -c])
            emit([g, -b, -c])
        return g

    def mux(self, c: int, a: int, b: int) -> int:
        """a if c, else b."""
        if c < 0:
            c, a, b = -c, b, a
        if c == TRUE or a == b:
            return a
        if a == -b:
            return -self.xor(c, a)
        if a in (c, TRUE):
            return self.or_(c, b)
        if a in (-c, FALSE):
            return self.and_(-c, b)
        if b in (c, FALSE):
            return self.and_(c, a)
        if b in (-c, TRUE):
            return self.or_(-c, a)
        if a < 0:
            return -self.mux(c, -a, -b)
        key = (c, a, b)
        g = self._mux.get(key)
        if g is None:
            g = self._mux[key] = self.new()
            emit = self._emit
            emit([-c, -a, g])
            emit([-c, a, -g])
            emit([c, -b, g])
            emit([c, b, -g])
            if self._redundant:
                emit([-a, -b, g])
                emit([a, b, -g])
        return g
