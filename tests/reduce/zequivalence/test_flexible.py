"""Flexible expressions: independent of each other, whatever the order of the rules (Theorems 7 and 8)."""

from __future__ import annotations

import random
from itertools import product

import pytest

from anabranch.expr import Expr, add, and_, eq, extract, mul, not_, ult, undefined, var, zext
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.flexible import Flexible
from bench.zequivalence_pairs import World, random_constraint, tables, world

A, B, C = (var(f"flexible.{x}", 8) for x in "abc")
SEEN = var("flexible.seen", 8)
WIDE = var("flexible.wide", 32)
OBSERVABLE = frozenset([SEEN.a, WIDE.a])


def roots_of(a: StateConstraint) -> list[Expr]:
    return [x for x in (*a.clauses, *(v for _, v, _ in a.outputs)) if isinstance(x, Expr)]


def leaves(graph: Flexible) -> dict[int, tuple[int, int]]:
    return {
        graph.nodes[i].id: cube for i, cube in enumerate(graph.leaf) if cube is not None and graph.uses[i] > 0
    }


def constraints(count: int, seed: int) -> list[tuple[World, StateConstraint]]:
    rng = random.Random(seed)
    return [(of, random_constraint(rng, of)) for of in (world(2 + i % 2) for i in range(count))]


def test_order_of_rules_is_irrelevant() -> None:
    """Theorem 8."""
    rng = random.Random(5)
    several = 0
    for _, a in constraints(150, 11):
        roots = roots_of(a)
        first = Flexible(roots, a.observable).run()
        for _ in range(4):
            other = Flexible(roots, a.observable).run(lambda n: rng.randrange(n))
            assert leaves(other) == leaves(first)
            assert [u > 0 for u in other.uses] == [u > 0 for u in first.uses]
        several += sum(first.replaced) > 1
    assert several > 25


def test_leaves_have_all_their_values_independently() -> None:
    """Theorem 7: for all observable values, every combination of the leaves' values is reached."""
    replaced = 0
    for of, a in constraints(150, 12):
        graph = Flexible(roots_of(a), a.observable).run()
        live = [i for i, cube in enumerate(graph.leaf) if cube is not None and graph.uses[i] > 0]
        replaced += sum(graph.replaced[i] for i in live)
        size = 1 << (of.w * len(of.alpha))
        slot = (1 << size) - 1
        found = {(): (1 << (1 << (of.w * 5))) - 1}
        for table in tables([graph.nodes[i] for i in live], of):
            found = {(*k, int(v)): p & q for k, p in found.items() for v, q in table.items() if p & q}
        wanted = set(product(*(members(graph.leaf[i]) for i in live)))
        for beta in range(1 << (of.w * 2)):
            assert {k for k, at in found.items() if at >> (beta * size) & slot} == wanted
    assert replaced > 60


def members(cube: tuple[int, int] | None) -> list[int]:
    assert cube is not None
    return [v for v in range(cube[0] | cube[1], -1, -1) if v & ~cube[1] == cube[0]]


def state(roots: list[Expr], of: Expr) -> tuple[int, int] | None:
    graph = Flexible(roots, OBSERVABLE).run()
    return graph.leaf[graph.number[of]]


def test_a_shared_node_is_one_value_with_two_uses() -> None:
    """The sum is a leaf; its two uses are not independent."""
    total = A + B
    first, second = eq(total, SEEN, 8), eq(mul(total, total, 8), SEEN, 8)
    graph = Flexible([first, second], OBSERVABLE).run()
    assert graph.leaf[graph.number[total]] == (0, 255)
    assert graph.leaf[graph.number[first]] is None
    assert graph.leaf[graph.number[second]] is None


def test_a_variable_in_two_clauses_is_free_in_neither() -> None:
    assert state([eq(A, SEEN, 8), ult(A, SEEN, 8)], eq(A, SEEN, 8)) is None


def test_a_use_below_something_flexible_does_not_count() -> None:
    """Rules 4 and 5."""
    clauses = [eq(A, SEEN, 8), eq(mul(A, C, 8) + B, SEEN, 8)]
    assert state(clauses, clauses[0]) == (0, 1)
    assert state(clauses, clauses[1]) == (0, 1)


def test_observable_and_undefined_data_is_nobodys_choice() -> None:
    junk = undefined(8)
    assert state([eq(SEEN, 3, 8)], eq(SEEN, 3, 8)) is None
    assert state([eq(junk, 3, 8)], eq(junk, 3, 8)) is None
    assert state([eq(junk + A, 3, 8)], eq(junk + A, 3, 8)) == (0, 1)


def test_casts_and_masks_reach_a_part() -> None:
    assert state([zext(A, 8, 32)], zext(A, 8, 32)) == (0, 255)
    assert state([A & 0x18], A & 0x18) == (0, 0x18)
    masked = A & 0x18
    assert state([eq(masked, 8, 8)], eq(masked, 8, 8)) == (0, 1)
    compared = ult(zext(A, 8, 32), WIDE, 32)
    assert state([compared], zext(A, 8, 32)) == (0, 255)
    assert state([compared], compared) is None


def test_different_bits_of_one_value_are_independent() -> None:
    low, flag, mask = extract(A, 0, 3), extract(A, 7, 1), eq(A & 0x18, 0x10, 8)
    roots = [low, flag, mask]
    assert state(roots, low) == (0, 7)
    assert state(roots, flag) == (0, 1)
    assert state(roots, mask) == (0, 1)
    overlapping = [extract(A, 0, 4), eq(A & 0x18, 0x10, 8)]
    assert state(overlapping, overlapping[0]) is None
    assert state([A, flag], flag) is None  # the whole is looked at as well


@pytest.mark.parametrize("size", [30_000])
def test_deep_graphs_do_not_recurse(size: int) -> None:
    e = A
    for i in range(size):
        e = add(mul(e, SEEN, 8), B if i % 2 else C, 8)
    whole = not_(eq(e, and_(A, B, 8), 8))
    graph = Flexible([whole], OBSERVABLE).run()
    assert len(graph.nodes) > size
    assert graph.leaf[graph.roots[0]] is None
