"""The circuits of `anabranch.solver.spear` against the meaning of the operators."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anabranch import expr as X
from anabranch.expr.select import select, table
from anabranch.solver.spear.encoder import Encoder
from anabranch.solver.spear.gates import Clause, Gates
from anabranch.solver.spear.options import Encoding
from bench.lib.cnf import simulate

ENCODINGS = (Encoding(), Encoding("columns", "guild", "array", True))
"""Every circuit that can be chosen is in one of them."""

Case = tuple[int, ...]


def _nodes(w: int) -> Iterator[tuple[str, Any]]:
    """A node of every operator, over variables of width w (conditions of width 1)."""
    a, b = X.var(f"circuit.a{w}", w), X.var(f"circuit.b{w}", w)
    c = X.var("circuit.c", 1)
    two = ("add", "sub", "mul", "udiv", "urem", "sdiv", "srem", "and_", "or_", "xor", "shl", "lshr", "ashr")
    for name in (*two, "eq", "ult", "slt"):
        yield name, getattr(X, name)(a, b, w)
    yield "ite", X.ite(c, a, b, w)
    runs = [*range(1, min(1 << w, 12)), (1 << w) - 1]
    yield (
        "select",
        select(X.add(a, b, w), table(w, runs, [k * k * 37 & X.MASK[w] for k in range(len(runs) + 1)])),
    )
    yield "not", X.not_(X.ite(c, X.extract(a, 0, 1), X.extract(b, 0, 1), 1))
    yield "concat", X.concat(a, w, b, w)
    yield "extract", X.extract(X.mul(a, b, w), w // 3, w - w // 2)
    yield "zext", X.zext(X.mul(a, b, w), w, w + 5)
    yield "sext", X.sext(X.mul(a, b, w), w, w + 5)


def _with_constants(w: int, numbers: Sequence[int]) -> Iterator[tuple[str, Any]]:
    a = X.var(f"circuit.a{w}", w)
    for k in numbers:
        for name in ("add", "mul", "udiv", "urem", "sdiv", "srem", "shl", "ult", "slt", "eq"):
            yield f"{name} by {k}", getattr(X, name)(a, k, w)
        for name in ("sub", "udiv", "urem", "sdiv", "srem", "shl", "lshr", "ashr"):
            yield f"{k} {name}", getattr(X, name)(k, a, w)


def wrong_cases(e: Any, encoding: Encoding, cases: Sequence[Case]) -> list[Case]:
    """Values of the variables of an expression for which its circuit and its evaluation differ."""
    clauses: list[Clause] = []
    gates = Gates(clauses.append, encoding.redundant_choices)
    encoder = Encoder(gates, encoding)
    word = encoder.word(e)
    indices = X.expr_vars(e)
    inputs: dict[int, int] = {}
    for place, v in enumerate(indices):
        for i, literal in enumerate(encoder.word(X.variable(v))):
            inputs[literal] = sum((case[place] >> i & 1) << k for k, case in enumerate(cases))
    values = simulate(clauses, inputs, len(cases), gates.variables)
    evaluate: Callable[[dict[int, int]], tuple[Any, ...]] = X.compile_evaluator([e])
    wrong = []
    for k, case in enumerate(cases):
        found = 0
        for i, literal in enumerate(word):
            bit = values[abs(literal)] >> k & 1
            found |= (bit if literal > 0 else 1 - bit) << i
        if found != int(evaluate(dict(zip(indices, case, strict=True)))[0]):
            wrong.append(case)
    return wrong


def exhaustive(w: int) -> Iterator[tuple[str, Any, list[Case]]]:
    """All operators at a width, with all values of their operands."""
    numbers = range(1 << w) if w > 1 else ()
    for name, e in itertools.chain(_nodes(w), _with_constants(w, numbers)):
        if e.__class__ is X.Expr:
            widths = [X.variable(v).w for v in X.expr_vars(e)]
            yield name, e, list(itertools.product(*(range(1 << n) for n in widths)))


def sampled(
    w: int, count: int, rng: random.Random, numbers: Sequence[int]
) -> Iterator[tuple[str, Any, list[Case]]]:
    """All operators at a width, also with these constants, for random values."""
    for name, e in itertools.chain(_nodes(w), _with_constants(w, [k & X.MASK[w] for k in numbers])):
        if e.__class__ is X.Expr:
            widths = [X.variable(v).w for v in X.expr_vars(e)]
            yield name, e, [tuple(value(rng, n) for n in widths) for _ in range(count)]


def value(rng: random.Random, w: int) -> int:
    """A number of a width, often near the ends or small: there circuits go wrong."""
    kind = rng.random()
    if kind < 0.5:
        return rng.getrandbits(w)
    near = rng.choice((0, (1 << w) - 1, 1 << w - 1, rng.getrandbits(max(1, w // 2))))
    return near + rng.randint(-3, 3) & (1 << w) - 1
