"""The loop shows every operator: settle, covers, merge, the budget; nobody else takes a waiting state out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from anabranch.explore.loop import explore_states
from anabranch.explore.search.plain import Bfs, Dfs
from anabranch.explore.technique import EXACT, GOALS, Contract, Merge, Settled, Technique, Techniques
from anabranch.explore.worklist import Index, Worklist


class Number:
    """A state that only the loop sees: a number, and what it stands for."""

    def __init__(self, value: int, parts: tuple[int, ...] = ()) -> None:
        self.value = value
        self.parts = parts or (value,)

    def __repr__(self) -> str:
        return f"<{self.value}>"


class Doubling:
    """The successors of n are 2n and 2n + 1, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.ran: list[int] = []
        self.forks: list[int | None] = []

    def advance(self, state: Any, forks: int | None) -> Iterable[Any]:
        self.ran.append(state.value)
        self.forks.append(forks)
        return [Number(n) for n in (2 * state.value, 2 * state.value + 1) if n <= self.limit]


class Plenty:
    """A budget that never ends, or ends after some turns."""

    def __init__(self, turns: int = 1000, excess: Sequence[int] = ()) -> None:
        self.turns = turns
        self.unwanted = list(excess)

    def excess(self, worklist: Worklist) -> Sequence[Any] | None:
        self.turns -= 1
        if self.turns < 0:
            return None
        return [state for state in worklist.states() if state.value in self.unwanted]  # type: ignore[attr-defined]


def run(
    techniques: Sequence[Technique] = (), limit: int = 7, budget: Plenty | None = None
) -> tuple[Doubling, list[int], Worklist]:
    machine, gone = Doubling(limit), []
    search: Any = Bfs()
    worklist = Worklist(search, [index for one in techniques for index in one.indexes])
    first: Any = Number(1)
    worklist.add([first])
    explore_states(
        worklist,
        machine,
        Techniques(techniques),
        budget or Plenty(),
        lambda state: gone.append(state.value),  # type: ignore[attr-defined]
    )
    return machine, gone, worklist


class Silent(Technique):
    name: ClassVar[str] = "silent"
    contract: ClassVar[Contract] = EXACT

    def __init__(self) -> None:
        pass


def test_without_techniques_everything_is_explored() -> None:
    machine, gone, worklist = run()
    assert machine.ran == [1, 2, 3, 4, 5, 6, 7]
    assert not gone and not len(worklist)


def test_a_technique_that_overrides_nothing_changes_nothing() -> None:
    assert run([Silent()])[0].ran == run()[0].ran
    assert Techniques([Silent()]).figures() == {}
    assert EXACT.serves == GOALS


def test_the_budget_ends_the_run_and_takes_states() -> None:
    machine, _, worklist = run(budget=Plenty(3))
    assert machine.ran == [1, 2, 3] and len(worklist) == 4
    machine, gone, worklist = run(budget=Plenty(excess=[2, 6]))
    assert gone == [2, 6]
    assert machine.ran == [1, 3, 7] and not len(worklist)


class Odd(Silent):
    """Everything above 3 that is odd is covered, once 2 is done."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.gone: list[int] = []

    def covers(self, state: Any) -> bool:
        self.asked.append(state.value)
        return state.value > 3 and bool(state.value % 2)

    def covered(self, state: Any) -> None:
        self.gone.append(state.value)


def test_covered_states_are_neither_run_nor_added() -> None:
    odd = Odd()
    machine, _, _ = run([odd])
    assert machine.ran == [1, 2, 3, 4, 6]
    assert odd.gone == [5, 7]
    assert odd.asked.count(7) == 1
    assert odd.asked.count(4) == 2  # when it was made, and when it was picked


class Neighbours(Silent):
    """States with the same half merge."""

    def __init__(self) -> None:
        self.waiting = Index(lambda state: state.value // 2 if state.value > 3 else None)  # type: ignore[attr-defined]
        self.after: list[tuple[int, int]] = []

    @property
    def indexes(self) -> Sequence[Index]:
        return (self.waiting,)

    def merge(self, state: Any) -> Iterator[Merge]:
        for partner in self.waiting.at(self.waiting.key(state)):
            other: Any = partner
            merged: Any = Number(other.value, (*other.parts, *state.parts))
            yield Merge(partner, merged)
            self.after.append((len(self.waiting.at(other.value // 2)), other.value))


def test_merged_states_wait_once() -> None:
    merging = Neighbours()
    machine, _, _ = run([merging])
    assert machine.ran == [1, 2, 3, 4, 6]
    assert merging.after == [(0, 4), (0, 6)]  # the loop had taken the partner out by then


class InPairs(Silent):
    """When two states wait, they become one, of the larger value."""

    def __init__(self, search: Any) -> None:
        self.search = search

    def settle(self) -> Iterator[Settled]:
        waiting = list(self.search.states())
        if len(waiting) == 2:
            largest = max(state.value for state in waiting)
            instead: Any = Number(largest)
            yield Settled(waiting, [instead])
            assert list(self.search.states()) == [instead]


def test_settled_groups_are_replaced() -> None:
    search: Any = Dfs()
    worklist = Worklist(search)
    first: Any = Number(1)
    worklist.add([first])
    machine = Doubling(15)
    explore_states(worklist, machine, Techniques([InPairs(search)]), Plenty(), lambda state: None)
    assert machine.ran == [1, 3, 7, 15]


class Everything(Silent):
    """Nothing has to go on."""

    def __init__(self, worklist: Any) -> None:
        self.worklist = worklist

    def settle(self) -> Iterator[Settled]:
        yield Settled(list(self.worklist.states()))


def test_the_last_state_may_go() -> None:
    search: Any = Dfs()
    worklist = Worklist(search)
    first: Any = Number(1)
    worklist.add([first])
    machine = Doubling(15)
    explore_states(worklist, machine, Techniques([Everything(search)]), Plenty(), lambda state: None)
    assert machine.ran == [] and not len(worklist)


class Fork(Silent):
    def __init__(self, number: int | None) -> None:
        self.number = number

    def forks(self, state: Any) -> int | None:
        return self.number


def test_the_fewest_forks_that_a_technique_wants() -> None:
    assert run([Fork(None)])[0].forks[0] is None
    assert run([Fork(7), Fork(None), Fork(3)])[0].forks[0] == 3
