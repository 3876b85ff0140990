"""A constraint's clauses made simple before they are looked at: conjunctions taken apart, equations used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from anabranch.expr import Expr, add, expr_vars, not_, operands, sub, variable, xor
from anabranch.expr.node import ADD, AND, EQ, NOT, OR, SUB, VAR, XOR
from anabranch.expr.registry import OPERATORS

ROUNDS = 3  # of putting in known values: each may bring new ones
SIZE = 64  # clauses of more nodes than this are left as they are


class Infeasible(Exception):
    """The clauses contradict each other: no path has this constraint."""


def conjuncts(clauses: Iterable[Any]) -> list[Expr]:
    """The parts of all conjunctions, each once, in order."""
    found: dict[Expr, None] = {}
    stack = list(clauses)
    stack.reverse()
    while stack:
        c = stack.pop()
        if c.__class__ is not Expr:
            if not c:
                raise Infeasible
        elif c.w == 1 and c.op == AND:
            stack += (c.b, c.a)
        elif c.op == NOT and c.a.op == OR:
            stack += (not_(c.a.b), not_(c.a.a))
        else:
            found[c] = None
    return list(found)


def is_small(e: Expr) -> bool:
    """Has it at most SIZE nodes?"""
    seen = {e}
    stack = [e]
    while stack:
        for x in operands(stack.pop()):
            if x not in seen:
                seen.add(x)
                stack.append(x)
        if len(seen) > SIZE:
            return False
    return True


def known_value(clause: Expr) -> tuple[Expr, Any] | None:
    """The variable to which a clause gives a constant value."""
    if clause.op == VAR:
        return clause, True
    if clause.op == NOT and clause.a.op == VAR:
        return clause.a, False
    if clause.op == EQ and clause.a.op == VAR and clause.b.__class__ is not Expr:
        return clause.a, clause.b
    return None


def solved(clause: Expr, observable: frozenset[int]) -> tuple[Expr, Expr] | None:
    """An unobservable variable that a small equation gives as a value of other variables.

    The variable is looked for at the ends of sums, differences and exclusive ors.
    """
    if clause.op != EQ or (clause.b.__class__ is not Expr and clause.a.op not in _UNDONE):
        return None
    if not is_small(clause):
        return None
    for side, other in ((clause.a, clause.b), (clause.b, clause.a)):
        while side.__class__ is Expr:
            if side.op == VAR:
                if side.a >= 0 and side.a not in observable and not _occurs(side, other):
                    return side, other
                break
            undo = _UNDONE.get(side.op)
            if undo is None:
                break
            side, other = undo(side, other)
    return None


def _occurs(v: Expr, e: Any) -> bool:
    return e.__class__ is Expr and v.a in expr_vars(e)


def _undo_add(side: Expr, other: Any) -> tuple[Any, Any]:
    rest, part = (side.a, side.b) if _later(side.a, side.b) else (side.b, side.a)
    return rest, sub(other, part, side.w)


def _undo_xor(side: Expr, other: Any) -> tuple[Any, Any]:
    rest, part = (side.a, side.b) if _later(side.a, side.b) else (side.b, side.a)
    return rest, xor(other, part, side.w)


def _undo_sub(side: Expr, other: Any) -> tuple[Any, Any]:
    if _later(side.a, side.b):
        return side.a, add(other, side.b, side.w)
    return side.b, sub(side.a, other, side.w)


def _later(x: Any, y: Any) -> bool:
    """Is x the operand to go into?"""
    if y.__class__ is not Expr:
        return True
    return x.__class__ is Expr and x.op == VAR and y.op != VAR


_UNDONE: dict[str, Callable[[Expr, Any], tuple[Any, Any]]] = {ADD: _undo_add, XOR: _undo_xor, SUB: _undo_sub}


def replaced(roots: Sequence[Any], values: dict[Expr, Any]) -> list[Any]:
    """All roots with values put in for nodes, simplified; shared parts are built once."""
    memo: dict[Expr, Any] = dict(values)
    inside = {v.a for v in values} if all(v.op == VAR for v in values) else None
    stack: list[Expr] = [r for r in roots if r.__class__ is Expr]
    while stack:
        n = stack[-1]
        if n in memo:
            stack.pop()
            continue
        if inside is not None and n.vs is not None and inside.isdisjoint(n.vs):
            memo[n] = n
            continue
        waiting = [x for x in operands(n) if x not in memo]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if n.op == VAR:
            memo[n] = n
            continue
        a = memo[n.a] if n.a.__class__ is Expr else n.a
        b = memo[n.b] if n.b.__class__ is Expr else n.b
        c = memo[n.c] if n.c.__class__ is Expr else n.c
        same = a is n.a and b is n.b and c is n.c
        memo[n] = n if same else OPERATORS[n.op].rebuild(n, a, b, c)
    return [memo[r] if r.__class__ is Expr else r for r in roots]


def with_known_values(
    clauses: Sequence[Expr], outputs: Sequence[Any], observable: frozenset[int]
) -> tuple[list[Expr], list[Any], bool]:
    """Clauses and outputs after putting in what equations say of variables.

    An equation that gives an observable variable its value stays. Also tells whether one over an unobservable
    variable went away: then the conjunction can be false whatever the observable variables are.
    """
    parts, values, gone = conjuncts(clauses), list(outputs), False
    kept: list[Expr] = []
    for _ in range(ROUNDS):
        new, stay, parts = _equations(parts, observable)
        kept += stay
        gone = gone or len(new) > len(stay)
        if not new:
            break
        both = replaced([*parts, *values], new)
        parts, values = conjuncts(both[: len(parts)]), both[len(parts) :]
    return kept + parts, values, gone


def _equations(
    parts: list[Expr], observable: frozenset[int]
) -> tuple[dict[Expr, Any], list[Expr], list[Expr]]:
    """What to put in for variables, the equations of observable ones, and all other clauses.

    No variable is both replaced and part of what replaces another.
    """
    new: dict[Expr, Any] = {}
    stay: list[Expr] = []
    rest: list[Expr] = []
    part_of: set[int] = set()
    for clause in parts:
        known = known_value(clause)
        if known is not None and known[0].a >= 0:  # undefined data (negative) has no value
            v, value = known
            if v in new:
                if new[v].__class__ is Expr:
                    rest.append(clause)
                elif new[v] != value:
                    raise Infeasible
                continue
            if v.a not in part_of:
                new[v] = value
                if v.a in observable:
                    stay.append(clause)
                continue
        found = None if known is not None else solved(clause, observable)
        if found is None or found[0] in new or found[0].a in part_of:
            rest.append(clause)
            continue
        v, value = found
        inside = expr_vars(value) if value.__class__ is Expr else ()
        if any(variable(k) in new for k in inside):
            rest.append(clause)
            continue
        new[v] = value
        part_of.update(inside)
    return new, stay, rest
