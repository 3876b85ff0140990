"""Table 1: formula patterns, merged path constraints and merged values (Examples 2 and 3)."""

from __future__ import annotations

import pytest

from anabranch.expr import Value, add, bool_and, eq, mul, ne, ugt, ule, ult, var, zext
from anabranch.reduce.loops.formulas import FormulaPattern, formula_pattern
from anabranch.reduce.loops.synthesis import linear, synthesise
from anabranch.reduce.loops.tree import execution_tree, tail
from anabranch.reduce.loops.words import regular_partitioning
from anabranch.solver import UNSAT, BitwuzlaBackend, conjunction, disjunction

from .figure2 import figure2, n, s
from .paper import merged_store, merged_value


def equivalent(x: Value, y: Value) -> bool:
    """Proved by the solver."""
    differs = ne(x, y, 1)
    return differs is False or (differs is not True and BitwuzlaBackend().solve((differs,), ()) is UNSAT)


def table_1(characters: str = "a", bound: int = 3) -> dict[str, FormulaPattern]:
    root, leaves = figure2(characters, bound)
    found = {}
    for partition in regular_partitioning(root, leaves) or ():
        pattern = formula_pattern(partition)
        assert pattern is not None
        for leaf, k in partition.members:  # Definition 3.5
            assert equivalent(pattern.tail(k), tail(leaf))
        found["stop" if len(partition.members) == bound else "end"] = pattern
    return found


def test_table_1_formulas() -> None:
    found = table_1()
    stop, end = found["stop"], found["end"]
    print(stop.readable(), "|", end.readable())
    assert stop.readable() == "n > i and s[i] == 'a' for all i < k; n > k and s[k] != 'a'"
    assert end.readable() == "n > i and s[i] == 'a' for all i < k; n <= k"
    assert (stop.numbers, end.numbers) == ((0, 1, 2), (0, 1, 2, 3))
    assert stop.phi1 is True and end.phi1 is True
    for pattern in (stop, end):
        for x in range(1, pattern.numbers[-1] + 1):  # phi2(x) is n > x-1 and s[x-1] = 97
            assert [t.instance(x) for t in pattern.phi2] == [ugt(n(), x - 1, 64), eq(s(x - 1), 97, 8)]
    for x in stop.numbers:
        assert [t.instance(x) for t in stop.phi3] == [ugt(n(), x, 64), ne(s(x), 97, 8)]
    for x in end.numbers:
        assert [t.instance(x) for t in end.phi3] == [ule(n(), x, 64)]


@pytest.mark.parametrize("characters", ["a", "ab"])
def test_merged_path_constraint_is_exact(characters: str) -> None:
    """Theorem 3.7: with k = k_j it is the path condition of that leaf, and k has no other value."""
    root, leaves = figure2(characters)
    k = var("k", 8)
    for partition in regular_partitioning(root, leaves) or ():
        pattern = formula_pattern(partition)
        assert pattern is not None
        rounds = pattern.rounds(k)
        merged = conjunction((*rounds.unquantified(), *rounds.quantified()))
        sides = disjunction(bool_and(eq(k, number, 8), tail(leaf)) for leaf, number in partition.members)
        print(rounds.readable())
        assert equivalent(merged, sides)


def test_readable_groups_what_must_be_grouped() -> None:
    found = table_1("ab")
    assert found["end"].readable() == "n > i and (s[i] == 'a' or s[i] == 'b') for all i < k; n <= k"


def test_merged_values() -> None:
    k, chars = var("k", 16), var("chars", 64)
    widths = {"count": 64, "p": 64, "n": 64, "last": 8, "odd": 8}
    stores = [
        {"count": i, "p": add(chars, 1, 64), "n": n(), "last": s(i), "odd": (3, 1, 4)[i]} for i in range(3)
    ]
    store = merged_store(stores, widths, (0, 1, 2), k)
    assert store["count"] is zext(k, 16, 64)
    assert store["p"] is add(chars, 1, 64) and store["n"] is n()
    for i in range(3):
        assert equivalent(bool_and(eq(k, i, 16), ne(store["last"], s(i), 8)), False)
        assert equivalent(bool_and(eq(k, i, 16), ne(store["odd"], (3, 1, 4)[i], 8)), False)
    assert not merged_value([3, 1, 4], (0, 1, 2), k, 8)[1]
    assert merged_value([add(chars, 4 * i, 64) if i else chars for i in range(3)], (0, 1, 2), k, 64) == (
        add(chars, mul(zext(k, 16, 64), 4, 64), 64),
        True,
    )


def test_linear_terms() -> None:
    assert linear((1, 2), (0, 1)) == (1, -1)
    assert linear((0, 2, 5), (7, 3, 253), 256) == (-2, 7)
    assert linear((0, 1, 2), (0, 1, 3)) is None
    assert linear((0, 2), (0, 1)) is None
    assert synthesise([ult(n(), 5, 64), ult(n(), 7, 64), ult(n(), 8, 64)], (0, 1, 2), 1) is None
    assert synthesise([eq(s(0), 1, 8), eq(var("z[1]", 8), 1, 8)], (0, 1), 1) is None


def test_conditions_that_are_not_linear_have_no_pattern() -> None:
    squares = [[*(ugt(n(), j * j, 64) for j in range(i)), ule(n(), i * i, 64)] for i in range(5)]
    root, leaves = execution_tree(squares)
    partitions = regular_partitioning(root, leaves)
    assert partitions is not None
    assert all(formula_pattern(p) is None for p in partitions if len(p.members) > 2)


def test_numbers_with_gaps_that_begin_above_zero() -> None:
    root, leaves = figure2(bound=6)
    some = [leaves[i] for i in (2, 3, 5)]
    (partition,) = regular_partitioning(root, some) or ()
    pattern = formula_pattern(partition)
    assert pattern is not None and pattern.numbers == (2, 3, 5)
    k = var("k", 8)
    rounds = pattern.rounds(k)
    merged = conjunction((*rounds.unquantified(), *rounds.quantified()))
    assert equivalent(merged, disjunction(bool_and(eq(k, j, 8), tail(x)) for x, j in partition.members))
