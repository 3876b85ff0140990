"""printf's engine: a format and its arguments become output items.

Symbolic data is decided as little as possible: %c prints the byte itself, %s the bytes up to a NUL that is
decided, a number becomes a `SymbolicText`. Only a text that must stand in memory (`in_memory`) decides the
sign and the number of digits of a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import ByteReader, Bytes, string_length
from anabranch.environment.format import (
    INT_MAX,
    Invalid,
    Spec,
    format_double,
    format_integer,
    format_text,
    parse,
    with_precision,
    with_width,
)
from anabranch.environment.ops import add, and_
from anabranch.environment.text import Item, SymbolicText, as_items, spell, text_length
from anabranch.environment.values import EOVERFLOW, MASK32, MASK64, is_null, low_byte, move, resize, set_errno
from anabranch.expr import Expr
from anabranch.ir.types import to_signed

LARGEST_FIELD = 1 << 20


class Arguments(Protocol):
    """The variable arguments of a call, taken one after another."""

    def word(self) -> Value:
        """An integer or pointer, in the low bits of 64."""

    def double(self) -> Value:
        """The bits of a double."""

    def long_double(self) -> Value:
        """The 80 bits of a long double."""


class CallArguments:
    """Arguments as the call instruction gives them."""

    def __init__(self, m: MachineApi, values: tuple[Value, ...]) -> None:
        self._m = m
        self._values = iter(values)

    def word(self) -> Value:
        return resize(self._next(), 64)

    double = word

    def long_double(self) -> Value:
        return resize(self._next(), 80)

    def _next(self) -> Value:
        for value in self._values:
            return value
        self._m.error("bad-call", "printf: the format asks for more arguments than the call has")


class VaList:
    """Arguments in a `va_list` of the x86-64 ABI, which is left as it is."""

    def __init__(self, m: MachineApi, ap: Value) -> None:
        self._m = m
        self._gp = m.pick(m.load(ap, 4), 32, "va_list")
        self._fp = m.pick(m.load(move(ap, 4), 4), 32, "va_list")
        self._stack = m.load(move(ap, 8), 8)
        self._saved = m.load(move(ap, 16), 8)

    def word(self) -> Value:
        if self._gp < 48:
            self._gp += 8
            return self._m.load(move(self._saved, self._gp - 8), 8)
        return self._overflow()

    def double(self) -> Value:
        if self._fp < 176:
            self._fp += 16
            return self._m.load(move(self._saved, self._fp - 16), 8)
        return self._overflow()

    def long_double(self) -> Value:
        """Always in memory, at a multiple of 16."""
        addr = and_(move(self._stack, 15), -16 & MASK64, 64)
        self._stack = move(addr, 16)
        return self._m.load(addr, 10)

    def _overflow(self) -> Value:
        addr = self._stack
        self._stack = move(addr, 8)
        return self._m.load(addr, 8)


@dataclass(slots=True)
class Printed:
    """The outcome of a format: nothing has been written yet."""

    items: list[Item] = field(default_factory=list)
    count: Value = 0
    stores: list[tuple[Value, int, Value]] = field(default_factory=list)  # %n
    failure: int = 0  # an error number

    def finish(self, m: MachineApi) -> Value:
        """Perform the stores of %n; the value that printf returns."""
        for addr, size, value in self.stores:
            m.store(addr, size, value)
        if self.failure:
            set_errno(m, self.failure)
            return MASK32
        return self.count


def print_to(m: MachineApi, text: Value, arguments: Arguments, in_memory: bool) -> Printed:
    """Expand a format."""
    printed = Printed()
    took_argument = False
    for part in parse(m.read_cstring(text)):
        if isinstance(part, bytes):
            _append(printed, part)
        elif isinstance(part, Invalid):
            # A directive that is wrong before any good one is seen before anything is printed.
            if not took_argument:
                printed.items.clear()
            printed.failure = part.code
            break
        else:
            took_argument = True
            _expand(m, printed, _settled(m, part, arguments), arguments, in_memory)
    if not isinstance(printed.count, Expr) and printed.count > INT_MAX:
        printed.failure = EOVERFLOW
    return printed


def _append(printed: Printed, data: Bytes) -> None:
    printed.items.extend(as_items(data))
    printed.count = add(printed.count, len(data), 32)


def _settled(m: MachineApi, spec: Spec, arguments: Arguments) -> Spec:
    """A directive with its `*` replaced by arguments."""
    if spec.length.endswith("$"):
        m.unsupported("printf with numbered arguments")
    if spec.width == "*":
        spec = with_width(spec, to_signed(m.pick(resize(arguments.word(), 32), 32, "width of a field"), 32))
    if spec.precision == "*":
        value = m.pick(resize(arguments.word(), 32), 32, "precision of a field")
        spec = with_precision(spec, to_signed(value, 32))
    if int(spec.width) > LARGEST_FIELD or (
        spec.conversion not in "sS" and int(spec.precision or 0) > LARGEST_FIELD
    ):
        m.unsupported("printf of a very large field")
    return spec


def _expand(m: MachineApi, printed: Printed, spec: Spec, arguments: Arguments, in_memory: bool) -> None:
    conversion = spec.conversion
    if conversion in "diouxXp":
        value = m.defined(resize(arguments.word(), spec.bits), "number to print")
        _integer(m, printed, spec, value, in_memory)
    elif conversion == "s" and not spec.length:
        _append(printed, format_text(spec, _string(m, arguments.word(), spec)))
    elif conversion == "c" and not spec.length:
        byte = m.defined(low_byte(arguments.word()), "character to print")
        _append(printed, format_text(spec, [byte] if isinstance(byte, Expr) else bytes((byte,))))
    elif conversion in "eEfFgGaA":
        value = arguments.long_double() if spec.length == "L" else arguments.double()
        _double(m, printed, spec, m.defined(value, "number to print"), in_memory)
    elif conversion == "n":
        size = {"hh": 1, "h": 2, "": 4}.get(spec.length, 8)
        printed.stores.append((arguments.word(), size, resize(printed.count, 8 * size)))
    else:
        m.unsupported(f"printf of %{spec.length}{conversion}")


def _string(m: MachineApi, addr: Value, spec: Spec) -> Bytes:
    assert spec.precision != "*"
    if is_null(m, addr):
        return b"(null)"[: spec.precision]
    reader = ByteReader(m, addr)
    length = string_length(reader, spec.precision)
    return reader.slice(0, spec.precision or 0 if length is None else length)


def _integer(m: MachineApi, printed: Printed, spec: Spec, value: Value, in_memory: bool) -> None:
    if not isinstance(value, Expr):
        _append(printed, format_integer(spec, value))
    elif in_memory:
        _append(printed, spell(m, spec, value))
    else:
        printed.items.append(SymbolicText(spec, value))
        printed.count = add(printed.count, text_length(spec, value), 32)


def _double(m: MachineApi, printed: Printed, spec: Spec, value: Value, in_memory: bool) -> None:
    if isinstance(value, Expr) and in_memory:
        value = m.pick(value, spec.float_bits, "floating-point number printed into memory")
    if not isinstance(value, Expr):
        _append(printed, format_double(spec, value))
        return
    text = SymbolicText(spec, value)
    printed.items.append(text)
    # The length is no bit-vector expression of the value: that of one feasible value stands for it.
    sampled = m.sample(value, spec.float_bits, "length of a printed floating-point number")
    length = len(text.render(sampled))
    printed.count = add(printed.count, length, 32)
