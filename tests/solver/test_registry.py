"""The registry of operators: its columns agree, the solvers know all of it, and one entry is enough."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr import node, x87_bits
from anabranch.expr.compiled import evaluate_columns
from anabranch.expr.fp import OPERATORS as FP_OPERATORS
from anabranch.expr.fp import RESULTS
from anabranch.expr.registry import OPERATORS, Operator, binder, register
from anabranch.solver import UNSAT, BitwuzlaBackend, Z3Backend
from anabranch.solver.bitwuzla_terms import BITS_OF, FP_BITS_OF, NUMBER_OF
from anabranch.solver.bounds import RULES, range_of
from anabranch.solver.few import few_values
from anabranch.solver.valuesets import truth_set

from .expressions import sample
from .test_backends import agree

BACKENDS = (BitwuzlaBackend(), Z3Backend())


@pytest.mark.parametrize("op", OPERATORS)
def test_the_columns_of_an_entry_agree(op: str) -> None:
    """Evaluation, rebuilding over constants, and both kinds of generated code are one function."""
    n = sample(op)
    assert n.op == op
    operator = OPERATORS[op]
    widths = operator.widths(n)
    operands = (n.a, n.b, n.c)
    assert [x.w for x in operands[: len(widths)]] == list(widths)
    columns = [[False, True] if w == 1 else [k * 0x1D5 & X.MASK[w] for k in (0, 1, 2, 7, -1)] for w in widths]
    rows = [(*values, *operands[len(widths) :]) for values in itertools.product(*columns)]  # with parameters
    expected = [operator.evaluate(n, *row) for row in rows]
    assert [operator.rebuild(n, *row) for row in rows] == expected
    assert evaluate_columns(n, [list(column) for column in zip(*rows, strict=True)]) == expected
    assert all(v.__class__ is (bool if n.w == 1 else int) for v in expected)
    run = X.compile_evaluator([n])
    for row, value in zip(rows, expected, strict=True):
        model = {x.a: v for x, v in zip(operands, row, strict=True) if x.__class__ is X.Expr}
        assert run(model) == (X.evaluate(n, model),) == (value,)
    if operator.commutative:
        assert expected == [operator.evaluate(n, b, a, c) for a, b, c in rows]
    assert operator.rebuild(n, *operands) is n


def test_every_name_is_registered() -> None:
    names = {value for name, value in vars(node).items() if name.isupper() and isinstance(value, str)}
    assert names - {node.VAR} == set(OPERATORS) - FP_OPERATORS
    assert set(OPERATORS) >= FP_OPERATORS == set(x87_bits.LOWER)


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="add"):
        register(OPERATORS["add"])


def test_tables_are_complete() -> None:
    assert {*BITS_OF, *FP_BITS_OF} == {node.VAR, *OPERATORS}
    assert set(NUMBER_OF) == RESULTS
    assert set(RULES) == set(OPERATORS)


@pytest.mark.parametrize("op", OPERATORS)
def test_terms_and_bounds_mean_what_the_entry_says(op: str) -> None:
    rng = random.Random(op)
    n = sample(op)
    model = {v: rng.getrandbits(X.variable(v).w) for v in X.expr_vars(n)}
    agree(BACKENDS[0], n, model)
    agree(BACKENDS[1], n, model)
    # Ranges of one value each, and of all values.
    exact = {v: 1 << k if X.variable(v).w == 1 else ((k, k),) for v, k in model.items()}
    for sets in (exact, {}):
        found = range_of(n, sets)
        assert found is not None and found[0] <= X.evaluate(n, model) <= found[1]


# ---- new kinds of nodes --------------------------------------------------------------------------------


@pytest.fixture
def throw_away() -> Iterator[None]:
    known = set(OPERATORS)
    yield
    for name in set(OPERATORS) - known:
        del OPERATORS[name]


def middle(x: Any, y: Any, z: Any, w: int) -> Any:
    """The second largest of three numbers."""
    if X.Expr not in (x.__class__, y.__class__, z.__class__):
        return sorted((x, y, z))[1]
    return node.nary("middle", w, x, y, z)


def by_choices(n: X.Expr) -> Any:
    def order(x: Any, y: Any) -> tuple[Any, Any]:
        less = X.ult(x, y, n.w)
        return X.ite(less, x, y, n.w), X.ite(less, y, x, n.w)

    low, high = order(n.a, n.b)
    return order(low, order(high, n.c)[0])[1]


MIDDLE = Operator(
    "middle",
    lambda n: (n.w, n.w, n.w),
    lambda n, a, b, c: middle(a, b, c, n.w),
    lambda n, a, b, c: middle(a, b, c, n.w),
    lambda n, s: f"(middle {s.operands(n)})",
    lower=by_choices,
)


def test_one_entry_makes_a_node_known_everywhere(throw_away: None) -> None:
    register(MIDDLE)
    x, y = X.var("registry.x", 8), X.var("registry.y", 8)
    n = middle(X.add(x, 1, 8), y, 100, 8)
    assert n is middle(X.add(x, 1, 8), y, 100, 8)
    assert X.expr_vars(n) == (x.a, y.a)
    assert repr(n) == "(middle (add registry.x 1) registry.y 100)"
    assert X.evaluate(n, {x.a: 4, y.a: 200}) == 100
    assert X.compile_evaluator([n])({x.a: 4, y.a: 50}) == (50,)
    assert X.substitute(n, {x: 4, y: 50}) == 50
    assert X.substitute(n, {x: y}) is middle(X.add(y, 1, 8), y, 100, 8)
    assert range_of(n, {}) == (0, 255)
    assert few_values(n, {x.a: 1 << 3 | 1 << 9, y.a: 1 << 7}, 8) == {7, 10}
    assert truth_set(X.substitute(X.eq(n, 100, 8), {y: 7})) == sum(1 << v for v in range(99, 255))
    for backend in BACKENDS:
        assert backend.solve([X.eq(n, 100, 8), X.ult(x, 50, 8), X.ult(y, 100, 8)], (x.a, y.a)) is UNSAT
        model = backend.solve([X.eq(n, 101, 8), X.ult(x, 50, 8)], (x.a, y.a))
        assert model is UNSAT
        model = backend.solve([X.eq(n, 77, 8), X.ult(x, 50, 8)], (x.a, y.a))
        assert X.evaluate(n, model) == 77


MOST = 6  # rounds of the quantifier


def forall(bound: Any, body: Any, i: X.Expr) -> Any:
    """`body` for all i below `bound`, which is at most MOST."""
    if body.__class__ is not X.Expr:
        return X.bool_or(body, X.eq(bound, 0, 8))
    if bound.__class__ is not X.Expr and i.a not in X.expr_vars(body):
        return X.bool_or(body, bound == 0)
    return binder("forall", 1, bound, body, i)


def instances(n: X.Expr) -> Any:
    rounds = [X.bool_or(X.ule(n.a, k, 8), X.substitute(n.b, {n.c: k})) for k in range(MOST)]
    result: Any = True
    for one in rounds:
        result = X.bool_and(result, one)
    return result


FORALL = Operator(
    "forall",
    lambda n: (8, 1, 8),
    lambda n, a, b, c: all(b(k) for k in range(min(a, MOST))),
    lambda n, a, b, c: forall(a, b, c),
    lambda n, s: f"(forall {s.operands(n)})",
    lower=instances,
    binds=True,
)


def test_an_entry_can_bind_a_variable(throw_away: None) -> None:
    """For all i < n: s + i is not 9."""
    register(FORALL)
    s, t, n, i = (X.var(f"registry.{name}", 8) for name in "stni")
    body = X.ne(X.add(s, i, 8), 9, 8)
    e = forall(n, body, i)
    assert X.expr_vars(e) == tuple(sorted((s.a, n.a)))
    assert X.expr_vars(X.bool_and(e, X.ult(t, 3, 8))) == tuple(sorted((s.a, n.a, t.a)))
    assert repr(e).startswith("(forall registry.n (not (eq")
    run = X.compile_evaluator([X.not_(e)])
    for start, bound in itertools.product(range(12), range(7)):
        expected = all(start + k != 9 for k in range(bound))
        model = {s.a: start, n.a: bound, i.a: 5}
        assert X.evaluate(e, model) is expected
        assert run(model) == (not expected,)
        closed = X.substitute(e, {s: start, n: bound})
        assert (X.evaluate(closed, {}) if closed.__class__ is X.Expr else closed) is expected
    assert X.substitute(e, {s: t}) is forall(n, X.ne(X.add(t, i, 8), 9, 8), i)
    four = X.substitute(e, {n: 4})
    assert X.expr_vars(four) == (s.a,)
    assert truth_set(four) == X.MASK[256] ^ sum(1 << v for v in range(6, 10))
    assert few_values(X.zext(four, 1, 8), {s.a: 1 << 3}, 8) == {0, 1}
    for backend in BACKENDS:
        assert backend.solve([four, X.ugt(s, 5, 8), X.ult(s, 10, 8)], (s.a,)) is UNSAT
        model = backend.solve([X.not_(e), X.eq(s, 6, 8), X.ult(n, 5, 8)], (s.a, n.a))
        assert model == {s.a: 6, n.a: 4}
