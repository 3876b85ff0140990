"""The model of one function without a body: a call answers with fresh symbols of its type.

Nothing else changes, unless the prototype or a contract says so: a result that is returned through memory
(`sret`) and parameters marked `writeonly` are written, contracts name others. A pointer that comes back is
null or leads to an object of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch.contracts import Contract
from anabranch.environment.output import STREAMS
from anabranch.environment.unknown.contents import Place, parts_of
from anabranch.environment.unknown.results import Answer, AnswerMaker
from anabranch.environment.unknown.writes import Writes, Written, is_memory
from anabranch.environment.values import truth
from anabranch.expr import Expr
from anabranch.ir.module import Function
from anabranch.ir.source_types import CType
from anabranch.ir.types import VOID, PointerType, Type
from anabranch.machine.path import Input

if TYPE_CHECKING:
    from anabranch.environment.unknown.calls import UnknownFunctions

Value = Any
LEAVES = "() leaves what it is given as it is"
"""A name `function + LEAVES` that the path is marked with assumes so, because no contract says more."""
SAME = "same answers"
"""Note: (function, arguments) -> what a function answered whose contract says that it answers the same."""


def _is_stream(value: Value) -> bool:
    return value.__class__ is int and value in STREAMS


def _holds(value: Value) -> Any:
    return truth(value, value.w if value.__class__ is Expr else 64)


def _equal(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Are these calls of one function with the same arguments? Equal expressions are one object."""
    return (
        one[0] == other[0]
        and len(one[1]) == len(other[1])
        and all(
            a is b or (a.__class__ is int and b.__class__ is int and a == b)
            for a, b in zip(one[1], other[1], strict=True)
        )
    )


class Callee:
    """Stands for a function, with what its prototype and its contract say."""

    def __init__(
        self,
        functions: UnknownFunctions,
        name: str,
        result: Type,
        prototype: CType | None,
        contract: Contract,
        function: Function | None,
    ) -> None:
        self.functions = functions
        self.api = functions.api
        self.name = name
        self.result = result
        self.prototype = prototype
        self.contract = contract
        self.noreturn = contract.noreturn or (function is not None and function.noreturn)
        self.writes = Writes(self.api, name, prototype, result, contract, function, functions.write)
        given = function.type.params if function is not None else ()
        self.reads = [n for n in contract.reads if n >= len(given) or isinstance(given[n], PointerType)]

    def __call__(self, *arguments: Value) -> Value:
        api, functions, contract = self.api, self.functions, self.contract
        for number in self.reads:
            if number < len(arguments) and not _is_stream(arguments[number]):
                api.read_bytes(arguments[number], 1)
        if contract.assumes and arguments and not api.decide(_holds(arguments[0])):
            api.silent_exit(f"{self.name}: the assumption is false")
        written = self.writes.of_call(arguments)
        where = functions.machine.where()
        functions.count(self.name, where)
        if contract.fails:
            api.error("assert", f"{self.name} was reached")
        if self.noreturn:
            api.exit(0, handlers=None)
        if contract.frees is not None:
            api.lose("an unknown function frees memory")
        if not contract.known and not self.writes.others and self._is_handed_memory(arguments):
            api.mark(f"{self.name}{LEAVES}")
        if self.result is VOID and not written:
            return None  # nothing to name
        label = api.unique(f"{self.name}()")
        maker = AnswerMaker(functions.objects, label, api.unique(functions.symbol(self.name, where)))
        value = self._value(maker, arguments)
        places = [(w.parameter + 1, tuple(self._write(maker, w))) for w in written]
        answer = Answer(self.name, value, self.result, tuple(places), maker.symbol, self._same_as(arguments))
        size = sum(variable.w // 8 for variable in maker.variables)
        api.add_input(Input(label, size, tuple(maker.variables), label, about=answer))
        for condition in maker.conditions:
            api.assume(condition)
            functions.known[condition] = None
        return value

    def _same_as(self, arguments: tuple[Value, ...]) -> int | None:
        number = self.contract.same_as
        return number if number is not None and number < len(arguments) else None

    def _value(self, maker: AnswerMaker, arguments: tuple[Value, ...]) -> Value:
        number = self._same_as(arguments)
        if number is not None:
            return maker.or_null(arguments[number]) if self.contract.may_be_null else arguments[number]
        source = self.prototype.target if self.prototype is not None else None
        if not self.contract.same:
            return maker.result(self.result, source, self.contract, arguments)
        known, key = self.api.note(SAME, ()), (self.name, arguments)
        for earlier, value in known:
            if _equal(earlier, key):
                self.api.lose("a function answers as it did before")
                return value
        value = maker.result(self.result, source, self.contract, arguments)
        self.api.set_note(SAME, (*known, (key, value)))
        return value

    def _write(self, maker: AnswerMaker, written: Written) -> list[Place]:
        places = maker.contents(written.type, written.size, written.parameter + 1, written.text)
        data: list[Value] = [0] * written.size
        for place in places:
            data[place.offset : place.offset + place.size] = parts_of(place.value, place.size)
        self.api.write_bytes(written.address, data)
        return places

    def _is_handed_memory(self, arguments: tuple[Value, ...]) -> bool:
        """Could the function write to something that the program can see?"""
        hidden = self.writes.out_of_sight
        return any(n not in hidden and is_memory(value) for n, value in enumerate(arguments))
