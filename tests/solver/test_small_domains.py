"""Trying all values says what a solver says."""

from __future__ import annotations

import random
from collections.abc import Sequence

from anabranch import expr as X
from anabranch.expr import Expr, evaluate, fp
from anabranch.solver import UNKNOWN, UNSAT, BitwuzlaBackend, QueryLimits
from anabranch.solver.backend import Answer
from anabranch.solver.small_domains import SmallDomains, try_all

from . import expressions

PLENTY = 50_000_000


def test_all_values_say_what_the_solver_says() -> None:
    rng = random.Random(5)
    solver = BitwuzlaBackend()
    said = {"sat": 0, "unsat": 0}
    for _ in range(500):
        drawn = [expressions.value(rng, 1, 3) for _ in range(rng.choice([2, 5, 8]))]
        conditions = [c for c in drawn if c.__class__ is Expr]
        variables = sorted({v for c in conditions for v in X.expr_vars(c)})
        found = try_all(conditions, variables, PLENTY)
        if found is UNKNOWN:
            assert sum(X.variable(v).w for v in variables) > 16
            continue
        expected = solver.solve(conditions, variables)
        assert (found is UNSAT) == (expected is UNSAT), conditions
        said["unsat" if found is UNSAT else "sat"] += 1
        if found is not UNSAT:
            assert all(evaluate(c, found) is True for c in conditions)
            assert set(found) == set(variables)
    assert said["sat"] > 50 and said["unsat"] > 10, said


class GivesUp:
    """A solver that answers nothing."""

    name = "none"
    effort = 0

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        return UNKNOWN


def root_is(c: int) -> Expr:
    """The square root of a byte, as a float, is that number."""
    byte = X.var("small.byte", 8)
    condition = X.eq(fp.fsqrt(fp.ui_to_fp(byte, 8, 32), 32), fp.ui_to_fp(c, 8, 32), 32)
    assert condition.__class__ is Expr
    return condition


def test_answers_what_the_solver_inside_gives_up() -> None:
    other = X.var("small.other", 8)
    backend = SmallDomains(GivesUp(), QueryLimits())
    byte = X.expr_vars(root_is(9))[0]
    model = backend.solve([root_is(9), X.eq(X.mul(other, other, 8), 49, 8)], [byte, other.a])
    assert isinstance(model, dict) and model[byte] == 81 and model[other.a] ** 2 % 256 == 49
    assert backend.solve([root_is(17)], [byte]) is UNSAT


def test_many_values_or_much_work_stay_unknown() -> None:
    wide = X.var("small.wide", 32)
    square = X.eq(X.mul(wide, wide, 32), 49, 32)
    assert try_all([square], [wide.a], PLENTY) is UNKNOWN
    assert try_all([square, X.ult(wide, 100, 32)], [wide.a], PLENTY) == {wide.a: 7}
    assert try_all([square, X.ult(wide, 100, 32)], [wide.a], 100) is UNKNOWN
    limits = QueryLimits()
    limits.begin(0)
    assert limits.part < 1, "a query that can be put back has a part of the work only"
