"""Execution trees, incremental merging (Example 4), words and regular patterns (Example 1)."""

from __future__ import annotations

from random import Random

from anabranch.expr import Value, bool_and, bool_or, eq, evaluate, ne, not_, ugt, var
from anabranch.reduce.loops.tree import Node, execution_tree, path, tail
from anabranch.reduce.loops.words import Hash, PatternLimits, RegularPattern, regular_partitioning

from .figure2 import figure2, n, s
from .paper import is_execution_tree, merge_nodes, partner, tpc


def equivalent(x: Value, y: Value) -> bool:
    """On all values of s[0] to s[2] near the characters used and small n."""
    rng = Random(1)
    for _ in range(400):
        model = {n().a: rng.randrange(5)} | {s(i).a: rng.choice((0, 97, 98, 99)) for i in range(3)}
        if evaluate(x, model) is not evaluate(y, model):
            return False
    return True


def test_tpc() -> None:
    root, leaves = figure2()
    assert is_execution_tree(root, leaves)
    n3 = path(leaves[4])[1]
    n7 = path(leaves[5])[3]
    assert [x.condition for x in path(n7, n3)] == [ugt(n(), 0, 64), eq(s(0), 97, 8), ugt(n(), 1, 64)]
    first = bool_and(ugt(n(), 0, 64), eq(s(0), 97, 8))
    assert equivalent(tpc(n7, n3), bool_and(first, ugt(n(), 1, 64)))
    assert equivalent(tail(n7, n3), bool_and(eq(s(0), 97, 8), ugt(n(), 1, 64)))


def test_invalid_trees() -> None:
    a, b = eq(s(0), 97, 8), eq(s(1), 97, 8)
    root, leaves = execution_tree([[a], [b]])
    assert not is_execution_tree(root, leaves)  # both can hold
    root, leaves = execution_tree([[a], [a, b]])
    assert not is_execution_tree(root, leaves)  # one is no leaf


def test_the_same_object_is_the_same_edge() -> None:
    class Item:
        condition = eq(s(0), 97, 8)

    shared, other = Item(), Item()
    root, _ = execution_tree([[shared, eq(s(1), 0, 8)], [shared, ne(s(1), 0, 8)], [other]])
    assert [len(node.children) for node in root.walk()] == [2, 2, 0, 0, 0]


def test_example_1() -> None:
    root, leaves = figure2()
    h = Hash(root)
    assert h.valid(root)
    words = [h.word(leaf) for leaf in leaves]
    letters = {"W": "W", words[0][1]: "R", words[4][1]: "G", words[4][2]: "Y", words[5][2]: "B"}
    assert len(letters) == 5
    spelled = ["".join(letters[x] for x in word) for word in words]
    print(spelled)
    assert spelled == ["WR", "WGBR", "WGBGBR", "WGBGBGBR", "WGY", "WGBGY", "WGBGBGY"]
    found = regular_partitioning(root, leaves)
    assert found is not None
    by_pattern = {
        tuple("".join(letters[x] for x in w) for w in p.pattern): [
            (leaves.index(leaf), k) for leaf, k in p.members
        ]
        for p in found
    }
    print(by_pattern)
    assert by_pattern == {
        ("W", "GB", "R"): [(0, 0), (1, 1), (2, 2), (3, 3)],
        ("W", "GB", "GY"): [(4, 0), (5, 1), (6, 2)],
    }


def test_hash_that_is_not_valid() -> None:
    value = var("c", 8)
    root, leaves = execution_tree([[eq(value, 1, 8)], [eq(value, 2, 8)]])
    assert is_execution_tree(root, leaves)
    assert not Hash(root).valid(root)
    assert regular_partitioning(root, leaves) is None


def test_numbers_need_not_begin_at_zero() -> None:
    pattern = RegularPattern("W", "GB", "R")
    assert [pattern.number(w) for w in ("WR", "WGBGBR", "WGBGR", "WG")] == [0, 2, None, None]
    root, leaves = figure2(bound=6)
    for numbers in ([2, 3, 5], [0, 2, 3], [1, 4, 6]):
        found = regular_partitioning(root, [leaves[k] for k in numbers])
        assert found is not None and len(found) == 1
        assert [k for _, k in found[0].members] == numbers


def test_too_many_patterns() -> None:
    root, leaves = figure2()
    assert regular_partitioning(root, leaves, PatternLimits(patterns=1)) is None


def example_4() -> tuple[Node, dict[int, Node]]:
    """The upper part of Figure 3."""
    nodes = {1: Node(True)}
    nodes[2] = Node(eq(s(0), 97, 8), nodes[1], "line 5")
    nodes[3] = Node(not_(eq(s(0), 97, 8)), nodes[1], "line 4")
    nodes[4] = Node(eq(s(0), 98, 8), nodes[3], "line 5")
    nodes[5] = Node(not_(eq(s(0), 98, 8)), nodes[3], "line 9")
    Node(ugt(n(), 1, 64), nodes[4], "line 3")
    return nodes[1], nodes


def test_example_4() -> None:
    root, nodes = example_4()
    found = partner(root, nodes[2], lambda x, y: x.state == y.state)
    assert found is nodes[4]
    new = merge_nodes(nodes[2], found)
    assert len(root.children) == 2 and all(not child.children for child in root.children)
    assert nodes[5].parent is root and new.parent is root
    a, b = eq(s(0), 97, 8), eq(s(0), 98, 8)
    print(new.condition, nodes[5].condition)
    assert equivalent(new.condition, bool_or(a, bool_and(not_(a), b)))
    assert equivalent(nodes[5].condition, bool_and(not_(a), not_(b)))


def test_partners_are_not_above_the_leaf() -> None:
    root, nodes = example_4()
    nodes[3].state = "line 9"
    assert partner(root, nodes[5], lambda x, y: x.state == y.state) is None


def test_memspn_of_two_characters_has_the_patterns_of_figure_2() -> None:
    root, leaves = figure2("ab")
    found = regular_partitioning(root, leaves)
    assert found is not None
    assert sorted(len(p.members) for p in found) == [3, 4]
