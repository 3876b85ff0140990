"""How rare a bad value is: a NULL that a callee returns for one particular number only.

Programs have functions that answer NULL to a senseless argument (`emalloc(0)`), and never ask that: by an
invariant that is not seen here. Such a report is possible, not likely. NULL is no rare value of a pointer.
"""

from __future__ import annotations

import random

from anabranch.check.findings import Finding
from anabranch.check.leaves import Leaves, Operator
from anabranch.check.summaries import RETURNS
from anabranch.expr import Expr, Value, evaluate, expr_vars, variable

SAMPLES = 256
"""Values that are tried: a bug that one value in twenty shows is met, one value of a 32-bit number never."""


def needs_one_value(leaves: Leaves, finding: Finding) -> bool:
    """Does a NULL come from a callee that none of many random values makes return it?"""
    opened = finding.answer.opened
    operators = [leaf for leaf in map(leaves.of, opened) if isinstance(leaf, Operator)]
    callees = {leaf.function for leaf in operators if leaf.effect[0] == "null"}
    if finding.bad.__class__ is not Expr or not callees:
        return False
    # Only of calls that come back: an allocation that fails often ends the program.
    returns = [leaf.var for leaf in operators if leaf.effect == RETURNS and leaf.function in callees]
    wanted = [finding.bad, *returns]
    generator = random.Random(0)
    for _ in range(SAMPLES):
        model: dict[int, int] = {}
        if all(_value(value, leaves, opened, model, generator) for value in wanted):
            return False
    return True


def _value(
    value: Value,
    leaves: Leaves,
    opened: dict[Expr, Value],
    model: dict[int, int],
    generator: random.Random,
) -> Value:
    """An expression for random values of its leaves; what operators stand for follows from them."""
    if value.__class__ is not Expr:
        return value
    stack: list[Expr] = [value]
    while stack:
        current = stack[-1]
        missing = [index for index in expr_vars(current) if index not in model]
        for index in missing:
            inside = opened.get(variable(index))
            if inside is None:
                nothing = leaves.is_pointer(index) and generator.getrandbits(1)
                model[index] = 0 if nothing else generator.getrandbits(variable(index).w)
            elif inside.__class__ is not Expr:
                model[index] = int(inside)
            elif all(i in model for i in expr_vars(inside)):
                model[index] = int(evaluate(inside, model))
            else:
                stack.append(inside)
                break
        else:
            stack.pop()
    return evaluate(value, model)
