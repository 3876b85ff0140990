"""Queries written to a corpus and read back are the same queries."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from anabranch import expr as X
from anabranch.expr.registry import OPERATORS, build
from anabranch.expr.select import select, table
from anabranch.solver.corpus import (
    CorpusError,
    CorpusWriter,
    LoggedQuery,
    corpus_files,
    described,
    read_corpus,
)

from . import expressions
from .test_backends import fp_cases


def conditions(seed: int, count: int) -> list[Any]:
    rng = random.Random(seed)
    found: list[Any] = []
    while len(found) < count:
        c = expressions.value(rng, 1, 5)
        if c.__class__ is X.Expr:
            found.append(c)
    return found


def writer(path: Path) -> CorpusWriter:
    return CorpusWriter(path, "explore", "a b.c", "main", "bitwuzla")


def test_reads_back_the_same_nodes(tmp_path: Path) -> None:
    path = tmp_path / "q.corpus"
    log = writer(path)
    asked = conditions(1, 120) + [X.ne(e, 0, e.w) for _, e in fp_cases()]
    asked.append(X.ult(X.undefined(8, 3), X.var('odd "name"\n', 8), 8))
    for i, c in enumerate(asked):
        log.add([*asked[max(0, i - 2) : i], c], "unknown", i / 1000)
    queries = list(read_corpus(path))
    assert len(queries) == len(asked)
    for i, (c, q) in enumerate(zip(asked, queries, strict=True)):
        assert len(q.constraints) == min(3, i + 1)
        assert q.constraints[-1] is c
        assert (q.program, q.function, q.number, q.seconds) == ("a b.c", "main", i + 1, i / 1000)
    assert len(path.read_text().splitlines()) == len(set(path.read_text().splitlines())), "nodes only once"


def test_tables_read_back(tmp_path: Path) -> None:
    path = tmp_path / "q.corpus"
    index = X.var("i", 8)
    numbers = table(16, (5, 9, 17), (700, 3, 12, 5))
    bits = table(1, range(2, 12), [k % 3 > 0 for k in range(11)])
    asked = [X.ne(select(index, numbers), X.var("n", 16), 16), select(index, bits)]
    writer(path).add(asked, "sat", 0.0)
    (query,) = read_corpus(path)
    assert all(a is b for a, b in zip(asked, query.constraints, strict=True))


def test_reads_back_in_another_process(tmp_path: Path) -> None:
    """After a reset other variables have the numbers; the meaning is the same."""
    path = tmp_path / "q.corpus"
    log = writer(path)
    asked = conditions(2, 60)
    named = [{X.variable(v).b: k for v, k in expressions.model(random.Random(i)).items()} for i in range(8)]

    def values(c: Any) -> list[Any]:
        return [X.evaluate(c, {v: m[X.variable(v).b] for v in X.expr_vars(c)}) for m in named]

    before = [values(c) for c in asked]
    for c in asked:
        log.add([c], "unknown", 0.0)
    X.reset()
    assert [values(q.constraints[0]) for q in read_corpus(path)] == before


def test_headers_begin_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "q.corpus"
    x = X.var("x", 8)
    for function in ("f", "g"):
        log = CorpusWriter(path, "check", "p.c", function, "bitwuzla")
        log.add([X.ult(x, 9, 8)], "sat", 0.5)
    assert [(q.function, q.constraints) for q in read_corpus(path)] == [
        ("f", (X.ult(x, 9, 8),)),
        ("g", (X.ult(x, 9, 8),)),
    ]
    assert corpus_files([tmp_path]) == corpus_files([path]) == [path]


def test_what_rules_decide_today_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "q.corpus"
    lines = ['h check "p.c" "" old', 'v 8 "x"', "n ult 1 0 =0", "n zext 8 1", "n add 8 2 =1", "n eq 1 3 =0"]
    path.write_text("\n".join([*lines, "q unsat 0.1 1", "q unsat 0.1 4", ""]))
    assert list(read_corpus(path)) == []
    path.write_text("\n".join([*lines, "q sat 0.1 1", ""]))
    with pytest.raises(CorpusError, match=r"q\.corpus:7"):
        list(read_corpus(path))


@pytest.mark.parametrize("line", ["x 1", "n add 8 0 99", "n nothing 8 0", "q sat", 'v eight "x"', "h"])
def test_a_wrong_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "q.corpus"
    path.write_text(f'h check "p.c" "" old\nv 8 "x"\n{line}\n')
    with pytest.raises(CorpusError, match=r"q\.corpus:3"):
        list(read_corpus(path))


def test_features() -> None:
    x, y = X.var("feature x", 32), X.var("feature y", 32)
    c = X.ult(X.ite(X.eq(x, y, 32), X.mul(x, y, 32), X.urem(x, y, 32), 32), 9, 32)
    q = LoggedQuery("check", "p.c", "f", "bitwuzla", 1, "sat", 0.1, (c,))
    found = described(q)
    assert (found["nodes"], found["depth"], found["multiplications"]) == (7, 4, 2)
    assert (found["widest"], found["variable_bits"], found["ite_share"]) == (32, 64, 1 / 7)


@pytest.mark.parametrize("op", OPERATORS)
def test_build_makes_the_node_of_every_operator(op: str) -> None:
    n = expressions.sample(op)
    parts = [(x, x.w if x.__class__ is X.Expr else None) for x in (n.a, n.b, n.c)]
    while parts[-1] == (None, None):
        parts.pop()
    assert build(op, n.w, parts) is n
    assert build(op, n.w, [(0, w) if w else (x, None) for x, w in parts]).__class__ is not X.Expr
