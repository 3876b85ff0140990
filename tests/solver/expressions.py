"""Random expressions for the tests of the solvers, over two variables a width."""

from __future__ import annotations

import random
from typing import Any

from anabranch import expr as X
from anabranch.expr import fp

WIDTHS = (1, 4, 8, 12)
BINARY = [X.add, X.sub, X.mul, X.udiv, X.urem, X.sdiv, X.srem, X.and_, X.or_, X.xor, X.shl, X.lshr, X.ashr]
COMPARE = [X.eq, X.ne, X.ult, X.ule, X.slt, X.sle, X.ugt, X.sge]


def variables(w: int) -> list[Any]:
    return [X.var(f"u{w}", w), X.var(f"v{w}", w)]


def value(rng: random.Random, w: int, depth: int) -> Any:
    """A random value of width w."""
    if depth == 0 or rng.random() < 0.15:
        if rng.random() < 0.7:
            return rng.choice(variables(w))
        c = rng.choice([0, 1, (1 << w) - 1, 1 << (w - 1), rng.randrange(1 << w)])
        return bool(c) if w == 1 else c
    if w == 1:
        kind = rng.random()
        if kind < 0.6:
            n = rng.choice(WIDTHS)
            return rng.choice(COMPARE)(value(rng, n, depth - 1), value(rng, n, depth - 1), n)
        if kind < 0.7:
            return X.not_(value(rng, 1, depth - 1))
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(BINARY)(value(rng, w, depth - 1), value(rng, w, depth - 1), w)
    if kind < 0.75:
        return X.ite(value(rng, 1, depth - 1), value(rng, w, depth - 1), value(rng, w, depth - 1), w)
    if kind < 0.83:
        return X.select(value(rng, n := rng.choice(WIDTHS), depth - 1), table(rng, n, w))
    n = rng.choice(WIDTHS)
    if n > w:
        return X.extract(value(rng, n, depth - 1), rng.randrange(n - w + 1), w, n)
    if n < w:
        if rng.random() < 0.4:
            return (
                X.concat(value(rng, n, depth - 1), n, value(rng, w - n, depth - 1), w - n)
                if (w - n in WIDTHS)
                else X.zext(value(rng, n, depth - 1), n, w)
            )
        return rng.choice([X.zext, X.sext])(value(rng, n, depth - 1), n, w)
    return value(rng, w, depth - 1)


def table(rng: random.Random, n: int, w: int) -> X.Table:
    """A random table of values of width w for an index of n bits."""
    cuts = sorted(rng.sample(range(1, 1 << n), rng.randrange(min(1 << n, 14))))
    values = [rng.randrange(1 << rng.choice([w, (w + 1) // 2])) for _ in range(len(cuts) + 1)]
    return X.table(w, cuts, [bool(v) for v in values] if w == 1 else values)


def model(rng: random.Random) -> dict[int, int]:
    """Random values for all variables."""
    return {
        x.a: rng.choice([0, 1, (1 << w) - 1, rng.randrange(1 << w)]) for w in WIDTHS for x in variables(w)
    }


def sample(op: str) -> Any:
    """A node of an operator, over variables."""
    x, y, z = (X.var(f"sample.{name}", 32) for name in "xyz")
    p, q = (X.var(f"sample.{name}", 1) for name in "pq")
    rounding = dict(zip(fp.ROUND, (X.ftrunc, X.fceil, X.ffloor, X.frint, X.fround), strict=True))
    two = {
        "add": X.add,
        "sub": X.sub,
        "mul": X.mul,
        "and": X.and_,
        "or": X.or_,
        "xor": X.xor,
        "shl": X.shl,
        "lshr": X.lshr,
        "ashr": X.ashr,
        "udiv": X.udiv,
        "urem": X.urem,
        "sdiv": X.sdiv,
        "srem": X.srem,
        "eq": X.eq,
        "ult": X.ult,
        "slt": X.slt,
        "fadd": X.fadd,
        "fsub": X.fsub,
        "fmul": X.fmul,
        "fdiv": X.fdiv,
        "frem": X.frem,
        "feq": fp.feq,
        "flt": fp.flt,
        "fle": fp.fle,
    }
    if op in two:
        return two[op](x, y, 32)
    return {
        "not": lambda: X.not_(p),
        "ite": lambda: X.ite(q, x, y, 32),
        "select": lambda: X.select(
            x, X.table(32, range(3, 66, 7), [k * 0x9E3779B1 % (1 << 32) for k in range(10)])
        ),
        "zext": lambda: X.zext(x, 32, 48),
        "sext": lambda: X.sext(x, 32, 48),
        "extract": lambda: X.extract(x, 5, 9),
        "concat": lambda: X.concat(x, 32, y, 32),
        "ffma": lambda: X.ffma(x, y, z, 32),
        "fsqrt": lambda: X.fsqrt(x, 32),
        "fp_convert": lambda: X.fp_convert(x, 32, 64),
        "si_to_fp": lambda: X.si_to_fp(x, 32, 64),
        "fp_to_si": lambda: X.fp_to_si(x, 32, 32),
        **{name: lambda mode=mode: rounding[mode](x, 32) for mode, name in fp.ROUND.items()},
    }[op]()
