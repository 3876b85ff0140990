"""Comparing, and searching for a string, without a fork: `strcmp`, `memcmp`, `strstr` and their kin."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.chars import to_lower
from anabranch.environment.ops import Condition, both, either, eq, ne, negated, sub
from anabranch.environment.values import widen
from anabranch.environment.whole.registry import whole
from anabranch.environment.whole.search import FOUND, length_of, pointer
from anabranch.environment.whole.walks import Exits, walk
from anabranch.environment.whole.windows import Answer, Window, look_at, settled
from anabranch.expr import Expr

PAIRS = 4096  # of bytes that a search for a string may compare


def compared(
    m: MachineApi,
    limit: int,
    left: Value,
    right: Value,
    n: Value | None,
    ends: bool,
    key: Callable[[Value], Value] = widen,
) -> Value | None:
    """The difference of the first two bytes that differ (by their key), for strings that end or blocks."""
    if n is not None and not isinstance(n, Expr) and n == 0:
        return None  # nothing is read, not even through bad pointers
    views = look_at(m, limit, [left, right], [] if n is None else [n])
    if not views:
        return None
    a, b = views[0].gathered(), views[1].gathered()

    def step(i: int) -> tuple[Condition, Exits]:
        x, y = key(a.data[i]), key(b.data[i])
        exits: Exits = [(ne(x, y, 32), (sub(x, y, 32),))]
        if ends:
            known = a.data[i] if isinstance(b.data[i], Expr) else b.data[i]
            exits.append((eq(known, 0, 8), (0,)))
        return either(a.bad[i], b.bad[i]), exits

    answer = walk(min(len(a), len(b)), step, (32,), n, lambda i: (0,))
    if m.decide(either(views[0].outside, views[1].outside)):
        return None
    return None if m.decide(answer.past) else answer.values[0]


def lower(byte: Value) -> Value:
    return to_lower(widen(byte))


@whole("strcmp")
def strcmp(m: MachineApi, limit: int, left: Value, right: Value) -> Value | None:
    return compared(m, limit, left, right, None, True)


@whole("strncmp")
def strncmp(m: MachineApi, limit: int, left: Value, right: Value, n: Value) -> Value | None:
    return compared(m, limit, left, right, n, True)


@whole("strcasecmp")
def strcasecmp(m: MachineApi, limit: int, left: Value, right: Value) -> Value | None:
    return compared(m, limit, left, right, None, True, lower)


@whole("strncasecmp")
def strncasecmp(m: MachineApi, limit: int, left: Value, right: Value, n: Value) -> Value | None:
    return compared(m, limit, left, right, n, True, lower)


@whole("memcmp", "bcmp")
def memcmp(m: MachineApi, limit: int, left: Value, right: Value, n: Value) -> Value | None:
    return compared(m, limit, left, right, n, False)


def string_in(text: Window, wanted: Window) -> Answer:
    """Where a string first occurs in another; NUL ends both."""
    ends = [eq(byte, 0, 8) for byte in wanted.data]

    def match(start: int) -> tuple[Condition, Condition]:
        """Whether the string is here, and whether a byte that is not there or bad was looked at."""
        here: Condition = True
        past: Condition = False
        for i in reversed(range(len(wanted))):
            at = start + i
            if at >= len(text):
                here, past = ends[i], negated(ends[i])
                continue
            same = eq(text.data[at], wanted.data[i], 8)
            here = either(ends[i], both(same, here))
            past = both(negated(ends[i]), either(text.bad[at], both(same, past)))
        return here, past

    def step(start: int) -> tuple[Condition, Exits]:
        here, past = match(start)
        return past, [(here, (True, text.at(start))), (eq(text.data[start], 0, 8), (False, None))]

    return walk(len(text), step, FOUND)


@whole("strstr")
def strstr(m: MachineApi, limit: int, hay: Value, needle: Value) -> Value | None:
    views = look_at(m, limit, [needle, hay])
    if not views:
        return None
    wanted = _as_short_as_can_be(views[0].gathered())
    if len(wanted) * len(views[1].data) > PAIRS:
        return None
    answer = views[1].lifted(lambda text: string_in(text, wanted), FOUND)
    if m.decide(either(views[0].outside, length_of(wanted).past)):
        return None
    return pointer(settled(m, views[1], answer))


def _as_short_as_can_be(text: Window) -> Window:
    """A string without what stands after a NUL that is there for certain."""
    for i, byte in enumerate(text.data):
        if not isinstance(byte, Expr) and byte == 0 and text.bad[i] is False:
            return Window(text.address, text.data[: i + 1], text.bad[: i + 1])
    return text


def block_in(text: Window, wanted: Window, size: int, length: int) -> Answer:
    """Where a block of `length` bytes first occurs in one of `size`."""
    if size > len(text) or length > len(wanted):
        return Answer(True, (False, 0))

    def step(start: int) -> tuple[Condition, Exits]:
        here: Condition = True
        bad: Condition = False
        for i in reversed(range(length)):
            same = eq(text.data[start + i], wanted.data[i], 8)
            here = both(same, here)
            bad = either(either(text.bad[start + i], wanted.bad[i]), both(same, bad))
        return bad, [(here, (True, text.at(start)))]

    last = size - length + 1
    return walk(last, step, FOUND, last, lambda i: (False, None))


@whole("memmem")
def memmem(
    m: MachineApi, limit: int, hay: Value, hay_size: Value, needle: Value, needle_size: Value
) -> Value | None:
    if isinstance(hay_size, Expr) or isinstance(needle_size, Expr):
        return None
    size, length = hay_size, needle_size
    if not 0 < length <= size or size * length > PAIRS:
        return None
    views = look_at(m, limit, [hay, needle])
    if not views:
        return None
    wanted = views[1].gathered()
    answer = views[0].lifted(lambda text: block_in(text, wanted, size, length), FOUND)
    return None if m.decide(views[1].outside) else pointer(settled(m, views[0], answer))
