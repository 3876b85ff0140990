"""The 80-bit numbers of x87 against the processor, bit for bit, unsupported images and NaNs included."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch import expr as X
from anabranch.expr import fp, fpvalue, x87, x87_bits

COUNT = 4000
TOP = 1 << 63
MAGNITUDES = [
    *(0, 1, 2, TOP - 1, TOP, TOP + 1, x87.SIGNIFICAND),  # zero, subnormal numbers, pseudo-denormals
    *(1 << 64 | TOP, 1 << 64 | x87.SIGNIFICAND, 1 << 64 | 1),  # the least normal numbers, an unnormal
    *(0x3FFF << 64 | TOP, 0x3FFF << 64 | TOP | 1, 0x3FFF << 64, 0x3FFF << 64 | 5, 0x4000 << 64 | 5 << 61),
    *(0x3FFE << 64 | TOP, 0x3FFF << 64 | 3 << 62, 0x4000 << 64 | TOP),
    *(0x403E << 64 | TOP, 0x403D << 64 | x87.SIGNIFICAND, 0x403F << 64 | TOP, 0x401E << 64 | TOP),
    *(0x7FFE << 64 | x87.SIGNIFICAND, 0x7FFE << 64 | TOP, x87.INFINITY, 0x7FFF << 64, 0x7FFF << 64 | 1),
    *(x87.INFINITY | 1, x87.INFINITY | 1 << 61, x87.INFINITY | 1 << 62, x87.INFINITY | 3 << 61),
    *(x87.INFINITY | 0x123456789, x87.INFINITY | 1 << 62 | 0x1234567, 0x7FFF << 64 | 1 << 62),
    *(0x43FE << 64 | x87.SIGNIFICAND, 0x3C01 << 64 | TOP | 0x400, 0x3BCD << 64 | TOP, 0x3BCC << 64 | TOP),
]


def images(seed: int) -> list[int]:
    """Special images and random ones, many of them near each other in magnitude."""
    rng = random.Random(seed)
    out = []
    for _ in range(COUNT):
        kind = rng.random()
        sign = rng.getrandbits(1) << 79
        if kind < 0.35:
            out.append(sign | rng.choice(MAGNITUDES))
        elif kind < 0.5:
            out.append(rng.getrandbits(80))
        else:
            near = rng.choice((70, 70, 200, 1100))
            exponent = rng.choice((0x3FFF, 0x3FFF, 0x3FFF, 100, 0x7F00, 0x3FFF - 1022))
            exponent = min(max(exponent + rng.randint(-near, near), 0), 0x7FFE)
            fraction = rng.getrandbits(63) & -(1 << rng.randrange(63))
            out.append(sign | exponent << 64 | (TOP if exponent else 0) | fraction)
    return out


OPERATIONS: dict[str, Callable[[int, int], object]] = {
    "fadd": lambda x, y: fpvalue.fadd(x, y, 80),
    "fsub": lambda x, y: fpvalue.fsub(x, y, 80),
    "fmul": lambda x, y: fpvalue.fmul(x, y, 80),
    "fdiv": lambda x, y: fpvalue.fdiv(x, y, 80),
    "frem": lambda x, y: fpvalue.frem(x, y, 80),
    "fsqrt": lambda x, y: fpvalue.fsqrt(x, 80),
    "rtz": lambda x, y: fpvalue.fround(x, "rtz", 80),
    "rtp": lambda x, y: fpvalue.fround(x, "rtp", 80),
    "rtn": lambda x, y: fpvalue.fround(x, "rtn", 80),
    "rne": lambda x, y: fpvalue.fround(x, "rne", 80),
    "feq": lambda x, y: fpvalue.feq(x, y, 80),
    "flt": lambda x, y: fpvalue.flt(x, y, 80),
    "fle": lambda x, y: fpvalue.fle(x, y, 80),
    "to double": lambda x, y: fpvalue.fp_convert(x, 80, 64),
    "to float": lambda x, y: fpvalue.fp_convert(x, 80, 32),
    "to i64": lambda x, y: fp.fp_to_si(x, 80, 64),
    "to i32": lambda x, y: fp.fp_to_si(x, 80, 32),
    "to i16": lambda x, y: fp.fp_to_si(x, 80, 16),
    "to u64": lambda x, y: fp.fp_to_ui(x, 80, 64),
    "to u32": lambda x, y: fp.fp_to_ui(x, 80, 32),
    "from i64": lambda x, y: fp.si_to_fp(x & (1 << 64) - 1, 64, 80),
    "from u64": lambda x, y: fp.ui_to_fp(x & (1 << 64) - 1, 64, 80),
    "from double": lambda x, y: fpvalue.fp_convert(x & (1 << 64) - 1, 64, 80),
    "from float": lambda x, y: fpvalue.fp_convert(x & (1 << 32) - 1, 32, 80),
    "is NaN": lambda x, y: fp.is_nan(x, 80),
    "fneg": lambda x, y: fp.fneg(x, 80),
}


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("native") / "x87.so"
    flags = ["-shared", "-fPIC", "-nostdlib", "-O1", "-ffp-contract=off", "-fno-sanitize=all"]
    command = [sys.executable, "-m", "ziglang", "cc", *flags, "-o", str(library)]
    subprocess.run([*command, str(Path(__file__).with_name("native_x87.c"))], check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("name", OPERATIONS)
def test_against_processor(native: ctypes.CDLL, name: str) -> None:
    number = list(OPERATIONS).index(name)
    xs, ys = images(number), images(1000 + number)
    array = ctypes.c_uint64 * (2 * COUNT)
    out = array()

    def halves(values: list[int]) -> ctypes.Array[ctypes.c_uint64]:
        return array(*(half for v in values for half in (v & (1 << 64) - 1, v >> 64)))

    native.run(number, COUNT, halves(xs), halves(ys), out)
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        expected = out[2 * k] | out[2 * k + 1] << 64
        got = OPERATIONS[name](x, y)
        assert got == expected, (hex(x), hex(y), got, hex(expected))


def test_ties_away() -> None:
    for value, expected in {0.5: 1.0, -0.5: -1.0, 2.5: 3.0, -2.5: -3.0, 1e300: 1e300}.items():
        x, y = (fpvalue.fp_convert(fpvalue.from_float(v, 64), 64, 80) for v in (value, expected))
        assert fpvalue.fround(x, "rna", 80) == y


def test_fused_multiply_add_rounds_once() -> None:
    one, tiny = 0x3FFF << 64 | TOP, 0x3FC0 << 64 | TOP  # 2**-63
    above = one | 1
    # (1 + 2**-63)**2 - 1 is 2**-62 + 2**-126, which the product alone rounds away
    square = fpvalue.ffma(above, above, one | x87.SIGN, 80)
    assert square == fpvalue.round_exact(0, (1 << 64) + 1, -126, 80)
    assert fpvalue.fsub(fpvalue.fmul(above, above, 80), one, 80) == 0x3FC1 << 64 | TOP
    assert tiny >> 64 == 0x3FC0


x, y, z, d, f = X.var("lx", 80), X.var("ly", 80), X.var("lz", 80), X.var("ld", 64), X.var("lf", 32)
INTS = {w: X.var(f"li{w}", w) for w in (8, 32, 64, 65, 128)}
NODES = {
    "fadd": X.fadd(x, y, 80),
    "fsub": X.fsub(x, y, 80),
    "fmul": X.fmul(x, y, 80),
    "fdiv": X.fdiv(x, y, 80),
    "frem": X.frem(x, y, 80),
    "fsqrt": X.fsqrt(x, 80),
    "ffma": X.ffma(x, y, z, 80),
    "rtz": X.ftrunc(x, 80),
    "rtp": X.fceil(x, 80),
    "rtn": X.ffloor(x, 80),
    "rne": X.frint(x, 80),
    "rna": X.fround(x, 80),
    "feq": X.fcmp("oeq", x, y, 80),
    "flt": X.fcmp("olt", x, y, 80),
    "fle": X.fcmp("ole", x, y, 80),
    **{f"to f{w}": X.fp_convert(x, 80, w) for w in (16, 32, 64)},
    "from f64": X.fp_convert(d, 64, 80),
    "from f32": X.fp_convert(f, 32, 80),
    **{f"from i{w}": X.si_to_fp(i, w, 80) for w, i in INTS.items()},
    **{f"to i{w}": X.fp_to_si(x, 80, w) for w in (16, 32, 64, 65, 128)},
}


@pytest.mark.parametrize("name", NODES)
def test_bits_for_the_solvers(name: str) -> None:
    """What is asked of the solvers has the value of the node, under any model."""
    node = NODES[name]
    bits = x87_bits.lower(node)
    rng = random.Random(name)
    for a, b, c in zip(images(1)[:400], images(2), images(3), strict=False):
        model = {x.a: a, y.a: b, z.a: c}
        for v in (d, f, *INTS.values()):
            special = [0, 1 << (v.w - 1), (1 << v.w) - 1, 1, 0x7FF0000000000000, 0x7F800000]
            drawn = [rng.getrandbits(v.w), rng.getrandbits(v.w) >> rng.randrange(v.w), rng.choice(special)]
            model[v.a] = rng.choice(drawn) & (1 << v.w) - 1
        assert X.evaluate(bits, model) == X.evaluate(node, model), [hex(m) for m in model.values()]
