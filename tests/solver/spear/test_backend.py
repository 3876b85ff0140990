"""The back end against the evaluator and Bitwuzla."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.solver import UNKNOWN, UNSAT, BitwuzlaBackend, QueryLimits, SliceSpace
from anabranch.solver.spear import THESIS, Encoding, SpearOptions
from anabranch.solver.spear.backend import SpearBackend

from .. import expressions
from ..test_backends import agree, fp_cases, fp_model

OPTIONS = {
    "default": SpearOptions(),
    "kept": SpearOptions(rebuild=50),
    "other circuits": SpearOptions(Encoding("columns", "guild", "array", True), rebuild=7),
    "thesis": THESIS,
}


@pytest.mark.parametrize("name", OPTIONS)
def test_values_of_random_expressions(name: str) -> None:
    backend = SpearBackend(OPTIONS[name])
    for seed in range(120):
        rng = random.Random(seed)
        e = expressions.value(rng, rng.choice(expressions.WIDTHS), 4)
        if e.__class__ is X.Expr:
            agree(backend, e, expressions.model(rng))


@pytest.mark.parametrize("name", OPTIONS)
def test_paths_as_bitwuzla_answers(name: str) -> None:
    """Constraints that grow along a path and are taken back; every model holds."""
    backend, other = SpearBackend(OPTIONS[name]), BitwuzlaBackend()
    rng = random.Random(name)
    path: list[Any] = []
    sides = set()
    for _ in range(150):
        c = expressions.value(rng, 1, 4)
        if c.__class__ is not X.Expr:
            continue
        variables = sorted({v for d in (*path, c) for v in X.expr_vars(d)})
        found = backend.solve((*path, c), variables)
        assert (found is UNSAT) == (other.solve((*path, c), variables) is UNSAT)
        sides.add(found is UNSAT)
        if isinstance(found, dict):
            assert sorted(found) == variables
            assert all(X.evaluate(d, found) is True for d in (*path, c))
            path.append(c)
        if len(path) > 6 or rng.random() < 0.2:
            del path[rng.randint(0, len(path)) :]
    assert sides == {True, False}


def test_floating_point_goes_to_bitwuzla() -> None:
    backend = SpearBackend()
    rng = random.Random(0)
    for _, e in fp_cases()[::4]:
        agree(backend, e, fp_model(rng))
    assert backend.passed_on
    x = X.var("after", 8)
    assert backend.solve([X.eq(x, 3, 8)], (x.a,)) == {x.a: 3}


def test_numbers_of_x87_are_lowered_to_bits() -> None:
    x = X.var("x87", 80)
    backend = SpearBackend()
    assert isinstance(backend.solve([X.fcmp("olt", x, X.fneg(x, 80), 80)], (x.a,)), dict)
    assert backend.passed_on == 0


def test_common_subexpressions_need_no_search() -> None:
    a, b = X.var("cse.a", 64), X.var("cse.b", 64)
    product = X.mul(a, b, 64)
    assert X.ne(product, X.mul(b, a, 64), 64) is False
    differ = X.bool_and(X.ult(product, X.add(a, b, 64), 64), X.ult(X.add(b, a, 64), X.mul(b, a, 64), 64))
    assert differ is False


def test_equal_circuits_are_one() -> None:
    """Two products whose operands are equal bit by bit, but not as expressions."""
    a, b, c = X.var("same.a", 32), X.var("same.b", 32), X.var("same.c", 1)
    p = X.mul(X.ite(c, a, b, 32), b, 32)
    low = X.ite(c, X.extract(a, 0, 16), X.extract(b, 0, 16), 16)
    high = X.ite(c, X.extract(a, 16, 16), X.extract(b, 16, 16), 16)
    q = X.mul(X.concat(high, 16, low, 16), b, 32)
    assert p is not q
    assert SpearBackend(conflicts=10).solve([X.ne(p, q, 32)], ()) is UNSAT


def hard() -> Any:
    a, b = X.var("hard.a", 64), X.var("hard.b", 64)
    both = X.bool_and(X.ugt(a, 1, 64), X.ugt(b, 1, 64))
    small = X.bool_and(X.ult(a, 1 << 32, 64), X.ult(b, 1 << 32, 64))
    return [both, small, X.eq(X.mul(a, b, 64), 2860486313 * 3367900313, 64)]


def test_gives_up() -> None:
    backend = SpearBackend(conflicts=300)
    assert backend.solve(hard(), ()) is UNKNOWN
    assert backend.effort > 300
    x = X.var("after", 8)
    assert backend.solve([X.eq(x, 3, 8)], (x.a,)) == {x.a: 3}
    limits = QueryLimits(0.05)
    assert SpearBackend(limits=limits, conflicts=1 << 30).solve(hard(), ()) is UNKNOWN


def test_effort_repeats() -> None:
    efforts = []
    for _ in range(2):
        backend = SpearBackend(conflicts=300)
        backend.solve(hard(), ())
        efforts.append(backend.effort)
    assert efforts[0] == efforts[1]


def test_behind_the_chain() -> None:
    space = SliceSpace(SpearBackend())
    x, y = X.var("chain.x", 32), X.var("chain.y", 32)
    s = space.join((space.root(x.a), space.root(y.a)))
    product = X.mul(x, y, 32)
    taken = space.assume(s, X.eq(product, 35, 32))
    assert taken is not None
    assert X.evaluate(product, taken.model) == 35
    assert space.assume(taken, X.eq(X.and_(x, y, 32), 0, 32)) is None
