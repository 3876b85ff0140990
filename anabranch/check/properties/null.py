"""NULL dereferences: of a NULL that flows.

A pointer is an *explicit* NULL where the constant flows to it, or the result of a function that may return
NULL and did. `nullness` is that condition as an expression over the pointer's own graph. A pointer of the
caller is as the caller says: the leaf `Explicit` is false in the function's own check and the argument's
nullness in a caller. A pointer that is not known, but tested against NULL nearby, may be NULL: somebody
thought so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.leaves import (
    GlobalObject,
    Leaves,
    LocalObject,
    Memory,
    Operator,
    Parameter,
    Unknown,
)
from anabranch.check.places import sum_terms
from anabranch.check.properties.base import Property
from anabranch.expr import Expr, Value, ite
from anabranch.expr.node import ADD, ITE, VAR
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated

FIRST_PAGE = 4096
"""A number below is NULL with the offset of a member."""


class Nullness:
    """The condition under which a pointer is an explicit NULL, each worked out once."""

    def __init__(self, leaves: Leaves) -> None:
        self.leaves = leaves
        self._known: dict[Expr, Value] = {}
        self.pointer_of: dict[Expr, Expr] = {}
        """Operator of a nullness -> the pointer that it is about."""
        self.offsets: set[Expr] = set()
        """Pointers into something that may be NULL: they are not zero themselves."""

    def __call__(self, pointer: Value) -> Value:
        if pointer.__class__ is not Expr:
            return pointer is not None and pointer < FIRST_PAGE
        stack = [pointer]
        while stack:
            current = stack[-1]
            if current in self._known:
                stack.pop()
                continue
            parts = self._parts(current)
            missing = [p for p in parts if p.__class__ is Expr and p not in self._known]
            if missing:
                stack += missing
                continue
            self._known[current] = self._combined(current, parts)
            stack.pop()
        return self._known[pointer]

    def _parts(self, pointer: Expr) -> tuple[Value, ...]:
        if pointer.op == ITE:
            return pointer.b, pointer.c
        if pointer.op == ADD:
            base = self._base(pointer)
            return () if base is None else (base,)
        return ()

    def _base(self, pointer: Expr) -> Expr | None:
        """p + i is NULL where p is; a plain number with an offset is no pointer."""
        terms, _ = sum_terms(pointer)
        for term in terms:
            if term.op == VAR and self.leaves.is_pointer(term.a):
                return term
        choices = [term for term in terms if term.op == ITE]
        return choices[0] if len(choices) == 1 else None

    def _combined(self, pointer: Expr, parts: tuple[Value, ...]) -> Value:
        known = [self._known[p] if p.__class__ is Expr else p < FIRST_PAGE for p in parts]
        if any(p in self.offsets if p.__class__ is Expr else 0 < p < FIRST_PAGE for p in parts):
            self.offsets.add(pointer)
        if pointer.op == ITE:
            return ite(pointer.a, known[0], known[1], 1)
        if pointer.op == ADD:
            if known and known[0] is not False:
                self.offsets.add(pointer)
            return known[0] if known else False
        return self._leaf(pointer) if pointer.op == VAR and pointer.w == 64 else False

    def _leaf(self, pointer: Expr) -> Value:
        leaf = self.leaves.of(pointer)
        if isinstance(leaf, Operator):
            null = leaf.expansion.derived(("null", leaf.effect))
            if null.__class__ is Expr and null.op == VAR:
                self.pointer_of.setdefault(null, pointer)
            inside = leaf.expansion.inside()
            if inside.__class__ is Expr and inside in self.offsets:
                self.offsets.add(pointer)
            return null
        if isinstance(leaf, Parameter | Memory | Unknown):
            return self.leaves.explicit(pointer)
        return False


class NullDereference(Property):
    name = "null"
    kind = "null-pointer"
    ends = True

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        places = gated.program.places
        if address.__class__ is Expr and not gated.first_time("null", places.pointer(address)):
            return
        about = places.subject(address)
        if about.__class__ is Expr and about is not places.pointer(address):
            if isinstance(gated.program.leaves.of(about), LocalObject | GlobalObject):
                return
            if not gated.first_time("null", about):
                return
        bad = gated.program.nullness(address)
        if bad is False:
            return
        gated.condition(self, node, bad, instruction.loc, f"{what} through a NULL pointer", about, address)
