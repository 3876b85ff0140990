"""Calls in which paths fork: what was there before they did, and where the paths stop when they return.

A call is the continuation that was made for it: paths that fork inside share that very tuple. It is *armed*
by the first fork inside it (and so are the calls around it): from then on paths stop behind it. Calls
without forks cost nothing. Calls behind which stopping would not pay are a *scope only*: nobody stops there,
but what was there when the paths forked is known to the calls inside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.analysis.cfg import returns_at_once
from anabranch.explore.protocols import Search
from anabranch.machine import Machine, State
from anabranch.machine.state import ROOT, Continuation, Slot
from anabranch.machine.translator.sites import BranchSite, CallSite, PointSite, ReturnSite
from anabranch.reduce.zequivalence.ledger import Row, SiteRow, ZLedger
from anabranch.reduce.zequivalence.variables import variables_of
from anabranch.solver import Slice


class Base:
    """What all paths of a call have in common: the path when it first forked there."""

    __slots__ = ("notes", "objects", "pages", "slices")

    def __init__(self, machine: Machine) -> None:
        memory, path = machine.memory, machine.path
        memory.freeze()
        self.pages: Mapping[int, Any] = memory.pages
        self.objects: Mapping[int, Any] = memory.objects
        self.notes = path.notes
        self.slices: dict[int, Slice] = path.slices.copy()


@dataclass(slots=True, eq=False)
class Call:
    """One call in which paths forked, while any of them is inside or waits behind it."""

    continuation: Continuation
    function: str
    base: Base
    parent: Call | None
    row: Row
    site_row: SiteRow
    site: CallSite = field(init=False)
    depth: int = field(init=False)
    # Where states that come back are compared: behind it, in the calls around it up to the scope.
    location: Hashable = field(init=False)
    arguments: frozenset[int] = frozenset()  # variables in what was passed, where that counts
    scope_only: bool = False  # does nobody stop behind it? Then it is there for the calls inside it
    # By location inside this call; of a location to which one state came, that state and its `arguments`.
    return_points: dict[Hashable, Any] = field(default_factory=dict)
    frame_variables: frozenset[int] | None = None  # in the frames around it, once somebody has asked
    # For the search order:
    around: Call | None = field(init=False)  # in whose worklist its states go on: open calls have none
    order: Search[State] | None = None  # of the waiting states inside, if they have their own
    count: int = 0  # how many those are
    held: dict[State, None] = field(default_factory=dict)  # states that wait behind the call
    fresh: list[State] = field(default_factory=list)  # those of them that were not compared yet
    children: dict[Call, None] = field(default_factory=dict)  # calls made inside
    open: bool = False  # too long, or over: nobody waits for the others any more
    turns: int = 0

    def __post_init__(self) -> None:
        self.site, self.depth = self.continuation[1], int(self.continuation[2])
        outer = ROOT if self.parent is None else self.parent.continuation
        self.location = tuple([around[1] for around in callers_within(self.continuation, outer)])
        self.around = self.parent

    @property
    def holds(self) -> bool:
        """Do states wait behind it?"""
        return self.order is not None and not self.open

    @property
    def empty(self) -> bool:
        """Does no state wait inside, or behind a call inside?"""
        inside = [self]
        for call in inside:  # grows while it is gone through
            if call.count or not all(child.scope_only for child in call.children):
                return False
            inside += call.children
        return True


def callers_within(continuation: Continuation, outer: Continuation) -> Iterator[Continuation]:
    """A continuation and those around it up to that of a scope, innermost first."""
    while continuation is not outer and continuation[1] is not None:
        yield continuation
        continuation = continuation[0]


class CallTree:
    """The armed calls as they nest, each with the waiting states inside it: a stack of worklists.

    Calls without an order of their own (`make_order` None) are there for their counts: another order is in
    charge of their states.
    """

    def __init__(self, make_order: Callable[[], Search[State]] | None, patience: int) -> None:
        """`patience`: turns of the paths inside a call until its callers go on without them."""
        self._make_order = make_order
        self._patience = patience
        self._roots: dict[Call, None] = {}  # armed calls that are in no other
        self.owner: dict[State, Call | None] = {}
        """Of every waiting state the call whose worklist it is in; of a held one, what holds it."""
        self.at: Call | None = None
        """Where states were last picked."""
        self.doubtful: list[Call] = []
        """Calls that may be over, where another order is in charge."""
        self.opened = 0
        """Calls that took too long."""

    @property
    def stacked(self) -> bool:
        """Have calls worklists of their own?"""
        return self._make_order is not None

    def add(self, call: Call) -> None:
        if self._make_order is not None:
            call.order = self._make_order()
        call.around = self.around(call.parent)
        self.inside(call.around)[call] = None

    def inside(self, parent: Call | None) -> dict[Call, None]:
        """The calls that were made inside a call."""
        return self._roots if parent is None else parent.children

    def around(self, call: Call | None) -> Call | None:
        """The call whose worklist takes states that are in this one."""
        while call is not None and call.open:
            call = call.around
        return call

    def close(self, call: Call) -> None:
        """It takes no states any more: whoever comes to it goes on in the worklist around it. So all states
        are in calls that are reached from the outermost ones."""
        call.open = True
        siblings = self.inside(call.around)
        siblings.pop(call, None)
        for child in call.children:
            child.around = call.around
            siblings[child] = None
        call.children.clear()
        if self.at is call:
            self.at = call.around

    def innermost(self) -> Call | None:
        """The innermost call inside the one where states were last picked, the latest first."""
        call = self.around(self.at)
        inner = self.inside(call)
        while inner:
            call = next(reversed(inner))
            inner = call.children
        return call

    def complete(self) -> Call | None:
        """A call inside which nobody waits any more, or that took too long."""
        call = self.innermost()
        if call is None or call.order is None or (len(call.order) and call.turns < self._patience):
            return None
        return call

    def close_finished(self) -> Iterator[Call]:
        """Close the calls without an order of their own that are over."""
        while self.doubtful:
            call: Call | None = self.doubtful.pop()
            while call is not None and not call.count and not call.children:
                around = call.around
                if call in self.inside(around):
                    self.close(call)
                    yield call
                call = around


class Calls:
    """The armed calls of a run, and which of them the running path is in."""

    def __init__(
        self, machine: Machine, ledger: ZLedger, tree: CallTree, arguments_count: bool = False
    ) -> None:
        self.machine = machine
        self.ledger = ledger
        self.tree = tree
        self.arguments_count = arguments_count  # are the variables in arguments observable in any case?
        self.root: Call | None = None  # the program, as the call that all others are in
        self.armed: dict[int, Call] = {}  # by the identity of the continuation, which they hold
        self.running: Call | None = None  # the innermost one that the running path is in
        self.returned_from: Slot[Call | None] = machine.extras.slot(None, lambda a, b, one, two: one or two)
        """Of a state that has just stopped behind an armed call: that call."""
        self._passing: dict[CallSite, bool] = {}  # does the caller return at once?

    # ---- the running path ----------------------------------------------------------------------------

    def entered(self, state: State) -> None:
        self.running = self.innermost(state.continuation)

    def innermost(self, continuation: Continuation) -> Call | None:
        """The innermost armed call that a frame with this continuation is in."""
        armed = self.armed
        while continuation[1] is not None:  # `callers` would take twice as long, several times a turn
            call = armed.get(id(continuation))
            if call is not None:
                return call
            continuation = continuation[0]
        return None

    def forked(self, site: BranchSite | PointSite, continuation: Continuation) -> None:
        """The running path is about to fork."""
        call = self.armed.get(id(continuation))
        if call is None and continuation[1] is not None:
            call = self._arm(site, continuation)
        elif self.root is None:
            self._arm_root(Base(self.machine))
        self.running = call

    def _arm_root(self, base: Base) -> None:
        self.root = Call(ROOT, "", base, None, Row(""), SiteRow())

    def scope(self, call: Call) -> Call:
        """What the states behind a call are in."""
        around = call.parent or self.root
        assert around is not None
        return around

    def _arm(self, site: BranchSite | PointSite, continuation: Continuation) -> Call | None:
        """Arm the calls around a fork that are not armed yet, the outermost first."""
        function = site.unit.function.name
        fresh: list[tuple[Continuation, str]] = []
        between: tuple[Continuation, str] | None = None  # a call around them at which nobody stops
        call: Call | None = None
        while continuation[1] is not None:
            call = self.armed.get(id(continuation))
            if call is not None:
                break
            if self.ledger.open(continuation[1]) and not self._passed_on(continuation):
                fresh.append((continuation, function))
                between = None
            elif between is None:
                between = (continuation, function)
            function = continuation[1].unit.function.name
            continuation = continuation[0]
        if call is None:
            between = None  # the calls around it have the same base
        if not fresh and between is None:
            return call
        base = Base(self.machine)
        if self.root is None:
            self._arm_root(base)
        if between is not None:
            call = self._add(between, base, call)
            call.scope_only = True
        for one in reversed(fresh):
            call = self._add(one, base, call)
            if self.arguments_count:
                given = self.machine.decider.arguments(sys._getframe(), one[0])
                # If they are no longer known, whatever there was may have been passed.
                call.arguments = frozenset(base.slices if given is None else variables_of(given))
            where = call.site
            self.machine.stops.install(where.unit.counters.segments[where.block, where.position + 1])
        return call

    def _add(self, one: tuple[Continuation, str], base: Base, around: Call | None) -> Call:
        continuation, function = one
        row, site_row = self.ledger.row(function), self.ledger.site_row(continuation[1])
        call = Call(continuation, function, base, around, row, site_row)
        self.armed[id(continuation)] = call
        self.tree.add(call)
        return call

    def _passed_on(self, continuation: Continuation) -> bool:
        """Does the caller return at once? Then paths are compared behind the call of the caller only, where
        what is local to the caller is gone too. The paper's boundary is that of each function."""
        if self.arguments_count or continuation[0][1] is None:
            return False
        site: CallSite = continuation[1]
        known = self._passing.get(site)
        if known is None:
            functions, unit = self.machine.module.functions, site.unit
            known = returns_at_once(functions, unit.function, site.block, site.position + 1)
            self._passing[site] = known
        return known

    def returned(self, site: ReturnSite, continuation: Continuation, values: tuple[Any, ...]) -> bool:
        """The running path came back from a call: is it an armed one with others in it or behind it?"""
        call, depth = self.running, continuation[2] + 1
        while call is not None and call.depth > depth:
            call = call.parent  # left without a return
        self.running = call
        if call is None or call.depth != depth:
            return False
        if call.continuation[0] is not continuation or call.site is not site.call:
            return False
        self.running = call.parent
        if call.scope_only:
            return False
        if self._alone(call):
            self.tree.close(call)
            self.forget(call)
            return False
        self.returned_from.put(self.machine.path, call)
        return True

    def _alone(self, call: Call) -> bool:
        """Is nobody there to compare with?"""
        if call.held or call.open or self.machine.decider.siblings or not call.empty:
            return False
        return call.location not in self.scope(call).return_points

    def forget(self, call: Call) -> None:
        """Nobody is inside any more."""
        if self.armed.get(id(call.continuation)) is call:  # it may be armed anew
            del self.armed[id(call.continuation)]
