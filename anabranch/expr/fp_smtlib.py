"""Floating-point nodes as SMT-LIB text.

A result is defined twice: `f<id>` is the number, `t<id>` its bits. The bits are a declared constant with an
assertion, since SMT-LIB has no function from a number to its bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .fp import FFMA, FP_CONVERT, FP_TO_SI, FREM, FSQRT, RESULTS, ROUND, SI_TO_FP
from .fpvalue import FORMATS
from .node import Expr
from .smtlib import MORE, constant

Text = Callable[[Any, int], str]
_ARITHMETIC = {"fadd": "fp.add", "fsub": "fp.sub", "fmul": "fp.mul", "fdiv": "fp.div"}
_COMPARISONS = {"feq": "fp.eq", "flt": "fp.lt", "fle": "fp.leq"}
_ROUND_MODE = {op: mode.upper() for mode, op in ROUND.items()}


def _to_fp(w: int) -> str:
    f = FORMATS[w]
    return f"(_ to_fp {f.exponent_bits} {f.fraction_bits + 1})"


def _sort(w: int) -> str:
    f = FORMATS[w]
    return f"(_ FloatingPoint {f.exponent_bits} {f.fraction_bits + 1})"


def _number(x: Any, w: int, text: Text) -> str:
    """An operand as a number."""
    if x.__class__ is Expr and x.op in RESULTS:
        return f"f{x.id}"
    return f"({_to_fp(w)} {text(x, w)})"


def _result_number(n: Expr, text: Text) -> str:
    op, w = n.op, n.w
    if op == SI_TO_FP:
        return f"({_to_fp(w)} RNE {text(n.a, n.a.w)})"
    if op == FP_CONVERT:
        return f"({_to_fp(w)} RNE {_number(n.a, n.a.w, text)})"
    numbers = [_number(x, w, text) for x in (n.a, n.b, n.c) if x is not None]
    if op in _ARITHMETIC:
        return f"({_ARITHMETIC[op]} RNE {' '.join(numbers)})"
    if op == FFMA:
        return f"(fp.fma RNE {' '.join(numbers)})"
    if op == FSQRT:
        return f"(fp.sqrt RNE {numbers[0]})"
    if op in _ROUND_MODE:
        return f"(fp.roundToIntegral {_ROUND_MODE[op]} {numbers[0]})"
    assert op == FREM
    x, y = numbers
    zero = f"({_to_fp(w)} {constant(0, w)})"
    r = f"(fp.rem (fp.abs {x}) (fp.abs {y}))"
    r = f"(let ((r {r})) (fp.abs (ite (fp.lt r {zero}) (fp.add RNE r (fp.abs {y})) r)))"
    return f"(let ((m {r})) (ite (fp.isNegative {x}) (fp.neg m) m))"


def _nan_bits(n: Expr, text: Text) -> str:
    """The bits of a result that is a NaN."""
    w = n.w
    g = FORMATS[w]
    if n.op == FP_CONVERT:
        f, bits = FORMATS[n.a.w], text(n.a, n.a.w)
        keep = min(f.fraction_bits, g.fraction_bits)
        sign = f"((_ extract {n.a.w - 1} {n.a.w - 1}) {bits})"
        payload = f"((_ extract {f.fraction_bits - 1} {f.fraction_bits - keep}) {bits})"
        pad = f" {constant(0, g.fraction_bits - keep)}" if keep < g.fraction_bits else ""
        exponent = "#b" + "1" * g.exponent_bits
        return f"(bvor (concat {sign} {exponent} {payload}{pad}) {constant(g.quiet, w)})"
    result = constant(g.default_nan, w)
    for x in reversed([v for v in (n.a, n.b, n.c) if v is not None]):
        quiet = f"(bvor {text(x, w)} {constant(g.quiet, w)})"
        result = f"(ite (fp.isNaN {_number(x, w, text)}) {quiet} {result})"
    return result


def _result(n: Expr, text: Text) -> tuple[list[str], str]:
    w, name = n.w, f"f{n.id}"
    side = [
        f"(define-fun {name} () {_sort(w)} {_result_number(n, text)})",
        f"(declare-const bits{n.id} (_ BitVec {w}))",
        f"(assert (or (fp.isNaN {name}) (= ({_to_fp(w)} bits{n.id}) {name})))",
    ]
    if n.op == SI_TO_FP:
        return side, f"bits{n.id}"
    return side, f"(ite (fp.isNaN {name}) {_nan_bits(n, text)} bits{n.id})"


def _comparison(n: Expr, text: Text) -> tuple[list[str], str]:
    w = n.a.w if n.a.__class__ is Expr else n.b.w
    return [], f"({_COMPARISONS[n.op]} {_number(n.a, w, text)} {_number(n.b, w, text)})"


def _to_int(n: Expr, text: Text) -> tuple[list[str], str]:
    w, k = n.a.w, n.w
    f = FORMATS[w]
    x = _number(n.a, w, text)
    if k - 1 > f.bias:
        fits = f"(not (or (fp.isNaN {x}) (fp.isInfinite {x})))"
    else:
        limit = (f.bias + k - 1) << f.fraction_bits
        low, high = (f"({_to_fp(w)} {constant(v, w)})" for v in (limit | f.sign, limit))
        fits = f"(let ((i (fp.roundToIntegral RTZ {x}))) (and (fp.leq {low} i) (fp.lt i {high})))"
    return [], f"(ite {fits} ((_ fp.to_sbv {k}) RTZ {x}) {constant(1 << (k - 1), k)})"


def install() -> None:
    """Gives the printer its floating-point operators."""
    for op in RESULTS:
        MORE[op] = _result
    for op in _COMPARISONS:
        MORE[op] = _comparison
    MORE[FP_TO_SI] = _to_int
