"""Sums of terms over one variable each, compared with a constant: values of the variables that make it so.

What a loop counts is such a sum: of a truth value, or a number, for each byte that it has read. A search
over its bits takes a solver a second for 200 of them; here the sums that can be reached are listed, term by
term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from anabranch.expr import MASK, Expr, evaluate, expr_vars, variable
from anabranch.expr.node import ADD, EQ, NOT, SLT, ULT
from anabranch.expr.registry import OPERATORS

from .backend import Model
from .few import members
from .valuesets import BYTE, ValueSet, value_table

LEAST = 3  # terms
MOST_VALUES = 256  # of a variable
MOST_SUMS = 1 << 12  # that are told apart
MOST_STEPS = 1 << 19  # sums with one more term


class Comparison(NamedTuple):
    """`constant + terms[0] + terms[1] + ...` compared with a number, each term over a variable of its own."""

    comparison: Expr
    holds: bool
    """Or is it negated?"""
    left: bool
    """Is the sum its first operand?"""
    constant: int
    terms: tuple[tuple[int, Expr], ...]
    """Each with its variable."""

    def __call__(self, total: int) -> bool:
        """Is the condition true if the sum has this value?"""
        e = self.comparison
        a, b = (total, e.b) if self.left else (e.a, total)
        return bool(OPERATORS[e.op].evaluate(e, a, b, None)) is self.holds


def comparison_of_sum(cond: Expr) -> Comparison | None:
    """The condition as a comparison of a sum; None if it is none, or terms share variables."""
    holds = cond.op != NOT
    e = cond if holds else cond.a
    if e.op not in (EQ, ULT, SLT):
        return None
    left = e.b.__class__ is not Expr
    if not left and e.a.__class__ is Expr:
        return None
    constant = 0
    terms: dict[int, Expr] = {}
    pending: list[Any] = [e.a if left else e.b]
    while pending:
        n = pending.pop()
        if n.__class__ is not Expr:
            constant += n
        elif n.op == ADD:
            pending += (n.a, n.b)
        else:
            found = expr_vars(n)
            if len(found) != 1 or found[0] in terms:
                return None
            terms[found[0]] = n
    return Comparison(e, holds, left, constant, tuple(terms.items())) if len(terms) >= LEAST else None


def reach(asked: Comparison, own: Model, sets: Mapping[int, ValueSet]) -> Model | None:
    """Values of the variables under which the condition is true, each from its set; None if there are none,
    or too many sums. Values in `own` are kept where others are not needed."""
    first = asked.terms[0][1]
    mask = MASK[first.w]
    layers: list[dict[int, tuple[int, int]]] = []  # sum -> the sum before its last term, and by what value
    sums = [asked.constant & mask]
    steps = 0
    for v, term in asked.terms:
        choices = _choices(v, term, own, sets)
        steps += len(sums) * len(choices or ())
        if not choices or steps > MOST_STEPS:
            return None
        layer: dict[int, tuple[int, int]] = {}
        for amount, value in choices.items():
            for total in sums:
                layer.setdefault(total + amount & mask, (total, value))
        if len(layer) > MOST_SUMS:
            return None
        layers.append(layer)
        sums = list(layer)
    for total in sums:
        if asked(total):
            model: Model = {}
            for (v, _), layer in zip(reversed(asked.terms), reversed(layers), strict=True):
                total, model[v] = layer[total]
            return model
    return None


def _choices(v: int, term: Expr, own: Model, sets: Mapping[int, ValueSet]) -> dict[int, int] | None:
    """What a term can be, each with a value of its variable that makes it so; its own one first."""
    values = members(sets[v], MOST_VALUES)
    if values is None:
        return None
    width = variable(v).w
    table = value_table(term, width) if width <= BYTE else None
    found: dict[int, int] = {}
    for value in (own[v], *sorted(values)):
        amount = evaluate(term, {v: value}) if table is None else table[value]
        found.setdefault(int(amount), value)
    return found
