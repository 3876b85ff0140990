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

from collections.abc import Iterator, Sequence

from anabranch.explore.protocols import Search
from anabranch.machine import State
from anabranch.reduce.zequivalence.calls import Call, Calls

AT_ONCE = 64  # times in a row that a state goes on behind a call before others have their turn
PATIENCE = 4096  # turns of the paths inside a call until its callers go on without them


class CalleeFirst:
    """A search order around another one, which holds the states that are in no armed call."""

    def __init__(self, outermost: Search[State], calls: Calls, at_once: bool = False) -> None:
        """`at_once`: where the outermost order is in charge, states go on behind calls without waiting for
        their turn."""
        self._outermost = outermost
        self._calls = calls
        self._tree = calls.tree
        self._at_once = at_once
        self._next: State | None = None  # it goes on at once
        self._in_a_row = 0

    @property
    def description(self) -> str:
        return f"callee first around {self._outermost.description}"

    def _order_of(self, call: Call | None) -> Search[State]:
        return self._outermost if call is None or call.order is None else call.order

    def add(self, states: Sequence[State]) -> None:
        tree, returned_from = self._tree, self._calls.returned_from
        for state in states:
            behind = returned_from.get(state)
            if behind is not None:
                returned_from.put(state, None)
                if behind.holds:
                    tree.owner[state] = behind
                    behind.held[state] = None
                    behind.fresh.append(state)
                    continue
                if self._at_once:
                    self._next = state
            self._put(state, self._calls.innermost(state.continuation))

    def _put(self, state: State, inside: Call | None) -> None:
        call = self._tree.owner[state] = self._tree.around(inside)
        if call is not None:
            call.count += 1
        self._order_of(call).add((state,))

    def release(self, call: Call) -> None:
        """The call is closed: its states, inside and behind it, go on in the worklist around it."""
        assert call.order is not None
        inside = list(call.order.states())
        for state in inside:
            call.order.remove(state)
        call.count = 0
        for state in (*inside, *call.held):
            self._put(state, call.around)
        call.held.clear()

    def remove(self, state: State) -> None:
        call = self._tree.owner.pop(state)
        if call is not None and state in call.held:
            del call.held[state]
            return
        self._gone(call)
        self._order_of(call).remove(state)

    def _gone(self, call: Call | None) -> None:
        if call is not None:
            call.count -= 1
            if not call.count and call.order is None:
                self._tree.doubtful.append(call)

    def pick(self) -> State:
        return self._pick_stacked() if self._tree.stacked else self._pick_flat()

    def _pick_stacked(self) -> State:
        tree = self._tree
        call = tree.at = tree.innermost()
        order = self._order_of(call)
        # A state of a call that is no longer among those that are open goes on all the same.
        state = order.pick() if len(order) else next(iter(tree.owner))
        if call is not None:
            call.turns += 1
        owner = tree.owner.pop(state)
        if owner is not call:
            self._order_of(owner).remove(state)
        self._gone(owner)
        return state

    def _pick_flat(self) -> State:
        state, self._next = self._next, None
        if state is not None and state in self._tree.owner and self._in_a_row < AT_ONCE:
            self._in_a_row += 1
            self.remove(state)
            return state
        self._in_a_row = 0
        state = self._outermost.pick()
        self._gone(self._tree.owner.pop(state))
        return state

    def __len__(self) -> int:
        return len(self._tree.owner)

    def states(self) -> Iterator[State]:
        return iter(self._tree.owner)
