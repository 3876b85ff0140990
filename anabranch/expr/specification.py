"""The built-in operators: one entry for each kind of node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from . import fp, fp_smtlib
from .arith import add, ashr, lshr, mul, shl, sub
from .bits import and_, or_, xor
from .boolean import ite, not_
from .casts import concat, extract, sext, zext
from .compare import eq, slt, ult
from .division import sdiv, srem, udiv, urem
from .node import MASK, Expr, low_width, operand_width
from .registry import Meaning, Operator, Widths, Writer, meaning, register
from .select import index_bits, select, tree
from .smtlib import Script, constant
from .x87_bits import lower

OfTwo: TypeAlias = Callable[[Any, Any, int], Any]

# -- widths of operands, and constructors called with them ------------------------------------------------


def _one(n: Expr) -> tuple[int, ...]:
    return (n.a.w,)


def _two(n: Expr) -> tuple[int, ...]:
    return n.w, n.w


def _compared(n: Expr) -> tuple[int, ...]:
    w = operand_width(n)
    return w, w


def _cast(construct: Callable[[Any, int, int], Any]) -> Meaning:
    return lambda n, a, b, c: construct(a, n.a.w, n.w)


def _same(construct: OfTwo) -> Meaning:
    return lambda n, a, b, c: construct(a, b, n.w)


def _truth(construct: OfTwo) -> Meaning:
    return lambda n, a, b, c: construct(a, b, n.a.w if n.a.__class__ is Expr else n.b.w)


# -- SMT-LIB ----------------------------------------------------------------------------------------------


def _applied(name: str) -> Writer:
    return lambda n, s: f"({name} {s.operands(n)})"


def _bitwise(name: str) -> Writer:
    return lambda n, s: f"({name if n.w == 1 else 'bv' + name} {s.operands(n)})"


def _extended(name: str) -> Writer:
    return lambda n, s: f"((_ {name} {n.w - n.a.w}) {s.vector(n.a, n.a.w)})"


def _extracted(n: Expr, s: Script) -> str:
    bits = f"((_ extract {n.c + n.w - 1} {n.c}) {s.operands(n)})"
    return f"(= {bits} #b1)" if n.w == 1 else bits


def _concatenated(n: Expr, s: Script) -> str:
    k = low_width(n)
    return f"(concat {s.vector(n.a, n.w - k)} {s.vector(n.b, k)})"


def _selected(n: Expr, s: Script) -> str:
    """A tree over the bits of the index, for indices in which no higher bit is set."""
    t, w = n.c, n.a.w
    k = index_bits(t)
    bits = [f"(= ((_ extract {i} {i}) i) #b0)" for i in range(k)]
    text = tree(
        t,
        0,
        k,
        lambda value: constant(value, n.w),
        lambda bit, zero, one: f"(ite {bits[bit]} {zero} {one})",
    )
    if k < w:
        text = f"(ite (bvult i {constant(1 << k, w)}) {text} {constant(t.values[-1], n.w)})"
    return f"(let ((i {s.operands(n)})) {text})"


# -- bit vectors and Booleans -----------------------------------------------------------------------------


def _vector(name: str, f: OfTwo, text: Writer, python: str | None = None, commutes: bool = False) -> Operator:
    """Two operands of the width of the result. Constructors fold constants: the slow way to evaluate."""
    evaluate = _same(f) if python is None else meaning(python)
    return Operator(name, _two, evaluate, _same(f), text, python, commutes)


def _comparison(name: str, f: OfTwo, smtlib: str, python: str, commutes: bool = False) -> Operator:
    return Operator(name, _compared, meaning(python), _truth(f), _applied(smtlib), python, commutes)


BIT_VECTORS = (
    Operator("not", _one, lambda n, a, b, c: not a, lambda n, a, b, c: not_(a), _applied("not"), "not {a}"),
    Operator(
        "ite",
        lambda n: (1, n.w, n.w),
        lambda n, a, b, c: b if a else c,
        lambda n, a, b, c: ite(a, b, c, n.w),
        _applied("ite"),
        "{b} if {a} else {c}",
    ),
    Operator(
        "select",
        _one,
        lambda n, a, b, c: c.at(a),
        lambda n, a, b, c: select(a, c),
        _selected,
        "{c}.at({a})",
    ),
    Operator("zext", _one, lambda n, a, b, c: int(a), _cast(zext), _extended("zero_extend"), "+{a}"),
    Operator("sext", _one, _cast(sext), _cast(sext), _extended("sign_extend")),
    Operator(
        "extract",
        _one,
        lambda n, a, b, c: a >> c & MASK[n.w] if n.w > 1 else a >> c & 1 == 1,
        lambda n, a, b, c: extract(a, c, n.w),
        _extracted,
        "{a} >> {c} & {m}{truth}",
    ),
    Operator(
        "concat",
        lambda n: (n.w - low_width(n), low_width(n)),
        lambda n, a, b, c: a << low_width(n) | b,
        lambda n, a, b, c: concat(a, n.w - low_width(n), b, low_width(n)),
        _concatenated,
        "{a} << {last} | {b}",
    ),
    _vector("add", add, _applied("bvadd"), "({a} + {b}) & {m}", commutes=True),
    _vector("sub", sub, _applied("bvsub"), "({a} - {b}) & {m}"),
    _vector("mul", mul, _applied("bvmul"), "{a} * {b} & {m}", commutes=True),
    _vector("and", and_, _bitwise("and"), "{a} & {b}", commutes=True),
    _vector("or", or_, _bitwise("or"), "{a} | {b}", commutes=True),
    _vector("xor", xor, _bitwise("xor"), "{a} ^ {b}", commutes=True),
    _vector("shl", shl, _applied("bvshl"), "({a} << {b} & {m} if {b} < {w} else 0)"),
    _vector("lshr", lshr, _applied("bvlshr"), "({a} >> {b} if {b} < {w} else 0)"),
    _vector("ashr", ashr, _applied("bvashr")),
    _vector("udiv", udiv, _applied("bvudiv"), "({a} // {b} if {b} else {m})"),
    _vector("urem", urem, _applied("bvurem"), "({a} % {b} if {b} else {a})"),
    _vector("sdiv", sdiv, _applied("bvsdiv")),
    _vector("srem", srem, _applied("bvsrem")),
    _comparison("eq", eq, "=", "{a} == {b}", commutes=True),
    _comparison("ult", ult, "bvult", "{a} < {b}"),
    _comparison("slt", slt, "bvslt", "({a} ^ {s}) < ({b} ^ {s})"),
)

# -- floating point ---------------------------------------------------------------------------------------


def _fp(name: str, widths: Widths, meaning: Meaning, smtlib: Writer) -> Operator:
    """To fold constants is no detour here: most of the time goes into the number."""
    return Operator(name, widths, meaning, meaning, smtlib, lower=lower)


def _result(name: str) -> Writer:
    return fp_smtlib.result(fp_smtlib.applied(name))


def _rounded(mode: str, construct: Callable[[Any, int], Any]) -> Operator:
    text = _result(f"fp.roundToIntegral {mode.upper()}")
    return _fp(fp.ROUND[mode], _one, lambda n, a, b, c: construct(a, n.w), text)


FLOATING_POINT = (
    _fp("fadd", _two, _same(fp.fadd), _result("fp.add RNE")),
    _fp("fsub", _two, _same(fp.fsub), _result("fp.sub RNE")),
    _fp("fmul", _two, _same(fp.fmul), _result("fp.mul RNE")),
    _fp("fdiv", _two, _same(fp.fdiv), _result("fp.div RNE")),
    _fp("frem", _two, _same(fp.frem), fp_smtlib.result(fp_smtlib.remainder)),
    _fp("fsqrt", _one, lambda n, a, b, c: fp.fsqrt(a, n.w), _result("fp.sqrt RNE")),
    _fp("ffma", lambda n: (n.w, n.w, n.w), lambda n, a, b, c: fp.ffma(a, b, c, n.w), _result("fp.fma RNE")),
    _rounded("rtz", fp.ftrunc),
    _rounded("rtp", fp.fceil),
    _rounded("rtn", fp.ffloor),
    _rounded("rne", fp.frint),
    _rounded("rna", fp.fround),
    _fp("feq", _compared, _truth(fp.feq), fp_smtlib.applied("fp.eq")),
    _fp("flt", _compared, _truth(fp.flt), fp_smtlib.applied("fp.lt")),
    _fp("fle", _compared, _truth(fp.fle), fp_smtlib.applied("fp.leq")),
    _fp("fp_convert", _one, _cast(fp.fp_convert), fp_smtlib.converted),
    _fp("si_to_fp", _one, _cast(fp.si_to_fp), fp_smtlib.of_integer),
    _fp("fp_to_si", _one, _cast(fp.fp_to_si), fp_smtlib.to_integer),
)

for _operator in (*BIT_VECTORS, *FLOATING_POINT):
    register(_operator)
