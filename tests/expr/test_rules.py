"""Every simplification against the plain meaning: all trees of small depth, widths and operand values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr.registry import OPERATORS

MASK = X.MASK


def signed(v: int, w: int) -> int:
    return v - (1 << w) if v >> (w - 1) & 1 else v


def plain_sdiv(a: int, b: int, w: int) -> int:
    p, q = signed(a, w), signed(b, w)
    if q == 0:
        return 1 if p < 0 else MASK[w]
    return int(p / q) & MASK[w]


def plain_srem(a: int, b: int, w: int) -> int:
    p, q = signed(a, w), signed(b, w)
    return a if q == 0 else (p - q * int(p / q)) & MASK[w]


# The meaning of each operation on integers, written without the package's own folding.
BINARY: dict[str, tuple[Callable[[Any, Any, int], Any], Callable[[int, int, int], int]]] = {
    "add": (X.add, lambda a, b, w: (a + b) & MASK[w]),
    "sub": (X.sub, lambda a, b, w: (a - b) & MASK[w]),
    "mul": (X.mul, lambda a, b, w: (a * b) & MASK[w]),
    "udiv": (X.udiv, lambda a, b, w: a // b if b else MASK[w]),
    "urem": (X.urem, lambda a, b, w: a % b if b else a),
    "sdiv": (X.sdiv, plain_sdiv),
    "srem": (X.srem, plain_srem),
    "and": (X.and_, lambda a, b, w: a & b),
    "or": (X.or_, lambda a, b, w: a | b),
    "xor": (X.xor, lambda a, b, w: a ^ b),
    "shl": (X.shl, lambda a, b, w: (a << b) & MASK[w]),
    "lshr": (X.lshr, lambda a, b, w: a >> b),
    "ashr": (X.ashr, lambda a, b, w: (signed(a, w) >> b) & MASK[w]),
}
COMPARE: dict[str, tuple[Callable[[Any, Any, int], Any], Callable[[int, int, int], bool]]] = {
    "eq": (X.eq, lambda a, b, w: a == b),
    "ne": (X.ne, lambda a, b, w: a != b),
    "ult": (X.ult, lambda a, b, w: a < b),
    "ule": (X.ule, lambda a, b, w: a <= b),
    "ugt": (X.ugt, lambda a, b, w: a > b),
    "uge": (X.uge, lambda a, b, w: a >= b),
    "slt": (X.slt, lambda a, b, w: signed(a, w) < signed(b, w)),
    "sle": (X.sle, lambda a, b, w: signed(a, w) <= signed(b, w)),
    "sgt": (X.sgt, lambda a, b, w: signed(a, w) > signed(b, w)),
    "sge": (X.sge, lambda a, b, w: signed(a, w) >= signed(b, w)),
}

# A tree is (value built by the constructors, tuple of its plain values, one per assignment).
Tree = tuple[Any, tuple[int, ...]]


class World:
    """Two variables of one width and all their assignments."""

    def __init__(self, w: int) -> None:
        self.w = w
        self.x, self.y = X.var(f"x{w}", w), X.var(f"y{w}", w)
        self.models = list(itertools.product(range(1 << w), repeat=2))
        self.leaves: list[Tree] = [
            (self.x, tuple(a for a, _ in self.models)),
            (self.y, tuple(b for _, b in self.models)),
        ]
        as_value = bool if w == 1 else int
        self.known = {leaf: tuple(map(as_value, column)) for leaf, column in self.leaves}
        self.constants = [self.constant(c) for c in range(1 << w)]

    def constant(self, c: int) -> Tree:
        return (bool(c) if self.w == 1 else c, tuple(c for _ in self.models))

    def check(self, tree: Tree, w: int, what: object) -> None:
        value, plain = tree
        if value.__class__ is X.Expr:
            assert value.w == w, what
        got = self.values(value)
        assert got == plain, (
            what,
            value,
            [m for m, p, q in zip(self.models, got, plain, strict=True) if p != q],
        )
        assert all(v.__class__ is (bool if w == 1 else int) for v in got), (what, value)

    def values(self, e: Any) -> tuple[Any, ...]:
        """The values under all assignments, by the evaluator's semantics of each node, nodes remembered."""
        if e.__class__ is not X.Expr:
            return (e,) * len(self.models)
        for n in X.postorder([e]):
            if n not in self.known:
                columns = [
                    self.known[c] if c.__class__ is X.Expr else (c,) * len(self.models)
                    for c in (n.a, n.b, n.c)
                ]
                f = OPERATORS[n.op].evaluate
                self.known[n] = tuple(f(n, a, b, c) for a, b, c in zip(*columns, strict=True))
        return self.known[e]


def apply(f: Any, plain: Any, p: Tree, q: Tree, w: int) -> Tree:
    return f(p[0], q[0], w), tuple(plain(a, b, w) for a, b in zip(p[1], q[1], strict=True))


def level_one(world: World) -> list[tuple[str, Tree]]:
    """All operations over the variables and constants."""
    w = world.w
    out: list[tuple[str, Tree]] = []
    operands = world.leaves + world.constants
    for name, (f, plain) in BINARY.items():
        for p, q in itertools.product(operands, repeat=2):
            if p[0].__class__ is X.Expr or q[0].__class__ is X.Expr:
                out.append((name, apply(f, plain, p, q, w)))
    return out


def conditions(world: World) -> list[Tree]:
    w = world.w
    out = []
    for f, plain in COMPARE.values():
        for p, q in itertools.product(world.leaves[:1], world.leaves[1:] + world.constants):
            out.append(apply(f, plain, p, q, w))
    return out


@pytest.mark.parametrize("w", [1, 2, 3])
def test_two_levels(w: int) -> None:
    """(x op y) op z and z op (x op y), compared and computed, with all constants."""
    world = World(w)
    inner = level_one(world)
    for name, tree in inner:
        world.check(tree, w, name)
    unique = list(
        {id(t[0]) if t[0].__class__ is X.Expr else ("c", int(t[0])): (n, t) for n, t in inner}.values()
    )
    others = world.leaves + (world.constants if w < 3 else world.constants[:3] + world.constants[-2:])
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for inner_name, tree in unique:
        if tree[0].__class__ is not X.Expr:
            continue
        for table, width in ((BINARY, w), (COMPARE, 1)):
            for name, (f, plain) in table.items():
                for other in others:
                    for p, q in ((tree, other), (other, tree)):
                        result = apply(f, plain, p, q, w)
                        key = (id(result[0]), result[1])
                        if key not in seen:
                            seen.add(key)
                            world.check(result, width, (name, inner_name, tree[0], other[0]))


@pytest.mark.parametrize("w", [1, 2])
def test_casts(w: int) -> None:
    """Extensions, extractions and concatenations over each other and below comparisons."""
    world = World(w)
    pieces: list[tuple[int, Tree]] = [(w, t) for t in world.leaves + world.constants[:3]]
    pieces += [(w, t) for _, t in level_one(world)[:: 3 * w]]
    grown: list[tuple[int, Tree]] = list(pieces)
    for n, (v, plain) in pieces:
        grown.append((n + 2, (X.zext(v, n, n + 2), plain)))
        grown.append((n + 2, (X.sext(v, n, n + 2), tuple(signed(a, n) & MASK[n + 2] for a in plain))))
        other, other_plain = world.leaves[0]
        grown.append(
            (
                n + w,
                (
                    X.concat(v, n, other, w),
                    tuple(a << w | b for a, b in zip(plain, other_plain, strict=True)),
                ),
            )
        )
        grown.append(
            (
                n + w,
                (
                    X.concat(other, w, v, n),
                    tuple(b << n | a for a, b in zip(plain, other_plain, strict=True)),
                ),
            )
        )
        grown.append((n + 2, (X.concat(v, n, 2, 2), tuple(a << 2 | 2 for a in plain))))
        grown.append((n + 2, (X.concat(1, 2, v, n), tuple(1 << n | a for a in plain))))
    seen: set[tuple[int, tuple[int, ...]]] = set()

    def check(tree: Tree, width: int, what: object) -> None:
        key = (id(tree[0]), tree[1])
        if key not in seen:
            seen.add(key)
            world.check(tree, width, what)

    for n, (v, plain) in grown:
        check((v, plain), n, "cast")
        for lo in range(n):
            for k in range(1, n - lo + 1):
                cut = X.extract(v, lo, k, n)
                check((cut, tuple(a >> lo & MASK[k] for a in plain)), k, ("extract", v, lo, k))
        check((X.zext(v, n, n + 1), plain), n + 1, ("zext", v))
        check((X.sext(v, n, n + 1), tuple(signed(a, n) & MASK[n + 1] for a in plain)), n + 1, ("sext", v))
        for name, (f, meaning) in (BINARY | COMPARE).items():
            width = 1 if name in COMPARE else n
            for c in {0, 1, 2, MASK[n], MASK[n] >> 1, (MASK[n] >> 1) + 1, MASK[n] - 1}:
                if c > MASK[n]:
                    continue
                k = bool(c) if n == 1 else c
                check((f(v, k, n), tuple(meaning(a, c, n) for a in plain)), width, (name, v, c))
                check((f(k, v, n), tuple(meaning(c, a, n) for a in plain)), width, (name, c, v))


@pytest.mark.parametrize("w", [1, 2])
def test_choices(w: int) -> None:
    """ite over all conditions and branches, nested, compared with constants."""
    world = World(w)
    conds = conditions(world)[::3]
    branches = world.leaves + world.constants + [t for _, t in level_one(world)[::11]]
    made: list[Tree] = []
    for c, p, q in itertools.product(conds, branches, branches):
        plain = tuple(a if k else b for k, a, b in zip(c[1], p[1], q[1], strict=True))
        tree = (X.ite(c[0], p[0], q[0], w), plain)
        world.check(tree, w, ("ite", c[0], p[0], q[0]))
        made.append(tree)
    chooser = random.Random(1)
    for _ in range(3000):
        c, p, q = chooser.choice(conds), chooser.choice(made), chooser.choice(made + branches)
        plain = tuple(a if k else b for k, a, b in zip(c[1], p[1], q[1], strict=True))
        tree = (X.ite(c[0], p[0], q[0], w), plain)
        world.check(tree, w, ("ite", c[0], p[0], q[0]))
        name = chooser.choice(list(BINARY | COMPARE))
        f, meaning = (BINARY | COMPARE)[name]
        other = chooser.choice(branches)
        for left, right in ((tree, other), (other, tree)):
            result = apply(f, meaning, left, right, w)
            world.check(result, 1 if name in COMPARE else w, (name, left[0], right[0]))


@pytest.mark.parametrize("w", [2, 3])
def test_a_difference_that_is_chosen_where_there_is_one(w: int) -> None:
    """`a == b ? ... : a - b` compared with constants, as string functions return it; also reversed."""
    world = World(w)
    x, y = world.leaves
    for q in (y, *world.constants):
        same = apply(X.eq, COMPARE["eq"][1], x, q, w)
        apart = apply(X.sub, BINARY["sub"][1], x, q, w)
        for p in (y, *world.constants, apply(X.mul, BINARY["mul"][1], x, y, w)):
            for left, right in ((p, apart), (apart, p)):
                plain = tuple(a if k else b for k, a, b in zip(same[1], left[1], right[1], strict=True))
                tree = (X.ite(same[0], left[0], right[0], w), plain)
                for k in world.constants:
                    result = apply(X.eq, COMPARE["eq"][1], tree, k, w)
                    world.check(result, 1, ("eq", tree[0], k[0]))
    a, b, c = (X.var(f"byte{i}", 8) for i in range(3))
    chain = X.ite(
        X.eq(a, b, 8),
        X.sub(X.zext(b, 8, 32), X.zext(c, 8, 32), 32),
        X.sub(X.zext(a, 8, 32), X.zext(b, 8, 32), 32),
        32,
    )
    assert X.eq(chain, 0, 32) is X.bool_and(X.eq(a, b, 8), X.eq(b, c, 8))


def reverse_bits(a: int, w: int) -> int:
    return int(format(a, f"0{w}b")[::-1], 2)


@pytest.mark.parametrize("seed", range(8))
def test_random_growth(seed: int) -> None:
    """Operations over results of operations, at all widths up to 8, each checked under all assignments."""
    rng = random.Random(seed)
    w = rng.choice([2, 2, 3])
    world = World(w)
    count = len(world.models)
    pool: dict[int, list[Tree]] = {k: [] for k in range(1, 9)}
    pool[w] += world.leaves

    def pick(k: int) -> Tree:
        if not pool[k] or rng.random() < 0.25:
            c = rng.choice([0, 1, MASK[k], 1 << (k - 1), MASK[k] >> 1, rng.randrange(1 << k)]) & MASK[k]
            return (bool(c) if k == 1 else c, (c,) * count)
        return rng.choice(pool[k][-60:]) if rng.random() < 0.7 else rng.choice(pool[k][:20])

    def grow() -> tuple[object, int, Tree]:
        kind, k = rng.randrange(9), rng.randrange(1, 9)
        p, q = pick(k), pick(k)
        if kind < 2:
            name = rng.choice(list(BINARY))
            return name, k, apply(*BINARY[name], p, q, k)
        if kind < 4:
            name = rng.choice(list(COMPARE))
            return name, 1, apply(*COMPARE[name], p, q, k)
        if kind == 4:
            c = pick(1)
            plain = tuple(a if t else b for t, a, b in zip(c[1], p[1], q[1], strict=True))
            return "ite", k, (X.ite(c[0], p[0], q[0], k), plain)
        n = rng.randrange(1, 9)
        if kind == 5 and n > k:
            if rng.random() < 0.5:
                return "zext", n, (X.zext(p[0], k, n), p[1])
            return "sext", n, (X.sext(p[0], k, n), tuple(signed(a, k) & MASK[n] for a in p[1]))
        if kind == 6 and n < k:
            lo = rng.randrange(k - n + 1)
            return "extract", n, (X.extract(p[0], lo, n, k), tuple(a >> lo & MASK[n] for a in p[1]))
        if kind == 7 and n + k <= 8:
            low = pick(n)
            plain = tuple(a << n | b for a, b in zip(p[1], low[1], strict=True))
            return "concat", k + n, (X.concat(p[0], k, low[0], n), plain)
        unary = rng.randrange(6)
        if unary == 0:
            return "ctpop", k, (X.ctpop(p[0], k), tuple(a.bit_count() & MASK[k] for a in p[1]))
        if unary == 1:
            return "ctlz", k, (X.ctlz(p[0], k), tuple((k - a.bit_length()) & MASK[k] for a in p[1]))
        if unary == 2:
            plain = tuple((k if a == 0 else (a & -a).bit_length() - 1) & MASK[k] for a in p[1])
            return "cttz", k, (X.cttz(p[0], k), plain)
        if unary == 3:
            return "reverse", k, (X.bitreverse(p[0], k), tuple(reverse_bits(a, k) for a in p[1]))
        if unary == 4:
            return "neg", k, (X.neg(p[0], k), tuple(-a & MASK[k] for a in p[1]))
        return "not", k, (X.xor(p[0], MASK[k], k), tuple(~a & MASK[k] for a in p[1]))

    for _ in range(5000):
        what, k, tree = grow()
        world.check(tree, k, what)
        if tree[0].__class__ is X.Expr and not any(tree[0] is t[0] for t in pool[k]):
            pool[k].append(tree)


@pytest.mark.parametrize("w", [4, 5])
def test_constants_on_both_sides(w: int) -> None:
    """(x op k) compared with c, for all k and c, at widths where odd numbers are not their own inverses."""
    x = X.var(f"line{w}", w)
    inputs = range(1 << w)
    for name in ("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "urem"):
        f, plain = BINARY[name]
        for k in inputs:
            for left in (True, False):
                e = f(x, k, w) if left else f(k, x, w)
                values = [plain(v, k, w) if left else plain(k, v, w) for v in inputs]
                for c in inputs:
                    for compare in ("eq", "ult", "slt"):
                        g, meaning = COMPARE[compare]
                        cond = g(e, c, w)
                        if cond.__class__ is X.Expr and cond.op in ("eq", "ult", "slt") and cond.a is e:
                            continue  # no rule
                        for v, value in zip(inputs, values, strict=True):
                            assert X.evaluate(cond, {x.a: v}) is meaning(value, c, w), (
                                name,
                                k,
                                compare,
                                c,
                                v,
                            )


def test_pieces_put_together() -> None:
    """Shifted, extended and masked pieces joined by or, add, xor, and; cut again and compared."""
    world = World(2)
    (x, xs), (y, ys) = world.leaves
    w = 7
    pieces: list[Tree] = []
    for v, plain in ((x, xs), (y, ys), (X.add(x, y, 2), tuple((a + b) & 3 for a, b in world.models))):
        wide = (X.zext(v, 2, w), plain)
        extended = (X.sext(v, 2, w), tuple(signed(a, 2) & MASK[w] for a in plain))
        for base, column in (wide, extended):
            pieces.append((base, column))
            pieces += [(X.shl(base, k, w), tuple(a << k & MASK[w] for a in column)) for k in range(1, w)]
            for c in (1, 3, 12, 0x41):
                pieces.append((X.or_(base, c, w), tuple(a | c for a in column)))
                pieces.append((X.and_(base, c, w), tuple(a & c for a in column)))
    for p, q in itertools.product(pieces, repeat=2):
        for name in ("or", "add", "xor", "and"):
            tree = apply(*BINARY[name], p, q, w)
            world.check(tree, w, (name, p[0], q[0]))
    rng = random.Random(2)
    for _ in range(1500):
        p, q, r = (rng.choice(pieces) for _ in range(3))
        tree = apply(*BINARY[rng.choice(["or", "add"])], apply(*BINARY["or"], p, q, w), r, w)
        world.check(tree, w, "three pieces")
        lo = rng.randrange(w)
        k = rng.randrange(1, w - lo + 1)
        cut = (X.extract(tree[0], lo, k, w), tuple(a >> lo & MASK[k] for a in tree[1]))
        world.check(cut, k, ("cut", tree[0], lo, k))
        for name in ("eq", "ult", "slt"):
            world.check(
                apply(*COMPARE[name], tree, world.constant(0) if rng.random() < 0.2 else q, w), 1, name
            )
