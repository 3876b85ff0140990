"""Rules over pieces of values, proved for all values of small widths."""

from __future__ import annotations

import itertools
import random
from typing import Any

from anabranch import expr as X
from anabranch.expr import Expr, evaluate

W = 4
A, B = X.var("pieces.a", W), X.var("pieces.b", W)
P = X.var("pieces.p", 1)
MODELS = [{A.a: a, B.a: b, P.a: p} for a, b, p in itertools.product(range(16), range(16), range(2))]


def agree(value: Any, meaning: Any) -> None:
    for model in MODELS:
        assert int(evaluate(value, model)) == meaning(model[A.a], model[B.a], model[P.a])


def test_the_sign_put_before_a_value_is_its_sign_extension() -> None:
    for low, w in ((A, W), (X.concat(A, W, B, W), 2 * W)):
        sign = X.extract(low, w - 1, 1, w)
        for k in (1, 3, 8):
            joined = X.concat(X.sext(sign, 1, k), k, low, w) if k > 1 else X.concat(sign, 1, low, w)
            if k > 1:
                assert joined is X.sext(low, w, w + k)
            for model in MODELS:
                plain = int(evaluate(low, model))
                ones = (1 << k) - 1 if plain >> (w - 1) else 0
                assert evaluate(joined, model) == ones << w | plain
    other = X.concat(X.sext(X.extract(A, 3, 1, W), 1, 4), 4, B, W)
    agree(other, lambda a, b, p: (15 if a >> 3 else 0) << 4 | b)


def test_choices_by_one_condition_are_added_and_subtracted_at_once() -> None:
    for k in itertools.product((0, 1, 5, 15), repeat=4):
        x, y = X.ite(P, k[0], k[1], W), X.ite(P, k[2], k[3], W)
        agree(X.add(x, y, W), lambda a, b, p, k=k: (k[0] + k[2] if p else k[1] + k[3]) & 15)
        agree(X.sub(x, y, W), lambda a, b, p, k=k: (k[0] - k[2] if p else k[1] - k[3]) & 15)
    total = X.add(X.ite(P, 4, 9, W), X.ite(P, 3, 5, W), W)
    assert isinstance(total, Expr) and total.op == "ite"


def test_division_by_constants_compares_without_dividing() -> None:
    for k, c in itertools.product(range(1, 16), range(16)):
        quotient = X.udiv(A, k, W)
        agree(X.eq(quotient, c, W), lambda a, b, p, k=k, c=c: a // k == c)
        agree(X.ult(quotient, c, W), lambda a, b, p, k=k, c=c: a // k < c)
        agree(X.ult(c, quotient, W), lambda a, b, p, k=k, c=c: c < a // k)
        if c:
            agree(X.udiv(quotient, c, W), lambda a, b, p, k=k, c=c: a // k // c)
    assert "udiv" not in repr(X.eq(X.udiv(X.udiv(X.var("pieces.wide", 64), 10, 64), 10, 64), 0, 64))


def test_bits_that_the_shape_tells() -> None:
    rng = random.Random(8)
    known = 0
    for _ in range(3000):
        value, plain = _value(rng, 3)
        w = value.w if isinstance(value, Expr) else 8
        lo = rng.randrange(w)
        n = rng.randrange(1, w - lo + 1)
        piece = X.extract(value, lo, n, w)
        known += piece.__class__ is not Expr and value.__class__ is Expr
        for model in rng.sample(MODELS, 24):
            assert int(evaluate(piece, model)) == plain(model) >> lo & (1 << n) - 1
    assert known > 100


def _value(rng: random.Random, depth: int) -> tuple[Any, Any]:
    """A value of 8 bits, and its meaning."""
    if depth == 0 or rng.random() < 0.2:
        c = rng.choice([0, 15, 240, 255, rng.randrange(256)])
        return rng.choice(
            [
                (c, lambda m: c),
                (X.zext(A, W, 8), lambda m: m[A.a]),
                (X.concat(A, W, c & 15, W), lambda m: m[A.a] << 4 | c & 15),
                (X.concat(c & 15, W, B, W), lambda m: (c & 15) << 4 | m[B.a]),
                (X.concat(A, W, B, W), lambda m: m[A.a] << 4 | m[B.a]),
            ]
        )
    (x, f), (y, g) = _value(rng, depth - 1), _value(rng, depth - 1)
    return rng.choice(
        [
            (X.and_(x, y, 8), lambda m: f(m) & g(m)),
            (X.or_(x, y, 8), lambda m: f(m) | g(m)),
            (X.xor(x, y, 8), lambda m: f(m) ^ g(m)),
        ]
    )
