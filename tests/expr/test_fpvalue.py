"""Concrete floating point against the processor, bit for bit."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.expr import fp, fpvalue

SPECIAL = {
    32: [
        0, 1, 2, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x40000000, 0x4B000001,
        0x4EFFFFFF, 0x4F000000, 0x5EFFFFFF, 0x5F000000, 0x5F7FFFFF, 0x7F7FFFFF, 0x7F800000,
        0x7F800001, 0x7FA00000, 0x7FC00000, 0x7FC12345, 0x3F000000, 0x3FC00000, 0x40200000,
    ],
    64: [
        0, 1, 2, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x3FF0000000000000, 0x3FF0000000000001,
        0x4000000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0x43E0000000000000,
        0x43DFFFFFFFFFFFFF, 0x43EFFFFFFFFFFFFF, 0x43F0000000000000, 0x7FEFFFFFFFFFFFFF,
        0x7FF0000000000000, 0x7FF0000000000001, 0x7FF4000000000000, 0x7FF8000000000000,
        0x7FF8000012345678, 0x3FE0000000000000, 0x3FF8000000000000, 0x4004000000000000,
        0x47EFFFFFF0000000, 0x36A0000000000000, 0x3690000000000000, 0x3690000000000001,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("native") / "fp.so"
    source = Path(__file__).with_name("native_fp.c")
    flags = "-shared -fPIC -nostdlib -O1 -mfma -msse4.1 -ffp-contract=off -fno-math-errno -fno-sanitize=all"
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *flags.split(), "-o", str(library), str(source)], check=True
    )
    return ctypes.CDLL(str(library))


def patterns(w: int, count: int, seed: int) -> list[int]:
    """Special values and random ones, many of them near each other in magnitude."""
    rng = random.Random(seed)
    special = SPECIAL[w] + [x | 1 << (w - 1) for x in SPECIAL[w]]
    f = fpvalue.FORMATS[w]
    out = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.3:
            out.append(rng.choice(special))
        elif kind < 0.5:
            out.append(rng.getrandbits(w))
        else:
            exponent = min(max(f.bias + rng.randint(-70, 70), 0), (1 << f.exponent_bits) - 2)
            fraction = rng.getrandbits(f.fraction_bits) & -(1 << rng.randrange(f.fraction_bits))
            out.append(rng.getrandbits(1) << (w - 1) | exponent << f.fraction_bits | fraction)
    return out


def fp_to_ui(w_int: int) -> Callable[[int, int, int, int], int]:
    return lambda x, y, z, w: fp.fp_to_ui(x, w, w_int)


OPERATIONS: list[Callable[[int, int, int, int], int]] = [
    lambda x, y, z, w: fpvalue.fadd(x, y, w),
    lambda x, y, z, w: fpvalue.fsub(x, y, w),
    lambda x, y, z, w: fpvalue.fmul(x, y, w),
    lambda x, y, z, w: fpvalue.fdiv(x, y, w),
    lambda x, y, z, w: fpvalue.fsqrt(x, w),
    lambda x, y, z, w: fpvalue.ffma(x, y, z, w),
    lambda x, y, z, w: fpvalue.fround(x, "rtz", w),
    lambda x, y, z, w: fpvalue.fround(x, "rtp", w),
    lambda x, y, z, w: fpvalue.fround(x, "rtn", w),
    lambda x, y, z, w: fpvalue.fround(x, "rne", w),
    lambda x, y, z, w: fpvalue.feq(x, y, w),
    lambda x, y, z, w: fpvalue.flt(x, y, w),
    lambda x, y, z, w: fpvalue.fle(x, y, w),
    lambda x, y, z, w: fpvalue.fp_convert(x, w, 96 - w),
    lambda x, y, z, w: fpvalue.fp_to_si(x, w, 64),
    lambda x, y, z, w: fpvalue.fp_to_si(x, w, 32),
    fp_to_ui(64),
    fp_to_ui(32),
    lambda x, y, z, w: fpvalue.si_to_fp(x, 64, w),
    lambda x, y, z, w: fp.ui_to_fp(x, 64, w),
    lambda x, y, z, w: fpvalue.si_to_fp(x & 0xFFFFFFFF, 32, w),
]
NAN_ORDER = {5}  # which NaN of several fused multiply-add returns depends on the form the compiler picked


@pytest.mark.parametrize("w", [32, 64])
@pytest.mark.parametrize("op", range(len(OPERATIONS)))
def test_against_processor(native: ctypes.CDLL, op: int, w: int) -> None:
    count = 3000
    from_int = op >= 18
    xs, ys, zs = (patterns(w, count, 10 * op + k) for k in range(3))
    if from_int:
        rng = random.Random(op)
        xs = [rng.getrandbits(64) >> rng.randrange(64) for _ in range(count - 4)]
        xs += [0, 2**63, 2**64 - 1, 2**63 - 1]
    array = ctypes.c_uint64 * count
    out = array()
    native.run(op, w, count, array(*xs), array(*ys), array(*zs), out)
    for x, y, z, expected in zip(xs, ys, zs, out, strict=True):
        if op in NAN_ORDER and sum(fpvalue.is_nan(v, w) for v in (x, y, z)) > 1:
            continue
        got = OPERATIONS[op](x, y, z, w)
        assert got == expected, (hex(x), hex(y), hex(z), hex(got), hex(expected))


def test_ties_away() -> None:
    cases = {0.5: 1.0, -0.5: -1.0, 1.5: 2.0, 2.5: 3.0, -2.5: -3.0, 0.49999999999999994: 0.0, 1e300: 1e300}
    for value, expected in cases.items():
        assert fpvalue.fround(fpvalue.from_float(value, 64), "rna", 64) == fpvalue.from_float(expected, 64)


def test_remainder() -> None:
    rng = random.Random(3)
    for _ in range(300):
        x, y = rng.uniform(-1e9, 1e9), rng.uniform(-1e3, 1e3)
        p, q = fpvalue.from_float(x, 64), fpvalue.from_float(y, 64)
        r = fpvalue.to_float(fpvalue.frem(p, q, 64), 64)
        assert abs(r) < abs(y) and (r == 0 or (r < 0) == (x < 0))
    assert fpvalue.frem(fpvalue.from_float(-4.0, 64), fpvalue.from_float(2.0, 64), 64) == 1 << 63
    assert fpvalue.frem(fpvalue.FORMATS[64].infinity, 1, 64) == fpvalue.FORMATS[64].default_nan


def test_half_is_rounded_once() -> None:
    """All products of a sample of halves against exact rational rounding."""
    rng = random.Random(4)
    for _ in range(2000):
        x, y = rng.getrandbits(15) % 0x7C00, rng.getrandbits(15) % 0x7C00
        (_, m, e), (_, n, k) = fpvalue.parts(x, 16), fpvalue.parts(y, 16)
        assert fpvalue.fmul(x, y, 16) == fpvalue.round_exact(0, m * n, e + k, 16)
