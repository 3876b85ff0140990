"""Chains of what happened on a path: where two part, and how one chain stands for both.

A chain is `(newest, rest)`. Where states were joined, one item stands for two stretches of history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anabranch.expr import Expr
from anabranch.machine.joining.same import same
from anabranch.machine.state import Cons
from anabranch.solver import Slice, conjunction, disjunction

Holds = Callable[[Expr], bool]


class Joined:
    """In a path condition: all of one of several lists of items holds."""

    __slots__ = ("_condition", "sides", "slices")

    def __init__(
        self, sides: Sequence[tuple[Any, ...]], slices: Sequence[Slice] = (), condition: Any = None
    ) -> None:
        """`condition`: what the sides say together, if that is known."""
        self.sides = sides
        self.slices = slices
        """Of the joined state, those that the join made: all that the history up to here says of their
        variables."""
        self._condition = condition

    @property
    def condition(self) -> Any:
        """As one expression (or True)."""
        if self._condition is None:  # asked for again by every join of paths that have it in their history
            self._condition = disjunction(conjunction(map(as_condition, side)) for side in self.sides)
        return self._condition


class Either:
    """In a record (inputs, output): one of two stretches, as the guard says."""

    __slots__ = ("guard", "if_false", "if_true")

    def __init__(self, guard: Expr, if_true: tuple[Any, ...], if_false: tuple[Any, ...]) -> None:
        self.guard = guard
        self.if_true = if_true
        self.if_false = if_false


def as_condition(item: Any) -> Any:
    """An item of a path condition as an expression."""
    return item.condition if isinstance(item, Joined) else item


def conditions(chain: Cons) -> list[Any]:
    """A path condition as expressions, oldest first; what is always true is left out."""
    found = [as_condition(item) for item in items(chain)]
    return [item for item in found if item is not True]


def items(chain: Cons, after: Cons = None) -> list[Any]:
    """The items of a chain, or those after one of its cells, oldest first."""
    found = []
    while chain is not after:
        assert chain is not None
        item, chain = chain
        found.append(item)
    found.reverse()
    return found


def record(chain: Cons, holds: Holds) -> list[Any]:
    """A record as it is for one input, oldest first; `holds` evaluates conditions for that input."""
    return list(_expand(items(chain), holds))


def _expand(stretch: Any, holds: Holds) -> Iterator[Any]:
    for item in stretch:
        if isinstance(item, Either):
            yield from _expand(item.if_true if holds(item.guard) else item.if_false, holds)
        else:
            yield item


def parting(a: Cons, b: Cons) -> tuple[Cons, list[Any], list[Any]]:
    """The common tail of two chains, and what each has on top of it, oldest first."""
    seen_a: dict[int, int] = {}
    seen_b: dict[int, int] = {}
    items_a: list[Any] = []
    items_b: list[Any] = []
    x, y = a, b
    while True:
        seen_a[id(x)] = len(items_a)
        if id(x) in seen_b:
            tail = x
            break
        seen_b[id(y)] = len(items_b)
        if id(y) in seen_a:
            tail = y
            break
        if x is not None:
            items_a.append(x[0])
            x = x[1]
        if y is not None:
            items_b.append(y[0])
            y = y[1]
    items_a = items_a[: seen_a[id(tail)]]
    items_b = items_b[: seen_b[id(tail)]]
    return tail, items_a[::-1], items_b[::-1]


def join_histories(a: Cons, b: Cons, slices: Sequence[Slice]) -> Cons:
    """A path condition that says: this path or that one."""
    tail, mine, others = parting(a, b)
    return (Joined((tuple(mine), tuple(others)), slices), tail)


def join_records(guard: Expr, a: Cons, b: Cons) -> Cons:
    """A record (inputs, output) that says for each input what was recorded on its path."""
    if a is b:
        return a
    tail, mine, others = parting(a, b)
    if same(tuple(mine), tuple(others)):
        return a
    return (Either(guard, tuple(mine), tuple(others)), tail)


def chain_length(chain: Cons) -> int:
    length = 0
    while chain is not None:
        length += 1
        chain = chain[1]
    return length
