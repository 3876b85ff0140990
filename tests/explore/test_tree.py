from __future__ import annotations

import gc
import sys
import weakref
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.explore.kinds import CONDITIONAL, FORK_NUMBERS, SWITCH, end_number
from anabranch.explore.live_tree import Fork
from anabranch.explore.tree import ExecutionTree, Node, Row, decisions, new_node
from anabranch.explore.tree_rows import Details, node_rows

STEPS = st.lists(st.tuples(st.sampled_from("ftn."), st.integers(0, 1000)), max_size=80)


def grow(tree: ExecutionTree, steps: list[tuple[str, int]]) -> dict[Node, list[tuple[int, bool, str]]]:
    """Forks and ends as drawn; the live nodes with their decisions, kept the simple way."""
    live: dict[Node, list[tuple[int, bool, str]]] = {tree.start(): []}
    for position, (what, which) in enumerate(steps):
        if not live:
            break
        node = list(live)[which % len(live)]
        condition = f"c{position}"
        if what == ".":
            del live[node]
            tree.end(node, position, "exit")
        elif what == "n":
            names = [f"{condition}={i}" for i in range(3)]
            siblings = [tree.fork(node, position, name, False, kind=SWITCH) for name in names]
            for i, sibling in enumerate(siblings):
                before = [(position, False, name) for name in names[:i]]
                live[sibling] = [*live[node], *before, (position, True, names[i])]
            live[node] = [*live[node], *((position, False, name) for name in names)]
        else:
            polarity = what == "t"
            sibling = tree.fork(node, position, condition, polarity)
            live[sibling] = [*live[node], (position, not polarity, condition)]
            live[node] = [*live[node], (position, polarity, condition)]
    return live


def live_nodes(tree: ExecutionTree) -> list[Node]:
    assert tree.live_tree is not None
    found, pending = [], [tree.live_tree.root]
    while pending:
        node = pending.pop()
        if isinstance(node, Fork):
            assert node.left is not None and node.left.up is node
            assert node.right is not None and node.right.up is node
            pending += (node.left, node.right)
        elif node is not None:
            found.append(node)
    return found


@given(STEPS)
def test_every_live_path_keeps_its_decisions(steps: list[tuple[str, int]]) -> None:
    tree = ExecutionTree()
    live = grow(tree, steps)
    assert set(live_nodes(tree)) == set(live)
    assert tree.live == len(live)
    for node, taken in live.items():
        assert decisions(node) == taken


@given(STEPS)
def test_decisions_do_not_need_what_nobody_asked_for(steps: list[tuple[str, int]]) -> None:
    tree = ExecutionTree(walked=False)
    live = grow(tree, steps)
    assert tree.live_tree is None and tree.live == len(live)
    for node, taken in live.items():
        assert decisions(node) == taken
        assert node.up is None


@given(STEPS)
def test_rows_form_a_tree(steps: list[tuple[str, int]]) -> None:
    rows: list[Row] = []
    tree = ExecutionTree(rows.extend)
    live = grow(tree, steps)
    for node in live:
        tree.end(node, 0, "interrupted")
    tree.flush()
    ends = [row for row in rows if not row[2]]
    forks = [row for row in rows if row[2]]
    assert (len(forks), len(ends)) == (tree.forks, tree.ends)
    assert len(ends) == len(forks) + 1 == tree.states
    assert tree.live == 0 and live_nodes(tree) == []
    assert sorted(row[0] for row in rows) == list(range(1, len(rows) + 1))
    children = Counter(child for row in forks for child in row[2:4])
    assert children == Counter(range(2, len(rows) + 1))
    assert sorted(row[1] for row in ends) == list(range(1, len(ends) + 1))
    assert [row[6] for row in ends] == list(range(1, len(ends) + 1))
    by_id = {row[0]: row for row in rows}
    for row in forks:  # one side is the same state, the other a newer one
        states = sorted(by_id[child][1] for child in row[2:4])
        assert states[0] == row[1] < states[1]


def test_true_side_is_left_whichever_way_the_path_went() -> None:
    rows: list[Row] = []
    tree = ExecutionTree(rows.extend)
    node = tree.start()
    sibling = tree.fork(node, 7, "c", polarity=False)
    tree.flush()
    assert rows == [(1, 1, sibling.id, node.id, 7, CONDITIONAL, "c")]
    assert decisions(node) == [(7, False, "c")]
    assert (node.number, sibling.number) == (1, 2)


def test_nodes_go_without_the_cyclic_collector() -> None:
    class Mark:
        pass

    mark = Mark()
    alive = weakref.ref(mark)
    gc.disable()
    try:
        tree = ExecutionTree()
        node = tree.start()
        sibling = tree.fork(node, 1, mark)
        third = tree.fork(node, 2, None)
        tree.flush()
        del mark
        tree.end(sibling, 1, "exit")
        tree.end(third, 1, "exit")
        del sibling, third
        assert alive() is not None
        tree.end(node, 1, "exit")
        tree.flush()
        del node
        assert alive() is None
    finally:
        gc.enable()


def test_memory_follows_live_paths_only() -> None:
    rows: list[Row] = []
    tree = ExecutionTree(rows.extend, batch=64)
    node = tree.start()
    for i in range(1000):  # a loop that leaves one short path behind at each turn
        tree.end(tree.fork(node, i, None), i, "exit")
    assert live_nodes(tree) == [node]
    assert len(rows) >= 2000 - 64
    tree.flush()
    assert len(rows) == 2000


def test_a_million_nodes_fit() -> None:
    tip = new_node(1)
    assert sys.getsizeof(tip) + sys.getsizeof(10**6) * 2 < 200
    assert sys.getsizeof(Fork(None, tip, tip)) + sys.getsizeof((0, None, None, True)) < 200


def test_deep_paths_are_released() -> None:
    tree = ExecutionTree()
    node = tree.start()
    siblings = [tree.fork(node, i, None) for i in range(200_000)]
    assert len(decisions(node)) == 200_000
    while siblings:
        tree.end(siblings.pop(), 0, "exit")
    tree.end(node, 0, "exit")
    del node
    assert live_nodes(tree) == []


def test_misuse_is_refused() -> None:
    tree = ExecutionTree()
    node = tree.start()
    with pytest.raises(ValueError, match="root"):
        tree.start()
    sibling = tree.fork(node, 1, None)
    sibling.waiting = object()
    with pytest.raises(ValueError, match="waiting"):
        tree.end(sibling, 1, "exit")
    tree.end(node, 1, "exit")
    with pytest.raises(ValueError, match="ended"):
        tree.end(node, 1, "exit")


@pytest.fixture
def small() -> list[Row]:
    rows: list[Row] = []
    tree = ExecutionTree(rows.extend)
    node = tree.start()
    first, second = (tree.fork(node, 3, condition, False, kind=SWITCH) for condition in ("x == 1", "x == 2"))
    tree.end(second, 4, "assert")
    tree.end(node, 5, "exit")
    tree.end(first, 6, "unsupported: invoke")
    tree.flush()
    return rows


def test_rows_for_klee_readers(small: list[Row]) -> None:
    assert node_rows(small, lambda place: 10 * place) == [
        (1, 1, 2, 3, 30, FORK_NUMBERS[SWITCH]),
        (3, 1, 4, 5, 30, FORK_NUMBERS[SWITCH]),
        (4, 3, 0, 0, 40, end_number("assert")),
        (5, 1, 0, 0, 50, 1),
        (2, 2, 0, 0, 60, 60),
    ]


def test_details_as_text(small: list[Row]) -> None:
    shown: list[str] = []

    def show(condition: str) -> str:
        shown.append(condition)
        return condition

    details = Details(lambda block: f"a.c:{block}", show, longest=4)
    expected = [
        (1, "a.c:3", "x == ...", None),
        (3, "a.c:3", "x == ...", None),
        (4, "a.c:4", None, "assert"),
        (5, "a.c:5", None, "exit"),
        (2, "a.c:6", None, "unsupported: invoke"),
    ]
    assert details.rows(small) == expected
    assert details.rows(small) == expected
    assert shown == ["x == 1", "x == 2"]
