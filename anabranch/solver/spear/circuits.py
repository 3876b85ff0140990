"""Circuits over words: adders, multipliers, shifters and comparators with few gates.

A word is a list of literals, the lowest bit first. Parts of a circuit that a constant decides vanish in the
gates, so that nothing here asks whether a bit is known, except where another circuit is smaller then.
"""

from __future__ import annotations

from typing import TypeAlias

from .gates import FALSE, TRUE, Gates

Word: TypeAlias = list[int]


def constant(value: int, w: int) -> Word:
    """The word of a number."""
    return [TRUE if value >> i & 1 else FALSE for i in range(w)]


def known(word: Word) -> int | None:
    """The number that a word is, if all its bits are constants."""
    value = 0
    for i, bit in enumerate(word):
        if bit == TRUE:
            value |= 1 << i
        elif bit != FALSE:
            return None
    return value


def inverted(word: Word) -> Word:
    """Every bit negated."""
    return [-bit for bit in word]


def shifted(word: Word, k: int) -> Word:
    """Shifted up by a constant, zeros below; the width stays."""
    k = min(k, len(word))
    return [FALSE] * k + word[: len(word) - k]


def lowered(word: Word, k: int) -> Word:
    """Shifted down by a constant, zeros above; the width stays."""
    return word[k:] + [FALSE] * min(k, len(word))


# -- sums -------------------------------------------------------------------------------------------------


def add(g: Gates, a: Word, b: Word, carry: int = FALSE) -> Word:
    """a + b + carry, modulo the width."""
    out: Word = []
    last = len(a) - 1
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        out.append(g.xor3(x, y, carry))
        if i < last:
            carry = g.maj(x, y, carry)
    return out


def subtract(g: Gates, a: Word, b: Word) -> Word:
    """a - b, modulo the width."""
    return add(g, a, inverted(b), TRUE)


def negate(g: Gates, a: Word) -> Word:
    """-a, modulo the width."""
    return add(g, inverted(a), [FALSE] * len(a), TRUE)


# -- comparisons ------------------------------------------------------------------------------------------


def equal(g: Gates, a: Word, b: Word) -> int:
    """a == b: a gate a bit, and one over them."""
    return g.all_([-g.xor(x, y) for x, y in zip(a, b, strict=True)])


def less(g: Gates, a: Word, b: Word) -> int:
    """a < b, unsigned: the borrow of a - b, one gate a bit."""
    borrow = FALSE
    for x, y in zip(a, b, strict=True):
        borrow = g.maj(-x, y, borrow)
    return borrow


def less_signed(g: Gates, a: Word, b: Word) -> int:
    """a < b, signed: the sign bits count the other way round."""
    return less(g, [*a[:-1], b[-1]], [*b[:-1], a[-1]])


# -- choices and shifts -----------------------------------------------------------------------------------


def choose(g: Gates, c: int, a: Word, b: Word) -> Word:
    """a if c, else b."""
    return [g.mux(c, x, y) for x, y in zip(a, b, strict=True)]


def shift_down(g: Gates, a: Word, by: Word, fill: int) -> Word:
    """a shifted down by a word, `fill` coming in from above: a stage of choices a bit of the amount."""
    w = len(a)
    stages = (w - 1).bit_length()  # what all of them shift by together is less than 2 * w
    out = a
    for i, bit in enumerate(by[:stages]):
        moved = out[1 << i :] + [fill] * min(1 << i, w)
        out = choose(g, bit, moved, out)
    far = g.any_(by[stages:])
    return choose(g, far, [fill] * w, out)


def shift_up(g: Gates, a: Word, by: Word) -> Word:
    """a shifted up by a word, zeros coming in from below."""
    return shift_down(g, a[::-1], by, FALSE)[::-1]


# -- products ---------------------------------------------------------------------------------------------


def multiply(g: Gates, a: Word, b: Word, columns: bool = False) -> Word:
    """a * b, modulo the width."""
    for x, y in ((a, b), (b, a)):
        number = known(y)
        if number is not None:
            return multiply_constant(g, x, number)
    # One order for both, so that equal products are one circuit; known zeros of b save rows.
    a, b = sorted((a, b), key=lambda word: (list(word).count(FALSE), list(word)))
    return _by_columns(g, a, b) if columns else _by_rows(g, a, b)


def _by_rows(g: Gates, a: Word, b: Word) -> Word:
    """An array of adders: a row for each bit of b."""
    w = len(a)
    total = [g.and_(x, b[0]) for x in a]
    for i in range(1, w):
        if b[i] != FALSE:
            row = [g.and_(x, b[i]) for x in a[: w - i]]
            total[i:] = add(g, total[i:], row)
    return total


def _by_columns(g: Gates, a: Word, b: Word) -> Word:
    """A tree of adders: three bits of a column become one, and one of the next."""
    w = len(a)
    columns: list[list[int]] = [[] for _ in range(w + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b[: w - i]):
            bit = g.and_(x, y)
            if bit != FALSE:
                columns[i + j].append(bit)
    out: Word = []
    for i in range(w):
        column = columns[i]
        while len(column) > 1:
            x, y = column.pop(0), column.pop(0)
            z = column.pop(0) if column else FALSE
            column.append(g.xor3(x, y, z))
            if i < w - 1:
                columns[i + 1].append(g.maj(x, y, z))
        out.append(column[0] if column else FALSE)
    return out


def digits(number: int) -> list[tuple[int, int]]:
    """A number as signed powers of two, (exponent, sign), no two of them neighbours: the fewest there are."""
    out = []
    exponent = 0
    while number:
        if number & 1:
            sign = 2 - (number & 3)
            out.append((exponent, sign))
            number -= sign
        number >>= 1
        exponent += 1
    return out


def multiply_constant(g: Gates, a: Word, number: int) -> Word:
    """a times a constant, by shifts, additions and subtractions."""
    w = len(a)
    terms = [(k, sign) for k, sign in digits(number) if k < w]
    if not terms:
        return [FALSE] * w
    terms.sort(key=lambda term: -term[1])  # begin with one to add, if there is any
    k, sign = terms[0]
    total = shifted(a, k) if sign > 0 else negate(g, shifted(a, k))
    for k, sign in terms[1:]:
        total = (add if sign > 0 else subtract)(g, total, shifted(a, k))
    return total
