"""Joins, readable models, enumeration, eviction, counters, repeatability."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.solver import UNKNOWN, Answer, Slice, SliceSpace, Split


def assume(space: SliceSpace, s: Slice, *conds: Any) -> Slice:
    for cond in conds:
        r = space.assume(s, cond)
        assert r is not None
        s = r
    return s


def test_roots_and_joins_are_shared() -> None:
    space = SliceSpace()
    x, y = X.var("jx", 8), X.var("jy", 8)
    r, q = space.root(x.a), space.root(y.a)
    assert space.root(x.a) is r and r.model == {x.a: 0} and r.constraints == frozenset()
    joined = space.join((r, q))
    assert space.join((r, q)) is joined
    assert joined.vars == tuple(sorted((x.a, y.a)))
    s = assume(space, r, X.ult(x, 5, 8))
    both = space.join((s, q))
    assert both.constraints == {X.ult(x, 5, 8)}
    assert space.decide(both, X.ult(x, 6, 8)) is True
    assert space.decide(both, X.eq(X.add(x, 1, 8), 0, 8)) is False


def test_split_gives_both_sides() -> None:
    space = SliceSpace()
    x = X.var("sx", 8)
    cond = X.ult(x, 10, 8)
    r = space.decide(space.root(x.a), cond)
    assert isinstance(r, Split) and r.model_side is True
    assert r.yes.values == (1 << 10) - 1 and r.no.model == {x.a: 10}
    assert space.decide(r.yes, X.ult(x, 20, 8)) is True
    # other conditions that leave the same values lead to the same slice
    assert space.assume(space.root(x.a), X.ule(x, 9, 8)) is r.yes


def test_conjunctions_are_taken_apart() -> None:
    space = SliceSpace()
    x, y = X.var("cx", 8), X.var("cy", 8)
    word = X.concat(x, 8, y, 8)
    s = assume(space, space.join((space.root(x.a), space.root(y.a))), X.eq(word, 0x4142, 16))
    assert s.model == {x.a: 0x41, y.a: 0x42}
    assert s.constraints == {X.eq(x, 0x41, 8), X.eq(y, 0x42, 8)}
    before = space.stats.as_dict()["backend"]["count"]
    assert space.decide(s, X.ult(y, 0x50, 8)) is True
    assert space.stats.as_dict()["backend"]["count"] == before


def test_wide_variables_need_no_solver() -> None:
    space = SliceSpace()
    x = X.var("wide32", 32)
    s = assume(space, space.root(x.a), X.sgt(x, 10, 32), X.slt(x, 1000, 32), X.ne(x, 50, 32))
    assert space.decide(s, X.eq(x, 50, 32)) is False
    assert space.decide(s, X.ult(x, 1000, 32)) is True
    assert isinstance(space.decide(s, X.ult(x, 51, 32)), Split)
    assert space.stats.as_dict()["backend"]["count"] == 0


def test_orders_need_no_solver() -> None:
    """Transitivity decides; models of the open sides are right; other constraints are respected."""
    space = SliceSpace()
    a, b, c, d = xs = [X.var(f"order{i}", 8) for i in range(4)]
    s = space.join(tuple(space.root(x.a) for x in xs))
    s = assume(space, s, X.ult(a, b, 8), X.ule(b, c, 8), X.ult(d, 100, 8), X.ult(c, d, 8))
    assert space.decide(s, X.ult(a, c, 8)) is True
    assert space.decide(s, X.ult(d, a, 8)) is False
    assert space.decide(s, X.ule(c, b, 8)).__class__ is Split
    open_ = space.decide(s, X.ult(b, c, 8))
    assert isinstance(open_, Split)
    for side in (open_.yes, open_.no):
        assert all(X.evaluate(k, side.model) is True for k in side.order)
    assert space.stats.as_dict()["backend"]["count"] == 0
    tight = assume(space, s, X.ugt(a, 96, 8))
    assert space.decide(tight, X.ult(b, c, 8)) is False


@pytest.mark.parametrize("seed", range(30))
def test_orders_against_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    space = SliceSpace()
    xs = [X.var(f"small{i}", 2) for i in range(4)]
    inputs: list[dict[int, int]] = [{}]
    for x in xs:
        inputs = [m | {x.a: k} for m in inputs for k in range(4)]
    s = space.join(tuple(space.root(x.a) for x in xs))
    for _ in range(8):
        p, q = rng.sample(xs, 2)
        cond = rng.choice([X.ult, X.ult, X.ule, X.eq])(p, q, 2)
        answer = s.answers.get(cond)
        answer = space.decide(s, cond) if answer is None else answer
        yes = [m for m in inputs if X.evaluate(cond, m)]
        no = [m for m in inputs if not X.evaluate(cond, m)]
        assert (answer is True, answer is False) == (not no, not yes), (s, cond)
        if isinstance(answer, Split):
            s, inputs = rng.choice([(answer.yes, yes), (answer.no, no)])
            assert s.model in inputs


def test_answers_from_smaller_and_larger_sets() -> None:
    space = SliceSpace()
    x, y, z = (X.var(f"sub{n}", 16) for n in "xyz")
    base = space.join(tuple(space.root(v.a) for v in (x, y, z)))
    product = X.eq(X.mul(x, y, 16), 12345, 16)
    even = X.eq(X.extract(x, 0, 1, 16), False, 1)
    s = assume(space, base, product)
    odd_forced = space.decide(s, even)
    assert odd_forced is False
    larger = assume(space, base, X.ult(z, x, 16), product)
    asked = space.stats.as_dict()["backend"]["count"]
    assert space.decide(larger, even) is False
    assert space.stats.as_dict()["backend"]["count"] == asked
    assert space.stats.as_dict()["subsets"]["count"] >= 1


@pytest.mark.parametrize("limit", [3, 20])
def test_values(limit: int) -> None:
    space = SliceSpace()
    x, y = X.var("ex", 8), X.var("ey", 16)
    one = assume(space, space.root(x.a), X.ult(x, 6, 8))
    found = space.values([one], X.mul(X.zext(x, 8, 32), 4, 32), limit)
    assert found.complete is (limit == 20)
    assert found.values == (0, 4, 8, 12, 16, 20)[:limit]
    two = assume(space, space.join((one, space.root(y.a))), X.eq(X.mul(y, 3, 16), X.zext(x, 8, 16), 16))
    found = space.values([two], X.zext(x, 8, 32), limit)
    assert set(found.values) <= {0, 1, 2, 3, 4, 5} and len(found.values) == min(limit, 6)
    assert found.complete is (limit == 20)
    assert space.values([one], 7, limit).values == (7,)


def test_extremes() -> None:
    space = SliceSpace()
    x, y = X.var("mx", 32), X.var("my", 32)
    s = assume(space, space.root(x.a), X.ugt(x, 17, 32), X.ult(x, 3000, 32), X.eq(X.urem(x, 7, 32), 3, 32))
    assert space.minimum([s], x) == 24
    assert space.maximum([s], x) == 2999 - (2999 - 3) % 7
    t = assume(space, space.root(y.a), X.ult(y, 10, 32))
    assert space.maximum([s, t], X.add(x, y, 32)) == space.maximum([s], x) + 9
    assert space.minimum([t], y) == 0 and space.minimum([t], 5) == 5


def test_readable_models() -> None:
    space = SliceSpace()
    a, b, c, w = X.var("ra", 8), X.var("rb", 8), X.var("rc", 8), X.var("rw", 32)
    assert space.readable(space.root(a.a)) == {a.a: 0}
    letter = assume(space, space.root(a.a), X.ugt(a, 0x20, 8))
    assert chr(space.readable(letter)[a.a]) == "a"
    digit = assume(space, space.root(a.a), X.uge(a, 0x30, 8), X.ule(a, 0x39, 8))
    assert chr(space.readable(digit)[a.a]) == "0"
    number = assume(space, space.root(w.a), X.sgt(w, 41, 32))
    assert space.readable(number) == {w.a: 42}
    negative = assume(space, space.root(w.a), X.slt(w, 0, 32))
    assert space.readable(negative) == {w.a: 0xFFFFFFFF}
    pair = assume(
        space,
        space.join((space.root(b.a), space.root(c.a))),
        X.ult(b, c, 8),
        X.ugt(b, 0x60, 8),
        X.ne(c, 0x70, 8),
    )
    model = space.readable(pair)
    assert all(X.evaluate(k, model) is True for k in pair.order)
    assert all(32 <= v < 127 for v in model.values())


def test_readable_satisfies_random_slices() -> None:
    rng = random.Random(7)
    space = SliceSpace()
    xs = [X.var(f"rr{i}", 8) for i in range(3)]
    for _ in range(60):
        s = space.join(tuple(space.root(x.a) for x in xs))
        for _ in range(4):
            p, q = rng.sample(xs, 2)
            cond = rng.choice([X.ult, X.ne, X.sle])(X.add(p, rng.randrange(256), 8), q, 8)
            r = space.assume(s, cond)
            s = s if r is None else r
        model = space.readable(s)
        assert all(X.evaluate(c, model) is True for c in s.order), s


def test_wishes_are_fulfilled_in_order() -> None:
    space = SliceSpace()
    x, y = X.var("px", 8), X.var("py", 8)
    s = assume(space, space.join((space.root(x.a), space.root(y.a))), X.ult(x, y, 8))
    model = space.prefer([s], [X.eq(x, 0x41, 8), X.eq(y, 0x40, 8), X.eq(y, 0x50, 8), True])
    assert model == {x.a: 0x41, y.a: 0x50}


def test_wishes_that_the_solver_gives_up_on() -> None:
    class GivesUp:
        name = "gives up"

        def solve(self, constraints: object, variables: object) -> Answer:
            return UNKNOWN

    space = SliceSpace(GivesUp())
    x = X.var("gx", 8)
    assert space.prefer([space.root(x.a)], [X.eq(x, 7, 8), X.eq(x, 0, 8)]) == {x.a: 0}


def test_a_slice_is_led_by_a_condition() -> None:
    space = SliceSpace()
    x, y = X.var("lx", 8), X.var("ly", 8)
    one = assume(space, space.root(x.a), X.ult(x, 10, 8))
    two = assume(space, space.join((one, space.root(y.a))), X.ult(x, y, 8))
    for s, last in ((one, X.eq(x, 9, 8)), (two, X.eq(y, 7, 8))):
        led = space.led_by(s, last)
        assert X.evaluate(last, led.model) and all(X.evaluate(c, led.model) for c in s.constraints)
        assert (led.constraints, led.values, led.vars) == (s.constraints, s.values, s.vars)
        assert space.led_by(s, last) is led and space.led_by(led, last) is led
        assert space.led_by(s, X.eq(x, 200, 8)) is s, "no such input"
        split = space.decide(led, last)
        assert isinstance(split, Split) and split.model_side


def test_check() -> None:
    space = SliceSpace()
    x = X.var("kx", 8)
    assert space.check([X.eq(x, 3, 8)]) == {x.a: 3}
    assert space.check([X.ult(x, 3, 8), X.ugt(x, 3, 8)]) is None


def test_eviction_keeps_what_states_hold() -> None:
    space = SliceSpace()
    x = X.var("evict", 8)
    held = assume(space, space.root(x.a), X.ult(x, 10, 8))
    for i in range(10):
        space.decide(held, X.eq(x, i, 8))
    assert space.evict(target=10_000) == 0 and held.answers
    assert space.evict() > 10 and space.size() == 0
    assert not held.answers
    assert space.decide(held, X.ult(x, 10, 8)) is True
    assert isinstance(space.decide(held, X.eq(x, 4, 8)), Split)


def test_two_runs_are_equal() -> None:
    """Models and values do not depend on hash seeds or addresses."""
    code = """
import random
from anabranch import expr as X
from anabranch.solver import SliceSpace, Split
rng = random.Random(11)
space = SliceSpace()
xs = [X.var(f"x{i}", 8) for i in range(4)]
s = space.join(tuple(space.root(x.a) for x in xs))
for _ in range(25):
    p, q = rng.sample(xs, 2)
    cond = X.ult(X.mul(p, rng.randrange(3, 9), 8), X.xor(q, rng.randrange(256), 8), 8)
    a = s.answers.get(cond)
    a = space.decide(s, cond) if a is None else a
    print(a if a.__class__ is bool else (a.model_side, sorted(a.yes.model.items()), a.no.model))
    if isinstance(a, Split):
        s = a.yes if rng.random() < 0.5 else a.no
print(space.values([s], X.add(xs[0], xs[1], 8), 9), sorted(space.readable(s).items()))
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in (1, 2)
    ]
    assert runs[0] == runs[1] and len(runs[0]) > 500
