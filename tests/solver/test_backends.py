"""Backends against the evaluator: the value of an expression under a model is its only solution."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr import fpvalue
from anabranch.solver import (
    UNKNOWN,
    UNSAT,
    BitwuzlaBackend,
    CrossChecked,
    QueryLimits,
    QueryLog,
    SliceSpace,
    SolverDisagreement,
    SolverUnknown,
    Z3Backend,
)
from anabranch.solver.bitwuzla_terms import side_conditions, term
from anabranch.solver.corpus import CorpusWriter, read_corpus

from . import expressions

BITWUZLA, Z3 = BitwuzlaBackend(), Z3Backend()


def pinned(e: Any, model: dict[int, int]) -> list[Any]:
    """Conditions that fix the variables of an expression to a model."""
    out = []
    for v in X.expr_vars(e):
        x = X.variable(v)
        out.append(X.eq(x, bool(model[v]) if x.w == 1 else model[v], x.w))
    return out


def agree(backend: Any, e: Any, model: dict[int, int]) -> None:
    """The backend gives the evaluator's value and no other."""
    expected = X.evaluate(e, model)
    right = X.eq(e, expected, e.w)
    if right is True:
        return
    conds = pinned(e, model)
    assert backend.solve([*conds, X.not_(right)], ()) is UNSAT, (e, model, expected)
    assert backend.solve([*conds, right], X.expr_vars(e)) == {v: model[v] for v in X.expr_vars(e)}


@pytest.mark.parametrize("seed", range(150))
def test_bitwuzla(seed: int) -> None:
    rng = random.Random(seed)
    e = expressions.value(rng, rng.choice(expressions.WIDTHS), 4)
    if e.__class__ is X.Expr:
        agree(BITWUZLA, e, expressions.model(rng))


@pytest.mark.parametrize("seed", range(40))
def test_z3(seed: int) -> None:
    rng = random.Random(1000 + seed)
    e = expressions.value(rng, rng.choice(expressions.WIDTHS), 4)
    if e.__class__ is X.Expr:
        agree(Z3, e, expressions.model(rng))


def fp_cases() -> list[tuple[str, Any]]:
    """Each floating-point operation over symbolic operands, as (name, expression)."""
    out: list[tuple[str, Any]] = []
    for w in (16, 32):
        x, y = (X.var(f"f{name}{w}", w) for name in "xy")
        i = X.var("int20", 20)
        out += [
            (f"add{w}", X.fadd(x, y, w)),
            (f"sub{w}", X.fsub(x, y, w)),
            (f"mul{w}", X.fmul(x, y, w)),
            (f"div{w}", X.fdiv(x, y, w)),
            (f"sqrt{w}", X.fsqrt(x, w)),
            (f"const{w}", X.fadd(X.fmul(x, fpvalue.from_float(1.5, w), w), y, w)),
            (f"sum{w}", X.fadd(X.fadd(x, y, w), x, w)),
            (f"neg{w}", X.fadd(X.fneg(x, w), X.fabs(y, w), w)),
            (f"ite{w}", X.fsub(X.ite(X.fcmp("olt", x, y, w), x, y, w), y, w)),
            (f"floor{w}", X.ffloor(x, w)),
            (f"ceil{w}", X.fceil(x, w)),
            (f"trunc{w}", X.ftrunc(x, w)),
            (f"rint{w}", X.frint(x, w)),
            (f"round{w}", X.fround(x, w)),
            (f"min{w}", X.fmin(x, y, w)),
            (f"max{w}", X.fmax(x, y, w)),
            (f"copysign{w}", X.fcopysign(x, y, w)),
            (f"convert{w}", X.fp_convert(x, w, 48 - w)),
            (f"si{w}", X.si_to_fp(i, 20, w)),
            (f"ui{w}", X.ui_to_fp(i, 20, w)),
            (f"tosi{w}", X.fp_to_si(x, w, 32)),
            (f"tosi8{w}", X.fp_to_si(x, w, 8)),
            (f"toui{w}", X.fp_to_ui(x, w, 64)),
            (f"olt{w}", X.fcmp("olt", x, y, w)),
            (f"ueq{w}", X.fcmp("ueq", X.fadd(x, y, w), y, w)),
            (f"uno{w}", X.fcmp("uno", x, y, w)),
        ]
    a, b, c = (X.var(f"f{name}16", 16) for name in "xyz")
    out.append(("fma16", X.ffma(a, b, c, 16)))
    out.append(("rem16", X.frem(a, b, 16)))
    return out


def fp_model(rng: random.Random) -> dict[int, int]:
    model = {X.var("int20", 20).a: rng.getrandbits(20)}
    for w in (16, 32):
        f = fpvalue.FORMATS[w]
        for name in "xyz":
            special = rng.choice([0, 1, f.infinity, f.infinity | 1, f.infinity | f.quiet | 3, f.infinity - 1])
            near = (f.bias + rng.randint(-6, 8)) << f.fraction_bits | rng.getrandbits(f.fraction_bits)
            v = rng.choice([special, near, near, rng.getrandbits(w)])
            model[X.var(f"f{name}{w}", w).a] = v | rng.getrandbits(1) << (w - 1)
    return model


@pytest.mark.parametrize("name,e", fp_cases(), ids=lambda v: v if isinstance(v, str) else "")
def test_floating_point_bitwuzla(name: str, e: Any) -> None:
    rng = random.Random(name)
    for _ in range(3):
        agree(BITWUZLA, e, fp_model(rng))


@pytest.mark.parametrize("name,e", fp_cases()[::3], ids=lambda v: v if isinstance(v, str) else "")
def test_floating_point_z3(name: str, e: Any) -> None:
    agree(Z3, e, fp_model(random.Random(name)))


@pytest.mark.parametrize("backend", [BITWUZLA, Z3], ids=["bitwuzla", "z3"])
def test_invalid_operations_give_the_default_nan(backend: Any) -> None:
    for w in (16, 32):
        f = fpvalue.FORMATS[w]
        x, y = X.var(f"fx{w}", w), X.var(f"fy{w}", w)
        infinity, minus_one = f.infinity, f.bias << f.fraction_bits | f.sign
        agree(backend, X.fsub(x, y, w), {x.a: infinity, y.a: infinity})
        agree(backend, X.fdiv(x, y, w), {x.a: 0, y.a: f.sign})
        agree(backend, X.fmul(x, y, w), {x.a: infinity, y.a: 0})
        agree(backend, X.fsqrt(x, w), {x.a: minus_one})
        # NaN operands, signalling and negative ones too
        agree(backend, X.fadd(x, y, w), {x.a: f.infinity | 1, y.a: f.infinity | f.quiet | f.sign})
        agree(backend, X.fadd(x, y, w), {x.a: minus_one, y.a: f.infinity | 1 | f.sign})
        agree(backend, X.fp_convert(x, w, 48 - w), {x.a: f.infinity | 5 | f.sign})
        agree(backend, X.ftrunc(x, w), {x.a: f.infinity | 1})


def hard_query() -> list[Any]:
    """Factors of a product of two primes."""
    p, q = X.var("p80", 80), X.var("q80", 80)
    product = (2**37 - 25) * (2**36 - 5)
    return [
        X.eq(X.mul(p, q, 80), product, 80),
        X.ult(p, 2**38, 80),
        X.ult(q, 2**38, 80),
        X.ugt(p, 1, 80),
        X.ugt(q, 1, 80),
    ]


def test_limits_give_unknown() -> None:
    assert BitwuzlaBackend(polls=50).solve(hard_query(), ()) is UNKNOWN
    assert BitwuzlaBackend(limits=QueryLimits(0.05)).solve(hard_query(), ()) is UNKNOWN
    assert Z3Backend(resources=1000).solve(hard_query(), ()) is UNKNOWN
    assert Z3Backend(resources=1 << 31, limits=QueryLimits(0.05)).solve(hard_query(), ()) is UNKNOWN


def test_no_query_goes_on_after_the_end_of_the_run() -> None:
    started = time.monotonic()
    backend = BitwuzlaBackend(polls=1 << 60, limits=QueryLimits(end=started + 0.2))
    assert backend.solve(hard_query(), ()) is UNKNOWN
    assert backend.solve(hard_query(), ()) is UNKNOWN
    # Without the end this one would go on for years.
    limits = QueryLimits(1e9, end=started)
    assert BitwuzlaBackend(polls=1 << 60, limits=limits).solve(hard_query(), ()) is UNKNOWN


def test_unknown_is_raised_and_not_remembered() -> None:
    space = SliceSpace(BitwuzlaBackend(polls=50))
    hard = hard_query()
    s = space.join((space.root(hard[0].a.a.a), space.root(hard[0].a.b.a)))
    for cond in hard[1:]:
        r = space.assume(s, cond)
        assert r is not None
        s = r
    with pytest.raises(SolverUnknown) as caught:
        space.decide(s, hard[0])
    assert caught.value.known_side is False
    assert hard[0] not in s.answers


def test_solver_is_usable_after_unknown() -> None:
    backend = BitwuzlaBackend(polls=50)
    assert backend.solve(hard_query(), ()) is UNKNOWN
    x = X.var("after", 8)
    assert backend.solve([X.eq(x, 7, 8)], (x.a,)) == {x.a: 7}


class Liar:
    """A backend that always says unsat."""

    name = "liar"

    def solve(self, constraints: Any, variables: Any) -> Any:
        return UNSAT


class Inventor:
    """A backend that makes models up."""

    name = "inventor"

    def solve(self, constraints: Any, variables: Any) -> Any:
        return dict.fromkeys(variables, 0)


@pytest.mark.parametrize("make", [BitwuzlaBackend, Z3Backend])
def test_what_is_asserted_holds_after_a_collection(make: Any) -> None:
    """When memory runs short, terms are dropped and built again: they must be about the same variables."""
    backend = make()
    x, y = X.var("collected.x", 32), X.var("collected.y", 32)
    constraints = [X.ult(x, 10, 32), X.not_(X.eq(x, 9, 32))]
    assert backend.solve(constraints, (x.a,)) is not UNSAT
    X.collect()
    constraints.append(X.eq(X.add(x, y, 32), 12, 32))
    model = backend.solve(constraints, (x.a, y.a))
    assert all(X.evaluate(c, model) for c in constraints)
    assert backend.solve([*constraints, X.ult(20, x, 32)], (x.a, y.a)) is UNSAT


def test_cross_check(tmp_path: Path) -> None:
    x = X.var("cross", 8)
    good = CrossChecked(BITWUZLA, Z3)
    assert good.solve([X.eq(x, 9, 8)], (x.a,)) == {x.a: 9}
    assert good.compared == 1
    for bad in (Liar(), Inventor()):
        with pytest.raises(SolverDisagreement):
            CrossChecked(BITWUZLA, bad, tmp_path).solve([X.eq(x, 9, 8)], (x.a,))
        assert "check-sat" in (tmp_path / "disagreement.smt2").read_text()


def test_query_log_can_be_solved_again(tmp_path: Path) -> None:
    import z3

    path = tmp_path / "queries.corpus"
    log = QueryLog(BitwuzlaBackend(), CorpusWriter(path, "explore", "a.c", "main", "bitwuzla"))
    x, y = X.var("logged x", 16), X.var("logged|y", 16)
    f = X.fadd(x, y, 16)
    log.solve([X.ult(X.add(x, y, 16), 5, 16), X.fcmp("ogt", f, x, 16)], (x.a, y.a))
    log.solve([X.ult(x, 5, 16), X.ugt(x, 9, 16)], (x.a,))
    queries = list(read_corpus(path))
    assert [q.answer for q in queries] == ["sat", "unsat"]
    for q in queries:
        solver = z3.Solver()
        solver.from_string(X.to_smtlib(q.constraints))
        assert str(solver.check()) == q.answer


def test_deep_terms() -> None:
    """Neither the terms nor their side conditions are built by recursion."""
    x, y = X.var("deep x", 32), X.var("deep y", 32)
    e = x
    for _ in range(30_000):
        e = X.xor(X.add(e, y, 32), x, 32)
    e = X.fadd(X.fadd(e, y, 32), y, 32)
    cond = X.ult(e, y, 32)
    assert term(cond) is cond.term
    assert len(side_conditions(cond)) == 2
