"""Hard queries in several processes: the first answer, whoever gives it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from math import inf

import pytest

from anabranch import expr as X
from anabranch.expr import Expr, evaluate
from anabranch.solver.backend import UNKNOWN, UNSAT, Answer, Backend
from anabranch.solver.limit import QueryLimits
from anabranch.solver.race import RACERS, Racing, race


class Made:
    """Answers after some seconds."""

    name = "made"
    effort = 0

    def __init__(self, answer: Answer, seconds: float = 0.0, fails: bool = False) -> None:
        self.answer, self.seconds, self.fails = answer, seconds, fails

    def __call__(self, limits: QueryLimits) -> Backend:
        return self

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        time.sleep(self.seconds)
        if self.fails:
            raise MemoryError
        return self.answer


def no_children() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return True


LARGE = {k: k << 60 for k in range(30_000)}
CASES: dict[str, tuple[dict[str, Callable[[QueryLimits], Backend]], tuple[str, Answer]]] = {
    "the quick one": ({"slow": Made(UNSAT, 60), "quick": Made({3: 7}, 0.05)}, ("quick", {3: 7})),
    "an answer, not giving up": ({"a": Made(UNKNOWN), "b": Made(UNSAT, 0.1)}, ("b", UNSAT)),
    "a process that fails": ({"a": Made({}, fails=True), "b": Made(UNSAT, 0.1)}, ("b", UNSAT)),
    "a large model": ({"a": Made(LARGE)}, ("a", LARGE)),
    "nobody": ({"a": Made(UNKNOWN), "b": Made({}, fails=True)}, ("", UNKNOWN)),
    "nobody in time": ({"a": Made(UNSAT, 60)}, ("", UNKNOWN)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_who_wins(case: str) -> None:
    racers, expected = CASES[case]
    assert race(racers, [], [], 0.5 if "in time" in case else inf) == expected
    assert no_children()


@pytest.mark.parametrize("name", [name for name, _ in RACERS])
def test_all_racers_answer(name: str) -> None:
    x, y = X.var("race.x", 16), X.var("race.y", 16)
    product = X.eq(X.mul(x, y, 16), 0x1234, 16)
    variables = (x.a, y.a)
    racer = {name: dict(RACERS)[name]}
    winner, model = race(racer, [product, X.ult(x, y, 16)], variables, 60.0)
    assert winner == name
    assert isinstance(model, dict)
    assert evaluate(product, model) is True
    assert race(racer, [product, X.eq(x, 0, 16)], variables, 60.0) == (name, UNSAT)


def test_only_what_takes_long_is_raced() -> None:
    """An easy query is not; a factorisation that nobody manages alone in no time is."""
    limits = QueryLimits(60.0)
    x, y = X.var("race.p", 32), X.var("race.q", 32)
    wide = [X.zext(v, 32, 64) for v in (x, y)]
    hard = [X.eq(X.mul(*wide, 64), 4294967291 * 4294967279, 64), X.ult(1, x, 32), X.ult(1, y, 32)]

    class Gives(Made):
        def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
            time.sleep(min(self.seconds, limits.deadline() - limits.clock()))
            return self.answer

    racing = Racing(Gives(UNKNOWN, 0.0), limits, 5, patience=0.1)
    assert racing.solve(hard, (x.a, y.a)) is UNKNOWN  # it gave up before: nothing to win
    assert racing.won == {}
    racing = Racing(Gives(UNKNOWN, 5.0), limits, 2, patience=0.1)
    small = [X.eq(X.mul(x, y, 32), 77, 32), X.ult(x, y, 32), X.ult(1, x, 32)]
    model = racing.solve(small, (x.a, y.a))
    assert isinstance(model, dict)
    assert all(evaluate(c, model) is True for c in small)
    assert sum(racing.won.values()) == 1
    assert limits.alone == inf
