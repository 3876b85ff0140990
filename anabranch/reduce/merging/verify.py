"""Shadow mode: every merge is proved against the states that it replaces.

For each side, the solver proves that all its inputs belong to the merged state, and that for these inputs
every register and byte of the merged state is what it was on the side; and that the merged state has no other
inputs. It uses none of the shortcuts by which the state was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anabranch.expr import Expr, eq, expr_vars, not_
from anabranch.machine import State
from anabranch.machine.extents import size_of
from anabranch.machine.joining.memory import differing
from anabranch.machine.objects import LIMITED, NUMBER_MASK, PAGE_NUMBER_BITS
from anabranch.machine.state import callers
from anabranch.solver import SliceSpace, SolverUnknown, conjunction, disjunction

Value = Any


class Verifier:
    """Checks merges and tells of differences."""

    def __init__(self, space: SliceSpace, report: Callable[[str], None]) -> None:
        self.space = space
        self.report = report
        self.verified = 0
        self.undecided = 0
        self.differences = 0

    def merged(self, parts: Sequence[State], merged: State, facts: Sequence[Expr] = ()) -> None:
        """`facts`: what variables say that only the merged state has, part by part."""
        try:
            problems = (
                *(self._side(part, merged, facts[i : i + 1]) for i, part in enumerate(parts)),
                self._nothing_else(parts, merged),
            )
            problem = next((found for found in problems if found is not None), None)
        except SolverUnknown:
            self.undecided += 1
            return
        if problem is None:
            self.verified += 1
        else:
            self.wrong(f"a merge at block {merged.place} is wrong: {problem}")

    def wrong(self, text: str) -> None:
        """Something is not as it should be."""
        self.differences += 1
        self.report(text)

    def _side(self, side: State, merged: State, facts: Sequence[Expr]) -> str | None:
        own = constraints(side) | dict.fromkeys(facts)
        for condition in constraints(merged):
            if condition in own:
                continue
            if self.space.check([*own, not_(condition)]) is not None:
                return "an input of a side is not one of the merged state"
        wrong = [not_(eq(x, y, width)) for x, y, width in value_pairs(side, merged)]
        wrong = [w for w in wrong if w is not False and not has_undefined(w)]
        if not wrong:
            return None
        if any(w is True for w in wrong) or self.space.check([*own, disjunction(wrong)]) is not None:
            return "a value differs from that of the side"
        return None

    def _nothing_else(self, parts: Sequence[State], merged: State) -> str | None:
        none = [not_(conjunction(constraints(part))) for part in parts]
        if any(n is False for n in none):
            return None
        if self.space.check([*constraints(merged), *(n for n in none if n is not True)]) is not None:
            return "the merged state has an input of no side"
        return None


def constraints(state: State) -> dict[Expr, None]:
    """The path condition, as the slices have it."""
    return {c: None for part in dict.fromkeys(state.slices.values()) for c in part.order}


def has_undefined(value: Value) -> bool:
    if value.__class__ is not Expr:
        return False
    indices = expr_vars(value)
    return bool(indices) and indices[0] < 0


def value_pairs(side: State, merged: State) -> Iterator[tuple[Value, Value, int]]:
    """Values of a side and of the merged state that should be equal, where they are not the same object."""
    yield from _frame_pairs(side.entry, side.values, merged.values)
    for mine, other in zip(callers(side.continuation), callers(merged.continuation), strict=True):
        if mine is other:
            break
        yield from _frame_pairs(mine[1], mine[3:], other[3:])
    for number, info in side.objects.items():
        other = merged.objects[number]
        if other is not info and not info.end:
            yield size_of(info), size_of(other), 64
    for key, page in side.pages.items():
        joint = merged.pages[key] if key in merged.pages else merged.pages[key | LIMITED]
        if len(page) < len(joint):  # an object that is larger on another side
            joint = joint[: len(page)]
        if joint is not page:
            yield from ((page[offset], joint[offset], 8) for offset in differing(page, joint))
    for key, joint in merged.pages.items():
        info = side.objects.get(key >> PAGE_NUMBER_BITS & NUMBER_MASK) if key not in side.pages else None
        blank = info.blank_page(key) if info is not None else None
        if blank is not None:
            yield from ((blank[offset], joint[offset], 8) for offset in differing(blank, joint))


def _frame_pairs(site: Any, a: tuple[Value, ...], b: tuple[Value, ...]) -> Iterator[tuple[Value, Value, int]]:
    locals_ = site.unit.plan.locals
    for name, x, y in zip(site.names, a, b, strict=True):
        if x is not y and name not in ("D", "va") and not isinstance(x, tuple):
            width = locals_[int(name[1:])].type.bits
            mask = (1 << width) - 1
            if x.__class__ is int:
                x &= mask
            if y.__class__ is int:
                y &= mask
            yield x, y, width
