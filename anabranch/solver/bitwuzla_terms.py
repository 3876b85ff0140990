"""Expressions as Bitwuzla terms, kept on the nodes.

Terms belong to a manager. An exploration has one for the whole process (`PROCESS`); the checker takes a new
one for each query, so that an answer does not depend on what was asked before.

A floating-point result has two terms: the number (`fp`) that further floating-point operations use, and its
bit pattern (`bits`). Bitwuzla has no way from a number to its bits, so the bits are a fresh constant with a
side condition, which whoever asserts a term over it asserts too (`side_conditions`). What Bitwuzla does not
know is lowered (`anabranch.expr.lowering`): the 80-bit numbers of x87, a format that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from bitwuzla import Kind, RoundingMode, TermManager

from anabranch.expr import MASK, Expr
from anabranch.expr.fp import RESULTS, ROUND
from anabranch.expr.fpvalue import FORMATS
from anabranch.expr.lowering import lowered
from anabranch.expr.node import EXTRACT, ITE, ROUND_NUMBERS, SELECT, VAR, XOR, ZEXT, low_width, operands
from anabranch.expr.select import index_bits, tree
from anabranch.expr.tables import chooses, pieces

BITS, NUMBER = 0, 1
Need = tuple[Expr, int]


class Terms:
    """One manager and what was built with it. Nothing here may refer back to the object: a manager that only
    a reference cycle can reach crashes when it is collected."""

    __slots__ = (
        "_bool",
        "_built",
        "_fp_sorts",
        "_sorts",
        "false",
        "manager",
        "mk",
        "modes",
        "numbers",
        "one",
        "patterns",
        "sides",
        "true",
        "zero",
    )

    def __init__(self, keep: bool = False) -> None:
        self.manager = TermManager()
        self.mk = self.manager.mk_term
        self._bool = self.manager.mk_bool_sort()
        self._sorts: dict[int, Any] = {}
        self.one = self.manager.mk_bv_value(self.manager.mk_bv_sort(1), 1)
        self.zero = self.manager.mk_bv_value(self.manager.mk_bv_sort(1), 0)
        self.true = self.manager.mk_true()
        self.false = self.manager.mk_false()
        self._built: list[Expr] | None = None if keep else []
        """Nodes that have a term of this manager until `release`; None: they keep it."""
        self.numbers: dict[Expr, Any] = {}
        """Floating-point terms."""
        self.patterns: dict[Expr, tuple[Any, Any]] = {}
        """Floating-point result -> its bits, their side condition."""
        self.sides: dict[Expr, tuple[Any, ...]] = {}
        self.modes: dict[str, Any] = {}
        self._fp_sorts: dict[int, Any] = {}

    def sort(self, w: int) -> Any:
        """The sort of values of width w: Booleans for 1."""
        if w == 1:
            return self._bool
        s = self._sorts.get(w)
        if s is None:
            s = self._sorts[w] = self.manager.mk_bv_sort(w)
        return s

    def fp_sort(self, w: int) -> Any:
        s = self._fp_sorts.get(w)
        if s is None:
            s = self._fp_sorts[w] = self.manager.mk_fp_sort(*_indices(w))
        return s

    def mode(self, name: str) -> Any:
        """The term of a rounding mode."""
        m = self.modes.get(name)
        if m is None:
            m = self.modes[name] = self.manager.mk_rm_value(getattr(RoundingMode, name.upper()))
        return m

    def value(self, v: int, w: int) -> Any:
        """A constant of width w."""
        if w == 1:
            return self.true if v else self.false
        return self.manager.mk_bv_value(self.sort(w), v)

    def operand(self, x: Any, w: int) -> Any:
        return x.term if x.__class__ is Expr else self.value(x, w)

    def vector(self, x: Any, w: int) -> Any:
        """An operand as a bit vector."""
        t = self.operand(x, w)
        return self.mk(Kind.ITE, [t, self.one, self.zero]) if w == 1 else t

    def number(self, x: Any, w: int) -> Any:
        """The floating-point term of an operand."""
        return self.numbers[x] if x.__class__ is Expr else self.from_bits(self.value(x, w), w)

    def from_bits(self, bits: Any, w: int) -> Any:
        return self.mk(Kind.FP_TO_FP_FROM_BV, [bits], _indices(w))

    def release(self) -> None:
        """Takes the terms off the nodes, so that another manager can put its own there."""
        for n in self._built or ():
            n.term = None

    def term(self, e: Expr) -> Any:
        """The Bitwuzla term of a node."""
        if e.term is not None:
            return e.term
        numbers = self.numbers
        stack: list[Need] = [(e, BITS)]
        while stack:
            n, kind = stack[-1]
            if n.term is None if kind == BITS else n not in numbers:
                waiting = [
                    (m, k) for m, k in _needs(n, kind) if (m.term is None if k == BITS else m not in numbers)
                ]
                if waiting:
                    stack.extend(waiting)
                    continue
                if kind == BITS:
                    n.term = BITS_OF.get(n.op, _build_other)(self, n)
                    if self._built is not None:
                        self._built.append(n)
                else:
                    numbers[n] = _build_number(self, n)
            stack.pop()
        return e.term

    def side_conditions(self, e: Expr) -> tuple[Any, ...]:
        """The conditions to assert together with the term of e."""
        patterns = self.patterns
        if not patterns:
            return ()
        found = self.sides.get(e)
        if found is None:
            seen: set[Need] = {(e, BITS)}
            stack: list[Need] = [(e, BITS)]
            out: list[Any] = []
            while stack:
                n, kind = stack.pop()
                if kind == BITS and n in patterns:
                    out.append(patterns[n][1])
                for need in _needs(n, kind):
                    if need not in seen:
                        seen.add(need)
                        stack.append(need)
            found = self.sides[e] = tuple(out)
        return found


Builder: TypeAlias = Callable[[Terms, Expr], Any]


def _applied(kind: Kind) -> Builder:
    """A function of two operands of one width."""

    def build(t: Terms, n: Expr) -> Any:
        w = n.a.w if n.a.__class__ is Expr else n.b.w
        return t.mk(kind, [t.operand(n.a, w), t.operand(n.b, w)])

    return build


def _bitwise(boolean: Kind, vector: Kind) -> Builder:
    return lambda t, n: t.mk(vector if n.w > 1 else boolean, [n.a.term, t.operand(n.b, n.w)])


def _extended(kind: Kind) -> Builder:
    return lambda t, n: t.mk(kind, [t.vector(n.a, n.a.w)], [n.w - n.a.w])


def _build_extract(t: Terms, n: Expr) -> Any:
    bits = t.mk(Kind.BV_EXTRACT, [n.a.term], [n.c + n.w - 1, n.c])
    return t.mk(Kind.EQUAL, [bits, t.one]) if n.w == 1 else bits


def _build_concat(t: Terms, n: Expr) -> Any:
    k = low_width(n)
    return t.mk(Kind.BV_CONCAT, [t.vector(n.a, n.w - k), t.vector(n.b, k)])


class _Runs(NamedTuple):
    """What an index chooses from."""

    by: Expr
    cuts: tuple[int, ...]
    values: tuple[Any, ...]


def _runs(n: Expr) -> _Runs | None:
    """A table, or a tree of choices by comparisons of one index: what `lookup` makes.

    A choice by a round number stays a tree of comparisons: the conditions of the rounds compare it with the
    same constants (sums over 200 rounds: 0.12 s, and 1.07 s by its bits).
    """
    if n.op == SELECT:
        return _Runs(n.a, n.c.cuts, n.c.values)
    if not (n.op == ITE and chooses(n) and chooses(n.b, n.a.a) and chooses(n.c, n.a.a)):
        return None
    if n.a.a.op == VAR and n.a.a.a in ROUND_NUMBERS:
        return None
    found = pieces(n)
    return _Runs(n.a.a, tuple(first for first, _, _ in found[1:]), tuple(value for _, _, value in found))


def _build_select(t: Terms, n: Expr, runs: _Runs | None = None) -> Any:
    """A tree over the bits of the index. For random tables of 16 to 2,000 bytes it is solved two to four
    times as fast as a tree of comparisons and 3 to 40 times as fast as an array; for reads of 50 to 100 cells
    of an input three to nine times as fast as comparisons."""
    runs = runs or _runs(n)
    assert runs is not None
    index, mk, w = runs.by.term, t.mk, runs.by.w
    k = index_bits(runs)
    bits = [mk(Kind.EQUAL, [mk(Kind.BV_EXTRACT, [index], [i, i]), t.one]) for i in range(k)]
    value = tree(
        runs,
        0,
        k,
        lambda value: t.operand(value, n.w),
        lambda bit, zero, one: mk(Kind.ITE, [bits[bit], one, zero]),
    )
    if k == w:
        return value
    below = mk(Kind.BV_ULT, [index, t.value(1 << k, w)])
    return mk(Kind.ITE, [below, value, t.operand(runs.values[-1], n.w)])


def _build_ite(t: Terms, n: Expr) -> Any:
    runs = _runs(n)
    if runs is not None:
        return _build_select(t, n, runs)
    return t.mk(Kind.ITE, [n.a.term, t.operand(n.b, n.w), t.operand(n.c, n.w)])


# Terms of bits of terms of bits.
BITS_OF: dict[str, Builder] = {
    VAR: lambda t, n: t.manager.mk_const(t.sort(n.w), f"{n.b}#{n.a}"),
    "not": lambda t, n: t.mk(Kind.NOT, [n.a.term]),
    "ite": _build_ite,
    "select": _build_select,
    "zext": _extended(Kind.BV_ZERO_EXTEND),
    "sext": _extended(Kind.BV_SIGN_EXTEND),
    "extract": _build_extract,
    "concat": _build_concat,
    "add": _applied(Kind.BV_ADD),
    "sub": _applied(Kind.BV_SUB),
    "mul": _applied(Kind.BV_MUL),
    "and": _bitwise(Kind.AND, Kind.BV_AND),
    "or": _bitwise(Kind.OR, Kind.BV_OR),
    "xor": _bitwise(Kind.XOR, Kind.BV_XOR),
    "shl": _applied(Kind.BV_SHL),
    "lshr": _applied(Kind.BV_SHR),
    "ashr": _applied(Kind.BV_ASHR),
    "udiv": _applied(Kind.BV_UDIV),
    "urem": _applied(Kind.BV_UREM),
    "sdiv": _applied(Kind.BV_SDIV),
    "srem": _applied(Kind.BV_SREM),
    "eq": _applied(Kind.EQUAL),
    "ult": _applied(Kind.BV_ULT),
    "slt": _applied(Kind.BV_SLT),
}


# -- floating point ---------------------------------------------------------------------------------------


def _is_negation(n: Expr) -> bool:
    return n.op == XOR and n.b.__class__ is int and n.b == 1 << (n.w - 1)


def _is_magnitude(n: Expr) -> bool:
    return bool(n.op == ZEXT and n.a.op == EXTRACT and n.a.c == 0 and n.a.w == n.w - 1 and n.a.a.w == n.w)


def _build_number(t: Terms, n: Expr) -> Any:
    """The floating-point term of a node of which `_needs` has been built."""
    w = n.w
    if n.op in NUMBER_OF and lowered(n) is None:
        return NUMBER_OF[n.op](t, n)
    if n.op == ITE:
        return t.mk(Kind.ITE, [n.a.term, t.number(n.b, w), t.number(n.c, w)])
    if _is_negation(n):
        return t.mk(Kind.FP_NEG, [t.number(n.a, w)])
    if _is_magnitude(n):
        return t.mk(Kind.FP_ABS, [t.number(n.a.a, w)])
    return t.from_bits(n.term, w)


def _rounded(kind: Kind) -> Builder:
    """A function of the operands' numbers."""
    return lambda t, n: t.mk(
        kind, [t.mode("rne"), *(t.number(x, n.w) for x in (n.a, n.b, n.c) if x is not None)]
    )


def _to_integral(mode: str) -> Builder:
    return lambda t, n: t.mk(Kind.FP_RTI, [t.mode(mode), t.number(n.a, n.w)])


def _indices(w: int) -> list[int]:
    f = FORMATS[w]
    return [f.exponent_bits, f.fraction_bits + 1]


def _build_remainder(t: Terms, n: Expr) -> Any:
    """C's fmod by IEEE's remainder, whose quotient is rounded: add the divisor back if negative."""
    x, y = t.number(n.a, n.w), t.number(n.b, n.w)
    p, q = t.mk(Kind.FP_ABS, [x]), t.mk(Kind.FP_ABS, [y])
    r = t.mk(Kind.FP_REM, [p, q])
    zero = t.manager.mk_fp_pos_zero(t.fp_sort(n.w))
    r = t.mk(Kind.ITE, [t.mk(Kind.FP_LT, [r, zero]), t.mk(Kind.FP_ADD, [t.mode("rne"), r, q]), r])
    r = t.mk(Kind.FP_ABS, [r])
    return t.mk(Kind.ITE, [t.mk(Kind.FP_IS_NEG, [x]), t.mk(Kind.FP_NEG, [r]), r])


# The number of a result whose operands have their numbers (or bits, for an integer).
NUMBER_OF: dict[str, Builder] = {
    "fadd": _rounded(Kind.FP_ADD),
    "fsub": _rounded(Kind.FP_SUB),
    "fmul": _rounded(Kind.FP_MUL),
    "fdiv": _rounded(Kind.FP_DIV),
    "ffma": _rounded(Kind.FP_FMA),
    "fsqrt": _rounded(Kind.FP_SQRT),
    "frem": _build_remainder,
    **{op: _to_integral(mode) for mode, op in ROUND.items()},
    "fp_convert": lambda t, n: t.mk(
        Kind.FP_TO_FP_FROM_FP, [t.mode("rne"), t.number(n.a, n.a.w)], _indices(n.w)
    ),
    "si_to_fp": lambda t, n: t.mk(
        Kind.FP_TO_FP_FROM_SBV, [t.mode("rne"), t.vector(n.a, n.a.w)], _indices(n.w)
    ),
}


def _build_pattern(t: Terms, n: Expr) -> Any:
    """The bits of a floating-point result."""
    known = t.patterns.get(n)
    if known is not None:
        return known[0]
    w = n.w
    number = t.numbers[n]
    pattern = t.manager.mk_const(t.sort(w), f"bits#{n.id}")
    nan = t.mk(Kind.FP_IS_NAN, [number])
    side = t.mk(Kind.OR, [nan, t.mk(Kind.EQUAL, [t.from_bits(pattern, w), number])])
    bits = pattern
    if n.op != "si_to_fp":
        bits = t.mk(Kind.ITE, [nan, _nan_pattern(t, n), pattern])
    t.patterns[n] = (bits, side)
    return bits


def _nan_pattern(t: Terms, n: Expr) -> Any:
    """The bits of a result that is a NaN: the first NaN operand quieted, else the default one."""
    w = n.w
    result = t.value(FORMATS[w].default_nan, w)
    if n.op == "fp_convert":
        return _converted_nan(t, n.a.term, n.a.w, w)
    for x in reversed([v for v in (n.a, n.b, n.c) if v is not None]):
        quiet = t.mk(Kind.BV_OR, [t.operand(x, w), t.value(FORMATS[w].quiet, w)])
        result = t.mk(Kind.ITE, [t.mk(Kind.FP_IS_NAN, [t.number(x, w)]), quiet, result])
    return result


def _converted_nan(t: Terms, bits: Any, w_from: int, w: int) -> Any:
    f, g = FORMATS[w_from], FORMATS[w]
    keep = min(f.fraction_bits, g.fraction_bits)
    sign = t.mk(Kind.BV_EXTRACT, [bits], [w_from - 1, w_from - 1])
    payload = t.mk(Kind.BV_EXTRACT, [bits], [f.fraction_bits - 1, f.fraction_bits - keep])
    exponent = t.value(MASK[g.exponent_bits], g.exponent_bits)
    parts = [sign, exponent, payload]
    if keep < g.fraction_bits:
        parts.append(t.manager.mk_bv_value(t.manager.mk_bv_sort(g.fraction_bits - keep), 0))
    return t.mk(Kind.BV_OR, [t.mk(Kind.BV_CONCAT, parts), t.value(g.quiet, w)])


def _build_to_int(t: Terms, n: Expr) -> Any:
    """Conversion to a signed integer; the least one if out of range."""
    w, k = n.a.w, n.w
    f = FORMATS[w]
    number = t.numbers[n.a]
    whole = t.mk(Kind.FP_RTI, [t.mode("rtz"), number])
    if k - 1 > f.bias:  # all finite numbers are in range
        fits = t.mk(
            Kind.NOT, [t.mk(Kind.OR, [t.mk(Kind.FP_IS_NAN, [number]), t.mk(Kind.FP_IS_INF, [number])])]
        )
    else:
        limit = (f.bias + k - 1) << f.fraction_bits  # 2**(k-1)
        high = t.from_bits(t.value(limit, w), w)
        low = t.from_bits(t.value(limit | f.sign, w), w)
        fits = t.mk(Kind.AND, [t.mk(Kind.FP_LEQ, [low, whole]), t.mk(Kind.FP_LT, [whole, high])])
    converted = t.mk(Kind.FP_TO_SBV, [t.mode("rtz"), number], [k])
    return t.mk(Kind.ITE, [fits, converted, t.value(1 << (k - 1), k)])


def _compared(kind: Kind) -> Builder:
    def build(t: Terms, n: Expr) -> Any:
        w = n.a.w if n.a.__class__ is Expr else n.b.w
        return t.mk(kind, [t.number(n.a, w), t.number(n.b, w)])

    return build


# The bits of a node over numbers.
FP_BITS_OF: dict[str, Builder] = {
    **dict.fromkeys(RESULTS, _build_pattern),
    "feq": _compared(Kind.FP_EQUAL),
    "flt": _compared(Kind.FP_LT),
    "fle": _compared(Kind.FP_LEQ),
    "fp_to_si": _build_to_int,
}


def _build_other(t: Terms, n: Expr) -> Any:
    """The term of bits of a node that is no function of bits only."""
    bits = lowered(n)
    return FP_BITS_OF[n.op](t, n) if bits is None else t.operand(bits, n.w)


# -- walking ----------------------------------------------------------------------------------------------


def _needs(n: Expr, kind: int) -> Iterator[Need]:
    """The terms that a term is built of."""
    op = n.op
    if kind == BITS and op in BITS_OF:
        runs = _runs(n) if op == ITE else None
        for x in (n.a, n.b, n.c) if runs is None else (runs.by, *runs.values):
            if x.__class__ is Expr:
                yield x, BITS
        return
    bits = lowered(n)
    if bits is not None:
        if kind == NUMBER:
            yield n, BITS
        elif bits.__class__ is Expr:
            yield bits, BITS
    elif kind == BITS:
        if op in RESULTS:
            yield n, NUMBER
            if op != "si_to_fp":  # for NaNs
                for x in operands(n):
                    yield x, BITS
                    if op != "fp_convert":
                        yield x, NUMBER
        else:
            for x in operands(n):
                yield x, NUMBER
    elif op == "si_to_fp":
        yield n.a, BITS
    elif op in RESULTS:
        for x in operands(n):
            yield x, NUMBER
    elif op == ITE:
        yield n.a, BITS
        for x in (n.b, n.c):
            if x.__class__ is Expr:
                yield x, NUMBER
    elif _is_negation(n):
        yield n.a, NUMBER
    elif _is_magnitude(n):
        yield n.a.a, NUMBER
    else:
        yield n, BITS


PROCESS = Terms(keep=True)
"""The terms of an exploration, whose queries share most of their nodes."""
TERMS = PROCESS.manager
term = PROCESS.term
side_conditions = PROCESS.side_conditions
