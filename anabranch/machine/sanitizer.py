"""What a failing check of clang's UndefinedBehaviorSanitizer means: errors with their types and values.

The compiler leaves a record for each check in the program's data: the location in the source, then types and
small numbers as the handler needs them. Where one check has several reasons to fail (a shift by too many
bits, or bits that get lost), each reason is an error of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.ir.checks import CheckSite, handler_name, trap_name
from anabranch.ir.types import to_signed
from anabranch.machine.ends import Fault, Figure

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
Reason = tuple[Value, Fault]
"""A condition, and the error that it is if the check fails and the condition holds."""

LOCATION = 16  # bytes of the source location that every record begins with
INTEGER, FLOATING = 0, 1
POINTED_AT = (
    "load of", "store to", "reference to", "access to a member of", "call of a member of", "construction of",
    "conversion of a pointer to", "conversion of a pointer to", "conversion of a pointer to",
    "conversion of a pointer to", "use of", "use of",
)  # fmt: skip
"""What is done with an object, by the number that the record of a type mismatch has for it."""


@dataclass(frozen=True, slots=True)
class SourceType:
    """A type as a record describes it; `name` is in quotes."""

    kind: int
    detail: int
    name: str

    @property
    def width(self) -> int:
        return self.detail if self.kind == FLOATING else 1 << (self.detail >> 1)

    @property
    def signed(self) -> bool:
        return self.kind == INTEGER and bool(self.detail & 1)

    def figure(self, value: Value) -> Figure:
        """A value of this type, as a message shows it."""
        if self.kind == FLOATING:
            return Figure(value, "float", self.width)
        return Figure(value, "signed" if self.signed else "unsigned", self.width)


UNKNOWN = SourceType(-1, 0, "its type")


class Record:
    """The record of a check; all of it is unknown in programs built without (traps, the minimal run-time)."""

    def __init__(self, machine: Machine, address: int) -> None:
        self._memory = machine.memory
        self.address = address

    def number(self, offset: int, size: int, unknown: int = 0) -> int:
        return int(self._memory.load(self.address + offset, size)) if self.address else unknown

    def type(self, offset: int) -> SourceType:
        if not self.address:
            return UNKNOWN
        at = self.number(offset, 8)
        kind, detail = (int(self._memory.load(at + place, 2)) for place in (0, 2))
        return SourceType(to_signed(kind, 16), detail, self._text(at + 4))

    def _text(self, address: int) -> str:
        data = bytearray()
        while byte := self._memory.load(address + len(data), 1):
            data.append(int(byte))
        return data.decode(errors="replace")


def resized(value: Value, width: int, type: SourceType) -> Value:
    """A value as wide as its type says; handlers are given 64 bits of narrower ones."""
    if type is UNKNOWN or width == type.width or type.kind != INTEGER:
        return value
    if width > type.width:
        return expr.extract(value, 0, type.width, width)
    return (expr.sext if type.signed else expr.zext)(value, width, type.width)


class Sanitizer:
    """The handlers of the sanitizer's run-time library for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def failed(self, ok: Value, site: CheckSite, *values: tuple[Value, int]) -> None:
        """A check whose condition is not known to hold: each value comes with its width."""
        data = self.machine.layout.value(site.data) if site.data is not None else 0
        bad = expr.not_(ok)
        for holds, fault in self.reasons(site.handler, int(data), values):
            self.machine.check(bad if holds is True else expr.and_(bad, holds, 1), fault)

    def model(self, name: str) -> Callable[..., None] | None:
        """A handler that is called as a function, if the name is one."""
        handler = handler_name(name)
        if not handler:
            return None

        def call(data: Value = 0, *values: Value) -> None:
            for holds, fault in self.reasons(handler, int(data), tuple((v, 64) for v in values)):
                self.machine.check(holds, fault)

        return call

    def trap(self, number: int) -> None:
        """A trap that stands for a handler."""
        for holds, fault in self.reasons(trap_name(number), 0, ()):
            self.machine.check(holds, fault)

    def reasons(self, handler: str, data: int, values: tuple[tuple[Value, int], ...]) -> list[Reason]:
        """Why a check may fail; the last reason is what is left if it is none of the others."""
        explain = EXPLANATIONS.get(handler)
        record = Record(self.machine, data)
        if explain is None:
            return [(True, Fault("undefined", f"undefined behaviour: {handler.replace('_', ' ')}"))]
        return explain(record, list(values))


Values = list[tuple[Value, int]]
Explain = Callable[[Record, Values], list[Reason]]


def _fault(kind: str, message: str, *figures: Figure) -> Fault:
    return Fault(kind, message, {}, figures)


def _operands(values: Values, *types: SourceType) -> list[Value]:
    """The values of operands, each as its type says; what is not passed is not known."""
    return [resized(value, width, type) for (value, width), type in zip(values, types, strict=False)]


def _arithmetic(sign: str) -> Explain:
    def explain(record: Record, values: Values) -> list[Reason]:
        type = record.type(LOCATION)
        if not values or type is UNKNOWN:
            return [(True, _fault("overflow", "overflow: the result does not fit"))]
        figures = [type.figure(value) for value in _operands(values, *[type] * len(values))]
        kind = "overflow" if type.signed else "unsigned-overflow"
        shown = f"{{0}} {sign} {{1}}" if len(figures) > 1 else f"{sign}({{0}})"
        return [(True, _fault(kind, f"overflow: {shown} does not fit in {type.name}", *figures))]

    return explain


def _division(record: Record, values: Values) -> list[Reason]:
    type = record.type(LOCATION)
    zero = Fault("division-by-zero", "divide by zero")
    if len(values) < 2 or type is UNKNOWN:
        return [(True, zero)]
    a, b = _operands(values, type, type)
    if type.kind == FLOATING:
        return [(True, zero)]
    figures = type.figure(a), type.figure(b)
    overflow = _fault("overflow", f"overflow: {{0}} / {{1}} does not fit in {type.name}", *figures)
    return [(expr.ne(b, 0, type.width), overflow), (True, zero)]


def _shift(record: Record, values: Values) -> list[Reason]:
    left, right = record.type(LOCATION), record.type(LOCATION + 8)
    if len(values) < 2 or left is UNKNOWN:
        return [(True, _fault("overshift", "shift by too many bits, or of bits out of the number"))]
    a, b = _operands(values, left, right)
    wide = max(right.width, left.width.bit_length() + 1)
    count = b if wide == right.width else (expr.sext if right.signed else expr.zext)(b, right.width, wide)
    figures = left.figure(a), right.figure(b)
    return [
        (
            expr.uge(count, left.width, wide),
            _fault("overshift", f"shift by {{1}} of a number of {left.width} bits, {left.name}", *figures),
        ),
        (True, _fault("shift-base", f"left shift: {{0}} << {{1}} does not fit in {left.name}", *figures)),
    ]


def _index(record: Record, values: Values) -> list[Reason]:
    array, type = record.type(LOCATION), record.type(LOCATION + 8)
    if not values or array is UNKNOWN:
        return [(True, _fault("out-of-bounds", "index out of the bounds of its array"))]
    (index,) = _operands(values[:1], type)
    return [(True, _fault("out-of-bounds", f"index {{0}} out of bounds of {array.name}", type.figure(index)))]


def _pointer(record: Record, values: Values) -> list[Reason]:
    type = record.type(LOCATION)
    if not values or type is UNKNOWN:
        return [(True, _fault("null-pointer", "a pointer that is null, or does not suit its type"))]
    pointer = values[0][0]
    align, action = 1 << record.number(LOCATION + 8, 1), record.number(LOCATION + 9, 1)
    done = POINTED_AT[action] if action < len(POINTED_AT) else "use of"
    shown = Figure(pointer, "address", 64)
    misaligned = f"{done} {type.name} at the address {{0}}, which is no multiple of {align}"
    small = f"{done} {type.name} at the address {{0}}, where there is not that much memory"
    return [
        (expr.eq(pointer, 0, 64), _fault("null-pointer", f"{done} {type.name} by a null pointer")),
        (expr.ne(expr.and_(pointer, align - 1, 64), 0, 64), _fault("misaligned", misaligned, shown)),
        (True, _fault("out-of-bounds", small, shown)),
    ]


def _length(record: Record, values: Values) -> list[Reason]:
    type = record.type(LOCATION)
    if not values or type is UNKNOWN:
        return [(True, _fault("vla-bound", "an array whose length is not positive"))]
    (length,) = _operands(values[:1], type)
    return [(True, _fault("vla-bound", "an array of length {0}, which is not positive", type.figure(length)))]


def _conversion(record: Record, values: Values) -> list[Reason]:
    source, target = record.type(LOCATION), record.type(LOCATION + 8)
    if not values or source is UNKNOWN:
        return [(True, _fault("float-cast", "conversion to a type that cannot hold the number"))]
    value = values[0][0] if source.kind == FLOATING else _operands(values[:1], source)[0]
    message = f"conversion of {{0}}, {source.name}, to {target.name}, which cannot hold it"
    return [(True, _fault("float-cast", message, source.figure(value)))]


def _implicit(record: Record, values: Values) -> list[Reason]:
    source, target = record.type(LOCATION), record.type(LOCATION + 8)
    if not values or source is UNKNOWN:
        return [(True, _fault("implicit-conversion", "conversion that changes the number"))]
    (value,) = _operands(values[:1], source)
    message = f"conversion of {{0}}, {source.name}, to {target.name} changes the number"
    return [(True, _fault("implicit-conversion", message, source.figure(value)))]


def _loaded(record: Record, values: Values) -> list[Reason]:
    type = record.type(LOCATION)
    if not values or type is UNKNOWN:
        return [(True, _fault("invalid-value", "a value that its type does not have"))]
    # A bool is told to be as wide as in a register; all of its byte was loaded.
    figure = Figure(values[0][0], "unsigned", max(8, type.width))
    return [(True, _fault("invalid-value", f"{{0}} is no value of {type.name}", figure))]


def _fixed(kind: str, message: str) -> Explain:
    return lambda record, values: [(True, _fault(kind, message))]


def _wrapped(record: Record, values: Values) -> list[Reason]:
    if len(values) < 2:
        return [(True, _fault("pointer-overflow", "pointer arithmetic wraps around"))]
    figures = [Figure(value, "address", 64) for value, _ in values[:2]]
    message = "pointer arithmetic from {0} to {1} wraps around, or has to do with a null pointer"
    return [(True, _fault("pointer-overflow", message, *figures))]


_NULL = "null where an attribute says that there is none"
EXPLANATIONS: dict[str, Explain] = {
    "add_overflow": _arithmetic("+"),
    "sub_overflow": _arithmetic("-"),
    "mul_overflow": _arithmetic("*"),
    "negate_overflow": _arithmetic("-"),
    "divrem_overflow": _division,
    "shift_out_of_bounds": _shift,
    "out_of_bounds": _index,
    "type_mismatch": _pointer,
    "type_mismatch_v1": _pointer,
    "vla_bound_not_positive": _length,
    "float_cast_overflow": _conversion,
    "implicit_conversion": _implicit,
    "load_invalid_value": _loaded,
    "pointer_overflow": _wrapped,
    "alignment_assumption": _fixed("misaligned", "an address that is not aligned as the program promises"),
    "invalid_builtin": _fixed("invalid-builtin", "a builtin is given a value that it does not allow"),
    "nonnull_arg": _fixed("nonnull", f"argument is {_NULL}"),
    "nullability_arg": _fixed("nonnull", f"argument is {_NULL}"),
    "nonnull_return": _fixed("nonnull", f"result is {_NULL}"),
    "nonnull_return_v1": _fixed("nonnull", f"result is {_NULL}"),
    "nullability_return": _fixed("nonnull", f"result is {_NULL}"),
    "nullability_return_v1": _fixed("nonnull", f"result is {_NULL}"),
    "builtin_unreachable": _fixed("unreachable", "reached unreachable code"),
    "missing_return": _fixed("missing-return", "end of a function that must return a value"),
    "function_type_mismatch": _fixed("bad-call", "call of a function by a pointer of another type"),
    "function_type_mismatch_v1": _fixed("bad-call", "call of a function by a pointer of another type"),
    "cfi_check_fail": _fixed("bad-call", "call of a function that the type does not allow"),
}
