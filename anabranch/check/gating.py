"""Gating path expressions: which way leads from a join's immediate dominator to the join (Definition 4).

`GP(B)` is a graph of decisions: at each node between the dominator and the join that has a choice, where
the choice leads. Nodes whose ways all lead to one place are left out, so that there are at most as many
decisions as blocks (Lemma 2), and values that are the same on several ways are chosen once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.check.graph import AcyclicGraph
from anabranch.expr import Expr, Value, bool_and, ite

Edge = Callable[[int, int], Value]
"""The condition under which a node is left towards another."""


class GatingPath:
    """The gating path expression of one join."""

    __slots__ = ("_decisions", "_target", "ends", "region", "writes")

    def __init__(self, graph: AcyclicGraph, node: int, edge: Edge) -> None:
        top = graph.tree.parent[node]
        self.region = graph.region(node)
        self.writes: dict[Expr, bool] = {}
        """Bases that were asked for: may a node between the dominator and the join write them?"""
        # A decision has options: a condition and a target, which is the number of a decision or, negative,
        # the complement of a predecessor of the join. Targets come before the decisions that name them.
        self._decisions: list[list[tuple[Value, int]]] = []
        leads: dict[int, int] = {}
        for member in sorted((*self.region, top), key=graph.cfg.number.__getitem__, reverse=True):
            options = []
            for successor in graph.cfg.successors[member]:
                target = ~member if successor == node else leads.get(successor)
                condition = edge(member, successor)
                if target is not None and condition is not False:
                    options.append((condition, target))
            if len({target for _, target in options}) > 1:
                leads[member] = len(self._decisions)
                self._decisions.append(options)
            elif options:
                leads[member] = options[0][1]
        self._target = leads.get(top)
        named = [target for options in self._decisions for _, target in reversed(options)]
        if self._target is not None:
            named.append(self._target)
        self.ends = list(dict.fromkeys(~target for target in named if target < 0))
        """The predecessors of the join whose values are asked for, in that order."""

    @property
    def reached(self) -> bool:
        """Is there a way at all?"""
        return self._target is not None

    def choose(
        self, value_of: Callable[[int], Value], choose: Callable[[Value, Value, Value], Value]
    ) -> Value:
        """Restriction of the expression to the values of the predecessors (Definition 6)."""
        assert self._target is not None
        ends: dict[int, Value] = {}
        values: list[Value] = []

        def value(target: int) -> Value:
            if target >= 0:
                return values[target]
            if target not in ends:
                ends[target] = value_of(~target)
            return ends[target]

        for options in self._decisions:
            # One of the options is taken if the join is reached at all: the last needs no condition.
            result = value(options[-1][1])
            for condition, target in reversed(options[:-1]):
                result = choose(condition, value(target), result)
            values.append(result)
        return value(self._target)


def gate_of(graph: AcyclicGraph, node: int, region: set[int], edge: Edge, assume: Sequence[Value]) -> Value:
    """The condition of a join relative to the end of its immediate dominator."""
    top = graph.tree.parent[node]
    reached: dict[int, Value] = {node: True}
    for member in sorted((*region, top), key=graph.cfg.number.__getitem__, reverse=True):
        ways = [(edge(member, s), reached.get(s, False)) for s in graph.cfg.successors[member]]
        ways = [(condition, way) for condition, way in ways if condition is not False]
        result: Value = ways[-1][1] if ways else False
        for condition, way in reversed(ways[:-1]):
            result = ite(condition, way, result, 1)
        reached[member] = result if member == top else bool_and(result, assume[member])
    return reached[top]
