"""A constraint's clauses made simple before they are looked at: conjunctions taken apart, known values put in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from anabranch.expr import Expr, not_, operands
from anabranch.expr.evaluate import REBUILD
from anabranch.expr.node import AND, EQ, NOT, OR, VAR

ROUNDS = 3  # of putting in known values: each may bring new ones


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


def known_value(clause: Expr) -> tuple[Expr, Any] | None:
    """The variable to which a clause gives its value."""
    if clause.op == VAR:
        return clause, True
    if clause.op == NOT and clause.a.op == VAR:
        return clause.a, False
    if clause.op == EQ and clause.a.op == VAR and clause.b.__class__ is not Expr:
        return clause.a, clause.b
    return None


def replaced(roots: Sequence[Any], values: dict[Expr, Any]) -> list[Any]:
    """All roots with values put in for nodes, simplified; shared parts are built once."""
    memo: dict[Expr, Any] = dict(values)
    stack: list[Expr] = [r for r in roots if r.__class__ is Expr]
    while stack:
        n = stack[-1]
        if n in memo:
            stack.pop()
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
        memo[n] = n if same else REBUILD[n.op](n, a, b, c)
    return [memo[r] if r.__class__ is Expr else r for r in roots]


def with_known_values(
    clauses: Sequence[Expr], outputs: Sequence[Any], observable: frozenset[int]
) -> tuple[list[Expr], list[Any], bool]:
    """Clauses and outputs after putting in the values that clauses give to variables.

    The clause itself stays if its variable is observable. Also tells whether a clause over an unobservable
    variable went away: then the conjunction can be false whatever the observable variables are.
    """
    parts, values, gone = conjuncts(clauses), list(outputs), False
    kept: list[Expr] = []
    for _ in range(ROUNDS):
        new: dict[Expr, Any] = {}
        rest: list[Expr] = []
        for clause in parts:
            known = known_value(clause)
            if known is None or known[0].a < 0:  # undefined data has no value
                rest.append(clause)
                continue
            v, value = known
            if v in new:
                if new[v] != value:
                    raise Infeasible
                continue
            new[v] = value
            if v.a in observable:
                kept.append(clause)
            else:
                gone = True
        parts = rest
        if not new:
            break
        both = replaced([*parts, *values], new)
        parts, values = conjuncts(both[: len(parts)]), both[len(parts) :]
    return kept + parts, values, gone
