"""Sites in generated code that a state can be taken from, and entered at."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from anabranch.machine.state import Continuation, Entry

if TYPE_CHECKING:
    from anabranch.ir.module import Instruction
    from anabranch.machine.translator.unit import Unit

Getter = Callable[[Any], tuple[Any, ...]]


def make_getter(names: tuple[str, ...]) -> Getter:
    """Reads some local variables of a frame as a tuple."""
    if not names:
        return lambda _: ()
    if len(names) == 1:
        (name,) = names
        return lambda variables: (variables[name],)
    return itemgetter(*names)


class Target:
    """Somewhere to enter a function with saved values; compiled when first entered."""

    __slots__ = ("block", "enter", "key", "names", "place", "unit")

    def __init__(self, unit: Unit, key: tuple[Any, ...], names: tuple[str, ...], block: int) -> None:
        self.unit = unit
        self.key = key
        self.names = names
        self.block = block  # where execution goes on, for searchers
        self.place = unit.counters.segments[block, 0]
        self.enter: Entry = self._compile_and_enter

    def forget_code(self) -> None:
        self.enter = self._compile_and_enter

    def _compile_and_enter(self, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        self.enter = self.unit.compile_target(self)
        return self.enter(continuation, values)

    def __call__(self, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        return self.enter(continuation, values)


class StartSite:
    """The entry function before its first instruction; the values are its arguments."""

    __slots__ = ("block", "names", "place", "unit")

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.block = 0
        self.names = tuple(f"v{p.index}" for p in unit.function.params)
        self.place = unit.counters.segments[0, 0]

    def __call__(self, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        return self.unit.program.namespace.names[self.unit.name](continuation, *values)


class BranchSite:
    """A two-way decision in generated code."""

    __slots__ = ("block", "if_false", "if_true", "place", "read", "targets", "unit")

    def __init__(self, unit: Unit, block: int, if_true: Target, if_false: Target) -> None:
        assert if_true.names == if_false.names
        self.unit = unit
        self.block = block
        self.place = unit.counters.segments[block, 0]
        self.if_true = if_true
        self.if_false = if_false
        self.targets = (if_false.place, if_true.place)
        self.read = make_getter(if_true.names)


class PointSite:
    """An instruction in mid-block: a state taken here runs it again, by the interpreter."""

    __slots__ = ("block", "names", "place", "position", "read", "unit")

    def __init__(self, unit: Unit, block: int, position: int, names: tuple[str, ...]) -> None:
        self.unit = unit
        self.block = block
        self.position = position
        self.names = names
        self.read = make_getter(names)
        self.place = unit.counters.covering(block, position)

    @property
    def instruction(self) -> Instruction:
        return self.unit.plan.blocks[self.block].instructions[self.position]

    def __call__(self, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        return self.unit.interpret(self, continuation, values)


class Postponed(PointSite):
    """An instruction whose condition the solver has not decided in the time it had: the state runs it again,
    and the solver has more time for it."""

    __slots__ = ("_again", "attempt", "point")

    def __init__(self, point: PointSite, attempt: int, again: Callable[[Postponed | None], None]) -> None:
        """`again`: told when the instruction runs again, and when that is over."""
        super().__init__(point.unit, point.block, point.position, point.names)
        self.point = point
        self.attempt = attempt
        self._again = again

    def __call__(self, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        self._again(self)
        try:
            return self.unit.interpret(self, continuation, values)
        finally:
            self._again(None)


class ReturnSite:
    """Behind a call: its caller goes on there, with what was returned among the values."""

    __slots__ = ("_result", "block", "call", "names", "place", "position", "unit")

    def __init__(self, call: CallSite) -> None:
        unit, block, position = call.unit, call.block, call.position + 1
        self.call = call
        self.unit = unit
        self.block = block
        self.position = position
        self.place = unit.counters.covering(block, position)
        self.names = unit.plan.names(unit.plan.live_before(block, position))
        kept = set(call.names)
        self._result = next((i for i, name in enumerate(self.names) if name not in kept), None)

    @property
    def result(self) -> str | None:
        """The name of what was returned, if anybody reads it."""
        return None if self._result is None else self.names[self._result]

    def __call__(self, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        at = self._result
        returned = None
        if at is not None:
            returned, values = values[at], values[:at] + values[at + 1 :]
        return self.call.resume(
            continuation, (continuation, self.call, continuation[2] + 1, *values), returned
        )


class CallSite:
    """A call of the program: where its caller goes on when it returns."""

    __slots__ = ("block", "names", "position", "resume", "unit")

    def __init__(self, unit: Unit, block: int, position: int, names: tuple[str, ...]) -> None:
        self.unit = unit
        self.block = block
        self.position = position
        self.names = names
        self.resume: Callable[[Continuation, Continuation, Any], Any] = self._compile_and_resume

    def forget_code(self) -> None:
        self.resume = self._compile_and_resume

    def _compile_and_resume(self, parent: Continuation, saved: Continuation, result: Any) -> Any:
        unit = self.unit
        self.resume = self._interpret if unit.program.only_interpret else unit.compile_resume(self)
        return self.resume(parent, saved, result)

    def _interpret(self, parent: Continuation, saved: Continuation, result: Any) -> Any:
        return self.unit.interpret_after(self, parent, saved[3:], result)
