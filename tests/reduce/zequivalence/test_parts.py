"""Forms made part by part: right on random pairs, as sharp as those of whole constraints, and less work."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from anabranch.expr import (
    Expr,
    Value,
    add,
    eq,
    evaluate,
    expr_vars,
    extract,
    mul,
    ult,
    var,
    variable,
    zext,
)
from anabranch.reduce.zequivalence.canonical import Table, canonical_form
from anabranch.reduce.zequivalence.clauses import deciders, without_decided
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.contents import Outputs
from anabranch.reduce.zequivalence.parts import PartForms
from anabranch.solver import Slice
from anabranch.solver.slices import make_slice
from bench.zequivalence_pairs import pairs, same_projection

REST = var("test.rest", 1)


def sliced(a: StateConstraint) -> tuple[dict[Slice, None], dict[int, Slice]]:
    """The slices that a path with these clauses has."""
    values = [v for _, v, _ in a.outputs if isinstance(v, Expr)]
    groups: list[tuple[set[int], list[Expr]]] = [(set(expr_vars(c)), [c]) for c in a.clauses]
    groups += [({i}, []) for v in values for i in expr_vars(v) if i >= 0]
    joined: list[tuple[set[int], list[Expr]]] = []
    for inside, clauses in groups:
        apart = [g for g in joined if not g[0] & inside]
        near = [g for g in joined if g[0] & inside]
        whole = inside.union(*(g[0] for g in near))
        joined = [*apart, (whole, [c for g in near for c in g[1]] + clauses)]
    found: dict[int, Slice] = {}
    for inside, clauses in joined:
        model = dict.fromkeys(inside, 0)
        part = make_slice(frozenset(clauses), tuple(clauses), tuple(sorted(inside)), (model,), None, {})
        found.update(dict.fromkeys(inside, part))
    return dict.fromkeys(found[i] for i in sorted(found)), found


def form(forms: PartForms, a: StateConstraint, shared: int = 0) -> frozenset[int]:
    """The form of a constraint whose first outputs are its own, and the last `shared` those of a page."""
    parts, slices = sliced(a)
    outputs = list(a.outputs)
    cut = len(outputs) - shared
    groups = [Outputs(some, forms.table) for some in (outputs[:cut], outputs[cut:])]
    encoded: Any = SimpleNamespace(groups=groups, observable=a.observable, parts=parts, slices=slices)
    return forms.form(encoded)


def test_random_pairs() -> None:
    forms, table = PartForms(), Table()
    found = whole = 0
    for _, of, a, b in pairs(11, 300):
        same = form(forms, a) == form(forms, b, len(b.outputs) // 2)
        if same:
            assert same_projection(a, b, of), (a, b)
        one, other = (StateConstraint((REST, *c.clauses), c.outputs, c.observable) for c in (a, b))
        found += same
        whole += canonical_form(one, table) == canonical_form(other, table)
    assert found >= 0.97 * whole > 30


W = 8
X, Y, Z, SEEN = (var(f"test.parts.{name}", W) for name in ("x", "y", "z", "seen"))


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (eq(X, mul(Y, Y, W), W), {X.a}),
        (eq(X, add(Y, SEEN, W), W), {X.a, Y.a, SEEN.a}),
        (eq(X, mul(X, Y, W), W), set()),
        (eq(extract(X, 0, 4, W), extract(mul(Y, Y, W), 0, 4, W), 4), {X.a}),
        (eq(zext(extract(X, 0, 4, W), 4, W), mul(Y, Y, W), W), set()),
        (ult(X, Y, W), set()),
    ],
)
def test_who_decides(clause: Value, expected: set[int]) -> None:
    assert isinstance(clause, Expr)
    assert set(deciders(clause)) == expected


def test_deciders_of_random_clauses() -> None:
    """A variable that is said to decide a clause makes it true and false, whatever all others are."""
    rng, checked = random.Random(1), 0
    for _, of, a, _ in pairs(3, 300):
        for clause in a.clauses:
            for v in deciders(clause):
                for _ in range(10):
                    others = {i: rng.randrange(1 << of.w) for i in expr_vars(clause)}
                    found = {bool(evaluate(clause, {**others, v: x})) for x in range(1 << variable(v).w)}
                    assert found == {False, True}, (clause, v)
                    checked += 1
    assert checked > 500


def test_decided_clauses_go() -> None:
    """One after the other: what one of them held is free when it is gone."""
    clauses = (eq(X, mul(Y, Y, W), W), eq(Y, mul(Z, SEEN, W), W), ult(Z, SEEN, W))
    outputs = (("RET", Z, W),)
    left = without_decided(StateConstraint(clauses, outputs, frozenset([SEEN.a])))
    assert left.clauses == clauses[2:]
    seen = StateConstraint(clauses, outputs, frozenset([SEEN.a, X.a, Y.a]))
    assert without_decided(seen).clauses == clauses
