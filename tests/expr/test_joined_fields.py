"""Fields that were joined into one value with masks come apart again, whatever the other bits are."""

from __future__ import annotations

import itertools

import pytest

from anabranch import expr as X
from anabranch.expr import Expr, evaluate

WIDTH = 4
FULL = (1 << WIDTH) - 1


@pytest.fixture
def names() -> tuple[Expr, Expr]:
    return X.var("joined_rest", WIDTH), X.var("joined_field", 2)


def forms(rest: Expr, field: Expr) -> list[Expr | int]:
    values: list[Expr | int] = []
    for mask, constant in itertools.product(range(16), range(16)):
        values.append(X.or_(X.and_(rest, mask, WIDTH), constant, WIDTH))
        values.append(X.or_(X.and_(rest, mask, WIDTH), X.zext(field, 2, WIDTH), WIDTH))
        values.append(
            X.or_(X.zext(field, 2, WIDTH), X.and_(X.add(rest, constant, WIDTH), mask, WIDTH), WIDTH)
        )
    return values


def test_every_cut_means_the_same(names: tuple[Expr, Expr]) -> None:
    rest, field = names
    models = [{rest.a: a, field.a: b} for a in range(16) for b in range(4)]
    for value in set(forms(rest, field)):
        whole = [evaluate(value, model) if isinstance(value, Expr) else value for model in models]
        for low in range(WIDTH):
            for width in range(1, WIDTH - low + 1):
                cut = X.extract(value, low, width, WIDTH)
                for model, full in zip(models, whole, strict=True):
                    found = evaluate(cut, model) if isinstance(cut, Expr) else cut
                    assert found == full >> low & ((1 << width) - 1), (value, low, width, model)


def test_a_field_does_not_depend_on_what_it_was_joined_with(names: tuple[Expr, Expr]) -> None:
    rest, field = names
    high = X.and_(rest, 0b1100, WIDTH)
    assert X.extract(X.or_(high, 1, WIDTH), 0, 2, WIDTH) == 1
    assert X.extract(X.or_(high, X.zext(field, 2, WIDTH), WIDTH), 0, 2, WIDTH) is field
    assert X.extract(X.or_(high, X.zext(field, 2, WIDTH), WIDTH), 2, 2, WIDTH) is X.extract(rest, 2, 2, WIDTH)
