"""Joins states: the seam between techniques, which decide what to join, and how a joined state is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.states import join
from anabranch.machine.state import Extras, State
from anabranch.solver import SliceSpace


@dataclass(frozen=True, slots=True)
class Join:
    """A state and those that it stands for: itself alone if it could not be joined."""

    state: State
    parts: tuple[State, ...]


class JoinEncoder(Protocol):
    """Makes states at one location fewer, without loss."""

    refused: Counter[str]
    """Why states could not be joined, and how often."""

    def join(self, states: Sequence[State], keep_apart: bool = False) -> list[Join]:
        """The states that stand for all of these; none of these is changed.

        `keep_apart`: inputs that are independent of each other must stay so.
        """
        ...


class IteEncoder:
    """Joins two at a time: what differs becomes `ite(guard, a, b)`."""

    def __init__(self, space: SliceSpace, extras: Extras, heaps_must_agree: bool = False) -> None:
        """`heaps_must_agree`: a check for leaks must know at the end which objects there are."""
        self._space = space
        self._extras = extras
        self._heaps_must_agree = heaps_must_agree
        self.refused: Counter[str] = Counter()

    def join(self, states: Sequence[State], keep_apart: bool = False) -> list[Join]:
        made: list[Join] = []
        for state in states:
            for index, other in enumerate(made):
                try:
                    joined = join(
                        other.state, state, self._space, self._extras, self._heaps_must_agree, keep_apart
                    )
                except CannotJoin as refusal:
                    self.refused[refusal.reason] += 1
                    continue
                made[index] = Join(joined, (*other.parts, state))
                break
            else:
                made.append(Join(state, (state,)))
        return made
