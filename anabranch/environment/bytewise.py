"""Reading memory as a byte loop would, but in windows.

`ByteReader` gives the i-th byte after an address. It fetches windows of growing size, never past the end of
the object or what is known of it; the first byte outside is loaded alone, which is the access error that a
byte loop would meet. Runs of concrete bytes are searched with `bytes` methods; symbolic bytes are decided
one by one, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import either, eq
from anabranch.environment.values import move
from anabranch.expr import Expr

FIRST_WINDOW = 64

Bytes = bytes | list[Value]


@dataclass(slots=True, eq=False)
class ByteReader:
    """The bytes from an address on."""

    m: MachineApi
    base: Value
    up_to_nul: bool = True
    """No byte behind the first NUL is asked for."""
    seen: Bytes = field(init=False, default=b"")
    _room: int | None = field(init=False, default=None)

    @property
    def room(self) -> int:
        """Bytes that may be fetched in windows; asked late, so that a loop of no steps accesses nothing."""
        if self._room is None:
            base = self.base
            self._room = 0 if isinstance(base, Expr) else self.m.lookahead(base, self.up_to_nul)
        return self._room

    def __getitem__(self, index: int) -> Value:
        if index >= len(self.seen):
            self._reach(index)
        return self.seen[index]

    def _reach(self, index: int) -> None:
        while len(self.seen) <= index:
            have = len(self.seen)
            if have >= self.room:
                # Either the pointer is symbolic, or this load is the error.
                self._append([self.m.load(move(self.base, have), 1)])
                continue
            assert not isinstance(self.base, Expr)
            size = min(max(FIRST_WINDOW, have), self.room - have)
            data = self.m.peek(self.base + have, size)
            self._append(data if isinstance(data, bytes) else list(data))

    def _append(self, data: Bytes) -> None:
        seen = self.seen
        if isinstance(seen, bytes) and isinstance(data, bytes):
            self.seen = seen + data
        elif isinstance(seen, bytes):
            self.seen = [*seen, *data]
        else:
            seen.extend(data)

    def concrete_from(self, start: int) -> bytes | None:
        """The window from `start` if it is concrete and not empty; fetched if need be."""
        if start >= len(self.seen) and start < self.room:
            self._reach(start)
        return self.seen[start:] or None if isinstance(self.seen, bytes) else None

    def slice(self, start: int, stop: int) -> Bytes:
        """Bytes that have been visited or can be."""
        if stop > start:
            self[stop - 1]
        return self.seen[start:stop]

    def at(self, index: int) -> Value:
        """The address of a byte."""
        return move(self.base, index)


def reached(m: MachineApi, index: int, limit: Value | None) -> bool:
    """Decide whether a loop that counts up to `limit` ends at `index`."""
    if limit is None:
        return False
    return m.decide(eq(limit, index, 64)) if isinstance(limit, Expr) else index >= limit


def scan(
    reader: ByteReader,
    wanted: Iterable[Value],
    limit: Value | None = None,
    start: int = 0,
) -> int | None:
    """The index of the first byte equal to one of `wanted`, None if `limit` bytes have none.

    One decision a symbolic byte: whether it is among the wanted ones.
    """
    m = reader.m
    targets = list(wanted)
    plain = known_bytes(targets)
    index = start
    while not reached(m, index, limit):
        window = reader.concrete_from(index) if plain is not None and not isinstance(limit, Expr) else None
        if window is not None:
            assert plain is not None and not isinstance(limit, Expr)
            if limit is not None:
                window = window[: max(limit - index, 0)]
            found = first_of(window, plain)
            if found is not None:
                return index + found
            index += len(window)
        elif m.decide(one_of(reader[index], targets)):
            return index
        else:
            index += 1
    return None


def span_of(reader: ByteReader, accept: list[Value]) -> int:
    """How many bytes from the start are among `accept`: strspn. One decision a symbolic byte."""
    m = reader.m
    plain = known_bytes(accept)
    index = 0
    while True:
        window = reader.concrete_from(index)
        if window is not None and plain is not None:
            rest = window.lstrip(plain) if plain else window
            index += len(window) - len(rest)
            if rest:
                return index
            continue
        if not m.decide(one_of(reader[index], accept)):
            return index
        index += 1


def known_bytes(values: Iterable[Value]) -> bytes | None:
    """The values as bytes if none is symbolic."""
    known = []
    for value in values:
        if isinstance(value, Expr):
            return None
        known.append(value)
    return bytes(known)


def first_of(window: bytes, targets: bytes) -> int | None:
    """The first index of any target byte."""
    best = None
    for target in targets:
        found = window.find(target, 0, best if best is not None else len(window))
        if found >= 0:
            best = found
    return best


def one_of(byte: Value, targets: Iterable[Value]) -> bool | Expr:
    """The condition that a byte is one of some values."""
    result: bool | Expr = False
    for target in targets:
        same = eq(byte, target, 8)
        result = either(result, same)
    return result


def first_difference(a: bytes, b: bytes) -> int:
    """The first index where two byte strings differ, or the length of the shorter one."""
    size = min(len(a), len(b))
    if a[:size] == b[:size]:
        return size
    difference = int.from_bytes(a[:size], "little") ^ int.from_bytes(b[:size], "little")
    return ((difference & -difference).bit_length() - 1) // 8


def compare(
    left: ByteReader,
    right: ByteReader,
    limit: Value | None,
    stop_at_nul: bool,
    same: Callable[[MachineApi, Value, Value], bool],
) -> tuple[Value, Value] | None:
    """The pair of bytes a comparison loop stops at, None if it ran through `limit` pairs.

    Stops at the first pair that is not `same`, or (for strings) at a common NUL.
    """
    m = left.m
    index = 0
    while not reached(m, index, limit):
        a, b = left.concrete_from(index), right.concrete_from(index)
        if a is not None and b is not None and not isinstance(limit, Expr):
            stop = first_difference(a, b)
            if stop_at_nul:
                nul = a.find(0, 0, stop)
                stop = nul if nul >= 0 else stop
            if limit is not None:
                stop = min(stop, max(limit - index, 0))
            index += stop
            if limit is not None and index >= limit:
                return None
        x, y = left[index], right[index]
        if not same(m, x, y):
            return x, y
        if stop_at_nul and m.decide(eq(y if isinstance(x, Expr) else x, 0, 8)):
            return x, y
        index += 1
    return None


def equal_bytes(m: MachineApi, x: Value, y: Value) -> bool:
    """Decide whether two bytes are equal."""
    return x is y or m.decide(eq(x, y, 8))


def string_length(reader: ByteReader, limit: Value | None = None) -> int | None:
    """The index of the NUL, None if the first `limit` bytes have none."""
    return scan(reader, (0,), limit)


def whole_string(m: MachineApi, addr: Value) -> Bytes:
    """The bytes of a C string, without the NUL."""
    reader = ByteReader(m, addr)
    length = string_length(reader)
    assert length is not None
    return reader.slice(0, length)
