"""Models that need no solver: the last one of a condition, put right for what was asserted since.

Nine of ten queries of a check have a model, and most follow another query of the same condition that had one:
an operator was opened, or the antecedents came in. So the last model is changed where unit propagation says
what a variable is, or is not; opened operators get the value of what they stand for. If all formulas are true
under it, it is a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.check.propagate import Facts
from anabranch.expr import Expr, Value, expr_vars
from anabranch.expr.evaluate import evaluate, evaluate_with
from anabranch.expr.node import VAR
from anabranch.solver.backend import Model


def guessed(last: Model, formulas: Sequence[Expr], facts: Facts, opened: dict[Expr, Value]) -> Model | None:
    """A model of all variables of some formulas, if this one is near."""
    model: Model = dict.fromkeys((index for formula in formulas for index in expr_vars(formula)), 0)
    model.update((index, value) for index, value in last.items() if index in model)
    for node, tests in facts.tests.items():
        if node.op == VAR and node not in facts.known:
            excluded = {test.b for test in tests}
            start, size = model.get(node.a, 0), 1 << node.w
            others = ((start + step) % size for step in range(min(len(excluded) + 1, size)))
            model[node.a] = next((value for value in others if value not in excluded), start)
    for node, value in facts.known.items():
        if node.op == VAR:
            model[node.a] = int(value)
    for variable, stands_for in reversed(opened.items()):  # the older ones mention the younger
        model[variable.a] = int(evaluate(stands_for, model))
    values: dict[Expr, Value] = {}
    if all(evaluate_with(formula, model, values) for formula in reversed(formulas)):
        return model
    return None
