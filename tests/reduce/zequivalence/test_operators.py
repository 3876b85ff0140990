"""Every claim about operators, proved over all cubes and values at widths 1 to 4 (Definitions 3 to 5)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from anabranch.expr import Expr, and_, concat, eq, evaluate, extract, ite, or_, shl, var, xor, zext
from anabranch.expr.fp import OPERATORS as FP_OPERATORS
from anabranch.expr.node import SELECT, binary, make, ternary, unary
from anabranch.expr.registry import OPERATORS
from anabranch.reduce.zequivalence.operators import (
    COMMUTATIVE,
    OF_BOTH,
    OF_EITHER,
    OF_ONE,
    Cube,
    full,
    image,
    possible_bits,
    slice_mask,
)

WIDTHS = (1, 2, 3, 4)
SAME = ("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "urem", "sdiv", "srem")
ORDER = ("eq", "ult", "slt")


def leaf(w: int, k: int) -> Expr:
    return var(f"op{k}.{w}", w)


def node(op: str, w: int, *operands: Expr, low: int | None = None) -> Expr:
    """A node as it stands: the constructors would simplify what is proved here."""
    if op == "extract":
        return make(("test extract", operands[0].id, w, low), op, w, operands[0], None, low)
    if op == "ite":
        return ternary(op, w, *operands)
    if len(operands) == 1:
        return unary(op, w, operands[0])
    return binary(op, w, *operands)


def nodes() -> Iterator[tuple[Expr, tuple[int, ...]]]:
    """A node of every operator at every small width, with the widths of its operands."""
    for w in WIDTHS:
        for op in SAME:
            yield node(op, w, leaf(w, 0), leaf(w, 1)), (w, w)
        for op in ORDER:
            yield node(op, 1, leaf(w, 0), leaf(w, 1)), (w, w)
        yield node("ite", w, leaf(1, 0), leaf(w, 1), leaf(w, 2)), (1, w, w)
        for wide in range(w + 1, 5):
            yield node("zext", wide, leaf(w, 0)), (w,)
            yield node("sext", wide, leaf(w, 0)), (w,)
        for narrow in range(1, w):
            for low in range(w - narrow + 1):
                yield node("extract", narrow, leaf(w, 0), low=low), (w,)
            yield node("concat", w, leaf(w - narrow, 0), leaf(narrow, 1)), (w - narrow, narrow)
    yield node("not", 1, leaf(1, 0)), (1,)


NODES = list(nodes())


def semantics(n: Expr, values: tuple[int, ...], widths: tuple[int, ...]) -> int:
    given: list[Any] = [bool(v) if w == 1 else v for v, w in zip(values, widths, strict=True)]
    given += [n.b, n.c][len(given) - 1 :]
    return int(OPERATORS[n.op].evaluate(n, *given[:3]))


def table(n: Expr, widths: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    return {v: semantics(n, v, widths) for v in product(*(range(1 << w) for w in widths))}


def cubes(w: int) -> Iterator[Cube]:
    for mask in range(1 << w):
        for base in range(1 << w):
            if not base & mask:
                yield base, mask


def members(cube: Cube, w: int) -> list[int]:
    return [v for v in range(1 << w) if v & ~cube[1] == cube[0]]


def patterns(widths: tuple[int, ...]) -> Iterator[tuple[Cube | None, ...]]:
    """All choices of cubes (constants among them) and of operands that have any value."""
    yield from product(*([None, *cubes(w)] for w in widths))


def reached(
    outcome: dict[tuple[int, ...], int], widths: tuple[int, ...], pattern: tuple[Cube | None, ...]
) -> list[set[int]]:
    """The values reached by the free operands, for each value of the others."""
    fixed = [range(1 << w) if p is None else (None,) for p, w in zip(pattern, widths, strict=True)]
    sets: list[set[int]] = []
    for others in product(*fixed):
        choices = [
            [o] if p is None else members(p, w) for o, p, w in zip(others, pattern, widths, strict=True)
        ]
        sets.append({outcome[v] for v in product(*choices)})  # type: ignore[index]
    return sets


def name(case: tuple[Expr, tuple[int, ...]]) -> str:
    n, widths = case
    return f"{n.op}-{n.w}-{'.'.join(map(str, widths))}"


@pytest.mark.parametrize("case", NODES, ids=name)
def test_images_are_exact(case: tuple[Expr, tuple[int, ...]]) -> None:
    n, widths = case
    outcome = table(n, widths)
    for pattern in patterns(widths):
        free = (*pattern, None, None)[:3]
        claim = image(n, *free)
        if claim is not None:
            assert claim[0] & claim[1] == 0
            expected = set(members(claim, n.w))
            assert all(s == expected for s in reached(outcome, widths, pattern)), (pattern, claim)


def kind(n: Expr, widths: tuple[int, ...]) -> str:
    """The type that the module claims: I and II as in the paper, for operators of one or two operands."""
    every = tuple(full(w) for w in widths)
    goal = full(n.w)
    padding = (None,) * (3 - len(widths))
    one = [tuple(full(w) if i == k else None for i, w in enumerate(widths)) for k in range(len(widths))]
    if all(image(n, *free, *padding) == goal for free in one):
        return "I"
    return "II" if image(n, *every, *padding) == goal else "III"


def proved_kind(n: Expr, widths: tuple[int, ...]) -> str:
    """The type by Definitions 3 to 5, commutativity aside."""
    outcome = table(n, widths)
    everything = set(range(1 << n.w))
    one = [tuple(full(w) if i == k else None for i, w in enumerate(widths)) for k in range(len(widths))]
    if all(s == everything for free in one for s in reached(outcome, widths, free)):
        return "I"
    return "II" if set(outcome.values()) == everything else "III"


@pytest.mark.parametrize("case", NODES, ids=name)
def test_claimed_type_is_the_proved_one(case: tuple[Expr, tuple[int, ...]]) -> None:
    assert kind(*case) == proved_kind(*case)


def test_types_at_width_four() -> None:
    found = {
        n.op: kind(n, widths) for n, widths in NODES if widths[-1] == 4 or n.op in ("not", "zext", "sext")
    }
    of = {t: {op for op, k in found.items() if k == t} for t in ("I", "II", "III")}
    assert of["I"] == {"add", "sub", "xor", "eq", "not", "extract"}
    assert of["III"] == {"zext", "sext"}
    assert of["II"] >= {"mul", "and", "or", "ult", "slt", "udiv", "sdiv", "urem", "srem", "shl", "ite"}


def test_every_operator_is_classified_or_left_out() -> None:
    rules = {*OF_ONE, *OF_BOTH, *OF_EITHER, "ite"}
    assert rules == {n.op for n, _ in NODES}
    left_out = {*FP_OPERATORS, SELECT}
    assert set(OPERATORS) - rules == left_out
    for op in left_out:
        n = make(("test", op), op, 32, leaf(32, 0), leaf(32, 1), leaf(32, 2))
        assert image(n, full(32), full(32), full(32)) is None


def test_commutative_operators_commute() -> None:
    for n, widths in NODES:
        if n.op in COMMUTATIVE:
            outcome = table(n, widths)
            assert all(outcome[a, b] == outcome[b, a] for a, b in outcome), n.op
    assert {"sub", "ult", "slt", "shl", "udiv", "concat"}.isdisjoint(COMMUTATIVE)


@pytest.mark.parametrize("w", [2, 3, 4])
def test_shapes_that_miss_an_extreme_value(w: int) -> None:
    """Comparisons with an extension, where one free operand is enough."""
    for op in ("ult", "slt"):
        for extension in ("zext", "sext"):
            for narrow in range(1, w):
                inner = node(extension, w, leaf(narrow, 0))
                for n, free in (
                    (node(op, 1, inner, leaf(w, 1)), (None, full(w))),
                    (node(op, 1, leaf(w, 1), inner), (full(w), None)),
                ):
                    claim = image(n, *free, None)
                    if claim is None:
                        continue
                    extended = {semantics(inner, (v,), (narrow,)) for v in range(1 << narrow)}
                    for e in extended:
                        pairs = [(e, v) if free[0] is None else (v, e) for v in range(1 << w)]
                        assert {semantics(n, p, (w, w)) for p in pairs} == {0, 1}


def random_expression(rng: random.Random, depth: int) -> Expr:
    """Of width 4, over two variables, with constants."""
    x = leaf(4, rng.randrange(2))
    if depth == 0:
        return x
    y = random_expression(rng, depth - 1)
    z = random_expression(rng, depth - 1)
    kind = rng.randrange(7)
    made: tuple[Any, ...] = (
        and_(y, rng.randrange(1, 15), 4),
        or_(y, z, 4),
        xor(and_(y, 3, 4), z, 4),
        zext(extract(y, 1, 2), 2, 4),
        concat(extract(y, 0, 1, 4), 1, extract(z, 1, 3), 3),
        ite(eq(y, 1, 4), z, and_(y, 6, 4), 4),
        shl(y, 1, 4),
    )
    return made[kind] if isinstance(made[kind], Expr) else x


def test_bits_that_are_never_one() -> None:
    """A free value with some bits zero can be equal to what has no others, and different from it."""
    rng = random.Random(1)
    free = leaf(4, 2)
    small = claimed = 0
    for _ in range(300):
        e = random_expression(rng, 3)
        bits = possible_bits(e)
        values = {evaluate(e, {leaf(4, 0).a: p, leaf(4, 1).a: q}) for p in range(16) for q in range(16)}
        assert all(v & ~bits == 0 for v in values)
        small += bits != 15
        for mask in range(1, 16):
            claim = image(node("eq", 1, free, e), (0, mask), None, None)
            assert claim == image(node("eq", 1, e, free), None, (0, mask), None)
            if claim is not None:
                claimed += mask != 15
                reach = members((0, mask), 4)
                assert all({v == r for r in reach} == {True, False} for v in values)
    assert small > 50
    assert claimed > 50


def test_products_with_constants() -> None:
    x = leaf(4, 0)
    n = node("mul", 4, x, leaf(4, 1))
    for factor in range(16):
        claim = image(n, full(4), (factor, 0), None)
        assert claim is not None
        assert set(members(claim, 4)) == {v * factor & 15 for v in range(16)}
    assert image(n, full(4), (7, 0), None) == full(4)  # odd: a bijection
    assert image(n, full(4), None, None) is None  # the other factor may be zero


def test_slices_hand_bits_on() -> None:
    x = leaf(4, 0)
    assert slice_mask(node("extract", 2, x, low=1)) == 0b0110
    masked = make(("test mask", x.id), "and", 4, x, 0b1010)
    assert slice_mask(masked) == 0b1010
    assert slice_mask(node("and", 4, x, leaf(4, 1))) == 0
    assert slice_mask(node("add", 4, x, leaf(4, 1))) == 0
