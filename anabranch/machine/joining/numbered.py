"""Several histories as one path condition, told apart by a number of their own.

A fresh variable t has the number of a leaf of the tree of histories as its value. A stretch of history that
the leaves first..last have in common becomes `first <= t <= last -> condition`. That says of every t exactly
what the history of its leaf says, for any tree, and is as long as the tree is large. Of the states that left
a loop, t is the round in which they left: `t > i -> spine(i)` and `t == i -> leg(i)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from anabranch.expr import Expr, bool_or, eq, expr_vars, ne, not_, ult
from anabranch.expr.node import round_number
from anabranch.machine.joining.chains import Joined, as_condition
from anabranch.machine.joining.history_tree import Edge, history_tree
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.state import Cons, State
from anabranch.solver import Slice, SliceSpace, conjunction
from anabranch.solver.disjunction import components
from anabranch.solver.leaf_models import LeafModels
from anabranch.solver.slices import MODELS_KEPT, conjuncts

BYTE, WORD = 8, 16  # widths of a number; all values of a byte can be listed


class Numbered(Joined):
    """In a path condition: the items of the history whose number t is."""

    __slots__ = ("constraints",)

    def __init__(
        self, sides: Sequence[tuple[Any, ...]], constraints: Sequence[Expr], slices: Sequence[Slice]
    ) -> None:
        super().__init__(sides, slices)
        self.constraints = constraints

    @property
    def condition(self) -> Any:
        """See Joined."""
        if self._condition is None:
            self._condition = conjunction(self.constraints)
        return self._condition


class NumberedPaths(NamedTuple):
    """What several path conditions become."""

    t: Expr
    order: tuple[int, ...]
    """The states by their number: positions in the sequence of states."""
    slices: tuple[Slice, ...]
    """Of all variables that the states do not have in common."""
    condition: Cons


class Pattern(Protocol):
    """What several histories have in common, as a function of a number that they are given."""

    numbers: Sequence[int]
    """Of each state, ascending."""

    def said(self, t: Expr) -> list[Expr]:
        """What the histories say on top of what they share, t being the number."""
        ...


def number_paths(states: Sequence[State], space: SliceSpace, pattern: Pattern | None = None) -> NumberedPaths:
    """The path condition of a state that stands for several; `CannotJoin` if it would not be exact.

    Without a pattern, the leaves of the tree are numbered in their order.
    """
    if len(states) > 1 << WORD:
        raise CannotJoin("too many states")
    tree = history_tree([state.condition for state in states])
    order = tree.order if pattern is None else range(len(states))
    numbers = range(len(states)) if pattern is None else pattern.numbers
    t = round_number(number_width(numbers[-1]))
    said = list(constraints_of(t, tree.edges)) if pattern is None else pattern.said(t)
    maps = [states[position].slices for position in order]
    variables = connected(said, t, maps)
    rows = [tuple(slices.get(v) or space.root(v) for v in variables) for slices in maps]
    leaves = LeafModels(t.a, numbers, variables, rows)
    constraints = list(dict.fromkeys((*_said_of(variables, tree.common), *said)))
    last = len(states) - 1
    some = dict.fromkeys(numbers[last * i // (MODELS_KEPT - 1)] for i in range(MODELS_KEPT))  # far apart
    made = components(leaves.bounds(t.w), map(leaves.model, some), constraints)
    found = tuple(map(space.intern, made))
    space.keep_leaves(t.a, leaves)
    number_of = dict(zip(order, numbers, strict=True))
    sides = sides_of(tree.edges, t, [number_of[position] for position in tree.order])
    return NumberedPaths(t, tuple(order), found, (Numbered(sides, said, found), tree.common))


def number_width(last: int) -> int:
    """The width of a number with a last value."""
    return BYTE if last < 1 << BYTE else WORD


def constraints_of(t: Expr, edges: Sequence[Edge]) -> Iterator[Expr]:
    """What every stretch says of its numbers, conjunct by conjunct."""
    last = max(edge.last for edge in edges)
    yield ult(t, last + 1, t.w)
    for edge in edges:
        elsewhere: Any = False
        if edge.first == edge.last:
            elsewhere = ne(t, edge.first, t.w)
        else:
            if edge.first > 0:
                elsewhere = ult(t, edge.first, t.w)
            if edge.last < last:
                elsewhere = bool_or(elsewhere, not_(ult(t, edge.last + 1, t.w)))
        for item in edge.items:
            for condition in _conditions(item):
                said = bool_or(elsewhere, condition)
                if said is not True:
                    yield said


def _conditions(item: Any) -> Sequence[Expr]:
    """The conjuncts of an item of a history."""
    if isinstance(item, Numbered):
        return item.constraints
    condition = as_condition(item)
    return conjuncts(condition) if condition.__class__ is Expr else ()


def sides_of(edges: Sequence[Edge], t: Expr, numbers: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    """The tree as sides of joins, each leaf with its number, for whoever follows single paths."""
    done: list[tuple[int, tuple[Any, ...]]] = []  # first leaf and items of the siblings so far, last first
    for edge in reversed(edges):
        below = []
        while done and edge.first <= done[-1][0] <= edge.last:
            below.append(done.pop()[1])
        end: Any = Joined(below) if below else eq(t, numbers[edge.first], t.w)
        done.append((edge.first, (*edge.items, end)))
    return tuple(items for _, items in reversed(done))


def connected(conditions: Sequence[Expr], t: Expr, maps: Sequence[dict[int, Slice]]) -> list[int]:
    """The variables of conditions, and those that any of the states connects them with; t left out."""
    found = {v: None for c in conditions for v in expr_vars(c) if v != t.a}
    pending = list(found)
    seen: set[Slice] = set()
    while pending:
        v = pending.pop()
        for slices in maps:
            part = slices.get(v)
            if part is None or part in seen:
                continue
            seen.add(part)
            for other in part.vars:
                if other not in found:
                    found[other] = None
                    pending.append(other)
    return sorted(found)


def _said_of(variables: Sequence[int], history: Cons) -> list[Expr]:
    """What a history says of some variables, oldest first.

    A join says all that the history up to it says of the variables of its slices, so that a condition
    before it on no others is left out.
    """
    wanted, covered = set(variables), set[int]()
    found: list[Expr] = []
    while history is not None:
        item, history = history
        if isinstance(item, Joined) and item.slices:
            parts = [p for p in item.slices if not wanted.isdisjoint(p.vars)]
            said = [c for p in parts for c in p.order]
            now = {v for p in item.slices for v in p.vars}
        else:
            said, now = list(_conditions(item)), set()
        found += [
            c
            for c in reversed(said)
            if not wanted.isdisjoint(vs := expr_vars(c)) and not covered.issuperset(vs)
        ]
        covered |= now
    found.reverse()
    return list(dict.fromkeys(found))
