"""stdio's output: what a program prints is captured as the output of its path."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from anabranch.analysis.effects import MADE, PURE, Effects, From, Place, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import whole_string
from anabranch.environment.declared_parts import ERRNO, OUTPUT
from anabranch.environment.heap import malloc_exactly
from anabranch.environment.ops import mul
from anabranch.environment.printing import Arguments, CallArguments, VaList, print_to
from anabranch.environment.registry import add_model, model
from anabranch.environment.text import Item, SymbolicText, as_items
from anabranch.environment.values import (
    EBADF,
    MASK32,
    MASK64,
    copy_of,
    low_byte,
    resolve_length,
    set_errno,
    widen,
)

F = TypeVar("F", bound=Callable[..., Value])

# The values of stdin, stdout and stderr: no object lies there, so that a program that looks inside fails.
STREAM_BASE = 0xFFFF0000
STREAMS = {STREAM_BASE + number: number for number in (0, 1, 2)}

# External variables the environment provides: their initial bytes.
EXTERNAL_GLOBALS: dict[str, bytes] = {
    name: (STREAM_BASE + number).to_bytes(8, "little")
    for number, name in enumerate(("stdin", "stdout", "stderr"))
}


_UNLOCKED = ("putc_unlocked", "fputc_unlocked", "fputs_unlocked", "fwrite_unlocked", "fflush_unlocked")
_FORMATTED = ("fprintf", "vfprintf", "__fprintf_chk", "__vfprintf_chk", "dprintf")
_PLAIN = ("fputc", "putc", "_IO_putc", "fputs", "fwrite", "write", "fflush", "setvbuf", "setbuf")
TO_FILES = frozenset((*_UNLOCKED, *_FORMATTED, *_PLAIN))
"""Functions whose models know the standard streams only. A program whose files are made up does not call
these models (`--externals contracts`)."""


def stream_of(m: MachineApi, file: Value) -> int:
    """The number of a FILE that can be written."""
    addr = m.pick(file, 64, "FILE pointer")
    number = STREAMS.get(addr, 0)
    if addr == 0:
        m.load(addr, 1)  # the error that this is
    if number == 0:
        m.unsupported("output to a file")
    return number


def byte_items(m: MachineApi, byte: Value) -> list[Item]:
    return as_items([m.defined(low_byte(byte), "character to print")])


@model("putchar", "putchar_unlocked", effects=effects(writes=[OUTPUT]))
def putchar(m: MachineApi, char: Value) -> Value:
    m.emit(byte_items(m, char))
    return widen(low_byte(char))


@model(
    "fputc",
    "putc",
    "putc_unlocked",
    "fputc_unlocked",
    "_IO_putc",
    effects=effects(reads=[1], writes=[OUTPUT]),
)
def fputc(m: MachineApi, char: Value, file: Value) -> Value:
    stream = stream_of(m, file)
    m.emit(byte_items(m, char), stream)
    return widen(low_byte(char))


@model("puts", effects=effects(reads=[0], writes=[OUTPUT]))
def puts(m: MachineApi, text: Value) -> Value:
    m.emit([*as_items(whole_string(m, text)), b"\n"])
    return 0


@model("fputs", "fputs_unlocked", effects=effects(reads=[0, 1], writes=[OUTPUT]))
def fputs(m: MachineApi, text: Value, file: Value) -> Value:
    stream = stream_of(m, file)
    m.emit(as_items(whole_string(m, text)), stream)
    return 0


@model("fwrite", "fwrite_unlocked", effects=effects(reads=[3], writes=[OUTPUT], passes=[(0, OUTPUT)]))
def fwrite(m: MachineApi, src: Value, size: Value, count: Value, file: Value) -> Value:
    stream = stream_of(m, file)
    total = resolve_length(m, mul(size, count, 64), "length of fwrite", reads=(src,))
    data = copy_of(m, src, total)
    if total:
        m.emit(as_items(data), stream)
        return count
    return 0


@model("write", effects=effects(writes=[OUTPUT, ERRNO], passes=[(1, OUTPUT)]))
def write(m: MachineApi, descriptor: Value, src: Value, n: Value) -> Value:
    number = m.pick(descriptor, 32, "file descriptor")
    if number in (1, 2):
        size = resolve_length(m, n, "length of write", reads=(src,))
        data = copy_of(m, src, size)
        if size:
            m.emit(as_items(data), number)
        return size
    set_errno(m, EBADF)
    return MASK64


@model("fflush", "fflush_unlocked", effects=PURE)
def fflush(m: MachineApi, file: Value) -> Value:
    return 0


@model("setvbuf", effects=PURE)
def setvbuf(m: MachineApi, file: Value, buffer: Value, mode: Value, size: Value) -> Value:
    return 0


@model("setbuf", effects=PURE)
def setbuf(m: MachineApi, file: Value, buffer: Value) -> None:
    """Output is never buffered."""


def print_out(m: MachineApi, stream: int, text: Value, arguments: Arguments) -> Value:
    printed = print_to(m, text, arguments, in_memory=False)
    if printed.items:
        m.emit(printed.items, stream)
    return printed.finish(m)


def flatten(items: Sequence[Item]) -> bytes | list[Value]:
    """Items as the bytes of memory."""
    if all(isinstance(item, bytes) for item in items):
        return b"".join(item for item in items if isinstance(item, bytes))
    data: list[Value] = []
    for item in items:
        assert not isinstance(item, SymbolicText)
        if isinstance(item, bytes):
            data.extend(item)
        else:
            data.append(item)
    return data


def print_into(m: MachineApi, dst: Value, size: Value | None, text: Value, arguments: Arguments) -> Value:
    """sprintf (no size) and snprintf."""
    printed = print_to(m, text, arguments, in_memory=True)
    data = flatten(printed.items)
    kept: bytes | list[Value] = data
    if size is not None:
        room = m.pick(size, 64, "size of snprintf")
        if room == 0:
            return printed.finish(m)
        kept = data[: room - 1]
    m.write_bytes(dst, kept + b"\0" if isinstance(kept, bytes) else [*kept, 0])
    return printed.finish(m)


def printing(
    name: str, more: int | None = None, writes: Iterable[Place] = (), puts: Iterable[tuple[Place, Place]] = ()
) -> Callable[[F], F]:
    """Register a function that prints, given the format and what is printed last; and its variants.

    `vNAME` takes a `va_list`. Of fortified programs, `__NAME_chk` and `__vNAME_chk` have so many `more`
    arguments before the format, which do not count here: the level of checks, and the room, which is checked
    in any case. `writes` and `puts` are effects, besides what `%n` writes; those of the variants that take
    a `va_list` are not declared, because nothing can be said of what that leads to.
    """

    def register(function: F) -> F:
        fixed = len(inspect.signature(function).parameters) - 2  # the format is the last of them
        for pattern, extra in (("{}", 0), ("__{}_chk", more)):
            if extra is not None:
                declared = effects(
                    reads=[*range(fixed + extra), From(fixed + extra)],
                    writes=[*writes, ERRNO, From(fixed + extra)],
                    puts=puts,
                )
                _register(pattern, name, function, fixed, extra, declared)
        return function

    return register


def _register(
    pattern: str, name: str, function: Callable[..., Value], fixed: int, extra: int, declared: Effects
) -> None:
    count = fixed + extra

    def call(m: MachineApi, given: tuple[Value, ...], arguments: Arguments) -> Value:
        return function(m, *given[: fixed - 1], given[count - 1], arguments)

    def direct(m: MachineApi, *given: Value) -> Value:
        return call(m, given, CallArguments(m, given[count:]))

    def listed(m: MachineApi, *given: Value) -> Value:
        return call(m, given, VaList(m, given[count]))

    add_model(pattern.format(name), direct, count, None, effects=declared)
    add_model(pattern.format(f"v{name}"), listed, count + 1, count + 1)


@printing("printf", more=1, writes=[OUTPUT])
def printf(m: MachineApi, text: Value, arguments: Arguments) -> Value:
    return print_out(m, 1, text, arguments)


@printing("fprintf", more=1, writes=[OUTPUT])
def fprintf(m: MachineApi, file: Value, text: Value, arguments: Arguments) -> Value:
    return print_out(m, stream_of(m, file), text, arguments)


@model("dprintf", effects=effects(reads=[1, From(2)], writes=[OUTPUT, From(2)]))
def dprintf(m: MachineApi, descriptor: Value, text: Value, *args: Value) -> Value:
    number = m.pick(descriptor, 32, "file descriptor")
    if number not in (1, 2):
        m.unsupported("output to a file")
    return print_out(m, number, text, CallArguments(m, args))


@printing("sprintf", more=2, writes=[0])
def sprintf(m: MachineApi, dst: Value, text: Value, arguments: Arguments) -> Value:
    return print_into(m, dst, None, text, arguments)


@printing("snprintf", more=2, writes=[0])
def snprintf(m: MachineApi, dst: Value, size: Value, text: Value, arguments: Arguments) -> Value:
    return print_into(m, dst, size, text, arguments)


@printing("asprintf", writes=[0], puts=[(MADE, 0)])
def asprintf(m: MachineApi, result: Value, text: Value, arguments: Arguments) -> Value:
    printed = print_to(m, text, arguments, in_memory=True)
    data = flatten(printed.items)
    addr = malloc_exactly(m, len(data) + 1, "asprintf")
    if not addr or printed.failure:
        printed.finish(m)
        return MASK32
    m.write_bytes(addr, data + b"\0" if isinstance(data, bytes) else [*data, 0])
    m.store(result, 8, addr)
    return printed.finish(m)
