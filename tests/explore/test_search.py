from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.explore.protocols import Search
from anabranch.explore.search import ORDERS, make_search
from anabranch.explore.search.interleave import BONUS
from anabranch.explore.search.nurs import Nurs
from anabranch.explore.search.rounds import Rounds
from anabranch.explore.tree import ExecutionTree
from tests.explore.fakes import FakeState, context, spine


def drain(search: Search[FakeState]) -> list[FakeState]:
    return [search.pick() for _ in range(len(search))]


def frequencies(search: Search[FakeState], picks: int) -> Counter[str]:
    """How often each state comes when every picked state is put back."""
    counts: Counter[str] = Counter()
    for _ in range(picks):
        state = search.pick()
        counts[state.name] += 1
        search.add([state])
    return counts


def make(name: str, tree: ExecutionTree, seed: int = 0, **more: object) -> Search[FakeState]:
    return make_search([name], context(tree, seed, **more))


def assert_close(counts: Counter[str], expected: dict[str, float], picks: int) -> None:
    """Pearson's statistic well below anything a wrong distribution would give (99.99% at 10 degrees: 36)."""
    assert set(counts) <= set(expected)
    assert sum(expected.values()) == pytest.approx(1)
    statistic = sum((counts[name] - picks * p) ** 2 / (picks * p) for name, p in expected.items())
    assert statistic < 36, (counts, expected)


def test_dfs_is_last_in_first_out() -> None:
    tree = ExecutionTree()
    a, b, c, d = spine(tree, 4)
    search = make("dfs", tree)
    search.add([a, b])
    search.add([c])
    assert search.pick() is c
    search.add([d])
    search.remove(b)
    assert drain(search) == [d, a]


def test_bfs_is_first_in_first_out() -> None:
    tree = ExecutionTree()
    a, b, c, d = spine(tree, 4)
    search = make("bfs", tree)
    search.add([a, b])
    search.add([c])
    assert search.pick() is a
    search.add([d, a])
    search.remove(c)
    assert drain(search) == [b, d, a]


def test_random_state_is_uniform() -> None:
    tree = ExecutionTree()
    states = spine(tree, 8)
    search = make("random-state", tree)
    search.add(states)
    counts = frequencies(search, 8000)
    assert_close(counts, {state.name: 1 / 8 for state in states}, 8000)


def test_random_path_halves_at_every_fork() -> None:
    tree = ExecutionTree()
    states = spine(tree, 5)
    search = make("random-path", tree)
    search.add(states)
    expected = {"s0": 1 / 2, "s1": 1 / 4, "s2": 1 / 8, "s3": 1 / 16, "tip": 1 / 16}
    assert_close(frequencies(search, 8000), expected, 8000)


def test_random_path_ignores_finished_and_absent_sides() -> None:
    tree = ExecutionTree()
    states = spine(tree, 5)
    search = make("random-path", tree)
    search.add(states)
    search.remove(states[0])
    tree.end(states[0].node, 0, "exit")
    search.remove(states[2])  # alive, but does not wait
    assert_close(frequencies(search, 8000), {"s1": 1 / 2, "s3": 1 / 4, "tip": 1 / 4}, 8000)
    search.add([states[2]])
    expected = {"s1": 1 / 2, "s2": 1 / 4, "s3": 1 / 8, "tip": 1 / 8}
    assert_close(frequencies(search, 8000), expected, 8000)
    assert len(search) == 4


def test_random_path_refuses_a_state_twice() -> None:
    tree = ExecutionTree()
    states = spine(tree, 2)
    search = make("random-path", tree)
    search.add(states)
    with pytest.raises(ValueError, match="waits already"):
        search.add([states[0]])


@pytest.mark.parametrize("seed", range(3))
def test_nurs_picks_by_weight(seed: int) -> None:
    tree = ExecutionTree()
    states = spine(tree, 6)
    weights = {"s0": 1.0, "s1": 0.75, "s2": 0.3, "s3": 0.26, "s4": 3.0, "tip": 0.01}
    search: Nurs[FakeState] = Nurs("nurs:x", lambda state: weights[state.name], random.Random(seed))
    search.add(states)
    total = sum(weights.values())
    assert_close(frequencies(search, 20000), {name: w / total for name, w in weights.items()}, 20000)


def test_nurs_follows_weights_that_fell_while_states_waited() -> None:
    tree = ExecutionTree()
    states = spine(tree, 4)
    weights = dict.fromkeys(("s0", "s1", "s2", "tip"), 1.0)
    counts: Counter[str] = Counter()
    for trial in range(4000):
        weights.update(s0=1.0, s1=1.0)
        search: Nurs[FakeState] = Nurs("nurs:x", lambda state: weights[state.name], random.Random(trial))
        search.add(states)
        weights.update(s0=0.125, s1=0.875)
        counts[search.pick().name] += 1
    assert_close(counts, {"s0": 0.125 / 3, "s1": 0.875 / 3, "s2": 1 / 3, "tip": 1 / 3}, 4000)


def test_nurs_survives_extreme_weights() -> None:
    tree = ExecutionTree()
    states = spine(tree, 3)
    weights = {"s0": 1e-300, "s1": 1e300, "tip": 1e-9}
    search: Nurs[FakeState] = Nurs("nurs:x", lambda state: weights[state.name], random.Random(0))
    search.add(states)
    assert [state.name for state in drain(search)] == ["s1", "tip", "s0"]


def test_covnew_prefers_near_uncovered_code_and_recent_success() -> None:
    tree = ExecutionTree()
    near, far, recent, old = spine(tree, 4)
    recent.instructions_since_new = 500
    old.instructions_since_new = 1_000_000
    distances = {"s0": 3, "s1": 300, "s2": 10_000, "tip": 10_000}
    search = make("nurs:covnew", tree, distance=lambda state: distances[state.name])
    search.add([near, far, recent, old])
    counts = frequencies(search, 5000)
    assert counts["s2"] > 4 * counts["s0"] > 40 * (counts["s1"] + counts["tip"])


def test_covnew_gives_up_on_locations_whose_turns_were_fruitless() -> None:
    tree = ExecutionTree()
    states = spine(tree, 2)
    states[0].place, states[1].place = 4, 5
    search = make("nurs:covnew", tree, distance=lambda state: 1, fruitless={4: 9})
    search.add(states)
    assert_close(frequencies(search, 8000), {"s0": 1 / 11, "tip": 10 / 11}, 8000)


def test_places_weigh_by_distance_and_fruitless_turns_however_many_states_wait() -> None:
    tree = ExecutionTree()
    states = spine(tree, 12)
    for state in states:
        state.place = 1
    states[0].place = 2
    states[1].place = 3
    search = make("places", tree, distance=lambda state: {1: 1, 2: 2, 3: 1}[state.place], fruitless={3: 1})
    search.add(states)
    wanted = {state.name: 4 / 6 / 10 for state in states} | {states[0].name: 1 / 6, states[1].name: 1 / 6}
    assert_close(frequencies(search, 12000), wanted, 12000)


def test_places_prefer_states_that_have_just_covered_something_new() -> None:
    tree = ExecutionTree()
    states = spine(tree, 3)
    for state in states:
        state.place = 1
    states[0].instructions_since_new = 10
    states[1].instructions_since_new = 1_000_000
    search = make("places", tree, distance=lambda state: 10)
    search.add(states)
    assert frequencies(search, 2000)[states[0].name] > 1900


def test_md2u_looks_at_distance_only() -> None:
    tree = ExecutionTree()
    states = spine(tree, 3)
    states[1].instructions_since_new = 1
    distances = {"s0": 1, "s1": 2, "tip": 4}
    search = make("nurs:md2u", tree, distance=lambda state: distances[state.name])
    search.add(states)
    assert_close(frequencies(search, 8000), {"s0": 16 / 21, "s1": 4 / 21, "tip": 1 / 21}, 8000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nurs:depth", {"s0": 1 / 6, "s1": 2 / 6, "tip": 3 / 6}),
        ("nurs:rp", {"s0": 4 / 7, "s1": 2 / 7, "tip": 1 / 7}),
        ("nurs:icnt", {"s0": 4 / 9, "s1": 4 / 9, "tip": 1 / 9}),
    ],
)
def test_other_weights(name: str, expected: dict[str, float]) -> None:
    tree = ExecutionTree()
    states = spine(tree, 3)
    states[2].depth = 3
    search = make(name, tree, counters=[0, 1, 2])
    search.add(states)
    assert_close(frequencies(search, 8000), expected, 8000)


def test_topological_takes_the_state_furthest_behind() -> None:
    tree = ExecutionTree()
    states = spine(tree, 5)
    keys = {"s0": (-1, 4), "s1": (-2, 7), "s2": (-1, 4), "s3": (-2, 1), "tip": (-1, 0)}
    search = make("topological", tree, order_key=lambda state: keys[state.name])
    search.add(states)
    search.remove(states[4])
    assert [state.name for state in drain(search)] == ["s3", "s1", "s0", "s2"]


def test_topological_forgets_removed_states() -> None:
    tree = ExecutionTree()
    states = spine(tree, 1000)
    search = make("topological", tree, order_key=lambda state: state.place)
    search.add(states)
    for state in states[:-1]:
        search.remove(state)
    assert search.pick() is states[-1]
    assert len(search) == 0
    with pytest.raises(IndexError):
        search.pick()


def test_interleave_alternates_and_shares() -> None:
    tree = ExecutionTree()
    states = spine(tree, 6)
    search = make_search(["dfs", "bfs"], context(tree))
    search.add(states)
    search.remove(states[4])
    assert [state.name for state in drain(search)] == ["tip", "s0", "s3", "s1", "s2"]
    assert search.description == "interleave(dfs, bfs)"


def test_default() -> None:
    search = make_search([], context(ExecutionTree()))
    assert search.description == "interleave(random-path, places, rounds)"


def test_an_order_that_finds_something_has_more_turns() -> None:
    """Depth first finds something each time, breadth first never: that has 1 + BONUS times fewer turns."""
    tree = ExecutionTree()
    states = spine(tree, 40)
    found = 0
    search = make_search(["dfs", "bfs"], context(tree, progress=lambda: found))
    search.add(states)
    deep = []
    for _ in range(20):
        state = search.pick()
        deep.append(states.index(state) > 20)
        found += deep[-1]
    assert deep[:2] == [True, False]
    assert deep.count(True) == 20 * (1 + BONUS) / (2 + BONUS)


def loop_states(tree: ExecutionTree, rounds: int) -> list[FakeState]:
    """States that leave a loop, at block 7, after 1, 2, ... rounds through block 5; the last goes on."""
    tip = tree.start()
    states = []
    for number in range(1, rounds + 1):
        node = tree.fork(tip, 4, f"x{number}", True, (7, 5))
        states.append(FakeState(node, f"left after {number}", place=7))
    return [*states, FakeState(tip, "in the loop", place=5)]


def test_rounds_goes_on_with_the_path_that_goes_round() -> None:
    tree = ExecutionTree()
    search = make("rounds", tree)
    search.add(loop_states(tree, 9))
    assert search.pick().name == "in the loop"


def test_rounds_takes_groups_of_other_records_in_turn() -> None:
    """Paths are grouped by the newest power of two of rounds: 1, 2, 4, 8, and all the groups have turns."""
    tree = ExecutionTree()
    search = make("rounds", tree)
    search.add(loop_states(tree, 20))
    names = [search.pick().name for _ in range(7)]
    rounds = {int(name.split()[-1]) for name in names if name != "in the loop"}
    assert {(number - 1).bit_length() for number in rounds} >= {1, 2, 3, 4}


def test_rounds_counts_again_what_it_has_forgotten() -> None:
    orders = []
    for kept in (1000, 1):
        tree = ExecutionTree()
        search = Rounds(context(tree), kept)
        search.add(loop_states(tree, 30))
        orders.append([state.name for state in drain(search)])
    assert orders[0] == orders[1]


@pytest.mark.parametrize("names", [["dfss"], ["dfs", "nurs:nothing"], ["nurs:covnew", "dfs", "nurs:covnew"]])
def test_bad_names_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"search order '"):
        make_search(names, context(ExecutionTree()))


@pytest.mark.parametrize("name", ORDERS.names())
def test_an_empty_search_says_so(name: str) -> None:
    search = make(name, ExecutionTree(), order_key=lambda state: 0)
    assert len(search) == 0
    assert list(search.states()) == []
    with pytest.raises(IndexError):
        search.pick()


def explore(names: list[str], seed: int, steps: list[int]) -> list[tuple[str, int]]:
    """A made-up exploration: each step forks, ends or puts back the picked state; checks the worklist."""
    tree = ExecutionTree()
    distances = [1, 5, 2, 9, 3, 30, 1, 4]
    search = make_search(
        names,
        context(
            tree,
            seed,
            counters=distances,
            distance=lambda state: distances[state.place],
            order_key=lambda state: (-state.depth, state.place),
        ),
    )
    first = FakeState(tree.start(), "0")
    search.add([first])
    waiting = {first}
    history = []
    for step in steps:
        if not waiting:
            break
        state = search.pick()
        history.append((state.name, state.node.id))
        waiting.remove(state)
        if step == 0:
            tree.end(state.node, state.place, "exit")
        elif step == 1:
            search.add([state])
            waiting.add(state)
        else:
            children = [state]
            for i in range(step - 1):
                node = tree.fork(state.node, state.place, None, polarity=i % 2 == 0)
                state.depth += 1
                children.append(FakeState(node, f"{state.name}.{node.number}", (step * i) % 8, state.depth))
            search.add(children)
            waiting.update(children)
            if step == 4:  # as merging, pruning or a limit would
                victim = children[1]
                search.remove(victim)
                waiting.remove(victim)
                tree.end(victim.node, victim.place, "merged")
        assert len(search) == len(waiting)
        assert set(search.states()) == waiting
        assert sorted(map(id, search.states())) == sorted(map(id, waiting))
    assert set(drain(search)) == waiting
    return history


CHOICES = [[name] for name in ORDERS.names()] + [
    ["random-path", "nurs:covnew"],
    ["random-path", "places"],
    ["dfs", "bfs", "random-state", "random-path", "nurs:md2u", "topological"],
]


@pytest.mark.parametrize("names", CHOICES, ids=lambda names: "+".join(names))
@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.integers(0, 4), max_size=60), seed=st.integers(0, 5))
def test_worklists_stay_consistent_and_runs_repeat(names: list[str], seed: int, steps: list[int]) -> None:
    assert explore(names, seed, steps) == explore(names, seed, steps)


@pytest.mark.parametrize("names", [["random-path"], ["random-state"], ["nurs:covnew"], []])
def test_another_seed_gives_another_run(names: list[str]) -> None:
    steps = [4] * 10 + [1] * 30
    assert explore(names, 1, steps) != explore(names, 2, steps)


def test_a_state_alone_is_not_weighed() -> None:
    asked: list[str] = []

    def weight(state: str) -> float:
        asked.append(state)
        return 1.0

    order = Nurs("n", weight, random.Random(1))
    for _ in range(3):
        order.add(["a"])
        assert len(order) == 1 and list(order.states()) == ["a"]
        assert order.pick() == "a" and not len(order)
    order.add(["a"])
    order.remove("a")
    with pytest.raises(IndexError):
        order.pick()
    assert not asked
    order.add(["a"])
    order.add(["b"])
    assert sorted(asked) == ["a", "b"] and len(order) == 2
    assert {order.pick(), order.pick()} == {"a", "b"}
