"""Contradictions by unit propagation, against evaluation under all values."""

from __future__ import annotations

import random
from itertools import product

import pytest

from anabranch.check.propagate import Facts
from anabranch.expr import Expr, Value, bool_and, bool_or, bool_xor, eq, ite, not_, reset, var
from anabranch.expr.evaluate import evaluate

WIDTH = 2


def formula(rng: random.Random, booleans: list[Expr], numbers: list[Expr], depth: int) -> Value:
    """A random formula over some variables."""
    if depth == 0 or rng.random() < 0.15:
        atom = rng.choice([*booleans, *numbers])
        return atom if atom.w == 1 else eq(atom, rng.randrange(1 << WIDTH), WIDTH)
    parts = [formula(rng, booleans, numbers, depth - 1) for _ in range(3)]
    return rng.choice(
        [
            lambda: bool_and(parts[0], parts[1]),
            lambda: bool_or(parts[0], parts[1]),
            lambda: bool_xor(parts[0], parts[1]),
            lambda: not_(parts[0]),
            lambda: ite(parts[0], parts[1], parts[2], 1),
        ]
    )()


@pytest.mark.parametrize("seed", range(60))
def test_a_contradiction_has_no_model(seed: int) -> None:
    reset()
    rng = random.Random(seed)
    booleans = [var(f"b{n}", 1) for n in range(3)]
    numbers = [var(f"n{n}", WIDTH) for n in range(2)]
    for _ in range(20):
        asserted = [formula(rng, booleans, numbers, 3) for _ in range(rng.randrange(1, 6))]
        facts = Facts()
        for one in asserted:
            facts.add(one)
        values = [range(2)] * len(booleans) + [range(1 << WIDTH)] * len(numbers)
        models = (
            dict(zip((v.a for v in (*booleans, *numbers)), chosen, strict=True))
            for chosen in product(*values)
        )
        satisfying = [m for m in models if all(evaluate(one, m) for one in asserted)]
        assert not (facts.contradiction and satisfying)
        if not facts.contradiction:
            for node, value in facts.known.items():
                assert all(evaluate(node, m) == value for m in satisfying)


def test_plain_contradictions() -> None:
    reset()
    p, failed, r = var("p", 64), var("failed", 1), var("r", 32)
    null = eq(p, 0, 64)
    for asserted in (
        [null, not_(null)],
        [null, ite(failed, eq(p, 8, 64), not_(null), 1)],
        [failed, eq(r, 0, 32), bool_or(not_(failed), eq(r, 1, 32))],
        [bool_xor(null, failed), null, failed],
    ):
        facts = Facts()
        for one in asserted:
            facts.add(one)
        assert facts.contradiction
