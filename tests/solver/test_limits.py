"""Hard queries: how long they may take, and wishes that only meet what they touch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anabranch import expr as X
from anabranch.expr import Expr
from anabranch.solver import SliceSpace, SolverUnknown
from anabranch.solver.backend import Model
from anabranch.solver.enumeration import preferred
from anabranch.solver.limit import HARD, LEAST, Limit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def allowed(limit: Limit, clock: Clock, takes: float) -> float:
    """What a query may take, that then takes so long."""
    limit.start()
    seconds = limit.deadline - clock.now
    clock.now += takes
    limit.stop()
    return seconds


def test_a_share_bounds_what_hard_queries_take_together(clock: Clock) -> None:
    limit = Limit(1000, 5.0, share=0.1, clock=clock)
    assert allowed(limit, clock, 5.0 + HARD) == pytest.approx(5.0)  # the first one
    assert allowed(limit, clock, 0.0) == pytest.approx(0.1 * (5.0 + HARD))
    clock.now += 20
    assert allowed(limit, clock, 1.5) == pytest.approx(0.1 * (25.0 + HARD))
    assert allowed(limit, clock, 3.0) == pytest.approx(0.1 * (26.5 + HARD) - (1.5 - HARD))
    assert allowed(limit, clock, 0.0) == pytest.approx(LEAST)
    clock.now += 1000
    assert allowed(limit, clock, 0.0) == pytest.approx(5.0)  # a single one


def test_easy_queries_cost_nothing(clock: Clock) -> None:
    limit = Limit(1000, 5.0, share=0.1, clock=clock)
    allowed(limit, clock, 5.0 + HARD)  # all that is given
    began = clock.now
    for _ in range(100):
        allowed(limit, clock, HARD / 2)
    clock.now = began + 30.0
    assert allowed(limit, clock, 0.0) == pytest.approx(0.1 * (35.0 + HARD))


def test_without_a_share_every_query_may_take_its_seconds(clock: Clock) -> None:
    limit = Limit(1000, 5.0, clock=clock)
    assert [allowed(limit, clock, 4.9) for _ in range(3)] == [pytest.approx(5.0)] * 3


def test_wishes_meet_only_the_constraints_that_they_touch() -> None:
    space = SliceSpace()
    a, b, c = (X.var(f"wish.{name}", 8) for name in "abc")
    slices = []
    for x in (a, b, c):
        limited = space.assume(space.root(x.a), X.ult(x, 100, 8))
        assert limited is not None
        slices.append(limited)
    asked: list[tuple[Expr, ...]] = []

    def check(conds: Sequence[Expr]) -> Model | None:
        asked.append(tuple(conds))
        return space.check(conds)

    wishes = [X.eq(a, 7, 8), X.eq(X.add(a, b, 8), 60, 8), X.eq(b, 9, 8), X.ult(150, c, 8)]
    model = preferred(check, slices, {a.a: 0, b.a: 0, c.a: 0}, wishes, 64)
    assert (model[a.a], model[b.a]) == (7, 53)
    assert model[c.a] < 100
    touched = [{v for cond in conds for v in X.expr_vars(cond)} for conds in asked]
    assert touched == [{a.a}, {a.a, b.a}, {a.a, b.a}, {c.a}]


def test_a_wish_that_is_too_hard_is_left_out() -> None:
    space = SliceSpace()
    a = X.var("wish.hard", 8)

    def check(conds: Sequence[Expr]) -> Model | None:
        raise SolverUnknown(False)

    assert preferred(check, [space.root(a.a)], {a.a: 3}, [X.eq(a, 4, 8)], 64) == {a.a: 3}


def test_fixed_variables_need_no_solver() -> None:
    space = SliceSpace()
    x, y = X.var("fixed.x", 64), X.var("fixed.y", 64)
    parts = []
    for v, value in ((x, 12345), (y, 678)):
        part = space.assume(space.root(v.a), X.eq(v, value, 64))
        assert part is not None
        parts.append(part)
    both = space.join(tuple(parts))
    product: Expr = X.urem(X.mul(x, y, 64), X.add(y, 3, 64), 64)  # type: ignore[assignment]
    right = 12345 * 678 % 681
    assert space.decide(both, X.eq(product, right, 64)) is True
    assert space.decide(both, X.eq(product, right + 1, 64)) is False
    assert space.stats.timers["backend"].count == 0
