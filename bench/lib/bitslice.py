"""Evaluates bit-vector terms for all inputs at once.

A Boolean is one Python integer with a bit for every input (its truth table); a bit vector is a list of such
integers, low bit first. A program of two bytes has tables of 65,536 bits, and a gate costs about a
microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from bench.lib import float_slices as fp
from bench.lib.float_slices import Floats, Unsupported
from bench.lib.smt import App, Term, flat

Table: TypeAlias = int
Bits: TypeAlias = list[int]
# A Boolean, a bit vector, a floating-point value, or the name of a rounding mode.
Sliced: TypeAlias = "Table | Bits | Floats | str"

ROUNDING = ("RNE", "RTZ", "RTN", "RTP", "RNA")


def input_tables(values: Sequence[int], width: int) -> Bits:
    """The tables of a variable whose value for input n is ``values[n]``."""
    mask = (1 << width) - 1
    digits = "".join(format(v & mask, f"0{width}b") for v in reversed(values))
    return [int(digits[width - 1 - bit :: width], 2) for bit in range(width)]


class BitSlices:
    """The evaluator for one set of inputs; results are kept for shared terms."""

    def __init__(self, count: int, variables: Mapping[str, Sliced]) -> None:
        self.count = count
        self.ones = (1 << count) - 1
        self._known: dict[Term, Sliced] = {}
        self._known.update(variables)
        self._defined: dict[str, Term] = {}
        self._operations: dict[str, Callable[..., Sliced]] = {
            "not": self._not, "and": self._and, "or": self._or, "xor": self._xor_bool, "=>": self._implies,
            "=": self._equal, "distinct": lambda a, b: self.ones ^ self._equal(a, b), "ite": self._ite,
            "bvnot": lambda a: [self.ones ^ x for x in a], "bvneg": self._negate,
            "bvand": lambda *v: _fold(lambda x, y: x & y, v), "bvor": lambda *v: _fold(lambda x, y: x | y, v),
            "bvxor": lambda *v: _fold(lambda x, y: x ^ y, v), "bvadd": self._add_all, "bvsub": self._sub,
            "bvmul": self._mul, "bvudiv": lambda a, b: self._divide(a, b)[0],
            "bvurem": lambda a, b: self._divide(a, b)[1], "bvsdiv": self._sdiv, "bvsrem": self._srem,
            "bvshl": lambda a, b: self._shift(a, b, left=True, fill=0),
            "bvlshr": lambda a, b: self._shift(a, b, left=False, fill=0),
            "bvashr": lambda a, b: self._shift(a, b, left=False, fill=a[-1]),
            "bvult": lambda a, b: self._less(a, b), "bvugt": lambda a, b: self._less(b, a),
            "bvule": lambda a, b: self.ones ^ self._less(b, a),
            "bvuge": lambda a, b: self.ones ^ self._less(a, b),
            "bvslt": lambda a, b: self._signed_less(a, b), "bvsgt": lambda a, b: self._signed_less(b, a),
            "bvsle": lambda a, b: self.ones ^ self._signed_less(b, a),
            "bvsge": lambda a, b: self.ones ^ self._signed_less(a, b),
            "concat": lambda *v: [x for part in reversed(v) for x in part],
        }  # fmt: skip

    def table(self, term: Term) -> Table:
        """The truth table of a Boolean term."""
        value = self.value(term)
        if not isinstance(value, int):
            raise Unsupported(f"not a Boolean: {flat(term)[:80]}")
        return value

    def value(self, root: Term) -> Sliced:
        known = self._known
        stack = [root]
        while stack:
            term = stack[-1]
            if term in known:
                stack.pop()
                continue
            if isinstance(term, str) or term.head == "_":
                known[term] = self._literal(term)
                continue
            waiting = [p for p in term.parts[1:] if p not in known]
            if waiting:
                stack.extend(waiting)
                continue
            known[term] = self._apply(term.head, [known[p] for p in term.parts[1:]])
        return known[root]

    def _literal(self, term: Term) -> Sliced:
        if term == "true":
            return self.ones
        if term == "false":
            return 0
        if term in ROUNDING:
            return str(term)
        if isinstance(term, str) and term.startswith("#b"):
            return self._number(int(term[2:], 2), len(term) - 2)
        if isinstance(term, str) and term.startswith("#x"):
            return self._number(int(term[2:], 16), 4 * (len(term) - 2))
        if isinstance(term, App) and len(term.parts) == 3 and str(term.parts[1]).startswith("bv"):
            return self._number(int(str(term.parts[1])[2:]), int(str(term.parts[2])))
        raise Unsupported(flat(term)[:80])

    def _number(self, value: int, width: int) -> Bits:
        return [self.ones if value >> i & 1 else 0 for i in range(width)]

    def _apply(self, head: Term, arguments: list[Sliced]) -> Sliced:
        if isinstance(head, App):
            name, numbers = str(head.parts[1]), [int(str(p)) for p in head.parts[2:]]
            if name in ("to_fp", "to_fp_unsigned"):
                return self._to_float(name, numbers, arguments)
            if name in ("fp.to_sbv", "fp.to_ubv") and isinstance(arguments[1], Floats):
                return input_tables(fp.to_integers(arguments[1], str(arguments[0]), numbers[0]), numbers[0])
            bits = arguments[0]
            if not isinstance(bits, list):
                raise Unsupported(flat(head))
            if name == "extract":
                return bits[numbers[1] : numbers[0] + 1]
            if name == "zero_extend":
                return bits + [0] * numbers[0]
            if name == "sign_extend":
                return bits + [bits[-1]] * numbers[0]
            raise Unsupported(flat(head))
        if str(head).startswith("fp."):
            return self._float(str(head), arguments)
        operation = self._operations.get(str(head))
        if operation is None:
            raise Unsupported(str(head))
        return operation(*arguments)

    # --- floating point

    def define_bits(self, symbol: str, term: Term) -> None:
        """A variable that stands for the bits of a floating-point term, the same one in all conditions."""
        known = self._defined.setdefault(symbol, term)
        if known is not term:
            raise Unsupported(f"{symbol} stands for two terms")
        if symbol in self._known:
            return
        value = self.value(term)
        if not isinstance(value, Floats):
            raise Unsupported(f"{symbol} is not the bits of a floating-point value")
        self._known[symbol] = input_tables(fp.to_bits(value), 32 if value.single else 64)

    def _to_float(self, name: str, sizes: list[int], arguments: list[Sliced]) -> Sliced:
        if sizes not in ([8, 24], [11, 53]):
            raise Unsupported(f"{name} {sizes}")
        single = sizes == [8, 24]
        last = arguments[-1]
        if isinstance(last, Floats):
            return Floats(last.values, single)
        if not isinstance(last, list) or arguments[0] not in ("RNE", last):
            raise Unsupported(name)
        numbers = fp.numbers_of(last, self.count)
        if len(arguments) == 1:
            return fp.from_bits(numbers, single)
        if name == "to_fp":
            numbers = fp.signed(numbers, len(last))
        return fp.from_integers(numbers, single)

    def _float(self, name: str, arguments: list[Sliced]) -> Sliced:
        floats = [a for a in arguments if isinstance(a, Floats)]
        if not floats or (name in fp.BINARY and arguments[0] != "RNE"):
            raise Unsupported(name)
        first, single = floats[0].values, floats[0].single
        if name == "fp.roundToIntegral":
            return fp.round_all(floats[0], str(arguments[0]))
        if name in fp.UNARY:
            return Floats([fp.UNARY[name](v) for v in first], single)
        if name in fp.TEST:
            return fp.table_of([fp.TEST[name](v) for v in first])
        if len(floats) == 2:
            pairs = zip(first, floats[1].values, strict=True)
            if name in fp.BINARY:
                return Floats([fp.BINARY[name](a, b) for a, b in pairs], single)
            if name in fp.COMPARE:
                return fp.table_of([fp.COMPARE[name](a, b) for a, b in pairs])
        raise Unsupported(name)

    # --- Booleans

    def _not(self, a: Table) -> Table:
        return self.ones ^ a

    def _and(self, *values: Table) -> Table:
        out = self.ones
        for v in values:
            out &= v
        return out

    def _or(self, *values: Table) -> Table:
        out = 0
        for v in values:
            out |= v
        return out

    def _xor_bool(self, a: Table, b: Table) -> Table:
        return a ^ b

    def _implies(self, a: Table, b: Table) -> Table:
        return (self.ones ^ a) | b

    def _equal(self, a: Sliced, b: Sliced) -> Table:
        if isinstance(a, int) and isinstance(b, int):
            return self.ones ^ a ^ b
        if isinstance(a, Floats) and isinstance(b, Floats):
            a, b = input_tables(fp.to_bits(a), 64), input_tables(fp.to_bits(b), 64)
        if not isinstance(a, list) or not isinstance(b, list):
            raise Unsupported("= of different sorts")
        different = 0
        for x, y in zip(a, b, strict=True):
            different |= x ^ y
        return self.ones ^ different

    def _ite(self, c: Table, a: Sliced, b: Sliced) -> Sliced:
        other = self.ones ^ c
        if isinstance(a, int) and isinstance(b, int):
            return (c & a) | (other & b)
        if not isinstance(a, list) or not isinstance(b, list):
            raise Unsupported("ite of different or floating-point sorts")
        return [(c & x) | (other & y) for x, y in zip(a, b, strict=True)]

    # --- arithmetic

    def _add(self, a: Bits, b: Bits, carry: Table = 0) -> tuple[Bits, Table]:
        out = []
        for x, y in zip(a, b, strict=True):
            half = x ^ y
            out.append(half ^ carry)
            carry = (x & y) | (half & carry)
        return out, carry

    def _add_all(self, *values: Bits) -> Bits:
        out = values[0]
        for v in values[1:]:
            out = self._add(out, v)[0]
        return out

    def _complement(self, a: Bits) -> Bits:
        return [self.ones ^ x for x in a]

    def _sub(self, a: Bits, b: Bits) -> Bits:
        return self._add(a, self._complement(b), self.ones)[0]

    def _negate(self, a: Bits) -> Bits:
        return self._sub([0] * len(a), a)

    def _less(self, a: Bits, b: Bits) -> Table:
        return self.ones ^ self._add(a, self._complement(b), self.ones)[1]

    def _signed_less(self, a: Bits, b: Bits) -> Table:
        return self._less([*a[:-1], self.ones ^ a[-1]], [*b[:-1], self.ones ^ b[-1]])

    def _mul(self, *values: Bits) -> Bits:
        out = values[0]
        for v in values[1:]:
            out = self._mul_two(out, v)
        return out

    def _mul_two(self, a: Bits, b: Bits) -> Bits:
        width = len(a)
        out = [0] * width
        for i, y in enumerate(b):
            if y:
                out = out[:i] + self._add(out[i:], [x & y for x in a[: width - i]])[0]
        return out

    def _divide(self, a: Bits, b: Bits) -> tuple[Bits, Bits]:
        """Restoring division; by zero: all ones and the dividend, as SMT-LIB defines."""
        width = len(a)
        rest: Bits = [0] * (width + 1)
        divisor = [*b, 0]
        quotient = [0] * width
        for i in range(width - 1, -1, -1):
            rest = [a[i], *rest[:-1]]
            less = self._less(rest, divisor)
            difference = self._sub(rest, divisor)
            rest = [(less & r) | ((self.ones ^ less) & d) for r, d in zip(rest, difference, strict=True)]
            quotient[i] = self.ones ^ less
        return quotient, rest[:-1]

    def _magnitude(self, a: Bits) -> Bits:
        negative = self._negate(a)
        return [(a[-1] & n) | ((self.ones ^ a[-1]) & x) for n, x in zip(negative, a, strict=True)]

    def _sdiv(self, a: Bits, b: Bits) -> Bits:
        quotient = self._divide(self._magnitude(a), self._magnitude(b))[0]
        out = self._ite(a[-1] ^ b[-1], self._negate(quotient), quotient)
        assert isinstance(out, list)
        return out

    def _srem(self, a: Bits, b: Bits) -> Bits:
        rest = self._divide(self._magnitude(a), self._magnitude(b))[1]
        out = self._ite(a[-1], self._negate(rest), rest)
        assert isinstance(out, list)
        return out

    def _shift(self, a: Bits, amount: Bits, *, left: bool, fill: Table) -> Bits:
        width = len(a)
        out = list(a)
        over = 0
        for i, s in enumerate(amount):
            step = 1 << i
            if step >= width:
                over |= s
                continue
            moved = [fill] * step + out[:-step] if left else out[step:] + [fill] * step
            keep = self.ones ^ s
            out = [(s & m) | (keep & o) for m, o in zip(moved, out, strict=True)]
        keep = self.ones ^ over
        return [(over & fill) | (keep & o) for o in out]


def _fold(operation: Callable[[int, int], int], values: Sequence[Bits]) -> Bits:
    out = values[0]
    for v in values[1:]:
        out = [operation(x, y) for x, y in zip(out, v, strict=True)]
    return out
