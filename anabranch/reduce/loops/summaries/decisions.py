"""Several ways through a round as one: when one of them is taken, and values as functions of which it is.

Ways are the leaves of the tree of what was decided on them. So what all of them have in common is said once,
and a value that is the same whichever way was taken does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anabranch.expr import Expr, Value
from anabranch.expr.boolean import bool_and, bool_or, negation

Choose = Callable[[Expr, Value, Value], Value]


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that was decided on some ways; None on the side that none of them took."""

    condition: Expr
    yes: Tree | None
    no: Tree | None


Tree = Decision | int
"""A decision, or the index of a way."""


def decisions(ways: Sequence[Sequence[Expr]]) -> Tree:
    """The tree of ways, each told by its conditions in order."""
    return _below(ways, range(len(ways)), 0)


def _below(ways: Sequence[Sequence[Expr]], which: Sequence[int], depth: int) -> Tree:
    first, *others = which
    if depth == len(ways[first]):
        assert not others
        return first
    condition = ways[first][depth]
    yes = [i for i in which if ways[i][depth] is condition]
    no = [i for i in others if ways[i][depth] is not condition]
    assert all(ways[i][depth] is negation(condition) for i in no)
    return Decision(condition, _below(ways, yes, depth + 1), _below(ways, no, depth + 1) if no else None)


def taken(tree: Tree | None) -> Value:
    """That one of the ways is taken."""
    if not isinstance(tree, Decision):
        return tree is not None
    condition, other = tree.condition, negation(tree.condition)
    yes, no = taken(tree.yes), taken(tree.no)
    if no is True:
        return bool_or(other, yes)
    return bool_or(bool_and(condition, yes), no if yes is True else bool_and(other, no))


def chosen(tree: Tree, values: Sequence[Value], choose: Choose) -> Value:
    """The value on the way that is taken, provided that one is. `values`: by way; `choose`: of two different
    values, by a condition."""
    if not isinstance(tree, Decision):
        return values[tree]
    if tree.yes is None or tree.no is None:
        (side,) = (side for side in (tree.yes, tree.no) if side is not None)
        return chosen(side, values, choose)
    yes, no = (chosen(side, values, choose) for side in (tree.yes, tree.no))
    return no if same(yes, no) else choose(tree.condition, yes, no)


def same(a: Value, b: Value) -> bool:
    """Are two values one?"""
    return a is b or (a.__class__ is not Expr and b.__class__ is not Expr and a == b)
