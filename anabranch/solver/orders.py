"""Order reasoning: conditions that compare the same values over and over, as sorting and searching do.

`a < b` and `not (b < a)` among the constraints are edges of a graph. A path from a to b forces `a <= b`, or
`a < b` if an edge of it is strict, whatever the other constraints are. If nothing is forced and the values
are plain variables, a model is built along the order; it counts only if it satisfies every constraint.
"""

from __future__ import annotations

from collections.abc import Iterable

from anabranch.expr import MASK, Expr, evaluate
from anabranch.expr.node import EQ, NOT, ULT, VAR

from .backend import Model
from .links import Both, Query
from .slices import Slice
from .valuesets import contains, highest, lowest

Graph = dict[Expr, dict[Expr, bool]]  # a -> b -> whether a < b (else a <= b)
CONSTRAINTS_LIMIT = 300


def _edge(cond: Expr) -> tuple[Expr, Expr, bool] | None:
    """A comparison of two nodes as (less, greater, strict)."""
    if cond.op == ULT and cond.b.__class__ is Expr:
        return cond.a, cond.b, True
    if cond.op == NOT and cond.a.op == ULT and cond.a.b.__class__ is Expr:
        return cond.a.b, cond.a.a, False
    return None


def _graph(constraints: Iterable[Expr]) -> Graph:
    graph: Graph = {}
    for c in constraints:
        edge = _edge(c)
        if edge is not None:
            a, b, strict = edge
            after = graph.setdefault(a, {})
            after[b] = after.get(b, False) or strict
        elif c.op == EQ and c.b.__class__ is Expr and c.a.w > 1:
            graph.setdefault(c.a, {}).setdefault(c.b, False)
            graph.setdefault(c.b, {}).setdefault(c.a, False)
    return graph


def _path(graph: Graph, start: Expr, end: Expr) -> bool | None:
    """Whether the order forces start < end (True) or only start <= end (False); None if neither."""
    best: dict[Expr, bool] = {start: False}
    stack = [start]
    while stack:
        n = stack.pop()
        strict = best[n]
        for other, edge_strict in graph.get(n, {}).items():
            reached = strict or edge_strict
            if other not in best or (reached and not best[other]):
                best[other] = reached
                stack.append(other)
    if start is end:
        return None
    return best.get(end)


class Orders:
    """Transitivity of comparisons."""

    name = "orders"

    def answer(self, q: Query) -> bool | Both | None:
        """See Link."""
        edge = _edge(q.cond)
        if edge is None or len(q.slice.order) > CONSTRAINTS_LIMIT:
            return None
        a, b, strict = edge
        graph = _graph(q.slice.order)
        forward = _path(graph, a, b)
        if forward is True or (forward is False and not strict):
            return True
        backward = _path(graph, b, a)
        if backward is True or (backward is False and strict):
            return False
        model = _model(q.slice, graph, q.other)
        return None if model is None else q.models(model)


def _model(s: Slice, graph: Graph, cond: Expr) -> Model | None:
    """A model of the slice and one more comparison, built along the order of plain variables."""
    edge = _edge(cond)
    if edge is None:
        return None
    nodes = {edge[0], edge[1], *graph, *(m for after in graph.values() for m in after)}
    if any(n.op != VAR for n in nodes):
        return None
    levels = _levels(graph, edge, nodes)
    if levels is None:
        return None
    model = dict(s.model)
    for n, level in levels.items():
        bound = s.bounds[n.a]
        value = lowest(bound) + level
        if value > MASK[n.w] or not contains(bound, value):
            value = highest(bound)
        model[n.a] = value
    return model if _holds(cond, model) and all(_holds(c, model) for c in s.order) else None


def _holds(cond: Expr, model: Model) -> bool:
    """Whether a model satisfies a constraint; without the evaluator for comparisons of variables."""
    edge = _edge(cond)
    if edge is not None:
        a, b, strict = edge
        if a.op == VAR and b.op == VAR:
            return model[a.a] < model[b.a] if strict else model[a.a] <= model[b.a]
    return evaluate(cond, model) is True


def _levels(graph: Graph, edge: tuple[Expr, Expr, bool], nodes: set[Expr]) -> dict[Expr, int] | None:
    """The least level of each node above which its predecessors need it; None if that does not settle."""
    levels = dict.fromkeys(sorted(nodes, key=lambda n: n.id), 0)
    edges = [(a, b, strict) for a, after in graph.items() for b, strict in after.items()]
    edges.append(edge)
    for _ in range(len(levels) + 1):
        changed = False
        for a, b, strict in edges:
            least = levels[a] + strict
            if levels[b] < least:
                levels[b] = least
                changed = True
        if not changed:
            return levels
    return None
