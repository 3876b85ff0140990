"""80-bit numbers in the solvers against the evaluator: the value under a model is the only solution."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr import fpvalue, x87

from .test_backends import BITWUZLA, Z3, agree

W = x87.WIDTH
ONE = 0x3FFF << 64 | 1 << 63
SPECIAL = [
    *(0, 1, 1 << 63, 1 << 63 | 5, x87.SIGNIFICAND, 1 << 64 | 1 << 63, 1 << 64 | 7, ONE ^ 1 << 63, ONE),
    *(x87.INFINITY, x87.INFINITY ^ 1 << 63, x87.INFINITY | 1, x87.INFINITY | 1 << 62, x87.INFINITY | 3 << 61),
    *(x87.INFINITY | 1 << 62 | 9, 0x7FFF << 64 | 1 << 62, 0x7FFE << 64 | x87.SIGNIFICAND),
]
x, y, d, i = X.var("ldx", W), X.var("ldy", W), X.var("ldd", 64), X.var("ldi", 40)
CHEAP = {
    "add": X.fadd(x, y, W),
    "sub": X.fsub(x, y, W),
    "sum": X.fsub(X.fadd(x, y, W), x, W),
    "negated": X.fadd(X.fneg(x, W), X.fabs(y, W), W),
    "choice": X.fadd(X.ite(X.fcmp("olt", x, y, W), x, y, W), y, W),
    "floor": X.ffloor(x, W),
    "ceil": X.fceil(x, W),
    "trunc": X.ftrunc(x, W),
    "rint": X.frint(x, W),
    "round": X.fround(x, W),
    "min": X.fmin(x, y, W),
    "copysign": X.fcopysign(x, y, W),
    "to double": X.fp_convert(x, W, 64),
    "to float": X.fp_convert(x, W, 32),
    "from double": X.fp_convert(d, 64, W),
    "from i40": X.si_to_fp(i, 40, W),
    "from u40": X.ui_to_fp(i, 40, W),
    "to i64": X.fp_to_si(x, W, 64),
    "to i32": X.fp_to_si(x, W, 32),
    "to i8": X.fp_to_si(x, W, 8),
    "to u64": X.fp_to_ui(x, W, 64),
    "olt": X.fcmp("olt", x, y, W),
    "ueq": X.fcmp("ueq", X.fadd(x, y, W), y, W),
    "uno": X.fcmp("uno", x, y, W),
    "ole": X.fcmp("ole", x, y, W),
}
DEAR = {
    "mul": X.fmul(x, y, W),
    "div": X.fdiv(x, y, W),
    "sqrt": X.fsqrt(x, W),
    "fma": X.ffma(x, y, ONE, W),
    "rem": X.frem(x, y, W),
}


def model(rng: random.Random) -> dict[int, int]:
    out = {i.a: rng.getrandbits(40), d.a: rng.choice([rng.getrandbits(64), 0x7FF0000000000005, 1])}
    for v in (x, y):
        near = (0x3FFF + rng.randint(-6, 40)) << 64 | 1 << 63 | rng.getrandbits(63)
        chosen = rng.choice([rng.choice(SPECIAL), rng.choice(SPECIAL), near, near, rng.getrandbits(80)])
        out[v.a] = chosen | rng.getrandbits(1) << 79
    return out


@pytest.mark.parametrize("name", CHEAP)
def test_bitwuzla(name: str) -> None:
    rng = random.Random(name)
    for _ in range(8):
        agree(BITWUZLA, CHEAP[name], model(rng))


@pytest.mark.parametrize("name", list(CHEAP)[::4])
def test_z3(name: str) -> None:
    rng = random.Random(name)
    for _ in range(2):
        agree(Z3, CHEAP[name], model(rng))


@pytest.mark.parametrize("name", DEAR)
def test_wide_products(name: str) -> None:
    rng = random.Random(name)
    for _ in range(3):
        agree(BITWUZLA, DEAR[name], model(rng))


@pytest.mark.parametrize("backend", [BITWUZLA, Z3], ids=["bitwuzla", "z3"])
def test_invalid_operands_and_nans(backend: Any) -> None:
    infinity = x87.INFINITY
    quiet, signalling = infinity | 1 << 62 | 7, infinity | 1 << 61
    agree(backend, X.fsub(x, y, W), {x.a: infinity, y.a: infinity})
    agree(backend, X.fadd(x, y, W), {x.a: quiet, y.a: signalling | x87.SIGN})
    agree(backend, X.fadd(x, y, W), {x.a: quiet | x87.SIGN, y.a: quiet})
    agree(backend, X.fadd(x, y, W), {x.a: quiet, y.a: ONE ^ 1 << 63})
    agree(backend, X.fp_convert(x, W, 64), {x.a: signalling})
    agree(backend, X.fp_convert(x, W, 64), {x.a: ONE ^ 1 << 63})
    agree(backend, X.fadd(x, y, W), {x.a: 1 << 63, y.a: 1})


def test_a_solution_is_found() -> None:
    """x + 1 == 3 has one solution, and x / 3 > 1 one that a double could not tell from equality."""
    three = fpvalue.si_to_fp(3, 8, W)
    found = BITWUZLA.solve([X.fcmp("oeq", X.fadd(x, ONE, W), three, W)], (x.a,))
    assert isinstance(found, dict) and fpvalue.fadd(found[x.a], ONE, W) == three
    close = [X.fcmp("ogt", x, ONE, W), X.fcmp("olt", x, ONE + 2, W)]
    assert BITWUZLA.solve(close, (x.a,)) == {x.a: ONE + 1}
