"""Kinds of exits: the states that left a loop in the same way, in different rounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.machine.joining.chains import Joined
from anabranch.machine.joining.history_tree import history_tree
from anabranch.machine.state import frames

FEW = 3  # states of a kind that another kind may adopt


def kinds_of(states: Sequence[State], left_by: Callable[[State], Hashable]) -> list[list[State]]:
    """The states by the branch at which they left, each kind in the order of rounds. Those that were merged
    with others on the way differ from those that came straight to that branch."""
    tree = history_tree([state.condition for state in states])
    ordered = [states[number] for number in tree.order]
    found: dict[Hashable, list[int]] = {}
    for edge in tree.edges:
        if edge.first == edge.last:
            merged = any(isinstance(item, Joined) for item in edge.items)
            found.setdefault((left_by(ordered[edge.first]), merged), []).append(edge.first)
    groups = sorted(found.values(), key=len, reverse=True)
    return [[ordered[number] for number in sorted(group)] for group in _adopted(groups, ordered)]


def _adopted(groups: list[list[int]], states: Sequence[State]) -> list[list[int]]:
    """A loop that ends at a fixed number of rounds is left in the last one without a condition, and the first
    round may look different. Such states belong to the kind whose values theirs continue."""
    kept: list[list[int]] = []
    for group in groups:
        for other in kept if len(group) <= FEW else ():
            if len(other) > FEW and _is_even([states[n] for n in sorted((*other, *group))]):
                other += group
                break
        else:
            kept.append(group)
    return kept


def _is_even(states: Sequence[State]) -> bool:
    """Are all numbers in the frames of the states the same, or ascending by one step each?"""
    rows = [[value for _, values in frames(state) for value in values] for state in states]
    for column in zip(*rows, strict=True):
        if all(value.__class__ is int for value in column):
            step = column[1] - column[0]
            if any(b - a != step for a, b in pairwise(column)):
                return False
        elif any((value.__class__ is Expr) != (column[0].__class__ is Expr) for value in column):
            return False
    return True
