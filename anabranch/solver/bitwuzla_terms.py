"""Expressions as Bitwuzla terms, kept on the nodes.

A floating-point result has two terms: the number (`fp`) that further floating-point operations use, and its
bit pattern (`bits`). Bitwuzla has no way from a number to its bits, so the bits are a fresh constant with a
side condition, which whoever asserts a term over it asserts too (`side_conditions`). What Bitwuzla does not
know is lowered (`anabranch.expr.lowering`): the 80-bit numbers of x87, a format that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from bitwuzla import Kind, RoundingMode, TermManager

from anabranch.expr import MASK, Expr
from anabranch.expr.fp import RESULTS, ROUND
from anabranch.expr.fpvalue import FORMATS
from anabranch.expr.lowering import lowered
from anabranch.expr.node import EXTRACT, ITE, VAR, XOR, ZEXT, low_width, operands

# One manager for the whole process: a manager that only a reference cycle can reach crashes when collected.
TERMS = TermManager()
_mk = TERMS.mk_term
_BOOL = TERMS.mk_bool_sort()
_ONE = TERMS.mk_bv_value(TERMS.mk_bv_sort(1), 1)
_ZERO = TERMS.mk_bv_value(TERMS.mk_bv_sort(1), 0)
_TRUE = TERMS.mk_true()
_FALSE = TERMS.mk_false()
_sorts: dict[int, Any] = {}

Builder: TypeAlias = Callable[[Expr], Any]


def sort(w: int) -> Any:
    """The sort of values of width w: Booleans for 1."""
    if w == 1:
        return _BOOL
    s = _sorts.get(w)
    if s is None:
        s = _sorts[w] = TERMS.mk_bv_sort(w)
    return s


def value_term(v: int, w: int) -> Any:
    """A constant of width w."""
    if w == 1:
        return _TRUE if v else _FALSE
    return TERMS.mk_bv_value(sort(w), v)


def _operand(x: Any, w: int) -> Any:
    return x.term if x.__class__ is Expr else value_term(x, w)


def _vector(x: Any, w: int) -> Any:
    """An operand as a bit vector."""
    t = _operand(x, w)
    return _mk(Kind.ITE, [t, _ONE, _ZERO]) if w == 1 else t


def _applied(kind: Kind) -> Builder:
    """A function of two operands of one width."""

    def build(n: Expr) -> Any:
        w = n.a.w if n.a.__class__ is Expr else n.b.w
        return _mk(kind, [_operand(n.a, w), _operand(n.b, w)])

    return build


def _bitwise(boolean: Kind, vector: Kind) -> Builder:
    return lambda n: _mk(vector if n.w > 1 else boolean, [n.a.term, _operand(n.b, n.w)])


def _extended(kind: Kind) -> Builder:
    return lambda n: _mk(kind, [_vector(n.a, n.a.w)], [n.w - n.a.w])


def _build_extract(n: Expr) -> Any:
    t = _mk(Kind.BV_EXTRACT, [n.a.term], [n.c + n.w - 1, n.c])
    return _mk(Kind.EQUAL, [t, _ONE]) if n.w == 1 else t


def _build_concat(n: Expr) -> Any:
    k = low_width(n)
    return _mk(Kind.BV_CONCAT, [_vector(n.a, n.w - k), _vector(n.b, k)])


# Terms of bits of terms of bits.
BITS_OF: dict[str, Builder] = {
    VAR: lambda n: TERMS.mk_const(sort(n.w), f"{n.b}#{n.a}"),
    "not": lambda n: _mk(Kind.NOT, [n.a.term]),
    "ite": lambda n: _mk(Kind.ITE, [n.a.term, _operand(n.b, n.w), _operand(n.c, n.w)]),
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

_numbers: dict[Expr, Any] = {}  # floating-point terms
_patterns: dict[Expr, tuple[Any, Any]] = {}  # floating-point result -> its bits, their side condition
_sides: dict[Expr, tuple[Any, ...]] = {}
_fp_sorts = {w: TERMS.mk_fp_sort(f.exponent_bits, f.fraction_bits + 1) for w, f in FORMATS.items() if f.code}
_MODES = {mode: TERMS.mk_rm_value(getattr(RoundingMode, mode.upper())) for mode in ROUND}
_RNE = _MODES["rne"]


def _from_bits(bits: Any, w: int) -> Any:
    return _mk(Kind.FP_TO_FP_FROM_BV, [bits], _indices(w))


def _number(x: Any, w: int) -> Any:
    """The floating-point term of an operand."""
    return _numbers[x] if x.__class__ is Expr else _from_bits(value_term(x, w), w)


def _is_negation(n: Expr) -> bool:
    return n.op == XOR and n.b.__class__ is int and n.b == 1 << (n.w - 1)


def _is_magnitude(n: Expr) -> bool:
    return bool(n.op == ZEXT and n.a.op == EXTRACT and n.a.c == 0 and n.a.w == n.w - 1 and n.a.a.w == n.w)


def _build_number(n: Expr) -> Any:
    """The floating-point term of a node of which `_needs` has been built."""
    w = n.w
    if n.op in NUMBER_OF and lowered(n) is None:
        return NUMBER_OF[n.op](n)
    if n.op == ITE:
        return _mk(Kind.ITE, [n.a.term, _number(n.b, w), _number(n.c, w)])
    if _is_negation(n):
        return _mk(Kind.FP_NEG, [_number(n.a, w)])
    if _is_magnitude(n):
        return _mk(Kind.FP_ABS, [_number(n.a.a, w)])
    return _from_bits(n.term, w)


def _rounded(kind: Kind) -> Builder:
    """A function of the operands' numbers."""
    return lambda n: _mk(kind, [_RNE, *(_number(x, n.w) for x in (n.a, n.b, n.c) if x is not None)])


def _to_integral(mode: Any) -> Builder:
    return lambda n: _mk(Kind.FP_RTI, [mode, _number(n.a, n.w)])


def _indices(w: int) -> list[int]:
    f = FORMATS[w]
    return [f.exponent_bits, f.fraction_bits + 1]


def _build_remainder(n: Expr) -> Any:
    """C's fmod by IEEE's remainder, whose quotient is rounded: add the divisor back if negative."""
    x, y = _number(n.a, n.w), _number(n.b, n.w)
    p, q = _mk(Kind.FP_ABS, [x]), _mk(Kind.FP_ABS, [y])
    r = _mk(Kind.FP_REM, [p, q])
    zero = TERMS.mk_fp_pos_zero(_fp_sorts[n.w])
    r = _mk(Kind.ITE, [_mk(Kind.FP_LT, [r, zero]), _mk(Kind.FP_ADD, [_RNE, r, q]), r])
    r = _mk(Kind.FP_ABS, [r])
    return _mk(Kind.ITE, [_mk(Kind.FP_IS_NEG, [x]), _mk(Kind.FP_NEG, [r]), r])


# The number of a result whose operands have their numbers (or bits, for an integer).
NUMBER_OF: dict[str, Builder] = {
    "fadd": _rounded(Kind.FP_ADD),
    "fsub": _rounded(Kind.FP_SUB),
    "fmul": _rounded(Kind.FP_MUL),
    "fdiv": _rounded(Kind.FP_DIV),
    "ffma": _rounded(Kind.FP_FMA),
    "fsqrt": _rounded(Kind.FP_SQRT),
    "frem": _build_remainder,
    **{op: _to_integral(_MODES[mode]) for mode, op in ROUND.items()},
    "fp_convert": lambda n: _mk(Kind.FP_TO_FP_FROM_FP, [_RNE, _number(n.a, n.a.w)], _indices(n.w)),
    "si_to_fp": lambda n: _mk(Kind.FP_TO_FP_FROM_SBV, [_RNE, _vector(n.a, n.a.w)], _indices(n.w)),
}


def _build_pattern(n: Expr) -> Any:
    """The bits of a floating-point result."""
    known = _patterns.get(n)
    if known is not None:
        return known[0]
    w = n.w
    number = _numbers[n]
    pattern = TERMS.mk_const(sort(w), f"bits#{n.id}")
    nan = _mk(Kind.FP_IS_NAN, [number])
    side = _mk(Kind.OR, [nan, _mk(Kind.EQUAL, [_from_bits(pattern, w), number])])
    bits = pattern
    if n.op != "si_to_fp":
        bits = _mk(Kind.ITE, [nan, _nan_pattern(n), pattern])
    _patterns[n] = (bits, side)
    return bits


def _nan_pattern(n: Expr) -> Any:
    """The bits of a result that is a NaN: the first NaN operand quieted, else the default one."""
    w = n.w
    result = value_term(FORMATS[w].default_nan, w)
    if n.op == "fp_convert":
        return _converted_nan(n.a.term, n.a.w, w)
    for x in reversed([v for v in (n.a, n.b, n.c) if v is not None]):
        quiet = _mk(Kind.BV_OR, [_operand(x, w), value_term(FORMATS[w].quiet, w)])
        result = _mk(Kind.ITE, [_mk(Kind.FP_IS_NAN, [_number(x, w)]), quiet, result])
    return result


def _converted_nan(bits: Any, w_from: int, w: int) -> Any:
    f, g = FORMATS[w_from], FORMATS[w]
    keep = min(f.fraction_bits, g.fraction_bits)
    sign = _mk(Kind.BV_EXTRACT, [bits], [w_from - 1, w_from - 1])
    payload = _mk(Kind.BV_EXTRACT, [bits], [f.fraction_bits - 1, f.fraction_bits - keep])
    exponent = value_term(MASK[g.exponent_bits], g.exponent_bits)
    parts = [sign, exponent, payload]
    if keep < g.fraction_bits:
        parts.append(TERMS.mk_bv_value(TERMS.mk_bv_sort(g.fraction_bits - keep), 0))
    return _mk(Kind.BV_OR, [_mk(Kind.BV_CONCAT, parts), value_term(g.quiet, w)])


def _build_to_int(n: Expr) -> Any:
    """Conversion to a signed integer; the least one if out of range."""
    w, k = n.a.w, n.w
    f = FORMATS[w]
    number = _numbers[n.a]
    whole = _mk(Kind.FP_RTI, [_MODES["rtz"], number])
    if k - 1 > f.bias:  # all finite numbers are in range
        fits = _mk(Kind.NOT, [_mk(Kind.OR, [_mk(Kind.FP_IS_NAN, [number]), _mk(Kind.FP_IS_INF, [number])])])
    else:
        limit = (f.bias + k - 1) << f.fraction_bits  # 2**(k-1)
        high = _from_bits(value_term(limit, w), w)
        low = _from_bits(value_term(limit | f.sign, w), w)
        fits = _mk(Kind.AND, [_mk(Kind.FP_LEQ, [low, whole]), _mk(Kind.FP_LT, [whole, high])])
    converted = _mk(Kind.FP_TO_SBV, [_MODES["rtz"], number], [k])
    return _mk(Kind.ITE, [fits, converted, value_term(1 << (k - 1), k)])


def _compared(kind: Kind) -> Builder:
    def build(n: Expr) -> Any:
        w = n.a.w if n.a.__class__ is Expr else n.b.w
        return _mk(kind, [_number(n.a, w), _number(n.b, w)])

    return build


# The bits of a node over numbers.
FP_BITS_OF: dict[str, Builder] = {
    **dict.fromkeys(RESULTS, _build_pattern),
    "feq": _compared(Kind.FP_EQUAL),
    "flt": _compared(Kind.FP_LT),
    "fle": _compared(Kind.FP_LEQ),
    "fp_to_si": _build_to_int,
}


def _build_other(n: Expr) -> Any:
    """The term of bits of a node that is no function of bits only."""
    bits = lowered(n)
    return FP_BITS_OF[n.op](n) if bits is None else _operand(bits, n.w)


# -- walking ----------------------------------------------------------------------------------------------

BITS, NUMBER = 0, 1
Need = tuple[Expr, int]


def _needs(n: Expr, kind: int) -> Iterator[Need]:
    """The terms that a term is built of."""
    op = n.op
    if kind == BITS and op in BITS_OF:
        for x in (n.a, n.b, n.c):
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


def _built(need: Need) -> bool:
    return need[0].term is not None if need[1] == BITS else need[0] in _numbers


def term(e: Expr) -> Any:
    """The Bitwuzla term of a node."""
    if e.term is not None:
        return e.term
    stack: list[Need] = [(e, BITS)]
    while stack:
        need = stack[-1]
        if not _built(need):
            n, kind = need
            waiting = [other for other in _needs(n, kind) if not _built(other)]
            if waiting:
                stack.extend(waiting)
                continue
            if kind == BITS:
                n.term = BITS_OF.get(n.op, _build_other)(n)
            else:
                _numbers[n] = _build_number(n)
        stack.pop()
    return e.term


def side_conditions(e: Expr) -> tuple[Any, ...]:
    """The conditions to assert together with the term of e."""
    if not _patterns:
        return ()
    found = _sides.get(e)
    if found is None:
        seen: set[Need] = {(e, BITS)}
        stack: list[Need] = [(e, BITS)]
        out: list[Any] = []
        while stack:
            n, kind = stack.pop()
            if kind == BITS and n in _patterns:
                out.append(_patterns[n][1])
            for need in _needs(n, kind):
                if need not in seen:
                    seen.add(need)
                    stack.append(need)
        found = _sides[e] = tuple(out)
    return found
