"""Shadow mode: explores a state to the ends of all its paths, without a trace in the results of the run.

A technique that removes a state can show in this way that its representative comes to the same: the same
branches, the same ends at the same locations, the same blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from anabranch.machine import Exit, Fault, Loss, Machine, PathEnd, ProgramError, State, Where
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import BranchSite, PointSite, Target

MOST_PATHS = 400
MOST_TURNS = 2_000
TURN_INSTRUCTIONS = 1_000_000
NO_BUDGET = 1 << 60

Trace = tuple[tuple[int, bool], ...]


class ShadowNode:
    """The decisions of a path in shadow mode, in the place of its node in the execution tree."""

    __slots__ = ("id", "number", "trace")

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.id = self.number = 0


@dataclass
class Seen:
    """What the paths of a state come to."""

    paths: set[tuple[Any, ...]] = field(default_factory=set)  # decisions and end
    ends: set[tuple[Any, ...]] = field(default_factory=set)
    blocks: set[int] = field(default_factory=set)
    statuses: set[int | None] = field(default_factory=set)  # of exits, None for one that depends on the input
    blurred: bool = False  # were there decisions that depend on the order of guesses?

    def difference(self, other: Seen) -> str | None:
        """What the other has seen that this one has not, or the other way round."""
        kinds: list[tuple[str, set[Any], set[Any]]] = [
            ("ends", self.ends, other.ends),
            ("blocks", self.blocks, other.blocks),
        ]
        if None not in self.statuses | other.statuses:
            kinds.append(("statuses", self.statuses, other.statuses))
        if not self.blurred and not other.blurred:
            kinds.append(("paths", self.paths, other.paths))
        for name, mine, others in kinds:
            if mine != others:
                few = sorted(mine ^ others, key=repr)[:3]
                return f"{len(mine - others)} {name} less and {len(others - mine)} more, such as {few}"
        return None


class Shadow:
    """Explores states in secret: tree, observer and counters of the machine are exchanged meanwhile."""

    def __init__(self, machine: Machine, over: Callable[[], bool]) -> None:
        """`over`: is there no time left?"""
        self.machine = machine
        self.over = over
        self.seen = Seen()
        self.too_much = False
        self.arrived: list[State] = []
        """The states that were to go no further."""
        self._at_branch = False

    # ---- the machine's tree and observer -------------------------------------------------------------

    def fork(
        self,
        node: ShadowNode,
        place: int,
        condition: Any,
        polarity: bool = True,
        targets: tuple[int, int] | None = None,
    ) -> ShadowNode:
        before = node.trace
        if not self._at_branch:
            self.seen.blurred = True
        self._at_branch = False
        node.trace = (*before, (place, polarity))
        return ShadowNode((*before, (place, not polarity)))

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        self._at_branch = isinstance(site, BranchSite)

    def path_ended(self, end: PathEnd, where: Where | None) -> None:
        if isinstance(end, Exit):
            kind: Any = ("exit",)
            self.seen.statuses.add(end.status if isinstance(end.status, int) else None)
        elif isinstance(end, ProgramError):
            kind = (end.fault.kind, end.fault.message)
        elif isinstance(end, Loss):
            kind = (end.kind,)
            self.too_much = True
        else:
            kind = (type(end).__name__,)
        self._ended(kind, where)

    def error_branch(self, fault: Fault, where: Where | None) -> None:
        self._ended((fault.kind, fault.message), where)

    def _ended(self, kind: tuple[Any, ...], where: Where | None) -> None:
        end = (kind, where.key if where is not None else None)
        self.seen.ends.add(end)
        self.seen.paths.add((self.machine.path.node.trace, end))
        if len(self.seen.paths) > MOST_PATHS:
            self.too_much = True

    def lost(self, kind: str, where: Where | None) -> None:
        self.too_much = True

    def ignored(self, *args: Any, **named: Any) -> None:
        """Nobody is to hear of it."""

    end = warned = assumed = defect = ignored

    # ---- exploring -----------------------------------------------------------------------------------

    def explore(self, state: State, until: Collection[int] = ()) -> Seen | None:
        """All that a state comes to; None if that is too much. `until`: counters of blocks of its function;
        states that come to one go no further, and are in `arrived`."""
        self.seen, self.too_much = Seen(), False
        self.arrived = []
        for place in until:  # not in secret, which restores the counters that stops are
            self.machine.stops.install(place)
        with self._in_secret():
            self._stop_at(until, state.continuation)
            counts = self.machine.counters.N
            before = [int(n) for n in counts]
            first = copy(state)
            first.node = ShadowNode(())
            pending, turns = [first], 0
            while pending and not self.too_much:
                turns += 1
                if turns > MOST_TURNS or self.over():
                    self.too_much = True
                    break
                self.machine.trap.begin_turn(TURN_INSTRUCTIONS, None, alone=False)
                own, siblings = self.machine.run(pending.pop(), NO_BUDGET)
                pending += siblings
                if own is not None:
                    stops = own.place in until and own.continuation is state.continuation
                    (self.arrived if stops else pending).append(own)
            known = len(before)
            self.seen.blocks = {k for k, n in enumerate(counts) if n > (before[k] if k < known else 0)}
        return None if self.too_much else self.seen

    def _stop_at(self, places: Collection[int], wanted: Continuation) -> None:
        def arrived(number: int, target: Target, continuation: Continuation, values: tuple[Any, ...]) -> bool:
            return number in places and continuation is wanted

        self.machine.events.arrived.append(arrived)

    @contextmanager
    def _in_secret(self) -> Iterator[None]:
        machine = self.machine
        decider, counters = machine.decider, machine.counters
        kept = (machine.tree, machine.observer, set(machine._warned))
        turn = (decider.forks, decider.turn_ends, decider.restricted, decider.alone)
        counts = list(counters.N)
        machine.tree, machine.observer = self, self
        decider.turn_ends, decider.restricted = None, False
        counters.cut = lambda function, block, position: None  # type: ignore[method-assign]
        try:
            with machine.events.muted():
                machine.events.forked.append(self.forked)
                yield
        finally:
            del counters.cut
            counters.N[: len(counts)] = counts
            counters.N[len(counts) :] = [0] * (len(counters.N) - len(counts))
            machine.tree, machine.observer, machine._warned = kept
            decider.forks, decider.turn_ends, decider.restricted, decider.alone = turn
