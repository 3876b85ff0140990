"""Models without a solver: every guess is a model, and small changes of a model are found."""

from __future__ import annotations

import random

import pytest

from anabranch.check.guess import guessed
from anabranch.check.propagate import Facts
from anabranch.expr import Expr, Value, add, bool_and, eq, expr_vars, not_, reset, ult, var
from anabranch.expr.evaluate import evaluate
from anabranch.solver.backend import Model
from tests.check.test_propagate import WIDTH, formula


def guess(formulas: list[Value], last: Model, opened: dict[Expr, Value] | None = None) -> Model | None:
    facts = Facts()
    for formula_ in formulas:
        facts.add(formula_)
    return guessed(last, [f for f in formulas if f.__class__ is Expr], facts, opened or {})


@pytest.mark.parametrize("seed", range(40))
def test_a_guess_is_a_model_of_all_variables(seed: int) -> None:
    reset()
    rng = random.Random(seed)
    booleans = [var(f"b{n}", 1) for n in range(3)]
    numbers = [var(f"n{n}", WIDTH) for n in range(2)]
    found = 0
    for _ in range(20):
        formulas = [formula(rng, booleans, numbers, 3) for _ in range(3)]
        if not all(f.__class__ is Expr for f in formulas):
            continue
        model = guess(formulas, {v.a: rng.randrange(1 << v.w) for v in (*booleans, *numbers)})
        if model is not None:
            found += 1
            assert all(evaluate(f, model) for f in formulas)
            assert model.keys() >= {index for f in formulas for index in expr_vars(f)}
    assert found


def test_what_was_opened_and_what_is_forced() -> None:
    reset()
    x, y, result = var("x", 8), var("y", 8), var("f:ret", 8)
    # The result was 5; by now it is x + 1, and a test on the way wants y to be 3.
    formulas = [not_(eq(result, 0, 8)), eq(result, add(x, 1, 8), 8), eq(y, 3, 8)]
    model = guess(formulas, {result.a: 5}, {result: add(x, 1, 8)})
    assert model == {x.a: 0, y.a: 3, result.a: 1}


def test_a_value_that_is_excluded() -> None:
    reset()
    x = var("x", 8)
    model = guess([not_(eq(x, 0, 8)), not_(eq(x, 1, 8))], {})
    assert model == {x.a: 2}
    assert guess([bool_and(ult(x, 200, 8), ult(100, x, 8))], {}) is None  # left to the solver


def test_all_values_are_excluded() -> None:
    reset()
    x = var("x", 2)
    facts = Facts()
    formulas = [not_(eq(x, number, 2)) for number in range(4)]
    for formula_ in formulas:
        facts.add(formula_)
    assert guessed({}, [f for f in formulas if f.__class__ is Expr], facts, {}) is None
