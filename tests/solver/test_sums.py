"""Sums compared with a constant: a model is found exactly when the solver has one."""

from __future__ import annotations

import random
from typing import Any

from anabranch.expr import Expr, add, eq, evaluate, ite, mul, not_, slt, ult, var, zext
from anabranch.solver.bitwuzla_backend import BitwuzlaBackend
from anabranch.solver.sums import comparison_of_sum, reach
from anabranch.solver.valuesets import contains, listed

WIDTH = 16


def drawn_term(draw: random.Random, v: Expr) -> Any:
    """A term over one byte."""
    kind = draw.randrange(4)
    if kind == 0:
        return zext(eq(v, draw.randrange(8), 8), 1, WIDTH)
    if kind == 1:
        return mul(zext(v, 8, WIDTH), draw.choice((1, 3, 0x4001)), WIDTH)
    if kind == 2:
        return ite(ult(v, draw.randrange(1, 8), 8), draw.randrange(1 << WIDTH), draw.randrange(4), WIDTH)
    return add(zext(v, 8, WIDTH), draw.randrange(1 << WIDTH), WIDTH)


def test_a_model_is_found_exactly_when_there_is_one() -> None:
    draw = random.Random(19)
    backend = BitwuzlaBackend()
    found = {True: 0, False: 0}
    for number in range(300):
        cells = [var(f"summed{number}[{i}]", 8) for i in range(draw.randint(3, 7))]
        members = {v.a: sorted(draw.sample(range(8), draw.randint(1, 5))) for v in cells}
        total: Any = draw.randrange(1 << WIDTH)
        for v in cells:
            total = add(total, drawn_term(draw, v), WIDTH)
        constant = draw.choice((draw.randrange(40), draw.randrange(1 << WIDTH)))
        compare = draw.choice((eq, ult, slt))
        sides = (total, constant) if draw.random() < 0.6 else (constant, total)
        cond: Any = compare(*sides, WIDTH)
        cond = not_(cond) if draw.random() < 0.4 and cond.__class__ is Expr else cond
        asked = comparison_of_sum(cond) if cond.__class__ is Expr else None
        if asked is None:
            continue
        sets = {v.a: listed(members[v.a], 8) for v in cells}
        own = {v.a: draw.choice(members[v.a]) for v in cells}
        model = reach(asked, own, sets)
        one_of = [_any(eq(v, x, 8) for x in members[v.a]) for v in cells]
        solved = backend.solve([*one_of, cond], [v.a for v in cells])
        assert (model is not None) is isinstance(solved, dict)
        found[model is not None] += 1
        if model is not None:
            assert evaluate(cond, model) is True
            assert all(contains(sets[v], x) for v, x in model.items())
    assert found[True] > 50 and found[False] > 50


def _any(conditions: Any) -> Any:
    found: Any = False
    for condition in conditions:
        found = condition if found is False else found | condition
    return found


def test_what_is_no_sum_of_separate_variables_is_left_to_the_solver() -> None:
    a, b, c = (zext(var(f"apart{i}", 8), 8, 32) for i in range(3))
    assert comparison_of_sum(ult(add(add(a, b, 32), c, 32), 9, 32)) is not None
    assert comparison_of_sum(ult(add(a, b, 32), 9, 32)) is None  # few
    assert comparison_of_sum(ult(add(add(a, b, 32), c, 32), a, 32)) is None
    assert comparison_of_sum(ult(add(add(a, b, 32), mul(a, c, 32), 32), 9, 32)) is None


def test_sums_of_many_values_are_left_to_the_solver() -> None:
    cells = [var(f"wide{i}", 8) for i in range(64)]
    total: Any = 0
    for i, v in enumerate(cells):
        total = add(total, mul(zext(v, 8, 32), 1 + 256 * i, 32), 32)
    asked = comparison_of_sum(eq(total, 12345, 32))
    assert asked is not None
    sets = {v.a: listed(range(256), 8) for v in cells}
    assert reach(asked, dict.fromkeys(sets, 0), sets) is None


def test_own_values_are_kept_where_others_are_not_needed() -> None:
    cells = [var(f"kept{i}", 8) for i in range(5)]
    total: Any = 0
    for v in cells:
        total = add(total, zext(eq(v, 44, 8), 1, 32), 32)
    asked = comparison_of_sum(eq(total, 1, 32))
    assert asked is not None
    own = {v.a: 7 for v in cells}
    model = reach(asked, own, {v.a: listed(range(256), 8) for v in cells})
    assert model is not None
    assert sorted(model.values()) == [7, 7, 7, 7, 44]
