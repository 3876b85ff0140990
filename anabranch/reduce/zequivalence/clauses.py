"""A constraint's clauses made simple before they are looked at: conjunctions taken apart, equations used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from anabranch.expr import Expr, add, expr_vars, operands, sub, variable, xor
from anabranch.expr.evaluate import substitute_all
from anabranch.expr.node import ADD, EQ, NOT, SUB, VAR, XOR
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.operators import Free, constant, full, image
from anabranch.solver import slices

ROUNDS = 3  # of putting in known values: each may bring new ones
SIZE = 64  # clauses of more nodes than this are left as they are
LOOKED_AT = 24  # nodes of a clause


class Infeasible(Exception):
    """The clauses contradict each other: no path has this constraint."""


def conjuncts(clauses: Iterable[Any]) -> list[Expr]:
    """The parts of all conjunctions, each once, in order."""
    found: dict[Expr, None] = {}
    for clause in clauses:
        if clause.__class__ is Expr:
            found |= dict.fromkeys(slices.conjuncts(clause))
        elif not clause:
            raise Infeasible
    return list(found)


def is_small(e: Expr) -> bool:
    """Has it at most SIZE nodes? However deep it is, no more are looked at."""
    seen = {e}
    stack = [e]
    while stack and len(seen) <= SIZE:
        new = [x for x in operands(stack.pop()) if x not in seen]
        seen.update(new)
        stack += new
    return len(seen) <= SIZE


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
                inside = expr_vars(other) if other.__class__ is Expr else ()
                if side.a >= 0 and side.a not in observable and side.a not in inside:
                    return side, other
                break
            if side.op not in _UNDONE:
                break
            side, other = _undo(side, other)
    return None


def _undo(side: Expr, other: Any) -> tuple[Any, Any]:
    """An equation with one of the operands of its side alone on it: a variable, if there is one."""
    a, b = side.a, side.b
    first = b.__class__ is not Expr or (a.__class__ is Expr and a.op == VAR and b.op != VAR)
    rest, part = (a, b) if first else (b, a)
    if side.op == SUB:
        return rest, add(other, part, side.w) if first else sub(part, other, side.w)
    return rest, (xor if side.op == XOR else sub)(other, part, side.w)


_UNDONE = frozenset((ADD, SUB, XOR))


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
        both = substitute_all([*parts, *values], new)
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


# -- clauses that a variable of their own can make true ---------------------------------------------------
#
# `answer = checksum of much else` holds for some answer whatever all else is. Where the answer occurs nowhere
# else, the clause goes without a look at the rest of it: Rules 1, 2 and 4 from the top, for a whole clause.


def without_decided(constraint: StateConstraint) -> StateConstraint:
    """The constraint without the clauses that a variable decides which occurs nowhere else.

    It has to be part of one that can be false for all observable values.
    """
    uses: Counter[int] = Counter()
    for _, value, _ in constraint.outputs:
        if value.__class__ is Expr:
            uses.update(expr_vars(value))
    for clause in constraint.clauses:
        uses.update(expr_vars(clause))
    observable, left = constraint.observable, list(constraint.clauses)
    decided_by = {clause: deciders(clause) for clause in left}
    while True:
        stay = [c for c in left if not any(uses[v] == 1 and v not in observable for v in decided_by[c])]
        if len(stay) == len(left):
            return StateConstraint(tuple(left), constraint.outputs, observable)
        for clause in set(left).difference(stay):
            uses.subtract(expr_vars(clause))
        left = stay


def deciders(clause: Expr) -> tuple[int, ...]:
    """Variables that occur once in a clause and decide it; those that few steps lead to from the top."""
    found: list[int] = []
    waiting: list[tuple[Expr, frozenset[int]]] = [(clause, frozenset())]
    for node, elsewhere in waiting:  # grows while it is gone through
        if node.op == VAR:
            if node.a >= 0 and node.a not in elsewhere:
                found.append(node.a)
            continue
        operands = (node.a, node.b, node.c)
        for position, operand in enumerate(operands):
            if operand.__class__ is Expr and len(waiting) < LOOKED_AT and _decides(node, operands, position):
                others = [x for at, x in enumerate(operands) if at != position and x.__class__ is Expr]
                waiting.append((operand, elsewhere.union(*map(expr_vars, others))))
    return tuple(found)


def _decides(node: Expr, operands: Sequence[Any], position: int) -> bool:
    """Can an operand that has all values give a node all values, whatever the others are?"""
    free: list[Free] = [None if x.__class__ is Expr else constant(x) for x in operands]
    free[position] = full(operands[position].w)
    return image(node, *free) == full(node.w)
