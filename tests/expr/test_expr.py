"""Identity, operators, canonical forms, walks over deep expressions, collection of dead nodes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch import expr as X
from anabranch.expr.evaluate import specialise
from anabranch.expr.node import NODES

S32 = 1 << 31
M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


@pytest.fixture
def xyz() -> tuple[Any, Any, Any]:
    return X.var("x", 32), X.var("y", 32), X.var("b", 8)


def test_equal_structure_is_one_object(xyz: tuple[Any, Any, Any]) -> None:
    x, y, _ = xyz
    assert (x + y) is (y + x)
    assert (x == 5) is (x == 5)
    assert X.var("x", 32) is x and X.var("x", 16) is not x
    assert hash(x) == object.__hash__(x)


def test_truth_needs_a_decider(xyz: tuple[Any, Any, Any]) -> None:
    x, _, _ = xyz
    with pytest.raises(X.UndecidedError):
        bool(x == 5)
    with pytest.raises(TypeError):
        [1, 2, 3][x]
    with pytest.raises(TypeError):
        x // 2
    with pytest.raises(TypeError):
        x % 2


def test_decide_hook(xyz: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x, _, _ = xyz
    asked: list[Any] = []

    def decide(e: X.Expr) -> bool:
        asked.append(e)
        return True

    monkeypatch.setattr(X.Expr, "decide", staticmethod(decide))
    assert bool(x == 5) is True
    assert len(asked) == 1
    assert asked[0] is (x == 5)


def test_guard_free_operators(xyz: tuple[Any, Any, Any]) -> None:
    """What generated code relies on."""
    x, y, _ = xyz
    assert ((x + 7) & M32) is (x + 7)
    assert ((x ^ S32) < (y ^ S32)) is X.slt(x, y, 32)
    assert ((x ^ S32) < (5 ^ S32)) is X.slt(x, 5, 32)
    assert ((x ^ S32) > (5 ^ S32)) is X.slt(5, x, 32)
    assert ((x ^ S32) <= (y ^ S32)) is X.sle(x, y, 32)
    assert ((x ^ S32) > (y ^ S32)) is X.sgt(x, y, 32)
    assert ((x ^ S32) >= (5 ^ S32)) is X.sge(x, 5, 32)
    assert (x != 5) is X.not_(x == 5)
    assert (x == "text") is False


CASES: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("+", lambda a, b: (a + b) & M32),
    ("-", lambda a, b: (a - b) & M32),
    ("*", lambda a, b: (a * b) & M32),
    ("&", lambda a, b: a & b),
    ("|", lambda a, b: a | b),
    ("^", lambda a, b: a ^ b),
    ("<", lambda a, b: a < b),
    ("<=", lambda a, b: a <= b),
    (">", lambda a, b: a > b),
    (">=", lambda a, b: a >= b),
    ("==", lambda a, b: a == b),
    ("!=", lambda a, b: a != b),
]


@pytest.mark.parametrize("name,f", CASES)
def test_operators_mean_what_they_do_on_integers(name: str, f: Any, xyz: tuple[Any, Any, Any]) -> None:
    """Symbol and symbol, symbol and constant, constant and symbol; several times, for the memos."""
    x, y, _ = xyz
    rng = random.Random(name)
    for _ in range(60):
        a, b = (rng.choice([0, 1, M32, S32, S32 - 1, rng.getrandbits(32), rng.getrandbits(8)]) for _ in "ab")
        model = {x.a: a, y.a: b}
        for _ in range(3):
            for e in (f(x, y), f(x, b), f(a, y)):
                assert X.evaluate(e, model) == f(a, b), (name, a, b, e)


@pytest.mark.parametrize("name,f", [("<<", lambda a, b: (a << b) & M32), (">>", lambda a, b: a >> b)])
def test_shift_operators(name: str, f: Any, xyz: tuple[Any, Any, Any]) -> None:
    x, y, _ = xyz
    for a in (0, 1, M32, 0x12345678):
        for b in (0, 1, 8, 31, 32, 40):
            for _ in range(3):
                for e in (f(x, y), f(x, b), f(a, y)):
                    assert X.evaluate(e, {x.a: a, y.a: b}) == f(a, b), (a, b, e)


def test_operators_on_single_bits() -> None:
    p, q = X.var("p", 1), X.var("q", 1)
    for a in (False, True):
        for b in (False, True):
            model = {p.a: a, q.a: b}
            for e, expected in (
                (p & q, a & b),
                (p | q, a | b),
                (p ^ q, a ^ b),
                (p & b, a & b),
                (a | q, a | b),
                (p ^ b, a ^ b),
                (~p, not a),
                (p == q, a == b),
                (p != b, a != b),
                (p < q, a < b),
                (p >= b, a >= b),
            ):
                assert X.evaluate(e, model) is expected


def test_canonical_forms(xyz: tuple[Any, Any, Any]) -> None:
    x, y, b = xyz
    wide = X.zext(b, 8, 32)
    assert (((b & 0xF8) | 1) & 7) == 1
    assert ((x + 3) + (y + 4)) is ((x + y) + 7)
    assert (x + 5 - 5) is x and (x - y + y) is x
    assert ((x + 10) == 12) is (x == 2)
    assert (wide == 300) is False and (wide < 256) is True and (wide == 7) is (b == 7)
    assert (X.sext(b, 8, 32) == 0x80) is False and (X.sext(b, 8, 32) == 0xFFFFFF80) is (b == 0x80)
    assert X.slt(wide, 0, 32) is False
    fields = (x & 0xF0F0) | (y & 0x0F0F)
    assert (fields & 0xF0F0) is (x & 0xF0F0) and (fields & 0x0F0F) is (y & 0x0F0F)
    assert (((x & 0xF0) ^ (y & 0x0E)) & 0x0E) is (y & 0x0E)
    cond = b == 5
    assert (cond | (cond & (x == y))) is cond and (cond & (cond | (x == y))) is cond
    assert (cond | (~cond & (x == y))) is (cond | (x == y))
    flag = X.ite(cond, 1, 0, 32)
    assert (flag != 0) is cond and (flag == 0) is X.not_(cond) and flag is X.zext(cond, 1, 32)
    table = X.ite(b == 1, 10, X.ite(b == 2, 20, 30, 32), 32)
    assert (table == 10) is (b == 1) and (table == 11) is False
    assert X.ite(cond, x, X.ite(cond, y, 7, 32), 32) is X.ite(cond, x, 7, 32)
    assert (x * 8) is (x << 3) and X.udiv(x, 16, 32) is (x >> 4) and X.urem(x, 16, 32) is (x & 15)
    assert X.mul(x + 3, 12, 32) is X.add(X.mul(x, 12, 32), 36, 32)


def test_orders_that_exclude_or_imply_each_other(xyz: tuple[Any, Any, Any]) -> None:
    x, y, _ = xyz
    w = x.w
    for less, at_most in ((X.ult, X.ule), (X.slt, X.sle)):
        assert X.bool_and(less(x, y, w), less(y, x, w)) is False
        assert X.bool_and(X.eq(x, y, w), less(x, y, w)) is False
        assert X.bool_and(at_most(x, y, w), less(x, y, w)) is less(x, y, w)
        assert X.bool_or(at_most(x, y, w), at_most(y, x, w)) is True


def test_a_choice_knows_its_condition() -> None:
    c, p, q = (X.var(f"choice.{name}", 1) for name in "cpq")
    assert X.ite(c, X.bool_and(c, p), q, 1) is X.ite(c, p, q, 1)
    assert X.ite(c, p, X.bool_or(c, q), 1) is X.ite(c, p, q, 1)
    assert X.ite(c, X.not_(X.bool_and(c, p)), q, 1) is X.ite(c, X.not_(p), q, 1)
    assert X.ite(c, X.bool_and(X.not_(c), p), q, 1) is X.bool_and(X.not_(c), q)


def test_bytes_come_together_again(xyz: tuple[Any, Any, Any]) -> None:
    x, _, _ = xyz
    parts = X.byte_parts(x)
    assert X.join_bytes(parts) is x
    assert X.join_bytes(list(parts)) is x
    by_shifts = X.zext(parts[0], 8, 32)
    for k in (1, 2, 3):
        by_shifts = by_shifts | (X.zext(parts[k], 8, 32) << 8 * k)
    assert by_shifts is x
    down = (X.zext(parts[3], 8, 32) << 24) | (X.zext(parts[2], 8, 32) << 16)
    down = (down | (X.zext(parts[1], 8, 32) << 8)) + X.zext(parts[0], 8, 32)
    assert down is x
    total = X.add(x, 77, 32)
    assert X.join_bytes(X.byte_parts(total)) is total
    for whole in (
        X.ite(X.var("b", 8) == 1, 0x1234, 0x5678, 16),
        X.and_(X.extract(x, 0, 16), 0xFF0F, 16),
        X.add(X.zext(parts[0], 8, 16), X.zext(parts[1], 8, 16), 16),
    ):
        low, high = X.byte_parts(whole)
        assert X.concat(high, 8, low, 8) is whole
    four = [X.var(f"c{i}", 8) for i in range(4)]
    word = X.join_bytes(four)
    assert all(X.extract(word, 8 * i, 8, 32) is four[i] for i in range(4))
    swapped = X.byte_parts(X.bswap(word, 32))
    assert all(p is q for p, q in zip(swapped, reversed(four), strict=True))
    assert X.split_value(0x1234, 2) == b"\x34\x12"


def test_variables() -> None:
    x, y = X.var("vx", 8), X.var("vy", 8)
    u = X.undefined(8)
    assert X.expr_vars(X.add(x, y, 8)) == (x.a, y.a)
    assert X.variable(x.a) is x and X.variable(u.a) is u
    assert X.expr_vars(X.add(x, u, 8))[0] < 0
    many = [X.var(f"many{i}", 8) for i in range(100)]
    total: Any = 0
    for i, v in enumerate(many):
        total = X.add(total, v, 8)
        assert X.expr_vars(X.eq(total, 0, 8)) == tuple(m.a for m in many[: i + 1])
    assert X.expr_vars(total) == tuple(v.a for v in many)
    assert X.expr_vars(X.ult(total, x, 8)) == tuple(sorted([x.a, *(v.a for v in many)]))


def test_specialised_is_what_substitution_gives() -> None:
    draw = random.Random(5)
    names = [X.var(f"specialised{i}", 8) for i in range(3)]
    model = {v.a: draw.randrange(256) for v in names}
    for _ in range(200):
        nodes: list[Any] = [*names, 7, 200]
        for _ in range(12):
            a, b, c, d = (draw.choice(nodes) for _ in range(4))
            nodes.append(draw.choice((X.add(a, b, 8), X.ite(X.ult(a, b, 8), c, d, 8), X.xor(a, b, 8))))
        e = nodes[-1]
        if e.__class__ is not X.Expr:
            continue
        kept = {draw.choice(names).a}
        found = specialise(e, kept, partial(X.evaluate, model=model))
        assert found.__class__ is not X.Expr or kept.issuperset(X.expr_vars(found))
        for value in range(256):
            now = model | dict.fromkeys(kept, value)
            assert X.evaluate(found, now) == X.evaluate(e, now)


def test_deep_expressions() -> None:
    """No walk recurses."""
    x, y = X.var("dx", 32), X.var("dy", 32)
    e: Any = x
    expected = 3
    for _ in range(100_000):
        e = X.xor(X.add(e, y, 32), x, 32)
        expected = ((expected + 5) & M32) ^ 3
    model = {x.a: 3, y.a: 5}
    assert X.evaluate(e, model) == expected
    assert X.expr_vars(e) == (x.a, y.a)
    assert X.substitute(e, {x: 3, y: 5}) == expected
    assert "check-sat" in X.to_smtlib([X.eq(e, 0, 32)])
    assert len(repr(e)) < 400
    flags: Any = X.eq(x, 0, 32)
    for i in range(1, 3000):
        flags = X.bool_or(flags, X.eq(x, 7 * i, 32))
    assert X.evaluate(flags, {x.a: 14}) is True
    chain: Any = y
    for i in range(3000):
        chain = X.ite(X.eq(x, i, 32), i * 3, chain, 32)
    assert X.evaluate(X.eq(chain, 300, 32), {x.a: 100, y.a: 0}) is True


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_wide_expressions(data: st.DataObject) -> None:
    """Random trees over 64 bits against plain integers."""
    m = (1 << 64) - 1
    names = [X.var("wx", 64), X.var("wy", 64)]
    numbers = [data.draw(st.integers(0, m)), data.draw(st.integers(0, m))]
    model = dict(zip((v.a for v in names), numbers, strict=True))

    def tree(depth: int) -> tuple[Any, int]:
        if depth == 0 or data.draw(st.booleans()):
            if data.draw(st.booleans()):
                i = data.draw(st.integers(0, 1))
                return names[i], numbers[i]
            c = data.draw(st.sampled_from([0, 1, 8, 63, 255, 0xFFFFFFFF, 1 << 63, m, 0x0123456789ABCDEF]))
            return c, c
        name = data.draw(st.sampled_from(sorted(WIDE)))
        (p, a), (q, b) = tree(depth - 1), tree(depth - 1)
        f, plain = WIDE[name]
        return f(p, q, 64), plain(a, b) & m

    value, expected = tree(4)
    assert X.evaluate(value, model) == expected


def ashr(a: int, b: int) -> int:
    return (a - ((a >> 63) << 64)) >> min(b, 64)


def signed_min(a: int, b: int) -> int:
    return a if ashr(a, 0) < ashr(b, 0) else b


WIDE: dict[str, tuple[Any, Callable[[int, int], int]]] = {
    "add": (X.add, lambda a, b: a + b),
    "sub": (X.sub, lambda a, b: a - b),
    "mul": (X.mul, lambda a, b: a * b),
    "and": (X.and_, lambda a, b: a & b),
    "or": (X.or_, lambda a, b: a | b),
    "xor": (X.xor, lambda a, b: a ^ b),
    "shl": (X.shl, lambda a, b: a << b if b < 64 else 0),
    "lshr": (X.lshr, lambda a, b: a >> b if b < 64 else 0),
    "ashr": (X.ashr, ashr),
    "udiv": (X.udiv, lambda a, b: a // b if b else -1),
    "urem": (X.urem, lambda a, b: a % b if b else a),
    "low": (lambda p, q, w: X.zext(X.trunc(p, 64, 8), 8, 64), lambda a, b: a & 255),
    "signed": (lambda p, q, w: X.sext(X.trunc(p, 64, 32), 32, 64), lambda a, b: ashr(a << 32 & M64, 32)),
    "pair": (lambda p, q, w: X.concat(X.trunc(p, 64, 16), 16, X.trunc(q, 64, 48), 48),
             lambda a, b: (a & 0xFFFF) << 48 | b & (1 << 48) - 1),
    "less": (lambda p, q, w: X.zext(X.ult(p, q, 64), 1, 64), lambda a, b: a < b),
    "choose": (lambda p, q, w: X.ite(X.slt(p, q, 64), p, q, 64), signed_min),
}  # fmt: skip


@pytest.fixture
def fresh() -> Iterator[None]:
    X.collect()
    yield
    X.collect()


def test_collect_frees_dead_nodes(fresh: None) -> None:
    x, y = X.var("gx", 32), X.var("gy", 32)
    before = len(NODES)
    kept = X.add(X.mul(x, y, 32), 3, 32)
    for i in range(1000):
        cond = X.eq(X.mul(X.add(x, i, 32), y, 32), i, 32)
        assert X.not_(cond) is not cond
        del cond
    assert len(NODES) > before + 1000
    assert X.collect() >= 2000
    assert len(NODES) == before + 2
    assert X.add(X.mul(x, y, 32), 3, 32) is kept


def test_node_numbers_repeat_after_reset() -> None:
    """Two runs number their nodes alike; in a process of their own, since a reset forgets all variables."""
    code = (
        "from anabranch import expr as X\n"
        "def run():\n"
        "    X.reset(); x = X.var('x', 8)\n"
        "    return [X.urem(x, i, 8).id for i in (3, 6, 7)]\n"
        "assert run() == run() != []\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
