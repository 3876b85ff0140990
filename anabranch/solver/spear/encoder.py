"""Expressions as words of literals: a circuit for each kind of node.

Equal nodes are one object, so that a common subexpression is encoded once; what is equal only bit by bit is
found again by the gates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anabranch.expr import Expr, Value, operands
from anabranch.expr.lowering import lowered
from anabranch.expr.node import low_width, operand_width
from anabranch.expr.select import index_bits, tree

from . import circuits, division
from .circuits import Word, constant
from .gates import FALSE, Gates
from .options import Encoding


class NotEncodable(Exception):
    """A node is no function of bits that has a circuit here: floating point."""


class Encoder:
    """The words of all nodes met so far, over one set of gates."""

    __slots__ = ("_divisions", "_words", "encoding", "gates")

    def __init__(self, gates: Gates, encoding: Encoding) -> None:
        self.gates = gates
        self.encoding = encoding
        self._words: dict[Expr, Word] = {}
        self._divisions: dict[tuple[int, ...], tuple[Word, Word]] = {}
        """Quotient and remainder by the literals of the operands: who wants one often wants the other."""

    def literal(self, condition: Expr) -> int:
        """The literal of a Boolean."""
        return self.word(condition)[0]

    def word(self, e: Expr) -> Word:
        """The literals of a node, the lowest bit first. NotEncodable if there is a node without a circuit."""
        words = self._words
        stack = [e]
        while stack:
            n = stack[-1]
            if n in words:
                stack.pop()
                continue
            encode = ENCODERS.get(n.op)
            below = operands(n) if encode is not None else (self._lowered(n),)
            waiting = [child for child in below if child.__class__ is Expr and child not in words]
            if waiting:
                stack += waiting
                continue
            words[n] = encode(self, n) if encode is not None else self.value(self._lowered(n), n.w)
            stack.pop()
        return words[e]

    def known_word(self, e: Expr) -> Word | None:
        """The literals of a node if it was met."""
        return self._words.get(e)

    def _lowered(self, n: Expr) -> Value:
        bits = lowered(n)
        if bits is None:
            raise NotEncodable(n.op)
        return bits

    def value(self, x: Value, w: int) -> Word:
        """The word of an operand of width w."""
        return self._words[x] if x.__class__ is Expr else constant(int(x), w)

    def pair(self, n: Expr) -> tuple[Word, Word]:
        """The words of two operands of one width."""
        w = operand_width(n)
        return self.value(n.a, w), self.value(n.b, w)

    def divided(self, a: Word, b: Word) -> tuple[Word, Word]:
        """Quotient and remainder, unsigned."""
        key = (*a, *b)
        found = self._divisions.get(key)
        if found is None:
            encoding = self.encoding
            found = division.divide(
                self.gates, a, b, encoding.divider == "guild", encoding.constant_division == "shifts"
            )
            self._divisions[key] = found
        return found


Circuit: TypeAlias = Callable[[Encoder, Expr], Word]


def _of_bits(gate: Callable[[Gates, int, int], int]) -> Circuit:
    def encode(e: Encoder, n: Expr) -> Word:
        g = e.gates
        return [gate(g, x, y) for x, y in zip(e.value(n.a, n.w), e.value(n.b, n.w), strict=True)]

    return encode


def _of_words(circuit: Callable[[Gates, Word, Word], Word]) -> Circuit:
    return lambda e, n: circuit(e.gates, *e.pair(n))


def _compared(circuit: Callable[[Gates, Word, Word], int]) -> Circuit:
    return lambda e, n: [circuit(e.gates, *e.pair(n))]


def _variable(e: Encoder, n: Expr) -> Word:
    return [e.gates.new() for _ in range(n.w)]


def _zext(e: Encoder, n: Expr) -> Word:
    word = e.value(n.a, n.a.w)
    return word + [FALSE] * (n.w - len(word))


def _sext(e: Encoder, n: Expr) -> Word:
    word = e.value(n.a, n.a.w)
    return word + [word[-1]] * (n.w - len(word))


def _concat(e: Encoder, n: Expr) -> Word:
    k = low_width(n)
    return e.value(n.b, k) + e.value(n.a, n.w - k)


def _ite(e: Encoder, n: Expr) -> Word:
    return circuits.choose(e.gates, e.value(n.a, 1)[0], e.value(n.b, n.w), e.value(n.c, n.w))


def _select(e: Encoder, n: Expr) -> Word:
    """A tree of choices over the bits of the index."""
    g, t, index = e.gates, n.c, e.value(n.a, n.a.w)
    k = index_bits(t)
    word: Word = tree(
        t,
        0,
        k,
        lambda value: constant(value, n.w),
        lambda bit, zero, one: circuits.choose(g, index[bit], one, zero),
    )
    return circuits.choose(g, g.any_(index[k:]), constant(t.values[-1], n.w), word)


def _mul(e: Encoder, n: Expr) -> Word:
    return circuits.multiply(e.gates, *e.pair(n), columns=e.encoding.multiplier == "columns")


def _ashr(e: Encoder, n: Expr) -> Word:
    a, by = e.pair(n)
    return circuits.shift_down(e.gates, a, by, a[-1])


def _sdiv(e: Encoder, n: Expr) -> Word:
    g = e.gates
    a, b = e.pair(n)
    quotient, _ = e.divided(division.magnitude(g, a), division.magnitude(g, b))
    return division.with_sign(g, quotient, g.xor(a[-1], b[-1]))


def _srem(e: Encoder, n: Expr) -> Word:
    g = e.gates
    a, b = e.pair(n)
    _, remainder = e.divided(division.magnitude(g, a), division.magnitude(g, b))
    return division.with_sign(g, remainder, a[-1])


ENCODERS: dict[str, Circuit] = {
    "var": _variable,
    "not": lambda e, n: [-e.value(n.a, 1)[0]],
    "ite": _ite,
    "select": _select,
    "zext": _zext,
    "sext": _sext,
    "extract": lambda e, n: e.value(n.a, n.a.w)[n.c : n.c + n.w],
    "concat": _concat,
    "add": _of_words(circuits.add),
    "sub": _of_words(circuits.subtract),
    "mul": _mul,
    "and": _of_bits(Gates.and_),
    "or": _of_bits(Gates.or_),
    "xor": _of_bits(Gates.xor),
    "shl": _of_words(circuits.shift_up),
    "lshr": lambda e, n: circuits.shift_down(e.gates, *e.pair(n), fill=FALSE),
    "ashr": _ashr,
    "udiv": lambda e, n: e.divided(*e.pair(n))[0],
    "urem": lambda e, n: e.divided(*e.pair(n))[1],
    "sdiv": _sdiv,
    "srem": _srem,
    "eq": _compared(circuits.equal),
    "ult": _compared(circuits.less),
    "slt": _compared(circuits.less_signed),
}
