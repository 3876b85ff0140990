"""The table of operations: every integer and floating-point opcode, predicate, cast and common intrinsic."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator

from bench.lib import x87_cases
from bench.lib.opcode_ir import Case

WIDTHS = (1, 3, 7, 8, 13, 16, 31, 32, 33, 64, 65, 128)
PREDICATES = ("eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
    "ule", "une", "uno", "true",
)  # fmt: skip
FLOATS = (("float", 32, "f32"), ("double", 64, "f64"))


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


def interesting(width: int, rng: random.Random) -> list[int]:
    """Limits of a width, small numbers, patterns and a few random values."""
    top = (1 << width) - 1
    sign = 1 << (width - 1)
    values = [0, 1, 2, 3, 7, top, top - 1, sign, sign - 1, sign + 1, 0x5555555555555555555555555555555555]
    values += [rng.getrandbits(width) for _ in range(4)]
    return sorted({v & top for v in values})


def pairs(width: int, rng: random.Random, count: int) -> list[tuple[int, int]]:
    values = interesting(width, rng)
    every = [(a, b) for a in values for b in values]
    return rng.sample(every, min(count, len(every)))


def binary_cases(rng: random.Random, count: int) -> Iterator[Case]:
    def anything(a: int, b: int, width: int) -> bool:
        return True

    def divisor(a: int, b: int, width: int) -> bool:
        return b != 0

    def signed_divisor(a: int, b: int, width: int) -> bool:
        return b != 0 and not (signed(b, width) == -1 and signed(a, width) == -(1 << (width - 1)))

    def amount(a: int, b: int, width: int) -> bool:
        return b < width

    legal: dict[str, Callable[[int, int, int], bool]] = {
        "add": anything, "sub": anything, "mul": anything, "and": anything, "or": anything, "xor": anything,
        "udiv": divisor, "urem": divisor, "sdiv": signed_divisor, "srem": signed_divisor, "shl": amount,
        "lshr": amount, "ashr": amount,
    }  # fmt: skip
    for name, allowed in legal.items():
        for width in WIDTHS:
            drawn = pairs(width, rng, count)
            if allowed is amount:
                drawn = [(a, b % width) for a, b in drawn]
            rows = tuple(dict.fromkeys(p for p in drawn if allowed(*p, width)))
            if rows:
                yield Case(f"{name} i{width}", (width, width), (f"%r = {name} i{width} %a, %b",), width, rows)


def compare_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for predicate in PREDICATES:
        for width in WIDTHS:
            rows = tuple(pairs(width, rng, count))
            yield Case(
                f"icmp {predicate} i{width}",
                (width, width),
                (f"%r = icmp {predicate} i{width} %a, %b",),
                1,
                rows,
            )


def cast_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for narrow in WIDTHS:
        for wide in WIDTHS:
            if narrow >= wide:
                continue
            for name, source, target in (
                ("trunc", wide, narrow),
                ("zext", narrow, wide),
                ("sext", narrow, wide),
            ):
                values = interesting(source, rng)
                rows = tuple((v,) for v in rng.sample(values, min(count, len(values))))
                body = (f"%r = {name} i{source} %a to i{target}",)
                yield Case(f"{name} i{source} to i{target}", (source,), body, target, rows)


def _one_operand(rng: random.Random, width: int, count: int) -> tuple[tuple[int, ...], ...]:
    values = interesting(width, rng)
    return tuple((v,) for v in rng.sample(values, min(count, len(values))))


def intrinsic_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for width in WIDTHS:
        w = f"i{width}"
        for name, flag in (("ctpop", ""), ("ctlz", ", i1 false"), ("cttz", ", i1 false"),
                           ("abs", ", i1 false"),
                           ("bitreverse", ""), ("bswap", "")):  # fmt: skip
            if name == "bswap" and width % 16:
                continue
            declare = f"declare {w} @llvm.{name}.{w}({w}{', i1' if flag else ''})"
            body = (f"%r = call {w} @llvm.{name}.{w}({w} %a{flag})",)
            yield Case(f"{name} {w}", (width,), body, width, _one_operand(rng, width, count), (declare,))
        two = ["smin", "smax", "umin", "umax", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"]
        for name in two:
            declare = f"declare {w} @llvm.{name}.{w}({w}, {w})"
            body = (f"%r = call {w} @llvm.{name}.{w}({w} %a, {w} %b)",)
            yield Case(
                f"{name} {w}", (width, width), body, width, tuple(pairs(width, rng, count)), (declare,)
            )
        for name in ("sshl.sat", "ushl.sat"):
            declare = f"declare {w} @llvm.{name}.{w}({w}, {w})"
            body = (f"%r = call {w} @llvm.{name}.{w}({w} %a, {w} %b)",)
            rows = tuple(dict.fromkeys((a, b % width) for a, b in pairs(width, rng, count)))
            yield Case(f"{name} {w}", (width, width), body, width, rows, (declare,))
        yield from _overflow_cases(rng, width, count)
        for name in ("fshl", "fshr"):
            declare = f"declare {w} @llvm.{name}.{w}({w}, {w}, {w})"
            body = (f"%r = call {w} @llvm.{name}.{w}({w} %a, {w} %b, {w} %c)",)
            values = interesting(width, rng)
            triples = tuple((a, b, rng.choice(values)) for a, b in pairs(width, rng, count))
            yield Case(f"{name} {w}", (width,) * 3, body, width, triples, (declare,))


def _overflow_cases(rng: random.Random, width: int, count: int) -> Iterator[Case]:
    w = f"i{width}"
    for name in ("sadd", "uadd", "ssub", "usub", "smul", "umul"):
        declare = f"declare {{{w}, i1}} @llvm.{name}.with.overflow.{w}({w}, {w})"
        call = f"%p = call {{{w}, i1}} @llvm.{name}.with.overflow.{w}({w} %a, {w} %b)"
        rows = tuple(pairs(width, rng, count))
        value = (call, f"%r = extractvalue {{{w}, i1}} %p, 0")
        flag = (call, f"%r = extractvalue {{{w}, i1}} %p, 1")
        yield Case(f"{name}.with.overflow {w} value", (width, width), value, width, rows, (declare,))
        yield Case(f"{name}.with.overflow {w} flag", (width, width), flag, 1, rows, (declare,))


def _bits(number: float, width: int) -> int:
    packed = struct.pack("<f" if width == 32 else "<d", number)
    return int.from_bytes(packed, "little")


def float_values(width: int, rng: random.Random) -> list[int]:
    """Bit patterns: zeros, ones, fractions, subnormal, limits, infinities, a quiet NaN, random ones."""
    numbers = [0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 3.5, -0.5, 0.49999997, 16777217.0, 1e10, -1e-10, 3.4e38]
    values = [_bits(n, width) for n in numbers]
    exponent = 8 if width == 32 else 11
    mantissa = width - 1 - exponent
    infinity = ((1 << exponent) - 1) << mantissa
    values += [1, (1 << mantissa) - 1, infinity, infinity | 1 << (width - 1), infinity | 1 << (mantissa - 1)]
    for _ in range(4):
        drawn = rng.getrandbits(width)
        if drawn >> mantissa & ((1 << exponent) - 1) != (1 << exponent) - 1:
            values.append(drawn)
    return values


def float_pairs(width: int, rng: random.Random, count: int) -> tuple[tuple[int, int], ...]:
    values = float_values(width, rng)
    every = [(a, b) for a in values for b in values]
    return tuple(rng.sample(every, min(2 * count, len(every))))


def _float_case(name: str, kind: str, width: int, count: int, text: str, rows: tuple[tuple[int, ...], ...],
                declares: tuple[str, ...] = ()) -> Case:  # fmt: skip
    """A case over floating-point operands %x, %y, %z and result %f."""
    casts = tuple(f"%{'xyz'[k]} = bitcast i{width} %{'abc'[k]} to {kind}" for k in range(count))
    body = (*casts, f"%f = {text}", f"%r = bitcast {kind} %f to i{width}")
    return Case(f"{name} {kind}", (width,) * count, body, width, rows, declares)


def float_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for kind, width, suffix in FLOATS:
        singles = tuple((v,) for v in float_values(width, rng))
        for name in ("fadd", "fsub", "fmul", "fdiv", "frem"):
            text = f"{name} {kind} %x, %y"
            yield _float_case(name, kind, width, 2, text, float_pairs(width, rng, count))
        yield _float_case("fneg", kind, width, 1, f"fneg {kind} %x", singles)
        for name in ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "round"):
            declare = f"declare {kind} @llvm.{name}.{suffix}({kind})"
            text = f"call {kind} @llvm.{name}.{suffix}({kind} %x)"
            yield _float_case(name, kind, width, 1, text, singles, (declare,))
        for name in ("copysign", "minnum", "maxnum"):
            rows = float_pairs(width, rng, count)
            if name != "copysign":  # which of two zeros is the smaller one is left open
                rows = tuple(r for r in rows if not all(v << 1 & ((1 << width) - 1) == 0 for v in r))
            declare = f"declare {kind} @llvm.{name}.{suffix}({kind}, {kind})"
            text = f"call {kind} @llvm.{name}.{suffix}({kind} %x, {kind} %y)"
            yield _float_case(name, kind, width, 2, text, rows, (declare,))
        for name in ("fma", "fmuladd"):
            values = float_values(width, rng)
            triples = tuple((a, b, rng.choice(values)) for a, b in float_pairs(width, rng, count))
            declare = f"declare {kind} @llvm.{name}.{suffix}({kind}, {kind}, {kind})"
            text = f"call {kind} @llvm.{name}.{suffix}({kind} %x, {kind} %y, {kind} %z)"
            yield _float_case(name, kind, width, 3, text, triples, (declare,))
        for predicate in FLOAT_PREDICATES:
            body = (
                f"%x = bitcast i{width} %a to {kind}",
                f"%y = bitcast i{width} %b to {kind}",
                f"%r = fcmp {predicate} {kind} %x, %y",
            )
            rows = float_pairs(width, rng, count)
            yield Case(f"fcmp {predicate} {kind}", (width, width), body, 1, rows)


def convert_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for kind, width, _ in FLOATS:
        for bits in (8, 13, 16, 31, 32, 33, 64, 128):
            for name in ("sitofp", "uitofp"):
                body = (f"%f = {name} i{bits} %a to {kind}", f"%r = bitcast {kind} %f to i{width}")
                rows = _one_operand(rng, bits, 12)
                yield Case(f"{name} i{bits} to {kind}", (bits,), body, width, rows)
            for name, low, high in (
                ("fptosi", -(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                ("fptoui", 0, (1 << bits) - 1),
            ):
                rows = tuple((v,) for v in float_values(width, rng) if _inside(v, width, low, high))
                body = (f"%x = bitcast i{width} %a to {kind}", f"%r = {name} {kind} %x to i{bits}")
                yield Case(f"{name} {kind} to i{bits}", (width,), body, bits, rows)
    widen = ("%x = bitcast i32 %a to float", "%f = fpext float %x to double", "%r = bitcast double %f to i64")
    yield Case("fpext float to double", (32,), widen, 64, tuple((v,) for v in float_values(32, rng)))
    narrow = (
        "%x = bitcast i64 %a to double",
        "%f = fptrunc double %x to float",
        "%r = bitcast float %f to i32",
    )
    yield Case("fptrunc double to float", (64,), narrow, 32, tuple((v,) for v in float_values(64, rng)))


def _inside(pattern: int, width: int, low: int, high: int) -> bool:
    """Whether a floating-point value, cut to an integer, lies in a range: else the result is poison."""
    data = pattern.to_bytes(width // 8, "little")
    value = struct.unpack("<f" if width == 32 else "<d", data)[0]
    return value == value and abs(value) != float("inf") and low <= int(value) <= high


def vector_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for lanes, bits in ((4, 8), (2, 16), (3, 16), (4, 32), (2, 64)):
        kind, total = f"<{lanes} x i{bits}>", lanes * bits
        casts = (f"%x = bitcast i{total} %a to {kind}", f"%y = bitcast i{total} %b to {kind}")
        rows = tuple(pairs(total, rng, count))
        for name in ("add", "sub", "mul", "and", "or", "xor"):
            body = (*casts, f"%v = {name} {kind} %x, %y", f"%r = bitcast {kind} %v to i{total}")
            yield Case(f"{name} {kind}", (total, total), body, total, rows)
        mask = ", ".join(f"i32 {k}" for k in rng.sample(range(2 * lanes), lanes))
        text = f"%v = shufflevector {kind} %x, {kind} %y, <{lanes} x i32> <{mask}>"
        yield Case(f"shufflevector {kind}", (total, total),
                   (*casts, text, f"%r = bitcast {kind} %v to i{total}"), total, rows)  # fmt: skip
        chosen = (
            *casts,
            f"%m = icmp ult {kind} %x, %y",
            f"%v = select <{lanes} x i1> %m, {kind} %x, {kind} %y",
            f"%r = bitcast {kind} %v to i{total}",
        )
        yield Case(f"icmp and select {kind}", (total, total), chosen, total, rows)
        moved = (
            *casts,
            f"%k = urem i{total} %b, {lanes}",
            f"%e = extractelement {kind} %x, i{total} %k",
            f"%v = insertelement {kind} %y, i{bits} %e, i32 0",
            f"%r = bitcast {kind} %v to i{total}",
        )
        yield Case(f"extractelement and insertelement {kind}", (total, total), moved, total, rows)
        wide = (
            casts[0],
            f"%v = sext {kind} %x to <{lanes} x i{2 * bits}>",
            f"%e = extractelement <{lanes} x i{2 * bits}> %v, i32 {lanes - 1}",
            f"%r = zext i{2 * bits} %e to i128" if bits < 64 else f"%r = add i{2 * bits} %e, 0",
        )
        yield Case(f"sext {kind}", (total,), wide, 128, tuple((a,) for a, _ in rows))


def memory_cases(rng: random.Random, count: int) -> Iterator[Case]:
    for width in WIDTHS:
        w = f"i{width}"
        rows = tuple(pairs(width, rng, count))
        kept = (f"store {w} %a, ptr %at1, align 8", f"%r = load {w}, ptr %at1, align 8")
        yield Case(f"store and load {w}", (width, width), kept, width, rows)
        chosen = (f"%m = icmp ult {w} %a, %b", f"%r = select i1 %m, {w} %a, {w} %b")
        yield Case(f"select {w}", (width, width), chosen, width, rows)
        yield Case(f"freeze {w}", (width,), (f"%r = freeze {w} %a",), width, tuple((a,) for a, _ in rows))
    for width in (8, 16, 32, 64):
        w = f"i{width}"
        rows = tuple(pairs(width, rng, count))
        for operation in ("xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin"):
            body = (
                f"store {w} %a, ptr %at0, align 8",
                f"%old = atomicrmw {operation} ptr %at0, {w} %b seq_cst, align 8",
                f"%new = load {w}, ptr %at0, align 8",
                f"%sum = mul {w} %old, 3",
                f"%r = xor {w} %sum, %new",
            )
            yield Case(f"atomicrmw {operation} {w}", (width, width), body, width, rows)
        swap = (
            f"store {w} %a, ptr %at0, align 8",
            f"%p = cmpxchg ptr %at0, {w} %b, {w} 77 seq_cst seq_cst, align 8",
            f"%ok = extractvalue {{{w}, i1}} %p, 1",
            f"%flag = zext i1 %ok to {w}",
            f"%new = load {w}, ptr %at0, align 8",
            f"%r = add {w} %new, %flag",
        )
        same = (*rows, *((a, a) for a, _ in rows[:3]))
        yield Case(f"cmpxchg {w}", (width, width), swap, width, same)


GROUPS: dict[str, Callable[[random.Random, int], Iterator[Case]]] = {
    "binary": binary_cases,
    "icmp": compare_cases,
    "casts": cast_cases,
    "intrinsics": intrinsic_cases,
    "float": float_cases,
    "convert": convert_cases,
    "x87": x87_cases.cases,
    "vectors": vector_cases,
    "memory": memory_cases,
}


def cases_of(group: str, count: int) -> list[Case]:
    """The cases of a group with about ``count`` rows each; always the same."""
    return [case for case in GROUPS[group](random.Random(group), count) if case.rows]
