"""The tree of several histories: linear in size, leaves numbered so that later rounds have larger numbers."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anabranch.machine.joining import CannotJoin
from anabranch.machine.joining.history_tree import Edge, history_tree

BASE: Any = ("b", ("a", None))


def caterpillar(rounds: int) -> list[Any]:
    """One history that left in each round, and one that never did."""
    found, spine = [], BASE
    for i in range(rounds):
        found.append((f"leg{i}", spine))
        spine = (f"spine{i}", spine)
    return [*found, spine]


def test_a_loop_is_a_caterpillar() -> None:
    tree = history_tree(caterpillar(3))
    assert tree.common is BASE
    assert tree.order == (0, 1, 2, 3)
    assert tree.edges == (
        Edge(0, 0, ("leg0",)),
        Edge(1, 3, ("spine0",)),
        Edge(1, 1, ("leg1",)),
        Edge(2, 3, ("spine1",)),
        Edge(2, 2, ("leg2",)),
        Edge(3, 3, ("spine2",)),
    )


def test_the_order_of_arrival_does_not_matter_but_among_equals() -> None:
    histories = caterpillar(5)
    tree = history_tree(histories[::-1])
    last = len(histories) - 1
    assert [last - number for number in tree.order][:4] == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(20))
def test_every_leaf_has_its_own_history(seed: int) -> None:
    """The items of the edges above a leaf are its history, for trees of any shape."""
    draw = random.Random(seed)
    histories = [BASE]
    for number in range(30):
        at = draw.randrange(len(histories))
        grown = histories.pop(at)
        histories += [(f"{number}.{side}", grown) for side in range(draw.choice((1, 2, 2, 3)))]
    tree = history_tree(histories)
    for number, position in enumerate(tree.order):
        said = [item for edge in tree.edges if edge.first <= number <= edge.last for item in edge.items]
        chain, own = histories[position], []
        while chain is not tree.common:
            own.append(chain[0])
            chain = chain[1]
        assert said == own[::-1]
    assert len(tree.edges) < 2 * len(histories)


def test_histories_that_do_not_part_are_refused() -> None:
    with pytest.raises(CannotJoin, match="goes on from another"):
        history_tree([BASE, ("c", BASE)])
    with pytest.raises(CannotJoin, match="twice"):
        history_tree([BASE, BASE])
