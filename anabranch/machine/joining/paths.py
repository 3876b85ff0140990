"""The single paths that a joined state stands for, each with its own path condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from anabranch.expr import Expr, expr_vars
from anabranch.machine.joining.chains import Joined, items
from anabranch.machine.state import Cons
from anabranch.solver import Slice, SliceSpace

Slices = dict[int, Slice]


def single_paths(
    condition: Cons, variables: Iterable[int], space: SliceSpace
) -> Iterator[tuple[Slices, Cons]]:
    """Slices and conditions of every feasible path, in the order of the sides of the joins.

    There may be exponentially many. Raises SolverUnknown if the solver gives up on one.
    """
    start: Slices = {index: space.root(index) for index in variables}
    # What is left to add is a chain too, so that alternatives share it.
    rest: Any = None
    for item in reversed(items(condition)):
        rest = (item, rest)
    pending: list[tuple[Slices, Cons, Any]] = [(start, None, rest)]
    while pending:
        slices, taken, rest = pending.pop()
        while rest is not None:
            item, rest = rest
            if isinstance(item, Joined):
                later = reversed(item.sides[1:])
                pending.extend((slices.copy(), taken, _before(side, rest)) for side in later)
                rest = _before(item.sides[0], rest)
            elif not assume(slices, item, space):
                break
            else:
                taken = (item, taken)
        else:
            yield slices, taken


def _before(stretch: tuple[Any, ...], rest: Any) -> Any:
    for item in reversed(stretch):
        rest = (item, rest)
    return rest


def assume(slices: Slices, condition: Expr, space: SliceSpace) -> bool:
    """Add a condition to slices; False if that leaves nothing."""
    parts = tuple(dict.fromkeys(slices[index] for index in expr_vars(condition)))
    found = space.restrict(space.join(parts), condition)
    if found is None:
        return False
    for index in found.vars:
        slices[index] = found
    return True
