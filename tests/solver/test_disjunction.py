"""Slices of two sides as one: exactly the values of either side, no fewer and no more."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.expr import Expr, and_, eq, evaluate, expr_vars, not_, or_, ult, var
from anabranch.solver import Slice, SliceSpace

X = [var(f"dis{i}", 3) for i in range(3)]
ATOMS = [eq(x, c, 3) for x in X for c in (0, 3, 6)] + [ult(x, c, 3) for x in X for c in (2, 5)]
ATOMS += [eq(X[0], X[1], 3), ult(X[1], X[2], 3), or_(ATOMS[0], ATOMS[4], 1), and_(ATOMS[1], ATOMS[9], 1)]
literals = st.sampled_from([*ATOMS, *map(not_, ATOMS)])


def side(space: SliceSpace, conditions: list[Expr]) -> dict[int, Slice] | None:
    slices = {x.a: space.root(x.a) for x in X}
    for c in conditions:
        parts = tuple(dict.fromkeys(slices[i] for i in expr_vars(c)))
        found = space.assume(space.join(parts), c)
        if found is None:
            return None
        for index in found.vars:
            slices[index] = found
    return slices


def values(slices: dict[int, Slice]) -> set[tuple[int, ...]]:
    conditions = {c for part in slices.values() for c in part.order}
    found = set()
    for point in product(range(8), repeat=3):
        model = {x.a: v for x, v in zip(X, point, strict=True)}
        if all(evaluate(c, model) is True for c in conditions):
            found.add(point)
    return found


@pytest.mark.parametrize("hinted", [True, False])
@given(split=literals, first=st.lists(literals, max_size=3), second=st.lists(literals, max_size=3))
def test_a_disjunction_is_both_sides(
    hinted: bool, split: object, first: list[object], second: list[object]
) -> None:
    space = SliceSpace()
    a = side(space, [split, *first])
    b = side(space, [not_(split), *second])
    if a is None or b is None:
        return
    indices = [i for i in a if a[i] is not b[i]]
    pieces = [tuple(dict.fromkeys(s[i] for i in indices)) for s in (a, b)]
    found = space.disjoin(pieces[0], pieces[1], split if hinted else None)
    joined = dict(a)
    for part in found.slices:
        joined.update(dict.fromkeys(part.vars, part))
    assert set(joined) == set(a)
    assert values(joined) == values(a) | values(b)
    for point in values(a):
        assert evaluate(found.guard, dict(zip((x.a for x in X), point, strict=True))) is True
    for point in values(b):
        assert evaluate(found.guard, dict(zip((x.a for x in X), point, strict=True))) is False
    for part in found.slices:
        assert all(evaluate(c, part.model) is True for c in part.order)
        if part.values is not None:
            single = {p[[x.a for x in X].index(part.vars[0])] for p in values(joined)}
            assert {v for v in range(8) if part.values >> v & 1} == single  # type: ignore[operator]
