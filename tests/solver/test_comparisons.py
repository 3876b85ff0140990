"""Constraints on one value in fewer: exactly the same values, and answers as before."""

from __future__ import annotations

import random
from itertools import product

import pytest

from anabranch import expr as X
from anabranch.expr import Expr, evaluate
from anabranch.solver import Slice, SliceSpace, Split
from anabranch.solver.comparisons import MANY, allowed, compared, condensed, follows

HIGH, LOW = X.var("high", 3), X.var("low", 3)
BOTH = X.concat(HIGH, 3, LOW, 3)
POINTS = [{HIGH.a: h, LOW.a: low} for h, low in product(range(8), repeat=2)]


def comparison(rng: random.Random, value: Expr) -> Expr:
    """A comparison with a constant that is none."""
    while True:
        made = rng.choice([X.eq, X.ne, X.ult, X.ule, X.slt, X.sge])(
            value, rng.randrange(1 << value.w), value.w
        )
        if made.__class__ is Expr:
            return made


def meaning(order: tuple[Expr, ...]) -> list[dict[int, int]]:
    return [point for point in POINTS if all(evaluate(c, point) is True for c in order)]


@pytest.mark.parametrize("seed", range(200))
def test_fewer_constraints_mean_the_same(seed: int) -> None:
    rng = random.Random(seed)
    order: tuple[Expr, ...] = ()
    for _ in range(MANY + 8):
        cond = comparison(rng, rng.choice([BOTH, BOTH, BOTH, HIGH]))
        if not (wanted := meaning((*order, cond))):
            continue
        order = condensed(order, (cond,))
        assert meaning(order) == wanted


@pytest.mark.parametrize("seed", range(100))
def test_allowed_values(seed: int) -> None:
    cond = comparison(random.Random(seed), BOTH)
    if compared(cond) is BOTH:
        for point in POINTS:
            value = evaluate(BOTH, point)
            assert any(low <= value <= high for low, high in allowed(cond)) is evaluate(cond, point)


def count_up(space: SliceSpace, value: Expr, rounds: int) -> list[Slice]:
    """The slices of the path that goes round and round while the counter is below an input."""
    slices = [space.join(tuple(space.root(v) for v in X.expr_vars(value)))]
    for i in range(rounds):
        answer = space.decide(slices[-1], X.ult(i, value, value.w))
        assert isinstance(answer, Split)
        slices.append(answer.yes)
    return slices


@pytest.mark.parametrize("bytes", [2, 4])
def test_counting_up_to_an_input_needs_few_constraints(bytes: int) -> None:
    space = SliceSpace()
    value = X.var("first", 8 * bytes)
    if bytes == 2:
        value = X.concat(X.var("top", 8), 8, X.var("bottom", 8), 8)
    slices = count_up(space, value, 200)
    assert max(len(s.constraints) for s in slices) <= MANY + 2
    for i in (0, 50, 199):
        assert space.decide(slices[-1], X.ult(i, value, value.w)) is True
        assert space.decide(slices[-1], X.ule(value, i, value.w)) is False
    assert isinstance(space.decide(slices[-1], X.ult(200, value, value.w)), Split)


def test_what_was_condensed_is_decided_without_the_backend() -> None:
    space = SliceSpace()
    value = X.concat(X.var("upper", 8), 8, X.var("lower", 8), 8)
    last = count_up(space, value, 40)[-1]
    assert X.ult(7, value, 16) not in last.constraints
    assert follows(last, X.ult(7, value, 16)) is True
    assert follows(last, X.ule(value, 7, 16)) is False
    assert follows(last, X.ult(40, value, 16)) is None


def test_counting_down_from_an_input_needs_few_constraints() -> None:
    space = SliceSpace()
    n = X.var("n", 32)
    s = space.root(n.a)
    for i in range(200):
        answer = space.decide(s, X.ne(X.sub(n, i, 32), 0, 32))
        assert isinstance(answer, Split)
        s = answer.yes
    assert len(s.constraints) <= MANY + 2


def test_two_sides_of_a_long_loop_become_the_whole() -> None:
    """What one side says and the other implies is common to both: nothing is left to tell apart."""
    space = SliceSpace()
    value = X.concat(X.var("more", 8), 8, X.var("less", 8), 8)
    before = count_up(space, value, 40)[-1]
    answer = space.decide(before, X.ult(40, value, 16))
    assert isinstance(answer, Split)
    found = space.disjoin((answer.yes,), (answer.no,), None)
    assert found.condition is True
    assert [s.constraints for s in found.slices] == [before.constraints]
