"""Uninitialised data: whether a value depends on it, and what the value is if it does not.

A joined value may be uninitialised on one side only, `ite(guard, undefined, known)`: the path is then divided
by the guard first, so that the side without uninitialised data goes on. It is also divided where the guard
says how long a block is: bytes and length then stay in slices of their own. (The planted bug of `ini` is
found in 2.4 CPU seconds instead of 40.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, evaluate, expr_vars, ite, or_, substitute, variable
from anabranch.expr.node import ITE, VAR
from anabranch.expr.variables import postorder, postorder_within
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.path import path_model
from anabranch.memo import Memo
from anabranch.semantics.addresses import MASK64
from anabranch.solver import SolverUnknown

if TYPE_CHECKING:
    from anabranch.machine.known import Knowledge
    from anabranch.machine.machine import Machine

Value = Any
SMALL = 40  # nodes of a value that is one byte or word of a block, and what was computed of it
DIVISIONS_KEPT = 1 << 16
PATTERNS = (MASK64, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF, 1)  # tried for uninitialised data


class Divisions:
    """Takes the sides of values that a path has decided. A block of symbolic length leaves a choice in each
    byte, and programs ask much of each byte."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._known = knowledge.known
        # With these, libyaml on 0 to 12 bytes runs 1.5 times as many instructions in the same time.
        self._guards: Memo[Expr, Expr | None] = Memo(DIVISIONS_KEPT)
        self._sides: Memo[tuple[Expr, bool], Value] = Memo(DIVISIONS_KEPT)

    def taken(self, value: Value) -> Value:
        """The value without the choices of uninitialised data that are known."""
        guards, sides = self._guards, self._sides
        while value.__class__ is Expr and has_undefined(value):
            guard = guards[value] if value in guards else guards.keep(value, dividing_condition(value))
            if guard is None or (truth := self._known(guard)).__class__ is Expr:
                break
            side = (value, truth)
            value = sides[side] if side in sides else sides.keep(side, substitute(value, {guard: truth}))
        return value


def settled(machine: Machine, value: Expr) -> Value | None:
    """The value without uninitialised data; None if such data can change it. May fork."""
    now: Value = machine.divisions.taken(value)
    if now.__class__ is not Expr or not has_undefined(now):
        return now
    now = machine.knowledge.settled(now)
    while now.__class__ is Expr and has_undefined(now):
        guard = dividing_condition(now)
        by_size = guard is not None and machine.extents.is_about_size(guard) and _is_one_read(now)
        if not by_size and not depends(machine, now):
            return with_zeros(now)
        if guard is None:
            return None
        now = substitute(now, {guard: bool(guard)})
    return now


def _is_one_read(value: Expr) -> bool:
    """Is a value small, and of more inputs than one? What was read at an index is large: it has choices that
    the path need not make."""
    several = len([index for index in expr_vars(value) if index >= 0]) > 1
    return several and postorder_within([value], SMALL) is not None


def defined(machine: Machine, value: Value, what: str) -> Value:
    """A value that leaves the program, as `what`; an error if uninitialised data can change it. May fork."""
    if value.__class__ is not Expr or not has_undefined(value):
        return value
    known = settled(machine, value)
    if known is None:
        message = f"use of uninitialised memory as {what}"
        raise ProgramError(Fault("uninitialised", message, {"value": value}))
    return known


def has_undefined(value: Expr) -> bool:
    indices = expr_vars(value)
    return bool(indices) and indices[0] < 0


def depends(machine: Machine, value: Expr) -> bool:
    """Can uninitialised data change the value on this path?"""
    reached = reaches_undefined(value)
    if reached.__class__ is Expr and machine.decider.ask(reached)[1] is False:
        return False
    unknown = {variable(i): expr.var(f"undefined?{-i}", variable(i).w) for i in expr_vars(value) if i < 0}
    one, other = substitute(value, unknown), with_zeros(value)
    differ = expr.ne(one, other, value.w)
    if differ.__class__ is not Expr:
        return bool(differ)
    here = path_model(machine.path.slices, value)
    for pattern in PATTERNS:  # a value that makes a difference is proof enough
        tried = {x.a: pattern & (1 << x.w) - 1 for x in unknown.values()}
        if evaluate(differ, here | tried) is True:
            return True
    parts = dict.fromkeys(machine.path.slices[i] for i in expr_vars(value) if i >= 0)
    constraints = [c for part in parts for c in part.order]
    try:
        return machine.space.check([*constraints, differ]) is not None
    except SolverUnknown:
        machine.lose("solver gave up")
        for part in parts:
            machine.path.fix(part)
        return False


def with_zeros(value: Expr) -> Value:
    """The value with zeros for uninitialised data."""
    unknown = [variable(i) for i in expr_vars(value) if i < 0]
    zeros: dict[Expr, Value] = {u: False if u.w == 1 else 0 for u in unknown}
    return substitute(value, zeros)


def dividing_condition(value: Expr) -> Expr | None:
    """A defined condition on which it depends whether uninitialised data is chosen.

    Simplification turns choices between Booleans into conjunctions and disjunctions.
    """
    pending, seen = [value], {value}
    while pending:
        node = pending.pop()
        if node.op == "ite" and not has_undefined(node.a):
            return node.a  # type: ignore[no-any-return]
        if node.op in ("and", "or") and node.w == 1:
            for part in (node.a, node.b):
                if not has_undefined(part):
                    return part  # type: ignore[no-any-return]
        for part in (node.a, node.b, node.c):
            if part.__class__ is Expr and part not in seen and has_undefined(part):
                seen.add(part)
                pending.append(part)
    return None


def reaches_undefined(e: Expr) -> Value:
    """A condition on defined data without which uninitialised data has no influence on the value.

    The choices in the value decide: what is not chosen has no influence. True if that tells nothing.
    """
    memo: dict[Expr, Value] = {}
    for n in postorder([e]):
        if n.op == VAR:
            memo[n] = n.a < 0
            continue
        if expr_vars(n)[0] >= 0:
            memo[n] = False
            continue
        a, b, c = (memo[x] if x.__class__ is Expr else False for x in (n.a, n.b, n.c))
        if n.op == ITE and a is False:
            memo[n] = ite(n.a, b, c, 1)
        else:
            memo[n] = or_(or_(a, b, 1), c, 1)
    return memo[e]
