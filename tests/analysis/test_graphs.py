"""CFG orders, dominators, loops and control dependence against brute force on random graphs."""

import random

import pytest

from anabranch.analysis.cfg import CFG, graph, reachable_from
from anabranch.analysis.components import named_components, strong_components
from anabranch.analysis.controldep import control_dependence
from anabranch.analysis.dominators import dominators, post_dominators
from anabranch.analysis.loops import find_loops


def random_graph(seed: int) -> CFG:
    rng = random.Random(seed)
    size = rng.randint(1, 14)
    return graph(
        [sorted(rng.sample(range(size), min(size, rng.choice((0, 1, 1, 2, 2, 3))))) for _ in range(size)]
    )


def reaches_without(successors: list[list[int]], start: int, goal: int, removed: int) -> bool:
    if removed in (start, goal):
        return start == goal == removed
    cut = [[t for t in targets if t != removed] for targets in successors]
    return goal in reachable_from(cut, [start])


@pytest.mark.parametrize("seed", range(150))
def test_dominators_are_on_every_path(seed: int) -> None:
    cfg = random_graph(seed)
    tree = dominators(cfg)
    successors = [list(t) for t in cfg.successors]
    for a in cfg.order:
        for b in cfg.order:
            expected = a == b or not reaches_without(successors, 0, b, a)
            assert tree.dominates(a, b) == expected
    assert all(not tree.contains(b) for b in range(len(successors)) if not cfg.reachable(b))


@pytest.mark.parametrize("seed", range(150))
def test_post_dominators_are_on_every_way_out(seed: int) -> None:
    cfg = random_graph(seed)
    tree = post_dominators(cfg)
    successors = [list(t) for t in cfg.successors]
    exits = [b for b in cfg.order if not successors[b]]
    for a in cfg.order:
        assert tree.contains(a)
        for b in cfg.order:
            leaves = reachable_from(successors, [b]) & set(exits)
            endless = any(not (reachable_from(successors, [x]) & set(exits)) for x in cfg.order)
            if endless or not leaves:
                continue
            expected = a == b or not any(reaches_without(successors, b, leave, a) for leave in leaves)
            assert tree.dominates(a, b) == expected


def test_endless_loop_is_in_the_post_dominator_tree() -> None:
    tree = post_dominators(graph([[1], [2], [1]]))
    assert tree.parent == (1, 2, 3, -1)


@pytest.mark.parametrize("seed", range(100))
def test_reverse_postorder(seed: int) -> None:
    cfg = random_graph(seed)
    assert set(cfg.order) == reachable_from(cfg.successors, [0])
    acyclic = [[t for t in targets if t > b] for b, targets in enumerate(cfg.successors)]
    forward = graph(acyclic)
    for block in forward.order:
        for target in forward.successors[block]:
            assert forward.number[block] < forward.number[target]


def test_common_dominator() -> None:
    tree = dominators(graph([[1, 2], [3], [3], [4, 5], [], []]))
    assert tree.common(1, 2) == 0
    assert tree.common(4, 5) == 3
    assert tree.common(4, 1) == 0
    assert tree.common(3, 4) == 3


def test_nested_loops() -> None:
    # 0 -> 1 (outer) -> 2 (inner) -> 3 -> 2 | 4 ; 4 -> 1 | 5
    forest = find_loops(graph([[1], [2], [3], [2, 4], [1, 5], []]))
    assert list(forest.loops) == [1, 2]
    assert forest.loops[1].blocks == {1, 2, 3, 4}
    assert forest.loops[2].blocks == {2, 3}
    assert forest.loops[2].parent == 1
    assert forest.depth == (0, 1, 2, 2, 1, 0)
    assert forest.loops[2].exits == ((3, 4),)
    assert forest.loops[1].back_edges == ((4, 1),)
    assert forest.innermost == (-1, 1, 2, 2, 1, -1)
    assert not forest.irreducible


def test_irreducible_cycle_is_reported() -> None:
    forest = find_loops(graph([[1, 2], [2], [1, 3], []]))
    assert not forest.loops
    assert len(forest.irreducible) == 1


def test_self_loop() -> None:
    forest = find_loops(graph([[1], [1, 2], []]))
    assert forest.loops[1].blocks == {1}


def test_control_dependence_of_a_diamond_in_a_loop() -> None:
    # 0 -> 1 header -> 2 | 6 ; 2 -> 3 | 4 ; both -> 5 -> 1
    dependence = control_dependence(graph([[1], [2, 6], [3, 4], [5], [5], [1], []]))
    assert dependence.controllers[3] == {(2, 3)}
    assert dependence.controllers[4] == {(2, 4)}
    assert dependence.controllers[5] == {(1, 2)}
    assert dependence.controllers[1] == {(1, 2)}
    assert dependence.controlled[1] == {1, 2, 5}
    assert not dependence.controllers[6]


@pytest.mark.parametrize("seed", range(100))
def test_control_dependence_definition(seed: int) -> None:
    cfg = random_graph(seed)
    tree = post_dominators(cfg)
    dependence = control_dependence(cfg, tree)
    for source in cfg.order:
        for target in cfg.successors[source]:
            for block in cfg.order:
                expected = (
                    len(cfg.successors[source]) > 1
                    and tree.dominates(block, target)
                    and not (block != source and tree.dominates(block, source))
                )
                assert ((source, target) in dependence.controllers[block]) == expected


def test_long_chain_needs_no_recursion() -> None:
    size = 20_000
    cfg = graph([[i + 1] if i + 1 < size else [] for i in range(size)])
    assert dominators(cfg).dominates(0, size - 1)
    assert post_dominators(cfg).dominates(size - 1, 0)


@pytest.mark.parametrize("seed", range(150))
def test_strong_components_lead_to_each_other(seed: int) -> None:
    successors = [list(t) for t in random_graph(seed).successors]
    reached = [reachable_from(successors, [node]) for node in range(len(successors))]
    found = list(strong_components(successors))
    assert sorted(node for members in found for node in members) == list(range(len(successors)))
    done: set[int] = set()
    for members in found:
        for a in members:
            assert {b for b in reached[a] if a in reached[b]} == set(members)
            assert reached[a] <= done | set(members)
        done |= set(members)


def test_components_of_long_chains_and_names() -> None:
    assert len(list(strong_components([[i + 1] for i in range(99_999)] + [[]]))) == 100_000
    names = {"main": ["f", "g"], "f": ["g"], "g": ["f", "h"], "h": []}
    assert named_components(names) == [["h"], ["f", "g"], ["main"]]
