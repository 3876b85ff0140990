"""Dividers: arrays of cells, and division by constants.

All give a quotient of ones and the dividend as remainder for a zero divisor, as SMT-LIB wants it: each step
finds that nothing can be subtracted from the rest without a borrow.
"""

from __future__ import annotations

from .circuits import Word, add, choose, constant, known, less, lowered, multiply_constant, subtract
from .gates import FALSE, TRUE, Gates


def divide(g: Gates, a: Word, b: Word, guild: bool = False, shifts: bool = False) -> tuple[Word, Word]:
    """Quotient and remainder, unsigned.

    `guild`: the cells add or subtract; else they subtract and keep the rest if that fails. `shifts`: division
    by a constant by additions, where they are fewer than the cells.
    """
    number = known(b)
    if number:
        if number & (number - 1) == 0:
            k = number.bit_length() - 1
            return lowered(a, k), [*a[:k], *[FALSE] * (len(a) - k)]
        if shifts:
            found = _by_shifts(g, a, number)
            if found is not None:
                return found
        return _restoring(g, a, b, number.bit_length())
    return _guild(g, a, b) if guild else _restoring(g, a, b, len(a))


def _restoring(g: Gates, a: Word, b: Word, limit: int) -> tuple[Word, Word]:
    """A row for each bit of the quotient, as wide as the rest can be by then: half a square of cells.

    The rest after a step has at most `limit` bits: fewer than the dividend if the divisor is a constant.
    """
    w = len(a)
    above = [FALSE] * (w + 1)  # is a bit of the divisor from there upwards set?
    for k in reversed(range(w)):
        above[k] = g.or_(b[k], above[k + 1])
    quotient: Word = [FALSE] * w
    rest: Word = []
    for i in reversed(range(w)):
        rest = [a[i], *rest]
        k = len(rest)
        part = b[:k]
        fits = g.and_(-less(g, rest, part), -above[k])
        quotient[i] = fits
        rest = choose(g, fits, subtract(g, rest, part), rest)[:limit]
    return quotient, rest + [FALSE] * (w - len(rest))


def _guild(g: Gates, a: Word, b: Word) -> tuple[Word, Word]:
    """Guild's array: a row subtracts if the rest is not negative, else adds; nothing is ever restored but the
    last rest."""
    w = len(a)
    divisor = [*b, FALSE]
    quotient: Word = [FALSE] * w
    rest: Word = [FALSE] * (w + 1)  # signed
    positive = TRUE
    for i in reversed(range(w)):
        rest = add(g, [a[i], *rest[:-1]], [g.xor(bit, positive) for bit in divisor], positive)
        quotient[i] = positive = -rest[-1]
    return quotient, add(g, rest[:-1], [g.and_(bit, -positive) for bit in b])


# -- constants --------------------------------------------------------------------------------------------


def _by_shifts(g: Gates, a: Word, number: int) -> tuple[Word, Word] | None:
    """The quotient by a constant from the period of its reciprocal; None if that takes more adders than an
    array has rows of the same size.

    1 / d is 0.BBB... in binary, B of p bits: n / d is the sum of n*B >> p, >> 2p, ... Sums of shifted terms
    stay below the quotient and miss it by little; a small divider of what is left gives the rest.
    """
    w = len(a)
    even = (number & -number).bit_length() - 1
    d = number >> even
    period = _period(d, w)
    if period is None:
        return None
    block = ((1 << period) - 1) // d
    doublings = []
    k = period
    while k < w:
        doublings.append(k)
        k *= 2
    adders = block.bit_count() - 1 + len(doublings) + d.bit_count()
    if adders > d.bit_length():  # an array has so many cells a bit
        return None
    n = lowered(a, even)
    terms = [lowered(n, period - i) for i in reversed(range(period)) if block >> i & 1]
    estimate = terms[0]
    for term in terms[1:]:
        estimate = add(g, estimate, term)
    missing = float(len(terms))  # more than what the estimate is too small by
    for k in doublings:
        estimate = add(g, estimate, lowered(estimate, k))
        missing += missing / 2**k + 1
    missing += 1  # what comes after the last block
    rest = subtract(g, n, multiply_constant(g, estimate, d))
    width = min(w, (d * (int(missing) + 1)).bit_length())
    more, rest = _restoring(g, rest[:width], constant(d, width), d.bit_length())
    zeros = [FALSE] * (w - width)
    quotient = add(g, estimate, more + zeros)
    return quotient, [*a[:even], *rest, *zeros][:w]


def _period(d: int, w: int) -> int | None:
    """The number of bits after which the reciprocal of an odd number repeats, if at most w."""
    power = 1
    for period in range(1, w + 1):
        power = power * 2 % d
        if power == 1:
            return period
    return None


# -- signed -----------------------------------------------------------------------------------------------


def magnitude(g: Gates, a: Word) -> Word:
    """a without its sign."""
    return with_sign(g, a, a[-1])


def with_sign(g: Gates, a: Word, negative: int) -> Word:
    """-a if negative, else a: the bits inverted, and one added."""
    return add(g, [g.xor(bit, negative) for bit in a], [FALSE] * len(a), negative)
