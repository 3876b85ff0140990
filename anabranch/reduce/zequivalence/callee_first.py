"""Callee first: who has returned from a call waits for the other paths inside it (Li et al., section 3.1).

Every armed call has a worklist of its own, in any order; calls that are made inside it come first, so that
the worklists are used as a stack. States behind the call are held until nobody is inside any more: those
that are left then go on in the worklist around it. A call that takes too long is opened: its states join
those around it and nobody waits for them any longer.

Where another order is in charge, only counts are kept here, so that it is known when a call is over: the
topological one has callees come first by itself, and where time is limited nobody waits. Then a state that
was compared behind a call goes on at once, as if it had not been stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from anabranch.explore.protocols import Search
from anabranch.machine import State
from anabranch.machine.translator.sites import ReturnSite
from anabranch.reduce.zequivalence.calls import Call, Calls

AT_ONCE = 64  # times in a row that a state goes on behind a call before others have their turn
PATIENCE = 4096  # turns of the paths inside a call until its callers go on without them


class CalleeFirst:
    """A search order around another one, which holds the states that are in no armed call."""

    def __init__(
        self,
        outermost: Search[State],
        make_order: Callable[[], Search[State]] | None,
        calls: Calls,
        patience: int = PATIENCE,
        at_once: bool = False,
    ) -> None:
        """`make_order` gives the worklist of a call; None: the outermost order is in charge, and states go on
        behind calls when it is their turn, or `at_once`."""
        self._outermost = outermost
        self._make_order = make_order
        self._calls = calls
        self._patience = patience
        self._at_once = at_once
        self._next: State | None = None  # it goes on at once
        self._in_a_row = 0
        self._owner: dict[State, Call | None] = {}  # of every waiting state; of a held one, what holds it
        self._at: Call | None = None  # where states were last picked
        self._roots: dict[Call, None] = {}  # armed calls that are in no other
        self._doubtful: list[Call] = []  # calls that may be over
        self.over: Callable[[Call], None] = lambda call: None  # is told before those behind it go on
        self.holding: Call | None = None  # behind which the state is that comes next
        self.opened = 0
        calls.on_armed = self._armed
        calls.on_left = self._close  # its only path has come back and does not stop

    @property
    def description(self) -> str:
        return f"callee first around {self._outermost.description}"

    # ---- calls ---------------------------------------------------------------------------------------

    def _armed(self, call: Call) -> None:
        if self._make_order is not None:
            call.order = self._make_order()
        call.around = self._place(call.parent)
        self._siblings(call.around)[call] = None

    def _siblings(self, parent: Call | None) -> dict[Call, None]:
        return self._roots if parent is None else parent.children

    def _finish(self, call: Call) -> None:
        """Nobody is inside: those who waited behind it go on."""
        self.over(call)
        self._close(call)
        self._calls.forget(call)
        self._release(call)

    def _close(self, call: Call) -> None:
        """It takes no states any more: whoever comes to it goes on in the worklist around it. So all states
        are in calls that are reached from the outermost ones."""
        call.open = True
        self._siblings(call.around).pop(call, None)

    def _release(self, call: Call) -> None:
        held = list(call.held)
        call.held.clear()
        if held:
            self._put(held, call.around)

    def _open(self, call: Call) -> None:
        """Wait no longer."""
        self.over(call)
        self._close(call)
        self.opened += 1
        inside = list(call.order.states())
        for state in inside:
            call.order.remove(state)
        call.count = 0
        for child in call.children:
            child.around = call.around
            self._siblings(call.around)[child] = None
        call.children.clear()
        self._put(inside, call.around)
        self._release(call)

    def _place(self, call: Call | None) -> Call | None:
        """The call whose worklist takes states that are in this one."""
        while call is not None and call.open:
            call = call.around
        return call

    def _put(self, states: list[State], call: Call | None) -> None:
        call = self._place(call)
        for state in states:
            self._owner[state] = call
        if call is not None:
            call.count += len(states)
        (self._outermost if call is None or call.order is None else call.order).add(states)

    # ---- the search order ----------------------------------------------------------------------------

    def add(self, states: Sequence[State]) -> None:
        for state in states:
            holding, self.holding = self.holding, None
            behind = holding is not None and isinstance(state.entry, ReturnSite)
            if behind and holding is not None and self.holds(holding):
                self._owner[state] = holding
                holding.held[state] = None
                continue
            self._put([state], self._calls.innermost(state.continuation))
            if behind and self._at_once:
                self._next = state

    def remove(self, state: State) -> None:
        call = self._owner.pop(state)
        if call is None:
            self._outermost.remove(state)
        elif state in call.held:
            del call.held[state]
        else:
            self._gone(call)
            (self._outermost if call.order is None else call.order).remove(state)

    def _gone(self, call: Call) -> None:
        call.count -= 1
        if not call.count and call.order is None:
            self._doubtful.append(call)

    def holds(self, call: Call) -> bool:
        """Do states wait behind a call?"""
        return call.order is not None and not call.open

    def waits(self, state: State) -> bool:
        return state in self._owner

    def pick(self) -> State:
        if self._make_order is None:
            return self._pick_flat()
        call = self._at
        state: State
        while True:
            call = self._innermost(call)
            if call is None or len(call.order):
                break
            self._finish(call)
            call = call.around
        self._at = call
        if call is None:
            if not len(self._outermost):
                return self._stray()
            state = self._outermost.pick()
        else:
            state = call.order.pick()
            call.count -= 1
            call.turns += 1
            if call.turns > self._patience:
                del self._owner[state]
                self._at = call.around
                self._open(call)
                return state
        del self._owner[state]
        return state

    def _stray(self) -> State:
        """A state of a call that is no longer among those that are open: it goes on all the same."""
        state = next(iter(self._owner))
        self.remove(state)
        return state

    def _innermost(self, call: Call | None) -> Call | None:
        """The innermost call inside this one, the latest first."""
        call = self._place(call)
        inner = self._siblings(call)
        while inner:
            call = next(reversed(inner))
            inner = call.children
        return call

    def _pick_flat(self) -> State:
        while self._doubtful:
            call: Call | None = self._doubtful.pop()
            while call is not None and not call.count and not call.children:
                if call in self._siblings(call.around):
                    self._finish(call)
                call = call.around
        state, self._next = self._next, None
        if state is not None and state in self._owner and self._in_a_row < AT_ONCE:
            self._in_a_row += 1
            self.remove(state)
            return state
        self._in_a_row = 0
        state = self._outermost.pick()
        call = self._owner.pop(state)
        if call is not None:
            self._gone(call)
        return state

    def __len__(self) -> int:
        return len(self._owner)

    def states(self) -> Iterator[State]:
        return iter(self._owner)
