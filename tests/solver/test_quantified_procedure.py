"""The solving procedure: Examples 5 to 7, and random queries against the plain solver."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr.tables import read_table
from anabranch.solver import UNKNOWN, UNSAT, BitwuzlaBackend, SliceSpace
from anabranch.solver.backend import Answer
from anabranch.solver.quantified_procedure import Attempt, QuantifiedLink, QuantifiedProcedure
from anabranch.solver.rounds import Listed, Rounds
from anabranch.solver.space import default_links

SIZE = 11


def cells(name: str = "s", size: int = SIZE) -> list[Any]:
    return [X.var(f"{name}[{i}]", 8) for i in range(size)]


def read(offset: Any, name: str = "s", size: int = SIZE) -> Any:
    return read_table(cells(name, size), range(size), 1, offset)


def example_5() -> tuple[list[Any], Rounds, Any, Any]:
    """s[n] = 0, 1 <= k <= 10, s[k-1] = 8, for all 1 <= i <= k: s[i-1] != 0."""
    n, k = X.var("n", 64), X.var("k", 16)
    offset = X.sub(X.zext(k, 16, 64), 1, 64)
    conditions = [
        X.ult(n, SIZE, 64),
        X.eq(read(n), 0, 8),
        X.uge(k, 1, 16),
        X.ule(k, 10, 16),
        X.eq(read(offset), 8, 8),
    ]
    spine = Listed([X.ne(v, 0, 8) for v in cells()[:10]])
    return conditions, Rounds(k, spine, Listed(dict.fromkeys(range(11), True))), n, k


def test_example_5_stripping() -> None:
    conditions, clause, n, k = example_5()
    weakened = Attempt(BitwuzlaBackend(), conditions, [clause], ()).stripped()
    known = set(map(id, conditions))
    added = [c for c in weakened if id(c) not in known and c is not True]
    print(added)
    backend = BitwuzlaBackend()
    inside = [X.uge(X.zext(k, 16, 64), X.add(n, 1, 64), 64), X.ult(n, 10, 64)]
    assert backend.solve((*added, *inside), ()) is UNSAT  # not (1 <= n+1 <= k)
    first = [X.uge(k, 1, 16), X.eq(cells()[0], 0, 8)]
    assert backend.solve((*added, *first), ()) is UNSAT  # k >= 1 -> s[0] != 0
    assert isinstance(backend.solve(added, ()), dict)


def test_examples_6_and_7() -> None:
    """From the paper's first model: duplication violates s[k-1] = 8, repair finds the paper's last one."""
    conditions, clause, n, k = example_5()
    attempt = Attempt(BitwuzlaBackend(), conditions, [clause], ())
    s = [v.a for v in cells()]
    model = {n.a: 7, k.a: 7} | dict(zip(s, [1, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0], strict=True))
    asserted = [c for c in attempt.stripped() if c is not True]
    assert all(X.evaluate(c, model) for c in asserted) and not attempt.holds(model)
    copied = attempt.duplicated(model, frozenset())
    assert [copied[v] for v in s[:8]] == [1, 1, 1, 1, 1, 1, 1, 0] and not attempt.holds(copied)
    assert [c for c in attempt.free if X.evaluate(c, copied) is not True] == [conditions[-1]]
    repaired = attempt.repaired(asserted, copied)
    print(repaired)
    assert repaired is not None and attempt.holds(repaired)
    assert (repaired[n.a], repaired[k.a], repaired[s[6]], repaired[s[7]]) == (7, 7, 8, 0)
    assert len({repaired[v] for v in s[:6]}) == 1 and repaired[s[0]] != 0


def test_examples_5_to_7_need_no_fallback() -> None:
    conditions, clause, _, _ = example_5()
    procedure = QuantifiedProcedure(BitwuzlaBackend())
    solved = procedure.solve(conditions, [clause], fallback=False)
    assert isinstance(solved.answer, dict) and solved.stage != "fallback"
    assert all(X.evaluate(c, solved.answer) for c in conditions) and clause.holds(solved.answer)


def test_fallback_has_a_limit() -> None:
    """s[2] = 0 is no negation of an instance here: its round is found only by all instances."""
    k = X.var("k", 16)
    clause = Rounds(k, Listed([X.ugt(v, 3, 8) for v in cells()[:5]]), Listed({5: True}))
    conditions = [X.eq(cells()[2], 0, 8)]
    procedure = QuantifiedProcedure(BitwuzlaBackend(), fallback_effort=1)
    assert procedure.solve(conditions, [clause]) == (UNSAT, "fallback")
    assert procedure.solve(conditions, [clause]) == (UNKNOWN, "fallback")
    assert procedure.stages == {"fallback": 1, "given up": 1}


def test_rounds() -> None:
    k = X.var("k", 16)
    s = cells()
    clause = Rounds(
        k, Listed([X.eq(v, 97, 8) for v in s[:3]]), Listed({i: X.ne(s[i], 97, 8) for i in (1, 3)})
    )
    assert clause.holds({k.a: 1, s[0].a: 97})
    assert not clause.holds({k.a: 2, s[0].a: 97, s[1].a: 97})  # no leg
    assert not clause.holds({k.a: 3, s[0].a: 97, s[2].a: 97})  # the spine
    assert not clause.holds({k.a: 1, s[0].a: 97, s[1].a: 97})  # the leg
    with pytest.raises(ValueError):
        Rounds(k, Listed([True]), Listed({3: True}))


def random_query(rng: Random) -> tuple[list[Any], list[Rounds]]:
    """Clauses over two arrays of six cells, and conditions on cells, reads and numbers."""
    n = X.var("n", 8)
    clauses = []
    for number in range(rng.randrange(1, 3)):
        k = X.var(f"k{number}", 8)
        last = rng.randrange(1, 6)
        array, shift = cells(rng.choice("sz"), 8), rng.randrange(2)
        value, compare = rng.randrange(3), rng.choice([X.eq, X.ne, X.ugt])
        spine: list[Any] = [compare(array[i + shift], value, 8) for i in range(last)]
        if rng.random() < 0.5:
            spine = [X.bool_and(c, X.ugt(n, i, 8)) for i, c in enumerate(spine)]
        exits = [*sorted(rng.sample(range(last), rng.randrange(last))), last]
        legs = {
            i: rng.choice([True, X.not_(compare(array[i + shift], value, 8)), X.ule(n, i, 8)]) for i in exits
        }
        clauses.append(Rounds(k, Listed(spine), Listed(legs)))
    conditions = []
    for _ in range(rng.randrange(1, 5)):
        k = rng.choice(clauses).t
        array = cells(rng.choice("sz"), 8)
        at = rng.choice([X.zext(n, 8, 64), X.zext(k, 8, 64), X.sub(X.zext(k, 8, 64), 1, 64)])
        place = rng.choice([array[rng.randrange(8)], read_table(array, range(8), 1, at)])
        conditions.append(
            rng.choice([
                rng.choice([X.eq, X.ne])(place, rng.randrange(3), 8),
                X.eq(k, rng.randrange(6), 8),
                X.uge(k, rng.randrange(4), 8),
                X.ult(n, rng.randrange(1, 9), 8),
            ])
        )  # fmt: skip
    return [c for c in conditions if c.__class__ is X.Expr], clauses


def plain(conditions: list[Any], clauses: list[Rounds]) -> Answer:
    whole = [*conditions, *(c for r in clauses for c in (*r.unquantified(), *r.quantified()))]
    return UNSAT if False in [c for c in whole if c.__class__ is bool] else BitwuzlaBackend().solve(whole, ())


@pytest.mark.parametrize("seed", range(8))
def test_random_queries(seed: int) -> None:
    rng = Random(seed)
    procedure = QuantifiedProcedure(BitwuzlaBackend())
    unsat = 0
    for _ in range(60):
        conditions, clauses = random_query(rng)
        answer = procedure.solve(conditions, clauses).answer
        unsat += answer is UNSAT
        assert (answer is UNSAT) == (plain(conditions, clauses) is UNSAT)
        if answer is not UNSAT:
            assert isinstance(answer, dict)
            assert all(X.evaluate(c, answer) is True for c in conditions)
            assert all(r.holds(answer) for r in clauses)
    print(procedure.stages)
    assert 5 < unsat < 55


def test_as_a_link() -> None:
    """A space with the link decides as one without it, and the link answers."""
    rng = Random(3)
    decided = 0
    registry: dict[int, Rounds] = {}
    for _ in range(25):
        conditions, clauses = random_query(rng)
        registry.clear()
        registry.update({r.t.a: r for r in clauses})
        backend = BitwuzlaBackend()
        procedure = QuantifiedProcedure(backend)
        links = default_links(backend)
        whole = [c for r in clauses for c in (*r.unquantified(), *r.quantified())]
        if any(c is False for c in whole):
            continue
        with_link = SliceSpace(backend, (*links[:-1], QuantifiedLink(procedure, registry), links[-1]))
        answers = [decisions(space, whole, conditions) for space in (with_link, SliceSpace())]
        assert answers[0] == answers[1]
        decided += sum(procedure.stages.values()) - procedure.stages["given up"]
    assert decided > 10


def decisions(space: SliceSpace, whole: list[Any], conditions: list[Any]) -> list[Any]:
    """Which sides of the conditions are feasible where all of the clauses hold."""
    variables = sorted({v for c in (*whole, *conditions) for v in X.expr_vars(c)})
    s = space.join(tuple(space.root(v) for v in variables))
    for c in whole:
        decision = space.decide(s, c)
        if decision is False:
            return [False]
        if decision is not True:
            s = decision.yes
    found = []
    for c in conditions:
        decision = space.decide(s, c)
        found.append(decision if decision.__class__ is bool else None)
    return found
