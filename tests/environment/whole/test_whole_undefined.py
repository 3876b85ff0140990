"""Where expressions depend on uninitialised data: the condition errs on the safe side only."""

from __future__ import annotations

import itertools

from anabranch import expr as X
from anabranch.environment.whole.undefined import is_tainted, undefined_where
from anabranch.machine.undefined import with_zeros

A, B, C = (X.var(f"undefined_test_{name}", 1) for name in "abc")
UNKNOWN = X.undefined(8)
INDEX = X.expr_vars(UNKNOWN)[0]


def depends(value: X.Expr, inputs: dict[int, int]) -> bool:
    """By trying all values of the uninitialised byte."""
    return len({X.evaluate(value, {**inputs, INDEX: unknown}) for unknown in range(256)}) > 1


def test_no_influence_where_the_condition_does_not_hold() -> None:
    byte = X.ite(A, X.ite(B, 7, UNKNOWN, 8), X.ite(C, UNKNOWN, 9, 8), 8)
    same = X.eq(byte, 7, 8)
    values = [
        byte,
        X.add(byte, 1, 8),
        same,
        X.bool_and(same, C),
        X.bool_or(C, X.bool_and(X.eq(UNKNOWN, 3, 8), A)),
        X.not_(X.bool_or(same, B)),
        X.ite(X.eq(UNKNOWN, 0, 8), byte, 3, 8),
        X.bool_and(X.eq(byte, 1, 8), X.ult(byte, 5, 8)),
    ]
    exact = 0
    for value in values:
        assert is_tainted(value)
        where = undefined_where(value)
        for bits in itertools.product((0, 1), repeat=3):
            inputs = {X.expr_vars(v)[0]: bit for v, bit in zip((A, B, C), bits, strict=True)}
            suspect = bool(X.evaluate(where, inputs)) if isinstance(where, X.Expr) else where
            assert suspect or not depends(value, inputs), (value, bits)
            if not suspect:
                assert X.evaluate(with_zeros(value), inputs) == X.evaluate(value, {**inputs, INDEX: 77})
            exact += suspect == depends(value, inputs)
    assert exact >= 60  # of 64


def test_values_without_uninitialised_data() -> None:
    assert undefined_where(5) is False
    assert undefined_where(A) is False
    assert undefined_where(UNKNOWN) is True


def test_long_chains_of_choices() -> None:
    value: X.Expr = UNKNOWN
    for number in range(3000):
        value = X.ite(X.var(f"undefined_chain_{number}", 1), number & 0xFF, value, 8)
    assert undefined_where(value) is not True
