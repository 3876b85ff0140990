"""How a limited time is divided: exploring, hard queries, distances, and what is kept for the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anabranch.explore.budget import DISTANCES, HARD_TURNS, READING, TURNS_BETWEEN, Budget, HardTurns, Share
from anabranch.explore.postponed import PostponedLast
from anabranch.explore.search.plain import Dfs
from anabranch.explore.settings import LimitSettings
from anabranch.machine.translator.sites import Postponed
from tests.machine.harness import prepare


@dataclass
class Used:
    instructions: int = 0
    tests: int = 0
    waiting: int = 0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(Share, "now", made)
    return made


def exploring_ends(budget: Budget, clock: Clock, waiting: int = 0) -> float:
    """Seconds after the start of the command at which exploration stops."""
    clock.now = 1000.0
    while budget.check(Used(waiting=waiting)) is None:
        clock.now += 0.25
    return clock.now - 1000


def test_time_counts_from_the_start_of_the_command(clock: Clock) -> None:
    budget = Budget(LimitSettings(time=60), clock, started=990.0)
    assert budget.deadline == 1050
    assert 45 < exploring_ends(budget, clock) < 50


def test_what_the_end_takes_is_kept(clock: Clock) -> None:
    plain = exploring_ends(Budget(LimitSettings(time=60), clock), clock)
    clock.now = 1000.0
    budget = Budget(LimitSettings(time=60), clock)
    with budget.charged(READING):
        clock.now += 10
    large = exploring_ends(budget, clock)
    assert plain - 6 < large < plain - 3
    assert exploring_ends(budget, clock, waiting=200_000) < large - 1
    assert budget.time_is_up
    assert budget.queries().end < budget.tests_until < budget.deadline
    budget.begin_finishing()
    assert budget.queries().end == budget.tests_until


def test_without_a_limit_nothing_ends(clock: Clock) -> None:
    budget = Budget(LimitSettings(), clock)
    clock.now += 1e9
    assert budget.check(Used(waiting=10**6)) is None
    assert not budget.time_is_up
    assert budget.may_measure()


def test_distances_are_measured_only_where_there_is_time(clock: Clock) -> None:
    budget = Budget(LimitSettings(time=60), clock)
    with budget.charged(READING):
        clock.now += 5
    assert budget.may_measure()
    with budget.charged("distances"):
        clock.now += 4
    assert not budget.may_measure()
    clock.now += 4 / DISTANCES
    assert budget.may_measure()
    with budget.charged(READING):
        clock.now += 10
    assert Budget(LimitSettings(time=60), clock).may_measure()
    late = Budget(LimitSettings(time=60), clock)
    with late.charged(READING):
        clock.now += 15
    assert not late.may_measure()  # the first time takes longest


def state(name: str, attempt: int = 0) -> Any:
    entry: Any = name
    if attempt:
        entry = Postponed.__new__(Postponed)
        entry.attempt = attempt
    return SimpleNamespace(name=name, entry=entry)


@pytest.fixture
def order() -> Callable[..., PostponedLast]:
    def make(timed: bool = False) -> PostponedLast:
        made = PostponedLast(Dfs(), HardTurns(Share(HARD_TURNS), timed))
        return made

    return make


class Hashed(SimpleNamespace):
    __hash__ = object.__hash__


def test_states_with_hard_queries_come_last(order: Callable[..., PostponedLast]) -> None:
    waits = order()
    states = {name: Hashed(**vars(state(name, often))) for name, often in
              (("a", 0), ("twice", 2), ("once", 1), ("b", 0), ("later", 1))}  # fmt: skip
    waits.add(list(states.values()))  # type: ignore[arg-type]
    assert len(waits) == 5
    assert {one.name for one in waits.states()} == set(states)  # type: ignore[attr-defined]
    waits.remove(states["later"])  # type: ignore[arg-type]
    assert [waits.pick().name for _ in range(4)] == ["b", "a", "once", "twice"]  # type: ignore[attr-defined]
    assert not len(waits)


def test_they_have_a_turn_after_many_of_others(order: Callable[..., PostponedLast]) -> None:
    waits = order()
    hard, easy = (Hashed(**vars(state(name, often))) for name, often in (("hard", 1), ("easy", 0)))
    waits.add((easy, hard))  # type: ignore[arg-type]
    turns = 0
    while (picked := waits.pick()) is easy:  # type: ignore[comparison-overlap]
        turns += 1
        waits.add((easy,))  # type: ignore[arg-type]
    assert picked is hard  # type: ignore[comparison-overlap]
    assert turns == TURNS_BETWEEN


def test_they_have_a_share_of_limited_time(clock: Clock) -> None:
    turns = HardTurns(Share(HARD_TURNS), timed=True)
    clock.now += 10
    assert turns.due(3)
    turns.taken(10)
    assert not turns.due(1)
    clock.now += 10 / HARD_TURNS
    assert turns.due(1)


MANY = """
#include <klee/klee.h>
int main(void) {
  unsigned char x[6];
  klee_make_symbolic(x, sizeof x, "x");
  unsigned found = 0;
  for (int i = 0; i < 6; i++)
    if (x[i] == i + 1) found |= 1u << i;
    else if (x[i] == 40) found += 100;
  return found == 77;
}
"""


def test_what_was_done_is_told(tmp_path: Path) -> None:
    result = prepare(tmp_path, MANY, "--max-time", "1000").run()
    assert {"reading", "finishing", "distances"} <= set(result.timers)
