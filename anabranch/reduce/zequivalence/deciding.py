"""Clauses that a variable of their own can make true: they say nothing to anybody else.

`answer = checksum of much else` holds for some answer whatever all else is; where the answer occurs nowhere
else, the clause goes without a look at the rest of it: Rules 1, 2 and 4 from the top, for a whole clause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from anabranch.expr import Expr, expr_vars
from anabranch.expr.node import VAR
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.operators import Free, full, image

LOOKED_AT = 24  # nodes of a clause


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
    free: list[Free] = [None if x is None or x.__class__ is Expr else (int(x), 0) for x in operands]
    free[position] = full(operands[position].w)
    return image(node, *free) == full(node.w)
