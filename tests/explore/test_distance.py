from __future__ import annotations

from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.distance import DistanceGraph
from anabranch.explore.coverage import BlockTable
from anabranch.explore.distance import Distances, UncoveredDistance, UncoveredMeasure
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.search import UNREACHABLE, make_search
from anabranch.explore.tree import ExecutionTree
from anabranch.ir import read_module
from tests.explore.fakes import FakeState, context, spine

TEXT = """
define i32 @main(i32 %x) {
entry:
  %c = icmp eq i32 %x, 0
  br i1 %c, label %far, label %near
far:
  %a = call i32 @callee(i32 %x)
  %b = add i32 %a, 1
  br label %last
last:
  ret i32 %b
near:
  br label %goal
goal:
  ret i32 0
}
define i32 @callee(i32 %x) {
  %y = add i32 %x, 1
  %z = add i32 %y, 1
  ret i32 %z
}
"""
ENTRY, FAR, LAST, NEAR, GOAL, CALLEE = range(6)


def distances(executed: list[int], to_return: bool = False) -> list[int]:
    module = read_module(TEXT)
    table = BlockTable(module, lambda function: True)
    table.register(module.functions["main"])
    table.register(module.functions["callee"])
    counters = [0] * table.size
    for number in executed:
        counters[number] = 1
    measure = UncoveredMeasure(table, counters, lambda: DistanceGraph(build_call_graph(module)))
    return list(measure()[to_return])


def test_distances_to_uncovered_blocks() -> None:
    assert distances([ENTRY, NEAR, LAST, FAR, CALLEE]) == [3, UNREACHABLE, UNREACHABLE, 1, 0, UNREACHABLE]
    assert distances([ENTRY, NEAR, LAST, FAR, GOAL])[FAR] == 1, "into the call"
    assert distances(list(range(6))) == [UNREACHABLE] * 6


def test_distances_to_the_return() -> None:
    assert distances([], to_return=True)[CALLEE] == 3
    assert distances([], to_return=True)[LAST] == 1


def state_at(place: int) -> FakeState:
    return FakeState(ExecutionTree().start(), place=place)


def test_callers_count_after_the_way_out() -> None:
    known = Distances([9, 50, 2, 700], [4, 10, 100, 5])
    stacks = {0: [], 1: [0], 3: [1, 0, 2]}
    new = NewCoverage([])
    alone: UncoveredDistance[FakeState] = UncoveredDistance(new, lambda: known)
    within: UncoveredDistance[FakeState] = UncoveredDistance(new, lambda: known, lambda s: stacks[s.place])
    assert [alone(state_at(place)) for place in (0, 1, 3)] == [9, 50, 700]
    # 1: out in 10, then 9; 3: out in 5, through 1 in 10, through 0 in 4, then 2
    assert [within(state_at(place)) for place in (0, 1, 3)] == [9, 19, 21]


def test_distances_are_measured_again_when_coverage_changed() -> None:
    counters = [0, 0]
    new = NewCoverage(counters)
    new.check()
    answers = [[5, 6], [7, 8, 9], [1, 2, 3]]
    distance: UncoveredDistance[FakeState] = UncoveredDistance(
        new, lambda: Distances(answers[distance.measured], answers[distance.measured]), patience=3
    )
    state = state_at(1)
    assert [distance(state) for _ in range(9)] == [6] * 9
    counters[0] = 1
    new.check()
    assert [distance(state) for _ in range(4)] == [6, 6, 6, 8]
    counters[1] = 1
    new.check()
    state.place = 2
    assert distance(state) == 9
    state.place = 0
    assert [distance(state) for _ in range(3)] == [7, 7, 1]
    assert distance.measured == 3


def test_a_place_newer_than_the_distances_is_measured_at_once() -> None:
    new = NewCoverage([0] * 10)
    answers = [[5], [5, 4]]
    distance: UncoveredDistance[FakeState] = UncoveredDistance(
        new, lambda: Distances(answers[distance.measured], answers[distance.measured])
    )
    assert distance(state_at(0)) == 5
    assert distance(state_at(1)) == 4


def test_a_caller_newer_than_the_distances_is_measured_at_once() -> None:
    answers = [Distances([50], [3]), Distances([50, 4], [3, 1])]
    stack: list[int] = []
    distance: UncoveredDistance[FakeState] = UncoveredDistance(
        NewCoverage([]), lambda: answers[distance.measured], lambda state: stack
    )
    assert distance(state_at(0)) == 50
    stack.append(1)
    assert distance(state_at(0)) == 7


def test_search_follows_coverage() -> None:
    """A state that waits next to a block loses its attraction once that block has been covered."""
    tree = ExecutionTree()
    near, far = spine(tree, 2)
    counters = [0, 0]
    new = NewCoverage(counters)
    new.check()
    distance: UncoveredDistance[FakeState] = UncoveredDistance(
        new, lambda: Distances([1000 if counters[0] else 1, 30], [0, 0]), patience=0
    )
    search = make_search(["nurs:md2u"], context(tree, distance=distance))
    search.add([near, far])

    def nears(picks: int) -> int:
        count = 0
        for _ in range(picks):
            state = search.pick()
            count += state is near
            search.add([state])
        return count

    assert nears(1000) > 950
    counters[0] = 1
    new.check()
    assert nears(1000) < 50
