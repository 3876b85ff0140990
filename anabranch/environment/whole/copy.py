"""Copying without a fork: each byte of the destination is an `ite` of how far the copy goes.

Where a copy may stop early, the bytes behind keep what they were, uninitialised or not. The destination has
to be a known place; the first byte that does not fit is left to the models that go byte by byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.heap import allocated, wanted_size
from anabranch.environment.ops import Condition, add, both, either, eq, ite, ne, negated, ugt, ult
from anabranch.environment.values import low_byte, move
from anabranch.environment.whole.registry import whole
from anabranch.environment.whole.undefined import is_tainted
from anabranch.environment.whole.walks import reaches
from anabranch.environment.whole.windows import View, Window, look, look_at
from anabranch.expr import Expr


def writable(m: MachineApi, dst: Value, limit: int) -> View | None:
    """The bytes of a destination, if it is known which these are and they may be written."""
    if isinstance(dst, Expr):
        return None
    view = look(m, dst, limit)
    info = m.object_of(dst)[0]
    return None if view is None or info.readonly or info.extent is not None else view


def in_one_object(target: View, source: View) -> bool:
    """May what is copied overlap with where it goes? The models that go byte by byte check that."""
    return target.start >> 32 == source.start >> 32


class Copy:
    """What `while (n-- && (*d++ = *s++))` writes, byte by byte; where n stops it, it closes with a NUL."""

    __slots__ = ("alive", "mistaken", "values")

    def __init__(self, text: Window, n: Value | None, room: int) -> None:
        self.alive: list[Condition] = []  # there is an i-th byte to write
        self.mistaken: list[Condition] = []  # for which a byte has to be read that is not there, or bad
        self.values: list[Value] = []
        alive: Condition = True
        for i in range(room + 1):
            if alive is False:
                break
            stops = reaches(n, i)
            missing = i >= len(text)
            byte: Value = 0 if missing else ite(stops, 0, text.data[i], 8)
            self.alive.append(alive)
            self.mistaken.append(both(both(alive, negated(stops)), missing or text.bad[i]))
            self.values.append(byte)
            alive = both(alive, ne(byte, 0, 8))

    def past(self, room: int) -> Condition:
        """The copy does not fit into so many bytes, or makes a mistake before that."""
        result: Condition = self.alive[room] if room < len(self.alive) else False
        for mistake in self.mistaken[:room]:
            result = either(mistake, result)
        return result

    def length(self) -> Value:
        """Bytes before the NUL."""
        result: Value = len(self.values) - 1
        for i in reversed(range(len(self.values) - 1)):
            result = ite(eq(self.values[i], 0, 8), i, result, 64)
        return result


def put(m: MachineApi, target: View, data: list[Value]) -> None:
    """Write bytes to the start of a destination."""
    if data:
        m.write_bytes(target.start, data)


def string_copied(m: MachineApi, limit: int, dst: Value, src: Value) -> Value | None:
    """strcpy; the length."""
    views = look_at(m, limit, [src])
    target = writable(m, dst, limit) if views else None
    if target is None or in_one_object(target, views[0]):
        return None
    room = len(target.raw)
    copy = Copy(views[0].gathered(), None, room)
    if m.decide(either(views[0].outside, copy.past(room))):
        return None
    parts = zip(copy.alive, copy.values, target.raw, strict=False)
    put(m, target, [ite(alive, new, old, 8) for alive, new, old in parts])
    return copy.length()


@whole("strcpy")
def strcpy(m: MachineApi, limit: int, dst: Value, src: Value) -> Value | None:
    return None if string_copied(m, limit, dst, src) is None else dst


@whole("stpcpy", "__stpcpy")
def stpcpy(m: MachineApi, limit: int, dst: Value, src: Value) -> Value | None:
    length = string_copied(m, limit, dst, src)
    return None if length is None else move(dst, length)


def string_appended(m: MachineApi, limit: int, dst: Value, src: Value, n: Value | None) -> Value | None:
    """strcat and strncat: for each length of the destination, the copy begins there."""
    views = look_at(m, limit, [src, dst], [] if n is None else [n])
    target = writable(m, dst, limit) if views else None
    if target is None or in_one_object(target, views[0]):
        return None
    room = len(target.raw)
    copy = Copy(views[0].gathered(), n, room)
    past = views[0].outside
    goes_on: Condition = True
    data = list(target.raw)
    for start in range(room):
        if goes_on is False:
            break
        past = either(past, both(goes_on, target.bad[start]))
        here = both(goes_on, eq(target.data[start], 0, 8))
        goes_on = both(goes_on, negated(here))
        if here is False:
            continue
        past = either(past, both(here, copy.past(room - start)))
        for i, (alive, byte) in enumerate(zip(copy.alive, copy.values, strict=True)):
            if start + i < room:
                data[start + i] = ite(both(here, alive), byte, data[start + i], 8)
    if m.decide(either(past, goes_on)):
        return None
    put(m, target, data)
    return dst


@whole("strcat")
def strcat(m: MachineApi, limit: int, dst: Value, src: Value) -> Value | None:
    return string_appended(m, limit, dst, src, None)


@whole("strncat")
def strncat(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    return string_appended(m, limit, dst, src, n)


def padded_copy(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    """strncpy: at most `n` bytes, and NULs up to there; the length copied."""
    if not isinstance(n, Expr) and n == 0:
        return None
    views = look_at(m, limit, [src], [n])
    target = writable(m, dst, limit) if views else None
    if target is None or in_one_object(target, views[0]):
        return None
    if not isinstance(n, Expr) and n > len(target.raw):
        return None
    room = n if not isinstance(n, Expr) else len(target.raw)
    text = views[0].gathered()
    copy = Copy(text, n, room)
    # The NUL that closes a copy stopped by n is not written: it would be the n-th byte.
    past = either(ugt(n, room, 64), views[0].outside)
    data: list[Value] = []
    for i in range(room):
        inside = ult(i, n, 64)
        if i < len(copy.alive):
            past = either(past, copy.mistaken[i])
            byte: Value = ite(copy.alive[i], copy.values[i], 0, 8)
        else:
            byte = 0
        data.append(ite(inside, byte, target.raw[i], 8))
    if m.decide(past):
        return None
    put(m, target, data)
    return copy.length()


@whole("strncpy")
def strncpy(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    return None if padded_copy(m, limit, dst, src, n) is None else dst


@whole("stpncpy", "__stpncpy")
def stpncpy(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    length = padded_copy(m, limit, dst, src, n)
    return None if length is None else move(dst, length)


def duplicate(m: MachineApi, limit: int, src: Value, n: Value | None, what: str) -> Value | None:
    """strdup and strndup: an object whose size is that of the text."""
    views = look_at(m, limit, [src], [] if n is None else [n])
    if not views:
        return None
    text = views[0].gathered()
    room = len(text) + 1  # where `n` ends the text, a NUL comes behind
    copy = Copy(text, n, room)
    if m.decide(either(views[0].outside, copy.past(room))):
        return None
    wanted = wanted_size(m, add(copy.length(), 1, 64), what)
    address = allocated(m, wanted, what)
    if wanted is not None:
        m.overwrite(address, copy.values[: wanted.capacity])
    return address


@whole("strdup", "__strdup")
def strdup(m: MachineApi, limit: int, src: Value) -> Value | None:
    return duplicate(m, limit, src, None, "strdup")


@whole("strndup", "__strndup")
def strndup(m: MachineApi, limit: int, src: Value, n: Value) -> Value | None:
    return duplicate(m, limit, src, n, "strndup")


def block_copied(
    m: MachineApi, limit: int, dst: Value, src: Value, n: Value, moves: bool = False
) -> Value | None:
    """memcpy of a symbolic number of bytes, or memmove; a known number is one step anyway."""
    if not isinstance(n, Expr) or is_tainted(n):
        return None
    source, target = look(m, src, limit), writable(m, dst, limit)
    if source is None or target is None or (not moves and in_one_object(target, source)):
        return None
    window = source.unread()
    past = source.outside
    for i, bad in enumerate(window.bad):
        past = either(past, both(ult(i, n, 64), bad))
    return _partly(m, target, window.data, n, past)


def _partly(m: MachineApi, target: View, data: Sequence[Value], n: Expr, past: Condition) -> Value | None:
    """Write the first `n` of some bytes."""
    room = min(len(data), len(target.raw))
    if m.decide(either(ugt(n, room, 64), past)):
        return None
    parts = enumerate(zip(data[:room], target.raw, strict=False))
    put(m, target, [ite(ult(i, n, 64), new, old, 8) for i, (new, old) in parts])
    return n


@whole("memcpy")
def memcpy(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    return None if block_copied(m, limit, dst, src, n) is None else dst


@whole("memmove")
def memmove(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    return None if block_copied(m, limit, dst, src, n, moves=True) is None else dst


@whole("mempcpy")
def mempcpy(m: MachineApi, limit: int, dst: Value, src: Value, n: Value) -> Value | None:
    size = block_copied(m, limit, dst, src, n)
    return None if size is None else move(dst, size)


@whole("memset")
def memset(m: MachineApi, limit: int, dst: Value, byte: Value, n: Value) -> Value | None:
    if not isinstance(n, Expr) or is_tainted(n):
        return None
    target = writable(m, dst, limit)
    if target is None:
        return None
    return None if _partly(m, target, [low_byte(byte)] * len(target.raw), n, False) is None else dst
