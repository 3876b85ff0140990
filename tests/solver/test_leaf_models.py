"""Models of states that became one: the link's answers are models, and it gives up where it finds none."""

from __future__ import annotations

import pytest

from anabranch.expr import Expr, bool_or, eq, evaluate, ite, ne, ult, var
from anabranch.expr.node import round_number
from anabranch.solver import Slice, SliceSpace
from anabranch.solver.disjunction import components
from anabranch.solver.leaf_models import LeafModels, Leaves
from anabranch.solver.links import Query
from anabranch.solver.valuesets import lowest, nearest

ROUNDS = 6


def joined(space: SliceSpace) -> tuple[Slice, Expr, list[Expr]]:
    """`s[i] == 'a'` for all i < t, and `s[t] != 'a'`: the slice of the state, t and the cells."""
    cells = [var(f"s[{i}]", 8) for i in range(ROUNDS)]
    t = round_number(8)
    rows = []
    for leaf in range(ROUNDS):
        row = []
        for i, cell in enumerate(cells):
            part = space.root(cell.a)
            if i <= leaf:
                condition = eq(cell, 97, 8) if i < leaf else ne(cell, 97, 8)
                found = space.assume(part, condition)
                assert found is not None
                part = found
            row.append(part)
        rows.append(row)
    leaves = LeafModels(t.a, range(ROUNDS), [cell.a for cell in cells], rows)
    said = [ult(t, ROUNDS, 8)]
    for i, cell in enumerate(cells):
        said.append(bool_or(ult(t, i + 1, 8), eq(cell, 97, 8)))
        said.append(bool_or(ne(t, i, 8), ne(cell, 97, 8)))
    (part,) = components(leaves.bounds(8), [leaves.model(0)], said)
    space.keep_leaves(t.a, leaves)
    return space.intern(part), t, cells


def test_a_query_on_the_round_is_answered_by_its_leaf() -> None:
    space = SliceSpace()
    part, t, cells = joined(space)
    for condition in (eq(t, 4, 8), ult(3, t, 8), eq(cells[2], 97, 8), ne(cells[0], 97, 8)):
        found = Leaves(space.leaves).answer(Query(part, condition))
        assert found is not None
        for model, side in ((found.yes, True), (found.no, False)):
            assert evaluate(condition, model) is side
            assert all(evaluate(c, model) is True for c in part.order)


def test_a_condition_that_no_leaf_satisfies_is_passed_on() -> None:
    space = SliceSpace()
    part, t, cells = joined(space)
    impossible = eq(t, 2, 8) & eq(cells[1], 98, 8)
    assert Leaves(space.leaves).answer(Query(part, impossible)) is None
    assert space.decide(part, impossible) is False


def test_a_link_that_costs_more_than_the_solver_passes_queries_on() -> None:
    space = SliceSpace()
    part, t, cells = joined(space)
    spent = [0]
    link = Leaves(space.leaves, lambda: spent[0])
    link.credit = 0
    hard = eq(t, 2, 8) & eq(cells[1], 98, 8)  # no leaf has such a model
    easy = eq(t, 4, 8)
    assert link.answer(Query(part, hard)) is None
    assert link.answer(Query(part, easy)) is None  # one failure, no answer: not worth its price
    link.credit = 10_000
    assert link.answer(Query(part, easy)) is not None
    link.credit = 0
    assert link.answer(Query(part, easy)) is None
    spent[0] += 1000  # for the query that was passed on
    assert link.answer(Query(part, easy)) is not None


def test_a_slice_without_rounds_is_none_of_its_business() -> None:
    space = SliceSpace()
    joined(space)
    other = var("other", 8)
    assert Leaves(space.leaves).answer(Query(space.root(other.a), eq(other, 3, 8))) is None


@pytest.mark.parametrize("values", [0b1001000, ((3, 3), (6, 6))])
def test_nearest(values: int | tuple[tuple[int, int], ...]) -> None:
    assert [nearest(values, v) for v in (0, 3, 4, 6, 9)] == [3, 3, 3, 6, 6]
    assert lowest(values) == 3


def test_a_byte_at_the_round_has_one_input_in_any_model() -> None:
    space = SliceSpace()
    part, t, cells = joined(space)
    # Reads all cells: more than are changed. No leaf's model has that byte where it stopped.
    assert len(cells) > Leaves.inputs
    condition = eq(choose(cells, t), 98, 8)
    found = Leaves(space.leaves).answer(Query(part, condition))
    assert found is not None
    for model, side in ((found.yes, True), (found.no, False)):
        assert evaluate(condition, model) is side
        assert all(evaluate(c, model) is True for c in part.order)


def choose(cells: list[Expr], t: Expr) -> Expr:
    """`s[t]`."""
    found = cells[-1]
    for i, cell in enumerate(cells[:-1]):
        found = ite(eq(t, i, 8), cell, found, 8)
    return found
