"""Numbers in strings without a fork: `atoi`, `strtol` and their kin.

The loop over spaces, sign, prefix and digits is followed byte by byte with a condition for each state that it
may be in; value, end and overflow are expressions that each byte extends.
"""

from __future__ import annotations

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.chars import is_space
from anabranch.environment.ops import (
    Condition,
    add,
    both,
    either,
    eq,
    ite,
    mul,
    neg,
    negated,
    or_,
    sub,
    ugt,
    ult,
    zext,
)
from anabranch.environment.values import EINVAL, ERANGE, MASK64, errno_address, is_null, widen
from anabranch.environment.whole.registry import whole
from anabranch.environment.whole.windows import Answer, Window, look_at, settled
from anabranch.expr import Expr

PLUS, MINUS, ZERO = ord("+"), ord("-"), ord("0")
LEAST, GREATEST = 1 << 63, (1 << 63) - 1


def digit(byte: Value, radix: int) -> tuple[Condition, Value]:
    """Whether a byte is a digit in a base, and its value."""
    plain = sub(byte, ZERO, 8)
    is_plain = ult(plain, min(radix, 10), 8)
    if radix <= 10:
        return is_plain, plain
    letter = sub(or_(byte, 32, 8), ord("a"), 8)
    is_letter = ult(letter, radix - 10, 8)
    return either(is_plain, is_letter), ite(is_plain, plain, add(letter, 10, 8), 8)


class Numeral:
    """What a conversion finds: follows the bytes one after the other."""

    def __init__(self, text: Window, base: int, width: int, wraps: bool) -> None:
        self.text = text
        self.base = base
        self.width = width
        self.wraps = wraps  # an overflow is not told
        self.past: Condition = False
        self.negative: Condition = False
        self.seen: Condition = False  # there is a digit
        self.overflow: Condition = False
        self.value: Value = 0
        self.end: Value = text.address
        self.greatest = 0  # that the value can be
        self._bits = 8  # the value is kept no wider than it has to be
        self._blank: Condition = True  # nothing but spaces so far
        self._signed: Condition = False  # the last byte was the sign
        self._digits: dict[int, Condition] = {}  # base -> digits of it go on
        self._prefixed: dict[int, Condition] = {}  # index -> hexadecimal digits begin there, after 0x
        for index in range(len(text)):
            if not self._goes_on(index):
                return
            self._read(index)
        self.past = either(self.past, self._active(len(text)))

    def _active(self, index: int) -> Condition:
        active = either(self._blank, either(self._signed, self._prefixed.get(index, False)))
        for going_on in self._digits.values():
            active = either(active, going_on)
        return active

    def _goes_on(self, index: int) -> bool:
        return self._active(index) is not False or any(at > index for at in self._prefixed)

    def _read(self, index: int) -> None:
        byte = self.text.data[index]
        self.past = either(self.past, both(self._active(index), self.text.bad[index]))
        minus, plus = eq(byte, MINUS, 8), eq(byte, PLUS, 8)
        sign = either(minus, plus)
        space = is_space(widen(byte))
        begins = either(self._signed, both(self._blank, negated(either(space, sign))))
        self.negative = either(self.negative, both(self._blank, minus))
        self._signed = both(self._blank, sign)
        self._blank = both(self._blank, space)
        starts = self._starts(index, begins)
        prefixed = self._prefixed.pop(index, False)
        if prefixed is not False:
            starts[16] = either(starts.get(16, False), prefixed)
        self._take(index, starts)

    def _starts(self, index: int, begins: Condition) -> dict[int, Condition]:
        """The bases whose digits begin at a byte where a number begins."""
        if self.base not in (0, 16):
            return {self.base: begins}
        zero = both(begins, eq(self.text.data[index], ZERO, 8))
        prefix = self._prefix(index, zero)
        if self.base == 16:
            return {16: both(begins, negated(prefix))}
        return {8: both(zero, negated(prefix)), 10: both(begins, negated(zero))}

    def _prefix(self, index: int, zero: Condition) -> Condition:
        """Whether 0x and a hexadecimal digit stand there: then the digits begin after it."""
        letter = self._ahead(index + 1, zero)
        if letter is None:
            return False
        marked = both(zero, eq(or_(letter, 32, 8), ord("x"), 8))
        first = self._ahead(index + 2, marked)
        if first is None:
            return False
        prefix = both(marked, digit(first, 16)[0])
        if prefix is not False:
            self._prefixed[index + 2] = prefix
        return prefix

    def _ahead(self, index: int, wanted: Condition) -> Value | None:
        """A byte that is looked at where `wanted` holds; None if there is none."""
        if wanted is False:
            return None
        if index >= len(self.text):
            self.past = either(self.past, wanted)
            return None
        self.past = either(self.past, both(wanted, self.text.bad[index]))
        return self.text.data[index]

    def _take(self, index: int, starts: dict[int, Condition]) -> None:
        byte = self.text.data[index]
        stops: Condition = False
        taken: list[tuple[int, Condition, Value]] = []
        for radix in dict.fromkeys((*self._digits, *starts)):
            active = either(self._digits.get(radix, False), starts.get(radix, False))
            is_digit, amount = digit(byte, radix)
            takes = self._digits[radix] = both(active, is_digit)
            stops = either(stops, both(active, negated(is_digit)))
            self.seen = either(self.seen, takes)
            if takes is not False:
                taken.append((radix, takes, amount))
        self.end = ite(stops, self.text.at(index), self.end, 64)
        if taken:
            self._lengthen(taken)

    def _lengthen(self, taken: list[tuple[int, Condition, Value]]) -> None:
        """One digit more; after an overflow, which is noted, the value is of no use."""
        radix = max(radix for radix, _, _ in taken)
        greatest = self.greatest * radix + radix - 1
        bits = max(8, min(self.width, greatest.bit_length()))
        before = value = zext(self.value, self._bits, bits)
        for radix, takes, amount in taken:
            wide = zext(amount, 8, bits)
            if not self.wraps and self.greatest * radix + radix - 1 > MASK64:
                most = MASK64 // radix
                last = both(eq(before, most, 64), ugt(wide, MASK64 - most * radix, 64))
                self.overflow = either(self.overflow, both(takes, either(ugt(before, most, 64), last)))
            value = ite(takes, add(mul(before, radix, bits), wide, bits), value, bits)
        self.value, self._bits, self.greatest = value, bits, min(greatest, MASK64)

    def unsigned_value(self) -> Value:
        return zext(self.value, self._bits, self.width)

    def signed_value(self) -> Value:
        value = self.unsigned_value()
        return ite(self.negative, neg(value, self.width), value, self.width)


def plain_number(m: MachineApi, limit: int, src: Value, width: int) -> Value | None:
    views = look_at(m, limit, [src])
    if not views:
        return None
    found = Numeral(views[0].gathered(), 10, width, wraps=True)
    values = settled(m, views[0], Answer(found.past, (found.signed_value(),)))
    return None if values is None else values[0]


@whole("atoi")
def atoi(m: MachineApi, limit: int, src: Value) -> Value | None:
    return plain_number(m, limit, src, 32)


@whole("atol", "atoll")
def atol(m: MachineApi, limit: int, src: Value) -> Value | None:
    return plain_number(m, limit, src, 64)


def checked_number(
    m: MachineApi, limit: int, src: Value, end: Value, base: Value, is_signed: bool
) -> Value | None:
    if isinstance(base, Expr) or base == 1 or base > 36:
        return None
    views = look_at(m, limit, [src])
    if not views:
        return None
    found = Numeral(views[0].gathered(), base, 64, wraps=False)
    if settled(m, views[0], Answer(found.past, ())) is None:
        return None
    wants_end = not is_null(m, end)
    value, wrong = clamped(found, is_signed)
    cell = errno_address(m)
    before = m.load(cell, 4)
    if wants_end:
        m.store(end, 8, ite(found.seen, found.end, src, 64))
    code = ite(found.seen, ite(wrong, ERANGE, before, 32), EINVAL, 32)
    if code is not before:
        m.store(cell, 4, code)
    return value


def clamped(found: Numeral, is_signed: bool) -> tuple[Value, Condition]:
    """The value with its sign or the nearest limit, and whether it is the limit because it does not fit."""
    if not is_signed:
        return ite(found.overflow, MASK64, found.signed_value(), 64), found.overflow
    if found.greatest <= GREATEST:
        return found.signed_value(), False
    nearest = ite(found.negative, LEAST, GREATEST, 64)
    wrong = either(found.overflow, ugt(found.unsigned_value(), nearest, 64))
    return ite(wrong, nearest, found.signed_value(), 64), wrong


@whole("strtol", "strtoll", "strtoimax", "__isoc23_strtol", "__isoc23_strtoll")
def strtol(m: MachineApi, limit: int, src: Value, end: Value, base: Value) -> Value | None:
    return checked_number(m, limit, src, end, base, True)


@whole("strtoul", "strtoull", "strtoumax", "__isoc23_strtoul", "__isoc23_strtoull")
def strtoul(m: MachineApi, limit: int, src: Value, end: Value, base: Value) -> Value | None:
    return checked_number(m, limit, src, end, base, False)
