"""Hard queries: how long they may take, and wishes that only meet what they touch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anabranch import expr as X
from anabranch.expr import Expr
from anabranch.solver import SliceSpace, SolverUnknown
from anabranch.solver.backend import Model
from anabranch.solver.enumeration import preferred
from anabranch.solver.limit import FIRST_PART, HARD, LEAST, URGENT_PART, Limit, QueryLimits


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def allowed(limits: QueryLimits, clock: Clock, takes: float) -> float:
    """What a query may take, that then takes so long."""
    limit = Limit(1000, limits)
    limit.start()
    seconds = limit.deadline - clock.now
    clock.now += takes
    limit.stop()
    return seconds


def test_a_query_that_cannot_wait_has_a_part_of_the_time_left(clock: Clock) -> None:
    limits = QueryLimits(30.0, end=200.0, clock=clock)
    assert allowed(limits, clock, 10.0) == pytest.approx(URGENT_PART * 100)
    assert allowed(limits, clock, 15.1) == pytest.approx(URGENT_PART * 90)
    assert allowed(limits, clock, 10.0) == pytest.approx(LEAST)  # together they have had a quarter
    clock.now = 199.99
    assert allowed(limits, clock, 0.0) == pytest.approx(0.01)
    clock.now = 201.0
    assert allowed(limits, clock, 0.0) < 0


def test_easy_queries_are_not_counted_as_hard(clock: Clock) -> None:
    limits = QueryLimits(30.0, end=200.0, clock=clock)
    for _ in range(5000):
        allowed(limits, clock, HARD / 2)
    assert clock.now < 200
    assert allowed(limits, clock, 0.0) > LEAST


def test_a_query_that_can_wait_has_more_time_at_each_attempt(clock: Clock) -> None:
    limits = QueryLimits(32.0, end=1e6, clock=clock)
    times, polls = [], []
    for attempt in range(4):
        limits.begin(attempt)
        limit = Limit(12800, limits)
        limit.start()
        times.append(limit.deadline - clock.now)
        polls.append(limit.left)
    assert times == [pytest.approx(t) for t in (1, 8, 32, 32)]
    assert polls == [400, 3200, 12800, 12800]
    assert limits.part == 1


def test_without_a_time_limit_the_resources_decide(clock: Clock) -> None:
    limits = QueryLimits(32.0, clock=clock)
    limits.begin(0)
    assert allowed(limits, clock, 0.0) > 4 * FIRST_PART * 32  # so that the same run gives the same answers
    limits.attempt = None
    assert [allowed(limits, clock, 31.9) for _ in range(3)] == [pytest.approx(32.0)] * 3


def test_a_query_is_hard_by_the_polls_that_it_takes(clock: Clock) -> None:
    limits = QueryLimits(clock=clock)
    for polls, hard in ((10, False), (1000, True)):
        limits.begin(2)
        assert not limits.was_hard
        limit = Limit(12800, limits)
        limit.start()
        for _ in range(polls):
            assert not limit()
        assert limit.stop() == polls
        assert limits.was_hard is hard


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
