"""Decisions of the slice space against brute force."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.solver import Slice, SliceSpace, Split


def random_value(rng: random.Random, leaves: list[Any], w: int, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(leaves) if rng.random() < 0.7 else rng.randrange(1 << w)
    f = rng.choice([X.add, X.sub, X.and_, X.or_, X.xor, X.mul, X.lshr, X.shl, X.udiv, X.urem])
    return f(random_value(rng, leaves, w, depth - 1), random_value(rng, leaves, w, depth - 1), w)


def random_condition(rng: random.Random, leaves: list[Any], w: int) -> Any:
    f = rng.choice([X.eq, X.ne, X.ult, X.slt, X.ule, X.sge])
    c = f(random_value(rng, leaves, w, rng.randrange(3)), random_value(rng, leaves, w, rng.randrange(2)), w)
    if rng.random() < 0.3:
        d = X.ult(rng.choice(leaves), rng.randrange(1 << w), w)
        c = rng.choice([X.bool_and, X.bool_or])(c, d)
    return c


def walk(seed: int, variables: list[Any], w: int, space: SliceSpace) -> None:
    """One random path: every decision must agree with enumeration of all inputs."""
    rng = random.Random(seed)
    indices = [v.a for v in variables]
    inputs: list[dict[int, int]] = [{}]
    for i in indices:
        inputs = [m | {i: k} for m in inputs for k in range(1 << w)]
    s: Slice = space.join(tuple(space.root(i) for i in indices))
    for _ in range(6):
        cond = random_condition(rng, variables, w)
        if cond.__class__ is bool:
            continue
        answer = s.answers.get(cond)
        if answer is None:
            answer = space.decide(s, cond)
            assert s.answers[cond] is answer
        yes = [m for m in inputs if X.evaluate(cond, m)]
        no = [m for m in inputs if not X.evaluate(cond, m)]
        if not no:
            assert answer is True, cond
        elif not yes:
            assert answer is False, cond
        else:
            assert isinstance(answer, Split), cond
            assert X.evaluate(cond, s.model) is answer.model_side
            side = rng.random() < 0.5
            s, inputs = (answer.yes, yes) if side else (answer.no, no)
            for model in s.models:
                assert all(X.evaluate(c, model) is True for c in s.order), (s.order, model)
            assert {i: s.model[i] for i in indices} in inputs


@pytest.mark.parametrize("seed", range(150))
def test_one_byte(seed: int) -> None:
    walk(seed, [X.var("byte", 8)], 8, SPACES[8])


@pytest.mark.parametrize("seed", range(60))
def test_two_nibbles(seed: int) -> None:
    walk(seed, [X.var("n0", 4), X.var("n1", 4)], 4, SPACES[4])


@pytest.mark.parametrize("seed", range(40))
def test_wide(seed: int) -> None:
    walk(seed, [X.var("wide", 10)], 10, SPACES[10])


SPACES = {w: SliceSpace() for w in (4, 8, 10)}
