"""Instances, their split by program, and the figures at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch import expr as X
from anabranch.solver import SolverDisagreement
from anabranch.solver.config import PRESETS, SolverConfig
from anabranch.solver.corpus import CorpusWriter, LoggedQuery
from anabranch.tune.instances import Instance, NoInstances, load, slowest, split
from anabranch.tune.measure import Runs, Solver
from anabranch.tune.result import Column, measured, scatter, speedup, table


@pytest.fixture(autouse=True)
def without_terms() -> None:
    """Nodes of other tests may have terms of another solver."""
    X.reset()


def logged(directory: Path, program: str, kind: str, count: int) -> None:
    log = CorpusWriter(directory / program / "queries.corpus", kind, f"{program}.c", "main", "bitwuzla")
    x, y = X.var("x", 16), X.var("y", 16)
    for k in range(1, count + 1):
        product = X.mul(X.zext(x, 16, 32), X.zext(y, 16, 32), 32)
        log.add([X.eq(product, 6 * k, 32), X.ult(x, y, 16)], "sat", k / 100)


def test_instances_of_both_kinds(tmp_path: Path) -> None:
    logged(tmp_path, "a", "explore", 225)
    logged(tmp_path, "b", "check", 3)
    instances = load([tmp_path])
    assert [len(i.queries) for i in instances] == [100, 100, 25, 1, 1, 1]
    assert [i.program for i in instances][::3] == ["a", "b"]
    assert len({i.name for i in instances}) == 6
    assert [len(i.queries) for i in load([tmp_path], 7)][:2] == [7, 7]
    assert [i.queries[0].number for i in slowest(instances, 0.34)] == [101, 3]


def test_a_program_is_on_one_side(tmp_path: Path) -> None:
    for name, count in {"a": 9, "b": 7, "c": 5, "d": 5, "e": 2}.items():
        logged(tmp_path, name, "check", count)
    instances = load([tmp_path])
    for seed in range(5):
        training, test = split(instances, seed)
        assert len(training) + len(test) == len(instances)
        assert not {i.program for i in training} & {i.program for i in test}
        halves = [sum(i.logged_seconds for i in part) for part in (training, test)]
        assert 0.5 < halves[0] / halves[1] < 2
    with pytest.raises(NoInstances, match="at least two"):
        split([i for i in instances if i.program == "a"], 1)


@pytest.mark.parametrize("config", [*PRESETS.values(), SolverConfig.of({"bitwuzla.prefix": "assume"})])
def test_the_solver_on_an_instance(config: SolverConfig, tmp_path: Path) -> None:
    logged(tmp_path, "a", "explore", 5)
    (instance,) = load([tmp_path])
    result = Solver().run(config, instance, 10.0)
    assert result.solved
    assert 0 < result.seconds < 10
    assert all(n.term is None for q in instance.queries for n in X.postorder(list(q.constraints)))


def test_a_wrong_answer_is_not_measured() -> None:
    x = X.var("x", 16)
    query = LoggedQuery("check", "p.c", "f", "old", 7, "unsat", 0.1, (X.ult(x, 9, 16),))
    with pytest.raises(SolverDisagreement, match="query 7"):
        Solver().run(SolverConfig(), Instance("i", "p", "check", (query,)), 1.0)


def test_the_limit_of_a_run() -> None:
    a, b = X.var("hard.a", 64), X.var("hard.b", 64)
    small = X.bool_and(X.ult(a, 1 << 32, 64), X.ult(b, 1 << 32, 64))
    both = X.bool_and(X.ugt(a, 1, 64), X.ugt(b, 1, 64))
    hard = (small, both, X.eq(X.mul(a, b, 64), 2860486313 * 3367900313, 64))
    query = LoggedQuery("check", "p.c", "f", "old", 1, "unknown", 0.1, hard)
    for config in PRESETS.values():
        result = Solver().run(config, Instance("i", "p", "check", (query, query)), 0.1)
        assert not result.solved
        assert result.seconds < 2


def test_speedup_with_its_interval() -> None:
    found = speedup([2.0, 4.0, 6.0, 8.0] * 10, [1.0, 2.0, 3.0, 4.0] * 10)
    assert (found.factor, found.low, found.high) == (2.0, 2.0, 2.0)
    mixed = speedup([1.0] * 20 + [3.0] * 20, [1.0] * 40)
    assert 1.5 < mixed.low < mixed.factor == 2.0 < mixed.high < 2.5


def test_table_and_plot(tmp_path: Path) -> None:
    logged(tmp_path, "a", "check", 3)
    instances = load([tmp_path])
    columns = measured(
        Runs(Solver()), {"default": SolverConfig(), "tuned": PRESETS["check"]}, instances, 5.0, 2
    )
    assert [column.solved for column in columns.values()] == [[True] * 3] * 2
    lines = table({"test": columns}, "default").splitlines()
    assert lines[2].split()[:3] == ["test", "default", "3/3"]
    assert "x (" in lines[3]
    svg = scatter(columns["default"], columns["tuned"], "default", "tuned")
    assert svg.count("<circle") == 3
    unsolved = Column([5.0, 1.0], [False, True])
    assert (unsolved.mean_of_solved, unsolved.total) == (1.0, 6.0)
