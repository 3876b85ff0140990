"""Random expressions for the tests of the solvers, over two variables a width."""

from __future__ import annotations

import random
from typing import Any

from anabranch import expr as X

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


def model(rng: random.Random) -> dict[int, int]:
    """Random values for all variables."""
    return {
        x.a: rng.choice([0, 1, (1 << w) - 1, rng.randrange(1 << w)]) for w in WIDTHS for x in variables(w)
    }
