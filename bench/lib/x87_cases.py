"""The table of operations on x86_fp80, the 80-bit numbers of x87."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from bench.lib.opcode_ir import Case

PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
    "ule", "une", "uno", "true",
)  # fmt: skip
INTEGER = 1 << 63
INFINITY = 0x7FFF << 64 | INTEGER
SIGN = 1 << 79
MASK = (1 << 80) - 1
CLASSES = (3, 4, 240, 264, 504, 512, 516)
"""Masks of `llvm.is.fpclass` that clang writes for isnan, isinf, isfinite, isnormal and their relatives."""


def values(rng: random.Random, unsupported: bool = True) -> list[int]:
    """Images: zeros, subnormal and normal numbers, ties, limits, infinities, NaNs, unsupported, random."""
    exponents = [(0x3FFF, 1.0), (0x3FFF, 1.5), (0x4000, 1.25), (0x4000, 1.75), (0x3FFE, 1.0), (0x401D, 1.9)]
    found = [e << 64 | int(m * INTEGER) for e, m in exponents]
    found += [0, SIGN, 1, INTEGER - 1, 1 << 64 | INTEGER, 0x7FFE << 64 | (1 << 64) - 1]
    found += [0x3FFE << 64 | (1 << 64) - 1, 0x3FFF << 64 | INTEGER | 1, 0x403D << 64 | (1 << 64) - 1]
    found += [0x403E << 64 | INTEGER, 0x3FFB << 64 | 0xCCCCCCCCCCCCCCCD, 0xC020 << 64 | 0x9502F90000000001]
    found += [INFINITY, SIGN | INFINITY, INFINITY | 1 << 62]
    if unsupported:
        found += [
            INFINITY | 5,
            SIGN | INFINITY | 3 << 61,
            INTEGER,
            INTEGER | 9,
            0x3FFF << 64,
            0x7FFF << 64,
            7 << 64,
        ]
    for _ in range(5):
        exponent = 0x3FFF + rng.randint(-70, 70)
        found.append(rng.getrandbits(1) << 79 | exponent << 64 | INTEGER | rng.getrandbits(63))
    return found


def pairs(rng: random.Random, count: int) -> tuple[tuple[int, int], ...]:
    drawn = values(rng)
    every = [(a, b) for a in drawn for b in drawn]
    return tuple(rng.sample(every, min(4 * count, len(every))))


def number(image: int) -> Fraction:
    """The value of a finite image."""
    exponent = max(image >> 64 & 0x7FFF, 1) - 16383 - 63
    magnitude = (image & (1 << 64) - 1) * Fraction(2) ** exponent
    return -magnitude if image & SIGN else magnitude


def inside(image: int, low: int, high: int) -> bool:
    """Whether a number, cut to an integer, lies in a range: else the result of a conversion is poison."""
    finite = image >> 64 & 0x7FFF != 0x7FFF and (image & INTEGER or not image >> 64 & 0x7FFF)
    return bool(finite) and low <= int(number(image)) <= high


def case(
    name: str, count: int, text: str, rows: tuple[tuple[int, ...], ...], declares: tuple[str, ...] = ()
) -> Case:
    """A case over operands %x, %y, %z and result %f."""
    casts = tuple(f"%{'xyz'[k]} = bitcast i80 %{'abc'[k]} to x86_fp80" for k in range(count))
    body = (*casts, f"%f = {text}", "%r = bitcast x86_fp80 %f to i80")
    return Case(f"{name} x86_fp80", (80,) * count, body, 80, rows, declares)


def cases(rng: random.Random, count: int) -> Iterator[Case]:
    """Every floating-point opcode, predicate, cast and common intrinsic, and memory."""
    yield from _arithmetic(rng, count)
    yield from _conversions(rng, count)
    yield from _memory(rng, count)


def _arithmetic(rng: random.Random, count: int) -> Iterator[Case]:
    singles = tuple((v,) for v in values(rng))
    for name in ("fadd", "fsub", "fmul", "fdiv"):
        yield case(name, 2, f"{name} x86_fp80 %x, %y", pairs(rng, count))
    # The remainder is a function of the C library, which leaves open what comes of unsupported images.
    numbers = values(rng, unsupported=False)
    rest = tuple((a, b) for a in numbers for b in numbers if a & ~SIGN <= INFINITY >= b & ~SIGN)
    yield case("frem", 2, "frem x86_fp80 %x, %y", tuple(rng.sample(rest, min(2 * count, len(rest)))))
    yield case("fneg", 1, "fneg x86_fp80 %x", singles)
    for name in ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "round"):
        declare = f"declare x86_fp80 @llvm.{name}.f80(x86_fp80)"
        rows = singles if name in ("fabs", "sqrt") else tuple((v,) for v in numbers)
        yield case(name, 1, f"call x86_fp80 @llvm.{name}.f80(x86_fp80 %x)", rows, (declare,))
    for name in ("copysign", "minnum", "maxnum"):
        drawn = pairs(rng, count)
        if name != "copysign":  # which of two zeros is the smaller one is left open
            drawn = tuple((a, b) for a in numbers for b in numbers if a & ~SIGN or b & ~SIGN)[
                :: len(numbers) // 4
            ]
        declare = f"declare x86_fp80 @llvm.{name}.f80(x86_fp80, x86_fp80)"
        yield case(name, 2, f"call x86_fp80 @llvm.{name}.f80(x86_fp80 %x, x86_fp80 %y)", drawn, (declare,))
    for name in ("fma", "fmuladd"):
        triples = tuple(
            (rng.choice(numbers), rng.choice(numbers), rng.choice(numbers)) for _ in range(2 * count)
        )
        declare = f"declare x86_fp80 @llvm.{name}.f80(x86_fp80, x86_fp80, x86_fp80)"
        text = f"call x86_fp80 @llvm.{name}.f80(x86_fp80 %x, x86_fp80 %y, x86_fp80 %z)"
        yield case(name, 3, text, triples, (declare,))
    for predicate in PREDICATES:
        casts = ("%x = bitcast i80 %a to x86_fp80", "%y = bitcast i80 %b to x86_fp80")
        body = (*casts, f"%r = fcmp {predicate} x86_fp80 %x, %y")
        yield Case(f"fcmp {predicate} x86_fp80", (80, 80), body, 1, pairs(rng, count))
    for mask in CLASSES:
        declare = "declare i1 @llvm.is.fpclass.f80(x86_fp80, i32)"
        cast = "%x = bitcast i80 %a to x86_fp80"
        body = (cast, f"%r = call i1 @llvm.is.fpclass.f80(x86_fp80 %x, i32 {mask})")
        yield Case(f"is.fpclass {mask} x86_fp80", (80,), body, 1, singles, (declare,))


def _conversions(rng: random.Random, count: int) -> Iterator[Case]:
    for bits in (8, 13, 16, 31, 32, 33, 64, 128):
        top = (1 << bits) - 1
        drawn = {0, 1, 2, top, top >> 1, 1 << (bits - 1), *(rng.getrandbits(bits) for _ in range(6))}
        for name in ("sitofp", "uitofp"):
            body = (f"%f = {name} i{bits} %a to x86_fp80", "%r = bitcast x86_fp80 %f to i80")
            rows = tuple((v,) for v in sorted(drawn))
            yield Case(f"{name} i{bits} to x86_fp80", (bits,), body, 80, rows)
        for name, low, high in (("fptosi", -(1 << (bits - 1)), top >> 1), ("fptoui", 0, top)):
            rows = tuple((v,) for v in values(rng) if inside(v, low, high))
            body = ("%x = bitcast i80 %a to x86_fp80", f"%r = {name} x86_fp80 %x to i{bits}")
            yield Case(f"{name} x86_fp80 to i{bits}", (80,), body, bits, rows)
    for kind, width, exponent in (("float", 32, 8), ("double", 64, 11)):
        narrow = (
            "%x = bitcast i80 %a to x86_fp80",
            f"%f = fptrunc x86_fp80 %x to {kind}",
            f"%r = bitcast {kind} %f to i{width}",
        )
        bias, lost = (1 << (exponent - 1)) - 1, 64 - (width - exponent)
        edges = [  # ties, the least and the largest numbers of the narrow type, and what is beyond them
            (0x3FFF << 64 | INTEGER | 1 << (lost - 1)), (0x3FFF << 64 | INTEGER | 3 << (lost - 1)),
            (0x3FFF + bias << 64 | (1 << 64) - (1 << lost)), (0x3FFF + bias << 64 | (1 << 64) - 1),
            (0x3FFF - bias << 64 | INTEGER | 5 << lost), (0x3FFF - bias - 20 << 64 | INTEGER | 1 << 62),
            (0x3FFF - bias - 80 << 64 | INTEGER),
        ]  # fmt: skip
        rows = tuple((v,) for v in [*values(rng), *edges])
        yield Case(f"fptrunc x86_fp80 to {kind}", (80,), narrow, width, rows)
        wide = (
            f"%x = bitcast i{width} %a to {kind}",
            f"%f = fpext {kind} %x to x86_fp80",
            "%r = bitcast x86_fp80 %f to i80",
        )
        infinity = ((1 << exponent) - 1) << (width - 1 - exponent)
        patterns = [
            0,
            1,
            1 << (width - 1),
            infinity,
            infinity - 1,
            infinity | 1,
            infinity | 1 << (width - 2 - exponent),
        ]
        patterns += [bias << (width - 1 - exponent), *(rng.getrandbits(width) for _ in range(8))]
        rows = tuple((v,) for v in patterns)
        yield Case(f"fpext {kind} to x86_fp80", (width,), wide, 80, rows)


def _memory(rng: random.Random, count: int) -> Iterator[Case]:
    rows = pairs(rng, count)
    casts = ("%x = bitcast i80 %a to x86_fp80", "%y = bitcast i80 %b to x86_fp80")
    kept = (
        *casts,
        "store x86_fp80 %x, ptr %at1, align 16",
        "%f = load x86_fp80, ptr %at1, align 16",
        "%r = bitcast x86_fp80 %f to i80",
    )
    yield Case("store and load x86_fp80", (80, 80), kept, 80, rows)
    chosen = (
        *casts,
        "%m = fcmp olt x86_fp80 %x, %y",
        "%f = select i1 %m, x86_fp80 %x, x86_fp80 %y",
        "%r = bitcast x86_fp80 %f to i80",
    )
    yield Case("select x86_fp80", (80, 80), chosen, 80, rows)
    constant = (casts[0], "%f = fadd x86_fp80 %x, 0xK3FFF8000000000000001", "%r = bitcast x86_fp80 %f to i80")
    yield Case("constant x86_fp80", (80,), constant, 80, tuple((a,) for a, _ in rows))
