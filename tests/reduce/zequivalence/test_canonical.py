"""Canonical forms: different for what a caller can tell apart, equal for most of the rest."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from anabranch.expr import (
    MASK,
    Expr,
    Value,
    add,
    eq,
    evaluate,
    extract,
    mul,
    not_,
    or_,
    select,
    slt,
    table,
    ugt,
    ule,
    ult,
    undefined,
    var,
    zext,
)
from anabranch.reduce.zequivalence.canonical import Table, canonical_form
from anabranch.reduce.zequivalence.clauses import deciders
from anabranch.reduce.zequivalence.constraint import StateConstraint
from bench.zequivalence_pairs import (
    judge,
    names,
    pairs,
    random_constraint,
    same_projection,
    world,
    z_equivalent,
)
from tests.reduce.zequivalence.unification import unifiable

W = 32
A, B, C, D = (var(f"canonical.{x}", W) for x in "abcd")
P, Q = (var(f"canonical.{x}", W) for x in "pq")
OBSERVABLE = frozenset([P.a, Q.a])


def form(*clauses: Value, **outputs: Value) -> object:
    return canonical_form(
        StateConstraint(clauses, tuple((name, v, W) for name, v in outputs.items()), OBSERVABLE)
    )


# -- the bar ----------------------------------------------------------------------------------------------


def test_random_pairs_are_never_wrong_and_mostly_found() -> None:
    """Bar 3 in small; `python -m bench.zequivalence pairs` does 5,000."""
    counts = judge(41, 450, lambda a, b: canonical_form(a) == canonical_form(b))
    assert [c.wrong for c in counts.values()] == [[], [], []]
    equivalent, found = (sum(getattr(c, k) for c in counts.values()) for k in ("equivalent", "found"))
    assert equivalent > 100
    assert found > 0.6 * equivalent
    assert counts["changed"].found > 0.5 * counts["changed"].equivalent


def test_valid_clauses_do_not_spoil_the_projection() -> None:
    """Definition 1 needs clauses that can be false; what callers see does not."""
    rng = random.Random(3)
    of = world(2)
    a, b = of.alpha[:2]
    valid = or_(ult(a, 2, 2), or_(ugt(mul(a, b, 2), 1, 2), ule(mul(a, b, 2), 1, 2), 1), 1)
    forms: dict[object, StateConstraint] = {}
    met = 0
    for _ in range(300):
        c = random_constraint(rng, of)
        if rng.random() < 0.5 and valid.__class__ is Expr:
            c = StateConstraint((*c.clauses, valid), c.outputs, c.observable)
        other = forms.setdefault(canonical_form(c), c)
        if other is not c:
            met += 1
            assert same_projection(c, other, of)
    assert met > 10


def test_what_unifies_has_one_form() -> None:
    """The reference of section 3.4 finds no more than the forms do."""
    unified = more = 0
    for _, of, a, b in pairs(43, 300):
        if names(a) != names(b):
            continue  # an output that is not there is unchanged, which the reference does not know
        same = canonical_form(a) == canonical_form(b)
        if unifiable(a, b):
            unified += 1
            assert z_equivalent(a, b, of)
            assert same, (a, b)
        else:
            more += same
    assert unified > 70
    assert more > 20


# -- parts ------------------------------------------------------------------------------------------------


def test_names_of_variables_and_order_do_not_matter() -> None:
    one = form(ult(mul(A, A, W), P, W), not_(eq(mul(B, B, W), A, W)), RET=B)
    two = form(not_(eq(mul(C, C, W), D, W)), ult(mul(D, D, W), P, W), RET=C)
    assert one == two
    assert one != form(not_(eq(mul(C, C, W), D, W)), ult(mul(D, D, W), P, W), RET=D)


def test_reads_of_tables_are_the_same_if_the_tables_are() -> None:
    values = [k * 0x9E3779B1 & MASK[W] for k in range(20)]

    def read(index: Expr, more: int = 0) -> Value:
        return select(index, table(W, range(5, 100, 5), [v ^ more for v in values]))

    assert form(ult(read(A), P, W), RET=read(A)) == form(ult(read(B), P, W), RET=read(B))
    assert form(RET=read(A)) != form(RET=read(A, 1))
    assert form(RET=read(P)) != form(RET=read(Q))
    assert deciders(eq(read(A), read(P), W)) == ()


def test_outputs_that_share_a_variable_are_coupled() -> None:
    assert form(RET=A, field=A) != form(RET=A, field=B)
    assert form(RET=A, field=B) == form(RET=C + A, field=B ^ D)
    assert form(RET=A, field=A + 1) != form(RET=A, field=A + 2)


def test_an_output_that_is_not_there_is_unchanged() -> None:
    assert form(RET=A) != form(RET=A, field=B)


def test_clauses_over_nothing_observable_go() -> None:
    once = form(eq(A, 1, W), RET=0)
    assert once == form(eq(A, 2, W), ult(B, mul(C, B, W), W), RET=0)
    assert once != form(eq(A, 1, W), RET=1)


def test_clauses_over_observables_stay() -> None:
    assert form(ult(P, 3, W), RET=0) != form(ult(P, 4, W), RET=0)
    assert form(ult(P, Q, W), RET=0) != form(ult(Q, P, W), RET=0)
    coupled = (ult(A, P, W), ult(Q, A, W))
    assert form(*coupled, RET=0) != form(ult(A, P, W), ult(Q, B, W), RET=0)


def test_groups_twice_count_once() -> None:
    def some(x: Expr) -> Value:
        return eq(mul(x, x, W), P, W)

    assert form(some(A), RET=1) == form(some(A), some(B), some(C), RET=1)


def test_sets_of_values_are_compared_as_sets() -> None:
    assert form(ult(A, 10, W), RET=A) == form(ult(B, 20, W), ult(B, 10, W), RET=B)
    assert form(slt(A, 0, W), RET=A) == form(not_(eq(B, 0, W)), slt(B, 0, W), RET=B)
    assert form(ult(A, 10, W), RET=A) != form(ult(A, 11, W), RET=A)
    assert form(ult(P, 10, W), RET=0) == form(ult(P, 20, W), ult(P, 10, W), RET=0)


def test_known_values_are_put_in() -> None:
    assert form(eq(A, 3, W), RET=A) == form(eq(B, 1, W), RET=3)
    assert form(eq(A, P, W), RET=A) == form(eq(B, 1, W), RET=P)
    assert form(eq(P, 3, W), RET=P) == form(eq(P, 3, W), RET=3)


def test_a_leaf_made_of_a_slice_keeps_its_clauses() -> None:
    """The low byte is looked at by two: neither the value nor the clause may be lost."""
    low = extract(A, 0, 8)
    one = form(ult(low, 5, 8), RET=zext(low, 8, W))
    assert one != form(RET=zext(low, 8, W))
    other = extract(B, 0, 8)
    assert one == form(ult(other, 5, 8), eq(C, 1, W), RET=zext(other, 8, W))
    assert one != form(ult(low, 6, 8), RET=zext(low, 8, W))


def test_a_comparison_needs_only_to_be_true() -> None:
    marker = eq(D, 1, W)  # something that can be false
    assert form(marker, not_(ult(A, P, W)), RET=0) == form(marker, RET=0)
    assert form(marker, ult(A, P, W), RET=0) == form(marker, not_(eq(P, 0, W)), RET=0)
    assert form(not_(ult(A, P, W)), RET=0) != form(RET=0)  # the negation says that P is not 0


def test_undefined_data_is_never_anonymous() -> None:
    junk = undefined(W)
    assert form(RET=junk) != form(RET=A)
    assert form(eq(A, junk, W), RET=0) == form(eq(A, 1, W), RET=0)
    assert form(ult(junk, 3, W), RET=0) != form(ult(A, 3, W), RET=0)


def test_contradictions_are_a_form_of_their_own() -> None:
    assert form(eq(A, 3, W), eq(A, 4, W), RET=0) == form(eq(P, 3, W), eq(P, 4, W), RET=1)
    assert form(eq(A, 3, W), eq(A, 4, W), RET=0) != form(eq(A, 3, W), RET=0)


def test_tables_are_separate() -> None:
    one, two = Table(), Table()
    c = StateConstraint((ult(mul(A, P, W), Q, W),), (("RET", A, W),), OBSERVABLE)
    assert canonical_form(c, one) == canonical_form(c, one)
    known = len(one)
    assert known > 0
    assert len(two) == 0
    canonical_form(c, one)
    assert len(one) == known


# -- cost -------------------------------------------------------------------------------------------------


def long_constraint(size: int) -> StateConstraint:
    """A chain in which nothing is flexible, with a clause at every hundredth link."""
    e: Value = A
    clauses: list[Value] = []
    for i in range(size // 2):
        e = add(mul(e, P, W), (B, C, D, e)[i % 4], W)
        if i % 100 == 99:
            clauses.append(ult(e, Q, W))
    return StateConstraint(tuple(clauses), (("RET", e, W),), OBSERVABLE)


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called: what work costs, whatever else the machine does meanwhile."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_cost_is_linear() -> None:
    small, large = (
        calls_of(partial(canonical_form, long_constraint(size), Table())) for size in (2_500, 10_000)
    )
    assert large < 5 * small  # four times the size


def test_long_constraint_means_something() -> None:
    c = long_constraint(40)
    value = c.outputs[0][1]
    assert evaluate(value, {A.a: 1, P.a: 1}) & MASK[W] > 1
