"""A table at an index is the value of the table there, whatever the index and whatever is asked of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr import Expr, Table, evaluate, lookup, select, table
from anabranch.expr.node import SELECT, TABLES
from anabranch.expr.tables import pieces
from anabranch.expr.variables import postorder
from anabranch.solver import UNSAT, BitwuzlaBackend, Z3Backend
from anabranch.solver.bounds import range_of
from anabranch.solver.few import few_values
from anabranch.solver.valuesets import contains, truth_set
from tests.solver.expressions import table as random_table

WIDTH = 4
BACKENDS = (BitwuzlaBackend(), Z3Backend())


def x(width: int = WIDTH) -> Expr:
    """Made anew for each test: one in between may have given up all nodes."""
    return X.var(f"select.x{width}", width)


def tables(seed: int, n: int = WIDTH, w: int = 6, count: int = 60) -> list[Table]:
    rng = random.Random(seed)
    return [random_table(rng, n, w) for _ in range(count)]


def check(value: X.Value, expected: Callable[[int], Any], width: int = WIDTH) -> None:
    index = x(width).a
    for v in range(1 << width):
        found, right = evaluate(value, {index: v}), expected(v)
        assert found == right and found.__class__ is right.__class__, (value, v)


def signed(v: int, w: int) -> int:
    return v - (1 << w) if v >> (w - 1) else v


# ---- the constructor -----------------------------------------------------------------------------------


def test_a_table_has_one_form() -> None:
    t = table(8, [3, 5, 9], [1, 2, 2, 7])
    assert (t.cuts, t.values) == ((3, 9), (1, 2, 7))
    assert table(8, [0, 3, 3, 9], [4, 1, 5, 2, 7]) is t  # runs without a number in them
    assert [t.at(i) for i in (0, 2, 3, 8, 9, 100)] == [1, 1, 2, 2, 7, 7]
    assert table(8, [1, 2, 2], [1, 9, 4, 9]) is table(8, [1], [1, 9])


@pytest.mark.parametrize("w", [1, 3, 6, 16])
def test_values(w: int) -> None:
    for t in tables(w, w=w):
        check(select(x(), t), t.at)
        assert select(x(), t) is select(x(), t)
    assert select(5, table(8, [5], [1, 2])) == 2


INDICES: dict[str, tuple[Callable[[Expr], Any], Callable[[int], int], int]] = {
    "zext": (lambda v: X.zext(v, 4, 9), lambda v: v, 9),
    "sext": (lambda v: X.sext(v, 4, 7), lambda v: signed(v, 4) & 127, 7),
    "add": (lambda v: X.add(v, 11, 4), lambda v: v + 11 & 15, 4),
    "add to extension": (lambda v: X.add(X.sext(v, 4, 7), 8, 7), lambda v: signed(v, 4) + 8 & 127, 7),
    "concat": (lambda v: X.concat(v, 4, 2, 2), lambda v: v << 2 | 2, 6),
    "shifted": (lambda v: X.shl(X.zext(v, 4, 8), 3, 8), lambda v: v << 3, 8),
    "choice": (lambda v: X.ite(X.ult(v, 5, 4), 3, 9, 4), lambda v: 3 if v < 5 else 9, 4),
    "condition": (lambda v: X.zext(X.ult(v, 5, 4), 1, 6), lambda v: int(v < 5), 6),
    "signed condition": (lambda v: X.sext(X.ult(v, 5, 4), 1, 4), lambda v: 15 * (v < 5), 4),
    "Boolean": (lambda v: X.ult(v, 5, 4), lambda v: int(v < 5), 1),
    "xor": (lambda v: X.xor(v, 5, 4), lambda v: v ^ 5, 4),
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_that_are_functions_of_smaller_ones(name: str) -> None:
    build, meaning, n = INDICES[name]
    index = build(x())
    for w in (1, 6):
        for t in tables(len(name), n, w):
            value = select(index, t)
            check(value, lambda v, t=t: t.at(meaning(v)))  # type: ignore[misc]
            if name not in ("xor", "Boolean") and value.__class__ is Expr:
                assert all(m.a is x() for m in postorder([value]) if m.op == SELECT)


def test_a_table_of_a_table_is_one_table() -> None:
    for inner, outer in zip(tables(1), tables(2, 6), strict=True):
        value = select(select(x(), inner), outer)
        check(value, lambda v, p=inner, q=outer: q.at(p.at(v)))  # type: ignore[misc]


def test_values_that_need_fewer_bytes_are_below_an_extension() -> None:
    small = [7, 2, 0, 5, 3]
    n = select(x(8), table(32, range(10, 50, 10), small))
    assert n.op == "zext" and n.a.op == SELECT and n.a.w == 8
    negative = [2**32 - 1, 0, 2**32 - 8, 4, 3]
    n = select(x(8), table(32, range(10, 50, 10), negative))
    assert n.op == "sext" and n.a.w == 8
    check(n, lambda v: negative[min(v // 10, 4)], 8)
    two = select(x(8), table(32, range(10, 50, 10), [0, 1, 0, 1, 0]))
    assert two.op == "zext" and two.a.w == 1


# ---- what is asked of a value ---------------------------------------------------------------------------

COMPARISONS: dict[str, tuple[Callable[[Any, Any, int], Any], Callable[[int, int], bool]]] = {
    "eq": (X.eq, lambda a, b: a == b),
    "ne": (X.ne, lambda a, b: a != b),
    "ult": (X.ult, lambda a, b: a < b),
    "ugt": (X.ugt, lambda a, b: a > b),
    "slt": (X.slt, lambda a, b: signed(a, 6) < signed(b, 6)),
    "sge": (X.sge, lambda a, b: signed(a, 6) >= signed(b, 6)),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_constants(name: str) -> None:
    build, meaning = COMPARISONS[name]
    for t in tables(7, count=15):
        for c in range(64):
            value = build(select(x(), t), c, 6)
            check(value, lambda v, t=t, c=c: meaning(t.at(v), c))  # type: ignore[misc]


def test_pieces() -> None:
    for t in tables(8, w=12, count=20):
        n = select(x(), t)
        for low, w in ((0, 1), (11, 1), (3, 5), (4, 8)):
            piece = X.extract(n, low, w, 12)
            as_value = bool if w == 1 else int
            check(piece, lambda v, t=t, at=low, m=X.MASK[w], f=as_value: f(t.at(v) >> at & m))  # type: ignore[misc]
        for c in range(32):
            check(X.eq(X.extract(n, 3, 5, 12), c, 5), lambda v, t=t, c=c: (t.at(v) >> 3 & 31) == c)  # type: ignore[misc]
        parts = [X.extract(n, at, 4, 12) for at in (8, 4, 0)]
        whole = X.concat(parts[0], 4, X.concat(parts[1], 4, parts[2], 4), 8)
        assert whole is n or n.op != SELECT


def test_a_test_of_a_value_is_a_condition_on_the_index() -> None:
    different = table(8, range(1, 256), [(37 * i + 11) & 255 for i in range(256)])
    n = select(X.zext(x(8), 8, 64), different)
    assert len(postorder([n])) == 2
    assert X.eq(n, different.at(77), 8) is X.eq(x(8), 77, 8)
    digits = table(8, [48, 58, 65, 71], [0, 1, 2, 3, 0])
    assert X.ult(select(x(8), digits), 9, 8) is True
    assert X.slt(select(x(8), digits), 0, 8) is False
    inside = X.ne(select(x(8), digits), 0, 8)
    assert SELECT not in {m.op for m in postorder([inside])}
    check(inside, lambda v: digits.at(v) != 0, 8)


# ---- solvers -------------------------------------------------------------------------------------------


def by_comparisons(t: Table, index: Expr) -> X.Value:
    value: X.Value = t.values[-1]
    for cut, before in zip(reversed(t.cuts), reversed(t.values[:-1]), strict=True):
        value = X.ite(X.ult(index, cut, index.w), before, value, t.w)
    return value


@pytest.mark.parametrize("n", [WIDTH, 8, 20])
def test_terms_are_proved_equal_to_chains_of_choices(n: int) -> None:
    index = x(n)
    for w in (1, 6, 32):
        for t in tables(n + w, n, w, 4):
            different = X.ne(select(X.xor(index, 1, n), t), by_comparisons(t, X.xor(index, 1, n)), w)
            for backend in BACKENDS:
                assert different is False or backend.solve([different], [index.a]) is UNSAT


def test_trees_of_choices_are_proved_equal_to_chains() -> None:
    """Solvers get trees over bits for them, too; a chain of choices is asked for as it is."""
    rng = random.Random(12)
    index, cells = x(8), [X.var(f"select.cell[{i}]", 8) for i in range(40)]
    for _ in range(12):
        places = sorted(rng.sample(range(rng.choice([40, 256])), rng.randrange(4, 40)))
        values = [rng.choice([rng.choice(cells), rng.randrange(256)]) for _ in places]
        tree = lookup(X.add(index, 3, 8), places, values, 8)
        chain: X.Value = values[-1]
        for cut, before in zip(reversed(places[1:]), reversed(values[:-1]), strict=True):
            chain = X.ite(X.ult(X.add(index, 3, 8), cut, 8), before, chain, 8)
        different = X.ne(tree, chain, 8)
        assert different is False or all(
            backend.solve([different], X.expr_vars(different)) is UNSAT for backend in BACKENDS
        )
        assert tree.op == "ite"
        found = pieces(tree)
        for v in range(256):
            leaf = next(leaf for first, last, leaf in found if first <= v <= last)
            model = {index.a: v - 3 & 255, **{c.a: rng.randrange(256) for c in cells}}
            assert evaluate(leaf, model) == evaluate(tree, model)


def test_sets_and_ranges() -> None:
    wide = x(12)
    for t in tables(9, 12, 6):
        n = select(wide, t)
        if n.__class__ is not Expr:
            continue
        for first, last in ((0, 4095), (100, 700), (2000, 2000)):
            found = range_of(n, {wide.a: ((first, last),)})
            assert found is not None
            if n.op == SELECT:
                met = {t.at(v) for v in range(first, last + 1)}
                assert found == (min(met), max(met))
        few = few_values(n, {}, 100)
        assert few is not None and few >= set(t.values)
        for condition in (X.ult(n, 20, 6), X.eq(n, t.values[0], 6)):
            if condition.__class__ is Expr:
                truth = truth_set(condition)
                assert truth is not None
                for v in range(0, 4096, 7):
                    assert contains(truth, v) == evaluate(condition, {wide.a: v})


def test_tables_go_with_their_nodes() -> None:
    values = [5, 1, 4, 1, 5, 9, 2, 6]
    n = select(x(), table(16, range(1, 8), values))
    assert X.substitute(n, {x(): 5}) == 9
    key = (n.a.c.w, n.a.c.cuts, n.a.c.values)
    assert key in TABLES
    del n
    X.collect()
    assert key not in TABLES


# ---- lookup --------------------------------------------------------------------------------------------


def test_lookup_of_constants_and_expressions() -> None:
    rng = random.Random(11)
    y = X.var("select.y", 8)
    for _ in range(150):
        places: Any = sorted(rng.sample(range(16), rng.randrange(1, 14)))
        if rng.random() < 0.5:
            places = range(rng.randrange(3), 16, rng.randrange(1, 4))
        values = [rng.choice([rng.randrange(256), rng.randrange(256), 3, y, X.add(y, p, 8)]) for p in places]
        value = lookup(x(), places, values, 8)
        for p, right in zip(places, values, strict=True):
            model = {x().a: p, y.a: rng.randrange(256)}
            assert evaluate(value, model) == evaluate(right, model)
            assert evaluate(lookup(p, places, values, 8), model) == evaluate(right, model)


def test_lookup_of_truth_values() -> None:
    rng = random.Random(13)
    p = X.var("select.p", 1)
    for choices in ([False, True], [False, True, p]):
        for _ in range(40):
            values = [rng.choice(choices) for _ in range(16)]
            value = lookup(x(), range(16), values, 1)
            for truth in (0, 1):
                right = [evaluate(v, {p.a: truth}) for v in values]
                assert [evaluate(value, {x().a: i, p.a: truth}) for i in range(16)] == right


def test_constants_that_may_be_addresses_stay_choices() -> None:
    values = [rng << 40 | 8 for rng in (9, 4, 7, 1, 2, 8, 3, 6, 5, 11)]
    value = lookup(x(), range(10), values, 64)
    assert SELECT not in {m.op for m in postorder([value])}
    assert [evaluate(value, {x().a: i}) for i in range(10)] == values
