"""Loops become one state: all states that left a loop in one way are joined by the round in which they left.

`StaticMerging` makes the states that left a loop wait at its exit, and runs first whatever may still come
there. When the next state in that order is one at an exit, all have come. They are joined kind by kind (one
state a way of leaving the loop) with a number that says in which round: see `machine/joining/numbered.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar

from anabranch.explore.build import Parts
from anabranch.explore.leaks import watches_heap
from anabranch.explore.technique import EXACT, Contract, Settled, Technique
from anabranch.explore.worklist import Index
from anabranch.machine import Events, State
from anabranch.machine.joining import CannotJoin
from anabranch.machine.joining.many import join_many
from anabranch.machine.joining.same import plain
from anabranch.machine.state import Continuation, Slot, frames
from anabranch.machine.translator.sites import BranchSite, PointSite
from anabranch.reduce.loops.groups import ByKind, ByPattern, Group, Grouping
from anabranch.reduce.loops.report import Exits
from anabranch.reduce.loops.similarity import LoopSimilarity
from anabranch.reduce.merging.settings import MergingSettings
from anabranch.reduce.merging.static import StaticMerging

LEAST = 4  # states that a number is worth


class LoopMerging(Technique):
    """Holds states at the exits of loops, and joins those that left in one way."""

    name: ClassVar[str] = "loops"
    contract: ClassVar[Contract] = EXACT

    def __init__(self, parts: Parts, merging: StaticMerging, similarity: LoopSimilarity, mode: str) -> None:
        """`mode`: that of `--loops`."""
        super().__init__(parts)
        self.exits = Exits(parts.settings.group(MergingSettings).report)
        self.refused: Counter[str] = Counter()
        self._merging = merging
        self._similarity = similarity
        self._waiting = Index(self._key)
        extras = parts.machine.extras
        self._left_by: Slot[Any] = extras.slot(
            None, lambda a, b, mine, other: mine if mine is other else None
        )
        """The branch at which a path forked last: the one by which it left, if it has just left a loop."""
        self._grouping: Grouping = ByKind(self._left_by.get)
        if mode == "quantified":
            self._grouping = ByPattern(parts.space.clauses)
        self._settled: set[State] = set()  # waiting states that are what a group became
        self._heaps_must_agree = watches_heap(parts.settings.errors.checks)

    def _key(self, state: State) -> Hashable:
        if self.parts.machine.stops.suspended or state in self._settled:
            return None
        return self._similarity.exit_key(state)

    @property
    def indexes(self) -> Sequence[Index]:
        return (self._waiting,)

    def listen(self, events: Events) -> None:
        events.entered.append(self._settled.discard)
        events.forked.append(self._forked)

    def _forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        self._left_by.put(self.parts.machine.path, site)

    def given_up(self, state: State) -> None:
        self._settled.discard(state)

    def settle(self) -> Iterator[Settled]:
        """States at the exit that the topological order has come to."""
        if self.parts.machine.stops.suspended:
            return
        while (first := self._merging.first()) is not None and self._waiting.knows(first):
            group = self._waiting.at(self._waiting.key(first))
            made = self._become(group)
            self._settled.update(made)
            yield Settled(group, made)

    def _become(self, states: list[State]) -> list[State]:
        if len(states) < LEAST:
            return self._in_pairs(states)
        try:
            groups = self._grouping.groups(states)
        except CannotJoin as refusal:
            self.refused[refusal.reason] += 1
            return self._in_pairs(states)
        return self._in_pairs([made for group in groups for made in self._joined(group)])

    def _joined(self, group: Group) -> list[State]:
        """What the states of a group become: one, unless they are few or cannot be joined."""
        states = group.states if group.pattern is not None else self._one_a_round(group.states)
        if len(states) < LEAST:
            return list(states)
        parts = self.parts
        try:
            found = join_many(
                states, parts.space, parts.machine.extras, self._heaps_must_agree, group.pattern
            )
        except CannotJoin as refusal:
            self.refused[refusal.reason] += 1
            return list(states)
        if self._merging.verifier is not None:
            self._merging.verifier.merged(found.parts, found.state, found.facts)
        self.exits.joined(states)
        for part in found.parts:
            if part.node is not found.state.node:
                parts.tree.join(found.state.node, part.node, part.place)
        return [found.state]

    def _one_a_round(self, kind: Sequence[State]) -> list[State]:
        """The states of a kind, those with the same values merged: they differ in how they came to them."""
        by_values: dict[Hashable, list[State]] = {}
        for state in kind:
            values = plain([values for _, values in frames(state)])
            by_values.setdefault((values, id(state.pages)), []).append(state)
        return [made for together in by_values.values() for made in self._merging.merge_all(together)]

    def _in_pairs(self, states: Sequence[State]) -> list[State]:
        """The states merged as those at any other location."""
        by_key: dict[Hashable, list[State]] = {}
        for state in states:
            by_key.setdefault(self._similarity.around.key(state), []).append(state)
        return [made for together in by_key.values() for made in self._merging.merge_all(together)]

    def figures(self) -> dict[str, Any]:
        rows = self.exits.rows(self.parts.table.describe)
        return {
            "joins": sum(row["joins"] for row in rows),
            "states": sum(row["states"] for row in rows),
            "refused": dict(self.refused),
            "exits": rows,
        }
