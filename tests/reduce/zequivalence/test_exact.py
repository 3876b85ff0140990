"""Definition 1 by the solver, against brute force."""

from __future__ import annotations

import pytest

from anabranch.expr import eq, fadd, mul, ult, var
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.exact import apart, equivalent, unobservable
from anabranch.solver.quantified import Quantified
from bench.zequivalence_pairs import pairs, z_equivalent

A, B, P = var("exact.a", 32), var("exact.b", 32), var("exact.p", 32)
SEEN = frozenset([P.a])


@pytest.fixture(scope="module")
def solver() -> Quantified:
    return Quantified()


def test_agrees_with_brute_force(solver: Quantified) -> None:
    answers = {True: 0, False: 0, None: 0}
    for _, of, a, b in pairs(71, 60):
        found = equivalent(a, b, solver)
        answers[found] += 1
        if found is not None:
            assert found == z_equivalent(a, b, of)
    assert answers[True] > 15
    assert answers[False] > 15
    assert answers[None] < 10


def test_gives_up_within_its_budget(solver: Quantified) -> None:
    hard = StateConstraint((eq(mul(A, B, 32), mul(P, P, 32) + 1, 32), ult(1, A, 32)), (), SEEN)
    other = StateConstraint((eq(mul(A, A, 32), mul(B, P, 32) + 3, 32), ult(1, A, 32)), (), SEEN)
    assert equivalent(hard, other, solver, resources=1000) is None
    before = solver.queries
    assert equivalent(hard, other, solver, nodes=3) is None
    assert solver.queries == before


def test_constants_and_names(solver: Quantified) -> None:
    def plain(**outputs: int) -> StateConstraint:
        return StateConstraint((), tuple((k, v, 32) for k, v in outputs.items()), SEEN)

    assert equivalent(plain(RET=1), plain(RET=1), solver) is True
    assert equivalent(plain(RET=1), plain(RET=2), solver) is False
    assert equivalent(plain(RET=1), plain(other=1), solver) is False


def test_floating_point_is_left_alone(solver: Quantified) -> None:
    a = StateConstraint((eq(fadd(A, P, 32), 0, 32),), (), SEEN)
    assert equivalent(a, a, solver) is None


def test_renaming_keeps_variables_apart() -> None:
    a = StateConstraint((ult(A, B, 32), ult(B, P, 32)), (("RET", A + B, 32),), SEEN)
    b = apart(a)
    assert [v.a for v in unobservable(a)] == [A.a, B.a]
    assert not {v.a for v in unobservable(a)} & {v.a for v in unobservable(b)}
    assert len(unobservable(b)) == 2


def test_constants_may_be_as_wide_as_a_page(solver: Quantified) -> None:
    """No variable is: what is the same constant on both sides is left out of the query."""
    page, other = ("mem", 4, "all"), eq(A, P, 32)
    one = StateConstraint((other,), ((page, 5 << 1500, 2048), ("ret", A, 32)), SEEN)
    same = StateConstraint((eq(B, P, 32),), ((page, 5 << 1500, 2048), ("ret", B, 32)), SEEN)
    differs = StateConstraint((eq(B, P, 32),), ((page, 6 << 1500, 2048), ("ret", B, 32)), SEEN)
    assert equivalent(one, same, solver) is True
    assert equivalent(one, differs, solver) is False
