"""str*: measuring, searching, comparing and splitting C strings."""

from __future__ import annotations

from anabranch.analysis.effects import OUTSIDE, Inside, Static, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import (
    ByteReader,
    compare,
    equal_bytes,
    one_of,
    scan,
    span_of,
    string_length,
    whole_string,
)
from anabranch.environment.chars import to_lower
from anabranch.environment.ops import eq, sub
from anabranch.environment.registry import model
from anabranch.environment.values import is_null, low_byte, widen
from anabranch.expr import Expr


def measure(reader: ByteReader) -> int:
    """The length of a string that has no limit: it ends, or reading it is an error."""
    length = string_length(reader)
    assert length is not None
    return length


POSITION = Static("strtok")
"""Where `strtok` goes on."""


@model("strlen", effects=effects(reads=[0]))
def strlen(m: MachineApi, src: Value) -> Value:
    return measure(ByteReader(m, src))


@model("strnlen", effects=effects(reads=[0]))
def strnlen(m: MachineApi, src: Value, n: Value) -> Value:
    length = string_length(ByteReader(m, src), n)
    return n if length is None else length


def difference(pair: tuple[Value, Value] | None) -> Value:
    return 0 if pair is None else sub(widen(pair[0]), widen(pair[1]), 32)


@model("strcmp", effects=effects(reads=[0, 1]))
def strcmp(m: MachineApi, left: Value, right: Value) -> Value:
    return difference(compare(ByteReader(m, left), ByteReader(m, right), None, True, equal_bytes))


@model("strncmp", effects=effects(reads=[0, 1]))
def strncmp(m: MachineApi, left: Value, right: Value, n: Value) -> Value:
    return difference(compare(ByteReader(m, left), ByteReader(m, right), n, True, equal_bytes))


def same_letter(m: MachineApi, x: Value, y: Value) -> bool:
    """Decide whether two bytes are equal but for case."""
    return equal_bytes(m, x, y) or m.decide(eq(to_lower(widen(x)), to_lower(widen(y)), 32))


def lower_difference(pair: tuple[Value, Value] | None) -> Value:
    return 0 if pair is None else sub(to_lower(widen(pair[0])), to_lower(widen(pair[1])), 32)


@model("strcasecmp", effects=effects(reads=[0, 1]))
def strcasecmp(m: MachineApi, left: Value, right: Value) -> Value:
    return lower_difference(compare(ByteReader(m, left), ByteReader(m, right), None, True, same_letter))


@model("strncasecmp", effects=effects(reads=[0, 1]))
def strncasecmp(m: MachineApi, left: Value, right: Value, n: Value) -> Value:
    return lower_difference(compare(ByteReader(m, left), ByteReader(m, right), n, True, same_letter))


def find_char(m: MachineApi, src: Value, char: Value) -> tuple[ByteReader, int, bool]:
    """Where a byte loop for a character stops, and whether at the character (rather than at the NUL)."""
    reader = ByteReader(m, src)
    wanted = low_byte(char)
    if not isinstance(wanted, Expr):
        index = scan(reader, (wanted, 0) if wanted else (0,))
        assert index is not None
        byte = reader[index]
        return reader, index, byte == wanted if not isinstance(byte, Expr) else m.decide(eq(byte, wanted, 8))
    index = 0
    while True:
        byte = reader[index]
        if m.decide(eq(byte, wanted, 8)):
            return reader, index, True
        if m.decide(eq(byte, 0, 8)):
            return reader, index, False
        index += 1


@model("strchr", "index", effects=effects(reads=[0], points=[0]))
def strchr(m: MachineApi, src: Value, char: Value) -> Value:
    reader, index, found = find_char(m, src, char)
    return reader.at(index) if found else 0


@model("strchrnul", "__strchrnul", effects=effects(reads=[0], points=[0]))
def strchrnul(m: MachineApi, src: Value, char: Value) -> Value:
    reader, index, _ = find_char(m, src, char)
    return reader.at(index)


@model("strrchr", "rindex", effects=effects(reads=[0], points=[0]))
def strrchr(m: MachineApi, src: Value, char: Value) -> Value:
    reader = ByteReader(m, src)
    data = reader.slice(0, measure(reader) + 1)
    wanted = low_byte(char)
    if isinstance(data, bytes) and not isinstance(wanted, Expr):
        found = data.rfind(wanted)
        return 0 if found < 0 else reader.at(found)
    for index in range(len(data) - 1, -1, -1):
        byte = data[index] if index < len(data) - 1 else 0
        if m.decide(eq(byte, wanted, 8)):
            return reader.at(index)
    return 0


@model("strstr", effects=effects(reads=[0, 1], points=[0]))
def strstr(m: MachineApi, hay: Value, needle: Value) -> Value:
    wanted = whole_string(m, needle)
    if not wanted:
        return hay
    reader = ByteReader(m, hay)
    if isinstance(wanted, bytes):
        window = reader.concrete_from(0)
        while window is not None:
            nul = window.find(0)
            if nul >= 0:
                found = window.find(wanted, 0, nul)
                return 0 if found < 0 else reader.at(found)
            reader[len(window)]
            window = reader.concrete_from(0)
    start = 0
    while True:
        matched = _match(m, reader, start, wanted)
        if matched is not None:
            return reader.at(start) if matched else 0
        start += 1


def _match(m: MachineApi, reader: ByteReader, start: int, wanted: bytes | list[Value]) -> bool | None:
    """True if the needle is here, False if the string ends before it could be, None to go on."""
    for offset, want in enumerate(wanted):
        byte = reader[start + offset]
        if not equal_bytes(m, byte, want):
            return False if m.decide(eq(byte, 0, 8)) else None
    return True


def set_of(m: MachineApi, chars: Value) -> list[Value]:
    """The characters of a set argument."""
    return list(dict.fromkeys(whole_string(m, chars)))


@model("strspn", effects=effects(reads=[0, 1]))
def strspn(m: MachineApi, src: Value, accept: Value) -> Value:
    return span_of(ByteReader(m, src), set_of(m, accept))


def reject_index(m: MachineApi, reader: ByteReader, reject: list[Value]) -> int:
    index = scan(reader, [*reject, 0])
    assert index is not None
    return index


@model("strcspn", effects=effects(reads=[0, 1]))
def strcspn(m: MachineApi, src: Value, reject: Value) -> Value:
    return reject_index(m, ByteReader(m, src), set_of(m, reject))


@model("strpbrk", effects=effects(reads=[0, 1], points=[0]))
def strpbrk(m: MachineApi, src: Value, accept: Value) -> Value:
    reader = ByteReader(m, src)
    index = reject_index(m, reader, set_of(m, accept))
    return 0 if m.decide(eq(reader[index], 0, 8)) else reader.at(index)


@model(
    "strtok_r",
    "__strtok_r",
    effects=effects(
        reads=[0, 1, 2, Inside(2)], writes=[0, 2, Inside(2)], points=[0, Inside(2)], puts=[(0, 2)]
    ),
)
def strtok_r(m: MachineApi, text: Value, separators: Value, save: Value) -> Value:
    if is_null(m, text):
        text = m.load(save, 8)
        if is_null(m, text):
            return 0
    chars = set_of(m, separators)
    reader = ByteReader(m, text)
    begin = span_of(reader, chars)
    if m.decide(one_of(reader[begin], (0,))):
        m.store(save, 8, 0)
        return 0
    end = scan(reader, [*chars, 0], start=begin)
    assert end is not None
    if m.decide(eq(reader[end], 0, 8)):
        m.store(save, 8, 0)
    else:
        m.store(reader.at(end), 1, 0)
        m.store(save, 8, reader.at(end + 1))
    return reader.at(begin)


@model(
    "strtok",
    effects=effects(
        reads=[0, 1, OUTSIDE, POSITION], writes=[0, OUTSIDE, POSITION], points=[0, OUTSIDE], keeps=[0]
    ),
)
def strtok(m: MachineApi, text: Value, separators: Value) -> Value:
    return strtok_r(m, text, separators, m.static("strtok", bytes(8)))


@model("strsep", effects=effects(reads=[0, Inside(0), 1], writes=[0, Inside(0)], points=[Inside(0)]))
def strsep(m: MachineApi, text: Value, separators: Value) -> Value:
    start = m.load(text, 8)
    if is_null(m, start):
        return 0
    reader = ByteReader(m, start)
    end = reject_index(m, reader, set_of(m, separators))
    if m.decide(eq(reader[end], 0, 8)):
        m.store(text, 8, 0)
    else:
        m.store(reader.at(end), 1, 0)
        m.store(text, 8, reader.at(end + 1))
    return start
