"""The search order: paths inside a call before those behind it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from anabranch.explore.search.plain import Bfs
from anabranch.reduce.zequivalence.callee_first import CalleeFirst
from anabranch.reduce.zequivalence.calls import Call, CallTree
from anabranch.reduce.zequivalence.ledger import Row, SiteRow

MAIN: Any = (None, None, 0)


class FakeCalls:
    """The armed calls, by hand."""

    def __init__(self, patience: int) -> None:
        self.armed: dict[int, Call] = {}
        self.tree = CallTree(Bfs, patience)
        self.returned_from: Any = Behind()

    def arm(self, name: str, parent: Call | None) -> Call:
        around = MAIN if parent is None else parent.continuation
        continuation = (around, name, around[2] + 1)
        call = Call(continuation, name, SimpleNamespace(), parent, Row(name), SiteRow())  # type: ignore[arg-type]
        self.armed[id(continuation)] = call
        self.tree.add(call)
        return call

    def innermost(self, continuation: Any) -> Call | None:
        while continuation[1] is not None:
            if id(continuation) in self.armed:
                return self.armed[id(continuation)]
            continuation = continuation[0]
        return None


class Behind:
    """Of a state that has just come back from a call: that call."""

    def get(self, state: Any) -> Call | None:
        found: Call | None = state.behind
        return found

    def put(self, state: Any, call: Call | None) -> None:
        state.behind = call


class FakeState:
    def __init__(self, name: str, call: Call | None, behind: Call | None = None) -> None:
        self.name = name
        self.continuation = MAIN if call is None else call.continuation
        self.behind = behind

    def __repr__(self) -> str:
        return self.name


def make(patience: int = 100) -> tuple[FakeCalls, Any]:
    calls = FakeCalls(patience)
    return calls, CalleeFirst(Bfs(), calls)  # type: ignore[arg-type]


def behind(search: Any, name: str, call: Call) -> None:
    """A state comes back from a call and is kept."""
    search.add([FakeState(name, call.parent, call)])


def settle(calls: FakeCalls, search: Any) -> list[str]:
    """The functions of the calls that are over, behind which states go on now."""
    over = []
    while (call := calls.tree.complete()) is not None:
        assert call.order is not None
        over.append(call.function)
        waiting = [*call.order.states(), *call.held]
        if not len(call.order):
            del calls.armed[id(call.continuation)]
        calls.tree.close(call)
        for state in waiting:
            search.remove(state)
        search.add(waiting)
    return over


def pick(calls: FakeCalls, search: Any) -> str:
    settle(calls, search)
    return str(search.pick().name)


def picked(calls: FakeCalls, search: Any) -> list[str]:
    return [pick(calls, search) for _ in range(len(search))]


def test_inner_calls_first() -> None:
    calls, search = make()
    outer = calls.arm("outer", None)
    inner = calls.arm("inner", outer)
    search.add([FakeState("main", None), FakeState("outer", outer), FakeState("inner", inner)])
    assert len(search) == 3
    assert picked(calls, search) == ["inner", "outer", "main"]


def test_those_behind_wait_for_those_inside() -> None:
    calls, search = make()
    call = calls.arm("f", None)
    search.add([FakeState("inside", call)])
    behind(search, "back", call)
    assert {s.name for s in search.states()} == {"inside", "back"}
    assert not settle(calls, search) and pick(calls, search) == "inside"
    behind(search, "back too", call)
    assert settle(calls, search) == ["f"]
    assert pick(calls, search) == "back"
    assert pick(calls, search) == "back too"
    assert not calls.armed and not len(search)


def test_those_behind_an_inner_call_are_inside_the_outer_one() -> None:
    calls, search = make()
    outer = calls.arm("outer", None)
    inner = calls.arm("inner", outer)
    search.add([FakeState("inner", inner)])
    behind(search, "behind inner", inner)
    behind(search, "behind outer", outer)
    assert picked(calls, search) == ["inner", "behind inner", "behind outer"]


def test_states_can_be_taken_out() -> None:
    calls, search = make()
    call = calls.arm("f", None)
    inside, outside = FakeState("inside", call), FakeState("outside", None)
    search.add([inside, outside])
    behind(search, "back", call)
    search.remove(inside)
    search.remove(next(s for s in search.states() if s.name == "back"))
    assert outside in search.states() and inside not in search.states()
    assert picked(calls, search) == ["outside"]


def test_nobody_waits_for_ever() -> None:
    calls, search = make(patience=2)
    call = calls.arm("f", None)
    behind(search, "back", call)
    for _ in range(2):
        search.add([FakeState("inside", call)])
        assert pick(calls, search) == "inside"
    search.add([FakeState("inside", call)])
    assert settle(calls, search) == ["f"]
    behind(search, "back too", call)  # nobody waits behind it any more
    assert picked(calls, search) == ["inside", "back", "back too"]


def test_a_call_that_is_over_takes_no_states() -> None:
    calls, search = make()
    outer = calls.arm("outer", None)
    inner = calls.arm("inner", outer)
    search.add([FakeState("inside outer", outer)])
    search.add([FakeState("inside inner", inner)])
    assert pick(calls, search) == "inside inner"
    assert pick(calls, search) == "inside outer"  # the inner call is over
    behind(search, "late", inner)
    calls.armed[id(inner.continuation)] = inner  # as if somebody still knew it
    search.add([FakeState("later", inner)])
    assert outer.count == 2 and not inner.held
    assert {pick(calls, search) for _ in range(2)} == {"late", "later"}
    assert not len(search)


def test_calls_behind_which_nobody_stops_do_not_count_as_inside() -> None:
    """However deep: a recursive function may be given up."""
    calls, search = make()
    outer = inner = calls.arm("outer", None)
    for _ in range(5000):
        inner = calls.arm("scope only", inner)
        inner.scope_only = True
    assert outer.empty
    search.add([FakeState("inside", inner)])
    assert not outer.empty
    assert picked(calls, search) == ["inside"]
    assert outer.empty
    calls.arm("other", inner)
    assert not outer.empty
