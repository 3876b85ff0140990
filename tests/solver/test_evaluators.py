"""Generated evaluators, substitution and bounds against the plain evaluator."""

from __future__ import annotations

import random

import pytest

from anabranch import expr as X
from anabranch.solver.bounds import known_truth
from anabranch.solver.valuesets import contains, full_set, truth_set

from . import expressions


@pytest.mark.parametrize("seed", range(40))
def test_compiled(seed: int) -> None:
    rng = random.Random(seed)
    exprs = [expressions.value(rng, w, 4) for w in expressions.WIDTHS]
    run = X.compile_evaluator(exprs)
    for _ in range(5):
        m = expressions.model(rng)
        assert run(m) == tuple(X.evaluate(e, m) for e in exprs)


@pytest.mark.parametrize("seed", range(40))
def test_substitute(seed: int) -> None:
    """Replacing all variables by values evaluates; replacing one changes only that one."""
    rng = random.Random(seed)
    e = expressions.value(rng, rng.choice(expressions.WIDTHS), 4)
    m = expressions.model(rng)
    values = {X.variable(v): bool(k) if X.variable(v).w == 1 else k for v, k in m.items()}
    assert X.substitute(e, values) == X.evaluate(e, m)
    x = X.var("u8", 8)
    swapped = X.substitute(e, {x: X.var("v8", 8)})
    assert X.evaluate(swapped, m) == X.evaluate(e, m | {x.a: m[X.var("v8", 8).a]})


@pytest.mark.parametrize("seed", range(150))
def test_bounds_are_sound(seed: int) -> None:
    """A truth forced by ranges holds for every choice from the ranges."""
    rng = random.Random(seed)
    cond = expressions.value(rng, 1, 3)
    if cond.__class__ is bool:
        return
    ranges = {}
    for v in X.expr_vars(cond):
        w = X.variable(v).w
        lo = rng.randrange(1 << w)
        hi = min((1 << w) - 1, lo + rng.choice([0, 1, 3, 10]))
        ranges[v] = sum(1 << k for k in range(lo, hi + 1)) if w <= 8 else ((lo, hi),)
    truth = known_truth(cond, ranges)
    if truth is None:
        return
    for _ in range(30):
        m = {}
        for v, s in ranges.items():
            members = [k for k in range(1 << X.variable(v).w) if contains(s, k)]
            m[v] = rng.choice(members)
        assert X.evaluate(cond, m) is truth, (cond, m)


@pytest.mark.parametrize("seed", range(200))
def test_truth_sets_are_exact(seed: int) -> None:
    rng = random.Random(seed)
    w = rng.choice([4, 8, 12])
    x = X.var(f"t{w}", w)
    e = x
    for _ in range(rng.randrange(4)):
        c = rng.randrange(1 << w)
        e = rng.choice(
            [
                lambda e, c: X.add(e, c, w),
                lambda e, c: X.sub(c, e, w),
                lambda e, c: X.xor(e, (1 << w) - 1, w),
                lambda e, c: X.xor(e, 1 << (w - 1), w),
                lambda e, c: X.udiv(e, c or 3, w),
                lambda e, c: X.trunc(X.sext(e, w, 16), 16, w),
                lambda e, c: X.lshr(e, c % w, w),
                lambda e, c: X.ashr(e, c % w, w),
            ]
        )(e, c)
        if e.__class__ is int:
            return
    cond = rng.choice([X.ult, X.slt, X.eq, X.sle, X.ugt])(e, rng.randrange(1 << w), w)
    if rng.random() < 0.5:
        cond = rng.choice([X.bool_and, X.bool_or])(cond, X.ult(x, rng.randrange(1 << w), w))
    if cond.__class__ is bool:
        return
    truth = truth_set(cond)
    if w <= 8:
        assert truth is not None
    if truth is not None:
        for v in range(1 << w):
            assert contains(truth, v) is X.evaluate(cond, {x.a: v}), (cond, v)


def test_truth_sets_exist_for_ranges() -> None:
    """The shapes that intervals are for are not given up."""
    x = X.var("ranged", 32)
    for cond in (
        X.ult(x, 100, 32),
        X.slt(x, 100, 32),
        X.sgt(X.add(x, 5, 32), 0, 32),
        X.bool_and(X.uge(x, 10, 32), X.ult(x, 20, 32)),
        X.bool_or(X.eq(x, 1, 32), X.eq(x, 3, 32)),
        X.slt(x, 0, 32),
        X.ult(X.udiv(x, 10, 32), 3, 32),
    ):
        assert truth_set(cond) is not None, cond
    assert truth_set(X.bool_and(X.uge(x, 10, 32), X.ult(x, 20, 32))) == ((10, 19),)
    assert full_set(32) == ((0, (1 << 32) - 1),)
