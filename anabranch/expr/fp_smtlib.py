"""Floating-point nodes as SMT-LIB text.

A result is defined twice: `f<id>` is the number, `t<id>` its bits. The bits are a declared constant with an
assertion, since SMT-LIB has no function from a number to its bits.
"""

from __future__ import annotations

from .fp import RESULTS
from .fpvalue import FORMATS
from .node import Expr, Value
from .registry import OPERATORS, Writer
from .smtlib import Script, constant


def _to_fp(w: int) -> str:
    f = FORMATS[w]
    return f"(_ to_fp {f.exponent_bits} {f.fraction_bits + 1})"


def _sort(w: int) -> str:
    f = FORMATS[w]
    return f"(_ FloatingPoint {f.exponent_bits} {f.fraction_bits + 1})"


def _number(x: Value, w: int, s: Script) -> str:
    """An operand as a number."""
    if x.__class__ is Expr and x.op in RESULTS:
        return f"f{x.id}"
    return f"({_to_fp(w)} {s.text(x, w)})"


def _numbers(n: Expr, s: Script) -> list[tuple[Value, int, str]]:
    """The operands, their widths and numbers."""
    widths = OPERATORS[n.op].widths(n)
    return [(x, w, _number(x, w, s)) for x, w in zip((n.a, n.b, n.c), widths, strict=False)]


def applied(name: str) -> Writer:
    """A function of the numbers."""
    return lambda n, s: f"({name} {' '.join(number for _, _, number in _numbers(n, s))})"


def remainder(n: Expr, s: Script) -> str:
    """C's fmod by IEEE's remainder, whose quotient is rounded."""
    x, y = (number for _, _, number in _numbers(n, s))
    zero = f"({_to_fp(n.w)} {constant(0, n.w)})"
    r = f"(fp.rem (fp.abs {x}) (fp.abs {y}))"
    r = f"(let ((r {r})) (fp.abs (ite (fp.lt r {zero}) (fp.add RNE r (fp.abs {y})) r)))"
    return f"(let ((m {r})) (ite (fp.isNegative {x}) (fp.neg m) m))"


def _nan_of_operands(n: Expr, s: Script) -> str:
    """The first NaN operand quieted, else the default one."""
    g = FORMATS[n.w]
    result = constant(g.default_nan, n.w)
    for x, w, number in reversed(_numbers(n, s)):
        result = f"(ite (fp.isNaN {number}) (bvor {s.text(x, w)} {constant(g.quiet, w)}) {result})"
    return result


def _nan_converted(n: Expr, s: Script) -> str:
    """The operand's NaN in another format."""
    f, g, bits = FORMATS[n.a.w], FORMATS[n.w], s.text(n.a, n.a.w)
    keep = min(f.fraction_bits, g.fraction_bits)
    sign = f"((_ extract {n.a.w - 1} {n.a.w - 1}) {bits})"
    payload = f"((_ extract {f.fraction_bits - 1} {f.fraction_bits - keep}) {bits})"
    pad = f" {constant(0, g.fraction_bits - keep)}" if keep < g.fraction_bits else ""
    exponent = "#b" + "1" * g.exponent_bits
    return f"(bvor (concat {sign} {exponent} {payload}{pad}) {constant(g.quiet, n.w)})"


def result(number: Writer, nan: Writer | None = _nan_of_operands) -> Writer:
    """The bits of a result, given how its number is written and, if it can be one, its NaN."""

    def write(n: Expr, s: Script) -> str:
        w, name, bits = n.w, f"f{n.id}", f"bits{n.id}"
        s.lines += (
            f"(define-fun {name} () {_sort(w)} {number(n, s)})",
            f"(declare-const {bits} (_ BitVec {w}))",
            f"(assert (or (fp.isNaN {name}) (= ({_to_fp(w)} {bits}) {name})))",
        )
        return bits if nan is None else f"(ite (fp.isNaN {name}) {nan(n, s)} {bits})"

    return write


# Numbers of another format, and of signed integers.
converted = result(lambda n, s: f"({_to_fp(n.w)} RNE {_number(n.a, n.a.w, s)})", _nan_converted)
of_integer = result(lambda n, s: f"({_to_fp(n.w)} RNE {s.text(n.a, n.a.w)})", None)


def to_integer(n: Expr, s: Script) -> str:
    """Conversion to a signed integer; the least one if out of range."""
    w, k = n.a.w, n.w
    f = FORMATS[w]
    x = _number(n.a, w, s)
    if k - 1 > f.bias:
        fits = f"(not (or (fp.isNaN {x}) (fp.isInfinite {x})))"
    else:
        limit = (f.bias + k - 1) << f.fraction_bits
        low, high = (f"({_to_fp(w)} {constant(v, w)})" for v in (limit | f.sign, limit))
        fits = f"(let ((i (fp.roundToIntegral RTZ {x}))) (and (fp.leq {low} i) (fp.lt i {high})))"
    return f"(ite {fits} ((_ fp.to_sbv {k}) RTZ {x}) {constant(1 << (k - 1), k)})"
