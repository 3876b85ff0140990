"""Ranges from constraints that compare a node with a number, against all values of the variables."""

from __future__ import annotations

from itertools import product

import pytest

from anabranch import expr
from anabranch.expr import Expr, evaluate, expr_vars
from anabranch.solver.bounds import compared_nodes, range_of
from anabranch.solver.slices import root_slice


def sum_of_two() -> tuple[Expr, Expr, Expr]:
    x, y = expr.var("x", 8), expr.var("y", 8)
    return x, y, expr.add(expr.zext(x, 8, 16), expr.zext(y, 8, 16), 16)


def constraints(total: Expr) -> dict[str, Expr]:
    return {
        "below": expr.ult(total, 6, 16),
        "not below": expr.not_(expr.ult(total, 500, 16)),
        "above": expr.ult(500, total, 16),
        "not above": expr.not_(expr.ult(6, total, 16)),
        "equal": expr.eq(total, 300, 16),
        "not equal": expr.not_(expr.eq(total, 300, 16)),
    }


@pytest.mark.parametrize("name", list(constraints(sum_of_two()[2])))
@pytest.mark.parametrize("offset", [0, 7, 600])
def test_a_range_holds_every_feasible_value_and_is_tight(name: str, offset: int) -> None:
    x, y, total = sum_of_two()
    condition = constraints(total)[name]
    index = expr.sub(offset, total, 16) if offset else total
    sets = {v: root_slice(v).bounds[v] for v in expr_vars(total)}
    found = range_of(index, sets, compared_nodes([condition]))
    assert found is not None
    values = [
        evaluate(index, {expr_vars(x)[0]: a, expr_vars(y)[0]: b})
        for a, b in product(range(0, 256, 3), range(256))
        if evaluate(condition, {expr_vars(x)[0]: a, expr_vars(y)[0]: b})
    ]
    assert found[0] <= min(values)
    assert found[1] >= max(values)
    if offset == 7 and name in ("below", "not above"):
        assert found == (7 - max(5 + (name == "not above"), 0), 7)


def test_two_constraints_on_one_node() -> None:
    _, _, total = sum_of_two()
    both = [expr.ult(total, 20, 16), expr.not_(expr.ult(total, 10, 16)), expr.ult(total, 30, 16)]
    assert compared_nodes(both) == {total: (10, 19)}
