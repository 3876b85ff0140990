"""The few values of an expression hold every value that it takes."""

from __future__ import annotations

import itertools
import random

from anabranch import expr as X
from anabranch.expr import Expr, evaluate
from anabranch.solver.few import few_values, members
from anabranch.solver.valuesets import full_set
from tests.solver import expressions

LIMIT = 16


def test_every_value_is_among_the_few() -> None:
    rng = random.Random(11)
    told = 0
    names = [x for w in expressions.WIDTHS for x in expressions.variables(w)]
    for _ in range(1500):
        value = expressions.value(rng, rng.choice([4, 8, 12]), 3)
        if value.__class__ is not Expr:
            continue
        chosen = {x.a: sorted({rng.randrange(1 << x.w) for _ in range(rng.choice([1, 2, 3]))}) for x in names}
        sets = {
            x.a: sum(1 << v for v in chosen[x.a]) if x.w <= 8 else tuple((v, v) for v in chosen[x.a])
            for x in names
        }
        found = few_values(value, sets, LIMIT)
        if found is None:
            continue
        told += 1
        assert len(found) <= LIMIT
        used = X.expr_vars(value)
        for values in itertools.islice(itertools.product(*(chosen[v] for v in used)), 200):
            assert evaluate(value, dict(zip(used, values, strict=True))) in found
    assert told > 300


def test_a_condition_nobody_knows_has_two_values() -> None:
    wide = X.var("few.wide", 64)
    offset = X.add(X.ite(X.ult(wide, 9, 64), 443, 51, 64), 5, 64)
    assert isinstance(offset, Expr)
    assert few_values(offset, {wide.a: full_set(64)}, LIMIT) == {448, 56}
    assert few_values(X.add(wide, 1, 64), {wide.a: full_set(64)}, LIMIT) is None


def test_members_up_to_a_limit() -> None:
    assert members(0b1011, 3) == {0, 1, 3}
    assert members(0b1011, 2) is None
    assert members(((5, 7), (9, 9)), 4) == {5, 6, 7, 9}
    assert members(((0, 1 << 60),), 4) is None
