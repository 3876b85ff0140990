"""Functions without a body (Li et al., section 4.3): a call answers with fresh symbols of its type.

Nothing else changes, unless the prototype or a summary says so: a result that is returned through memory
(`sret`) and parameters marked `writeonly` are written, summaries name others. A pointer that comes back is
null or leads to an object of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from anabranch import expr
from anabranch.environment.unknown.contents import Place, parts_of
from anabranch.environment.unknown.objects import UnknownObjects
from anabranch.environment.unknown.summaries import NOTHING_KNOWN, Summary, Write
from anabranch.environment.values import resize, resolve_length
from anabranch.expr import Expr
from anabranch.ir.module import Function
from anabranch.ir.source_types import CType
from anabranch.ir.types import VOID, PointerType, StructType, Type
from anabranch.machine.bases import base_numbers, nearest
from anabranch.machine.ends import Loss
from anabranch.machine.location import Where
from anabranch.machine.path import Input
from anabranch.machine.state import callers

Value = Any
Model = Callable[..., Any]
LEAVES = "() leaves what it is given as it is"
"""A name `function + LEAVES` that the path is marked with assumes so, because no summary says more."""
KIND = "answer"
"""The kind of inputs that are answers of unknown functions."""
SITES = 16  # calls around that of an unknown function, which its result is named by


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of an unknown function gave: its result (LLVM type with it), and what it wrote where."""

    function: str
    value: Value
    type: Type
    writes: tuple[tuple[int, tuple[Place, ...]], ...] = ()  # by number of the parameter, counted from 1
    symbol: str = ""  # the name of the variable that is the result, if it is one


class UnknownFunctions:
    """Models for whatever has neither a body nor a model; counts their calls."""

    def __init__(self, objects: UnknownObjects, summaries: Mapping[str, Summary] | None = None) -> None:
        self.objects = objects
        self.machine = objects.machine
        self.api = objects.machine.api
        self.summaries = summaries or {}
        self.calls: dict[str, dict[str, int]] = {}
        """Function -> location of the call -> how often it was called there, on all paths together."""
        self._contexts: dict[Hashable, int] = {}
        self._locations: dict[Hashable, str] = {}  # of calls as text, by instruction
        self.known: dict[Any, None] = {}
        """What summaries say of answers, as conditions."""
        program = objects.machine.program
        program.unknown_model = self.model
        program.unknown_callee = self.callee

    def as_json(self) -> dict[str, Any]:
        """The calls as `run.json` tells them."""
        return {
            name: {"count": sum(locations.values()), "places": dict(sorted(locations.items()))}
            for name, locations in sorted(self.calls.items())
        }

    # ---- finding -------------------------------------------------------------------------------------

    def model(self, name: str) -> Model | None:
        """What stands for a function that is declared only."""
        function = self.machine.module.functions.get(name)
        if function is None or name.startswith("llvm."):
            return None
        prototype = self.objects.types.function(function.subprogram_id)
        summary = self.summaries.get(name, NOTHING_KNOWN)
        writes = (*summary.writes, *_declared_writes(function, summary))
        noreturn = summary.noreturn or function.noreturn
        return _Callee(self, name, function.type.ret, prototype, summary, writes, noreturn)

    def callee(self, address: int, result: Type) -> Model | None:
        """What a pointer to an unknown function calls."""
        made = self.objects.by_number.get(address >> 32)
        if made is None or made.function is None or address & 0xFFFFFFFF:
            return None
        summary = self.summaries.get(made.pointer, NOTHING_KNOWN)
        return _Callee(self, made.pointer, result, made.function, summary, summary.writes, summary.noreturn)

    # ---- calling -------------------------------------------------------------------------------------

    def symbol(self, name: str, where: Where | None) -> str:
        """What a result is called inside: by the calls that led to it, not by how many answers the path has
        had before. Paths that asked once more or less somewhere else go on with the same variables, so that
        what was found out on one of them is known on the others."""
        if where is None:
            return f"{name}() #0"
        around = islice(callers(where.continuation), SITES - 1)
        sites = (where.key, *[continuation[1] for continuation in around])
        number = self._contexts.setdefault(sites, len(self._contexts) + 1)
        return f"{name}() #{number}"

    def count(self, name: str, where: Where | None) -> None:
        key = where.key if where is not None else None
        location = self._locations.get(key)
        if location is None:
            location = self._locations[key] = where.text() if where is not None else ""
        locations = self.calls.setdefault(name, {})
        locations[location] = locations.get(location, 0) + 1


class _Callee:
    """The model of one unknown function, with what its prototype and its summary say."""

    def __init__(
        self,
        functions: UnknownFunctions,
        name: str,
        result: Type,
        prototype: CType | None,
        summary: Summary,
        writes: tuple[Write, ...],
        noreturn: bool,
    ) -> None:
        self.functions = functions
        self.api = functions.api
        self.name = name
        self.result = result
        self.prototype = prototype
        self.summary = summary
        self.writes = writes
        self.noreturn = noreturn
        declared = prototype.parameters if prototype is not None else ()
        self.out_of_sight = frozenset(
            position
            for position, type in enumerate(declared)
            if type.kind != "pointer" or type.target.const or type.target.kind == "function"
        )
        """Positions of arguments through which it can write nothing that the program sees."""

    def __call__(self, *arguments: Value) -> Value:
        api, functions, result = self.api, self.functions, self.result
        sizes = [self._write_size(write, arguments) for write in self.writes]
        where = functions.machine.where()
        functions.count(self.name, where)
        if self.noreturn:
            api.exit(0, handlers=None)
        if self.summary is NOTHING_KNOWN and self._is_handed_memory(arguments):
            api.mark(f"{self.name}{LEAVES}")
        if result is VOID and not self.writes:
            return None  # nothing to name
        label = api.unique(f"{self.name}()")
        maker = _AnswerMaker(functions.objects, label, api.unique(functions.symbol(self.name, where)))
        source = self.prototype.target if self.prototype is not None else None
        value = maker.result(result, source, self.summary)
        written = []
        for write, size in zip(self.writes, sizes, strict=True):
            if write.parameter > len(arguments) or not size:
                continue
            address = arguments[write.parameter - 1]
            places = maker.contents(self._pointee(write, result), size, write.parameter)
            data: list[Value] = [0] * size
            for place in places:
                data[place.offset : place.offset + place.size] = parts_of(place.value, place.size)
            api.write_bytes(address, data)
            written.append((write.parameter, tuple(places)))
        if result is not VOID or written:
            answer = Answer(self.name, value, result, tuple(written), maker.symbol)
            size = sum(variable.w // 8 for variable in maker.variables)
            api.add_input(Input(label, size, tuple(maker.variables), label, about=answer))
            for condition in maker.conditions:
                api.assume(condition)
                functions.known[condition] = None
        return value

    def _is_handed_memory(self, arguments: tuple[Value, ...]) -> bool:
        """Could the function write to something that the program can see?"""
        for position, value in enumerate(arguments):
            if position not in self.out_of_sight:
                number = nearest(value) if value.__class__ is int else any(base_numbers(value) or ())
                if number:
                    return True
        return False

    def _pointee(self, write: Write, result: Type) -> CType | None:
        if self.prototype is None:
            return None
        parameters = self.prototype.parameters
        hidden = result is VOID and self.prototype.target.kind in ("struct", "union")
        if hidden and write.parameter == 1:
            return self.prototype.target
        position = write.parameter - 1 - hidden
        if position >= len(parameters) or parameters[position].kind != "pointer":
            return None
        return parameters[position].target

    def _write_size(self, write: Write, arguments: tuple[Value, ...]) -> int:
        """Bytes that a call writes; decides everything that needs a decision."""
        if write.parameter > len(arguments):
            return 0
        address = arguments[write.parameter - 1]
        if address.__class__ is Expr:
            address = self.api.pick(address, 64, f"pointer given to {self.name}")
        if address == 0:
            return 0
        if write.by_argument:
            if write.by_argument > len(arguments):
                return 0
            length = resize(arguments[write.by_argument - 1], 64)
            return resolve_length(self.api, length, f"size given to {self.name}", writes=(address,))
        if write.size:
            return write.size
        pointee = self._pointee(write, VOID)
        return pointee.size if pointee is not None else 0


def _declared_writes(function: Function, summary: Summary) -> tuple[Write, ...]:
    """Parameters that the prototype itself says are written."""
    said = {write.parameter for write in summary.writes}
    found = []
    for number, attrs in enumerate(function.param_attrs, 1):
        if attrs is None or number in said:
            continue
        if attrs.sret is not None:
            found.append(Write(number, size=attrs.sret.size))
        elif "writeonly" in attrs.names:
            found.append(Write(number))
    return tuple(found)


class _AnswerMaker:
    """Makes the symbols of one answer."""

    def __init__(self, objects: UnknownObjects, label: str, symbol: str) -> None:
        self.objects = objects
        self.label = label
        self.symbol = symbol
        self.variables: list[Expr] = []
        self.conditions: list[Any] = []

    def result(self, type: Type, source: CType | None, summary: Summary) -> Value:
        if type is VOID:
            return None
        if isinstance(type, PointerType):
            return self.pointer(source, self.label, (KIND, self.label), summary)
        if isinstance(type, StructType):
            return tuple(
                self.part(part, source, offset)
                for offset, part in zip(type.offsets, type.fields or (), strict=True)
            )
        value = self.number(type, self.symbol)
        if summary.range is not None and type.bits > 1:
            low, high = (bound & ((1 << type.bits) - 1) for bound in summary.range)
            if summary.range[0] < 0:
                both = expr.sle(low, value, type.bits), expr.sle(value, high, type.bits)
            else:
                both = expr.ule(low, value, type.bits), expr.ule(value, high, type.bits)
            self.conditions += both
        return value

    def part(self, type: Type, source: CType | None, offset: int) -> Value:
        name = f"{self.label}.at{offset}"
        if isinstance(type, PointerType):
            found = pointer_at(source, offset) if source is not None else None
            return self.pointer(found, name, (KIND, name), NOTHING_KNOWN)
        return self.number(type, name)

    def pointer(self, source: CType | None, name: str, key: tuple[Any, ...], summary: Summary) -> Value:
        if summary.returns == "null":
            return 0
        target = source.target if source is not None and source.kind == "pointer" else None
        value, variables = self.objects.pointer(target, name, key, 1, KIND, null=summary.returns != "nonnull")
        self.variables += variables
        return value

    def number(self, type: Type, name: str) -> Value:
        made = self.objects.scalar(type, name, KIND)
        if made is None:
            raise Loss("unsupported", f"unknown value of type {type}")
        self.variables.append(made[1])
        return made[0]

    def contents(self, type: CType | None, size: int, parameter: int) -> list[Place]:
        """What is written behind a parameter."""
        name = f"{self.label}.arg{parameter}"
        if type is not None and type.size == size and type.kind != "void":
            places, variables = self.objects.value_of(type, name, (KIND, name))
        else:
            names = [f"{name}[{index}]" for index in range(size)]
            variables = [self.objects.variable(byte, 8, KIND) for byte in names]
            places = [Place(i, 1, names[i], variable, "byte") for i, variable in enumerate(variables)]
        self.variables += variables
        return places


def pointer_at(type: CType, offset: int) -> CType | None:
    """The pointer that lies at an offset of a struct."""
    if type.kind == "pointer" and offset == 0:
        return type
    for member in type.members if type.kind in ("struct", "union") else ():
        if member.offset <= offset < member.offset + max(1, member.type.size):
            return pointer_at(member.type, offset - member.offset)
    return None
