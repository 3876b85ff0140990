"""States that only search orders see."""

from __future__ import annotations

from anabranch.explore.search import SearchContext
from anabranch.explore.tree import ExecutionTree, Node


class FakeState:
    __slots__ = ("covered_new", "depth", "instructions_since_new", "name", "node", "place")

    def __init__(self, node: Node, name: str = "", place: int = 0, depth: int = 0) -> None:
        self.node = node
        self.name = name
        self.place = place
        self.depth = depth
        self.covered_new = False
        self.instructions_since_new = 0

    def __repr__(self) -> str:
        return f"<{self.name} at {self.place}>"


def spine(tree: ExecutionTree, count: int) -> list[FakeState]:
    """States at live depths 1, 2, ..., count - 1, count - 1."""
    tip = FakeState(tree.start(), "tip")
    states = [
        FakeState(tree.fork(tip.node, i, None), f"s{i}", place=i, depth=i + 1) for i in range(count - 1)
    ]
    tip.place = tip.depth = count - 1
    return [*states, tip]


def context(tree: ExecutionTree, seed: int = 0, **more: object) -> SearchContext[FakeState]:
    return SearchContext(seed=seed, tree=tree, **more)  # type: ignore[arg-type]
