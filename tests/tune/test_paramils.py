"""The search on made-up targets, whose best configuration is known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from anabranch.solver.config import PARAMETERS, SolverConfig
from anabranch.solver.corpus import LoggedQuery
from anabranch.tune.instances import Instance
from anabranch.tune.measure import LogError, Result, Runs
from anabranch.tune.paramils import ParamILS, SearchSettings, tunable

QUERY = LoggedQuery("check", "p.c", "f", "bitwuzla", 1, "sat", 0.1, ())
INSTANCES = [Instance(f"i{k}", "p", "check", (QUERY, QUERY)) for k in range(30)]
GOOD = {"bitwuzla.rewrite-level": 0, "bitwuzla.pp-normalize": False, "bitwuzla.rebuild": 1}


class Made:
    """Each parameter that is not as in GOOD doubles the time; three together are better than each alone.
    Instances differ in how hard they are."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.runs: list[tuple[SolverConfig, str, float]] = []

    def cost(self, config: SolverConfig, instance: Instance) -> float:
        wrong = sum(config[name] != value for name, value in GOOD.items())
        others = sum(name not in GOOD for name, _ in config.changed)
        return (1 + int(instance.name[1:]) % 5) * 0.1 * 2**wrong * 1.1**others

    def run(self, config: SolverConfig, instance: Instance, limit: float) -> Result:
        cost = self.cost(config, instance)
        self.runs.append((config, instance.name, limit))
        self.seconds += min(cost, limit)
        return Result(min(cost, limit), cost <= limit, limit)


def search(target: Made, budget: float, runs: Runs | None = None, seed: int = 1) -> ParamILS:
    settings = SearchSettings(cutoff=20.0, seed=seed)
    names = [name for name in tunable(INSTANCES) if name != "solver"]
    return ParamILS(runs or Runs(target), INSTANCES, settings, lambda: target.seconds > budget, names)


@pytest.mark.parametrize("seed", range(3))
def test_finds_what_is_best(seed: int) -> None:
    target = Made()
    best = search(target, 2000, seed=seed).search(SolverConfig())
    assert {name: best[name] for name in GOOD} == GOOD
    assert target.cost(best, INSTANCES[0]) < target.cost(SolverConfig(), INSTANCES[0]) / 7


def test_the_incumbent_is_never_worse() -> None:
    target = Made()
    found = search(target, 300)
    costs: list[float] = []
    found.on_improvement = lambda config: costs.append(target.cost(config, INSTANCES[0]))
    found.search(SolverConfig())
    assert costs == sorted(costs, reverse=True)


def test_luck_on_a_few_instances_is_not_enough() -> None:
    found = search(Made(), 1e9)
    lucky, steady = SolverConfig.of({"bitwuzla.rewrite-level": 1}), SolverConfig.of(GOOD)
    found.best = lucky
    found.costs = {lucky: [0.0, 0.0], steady: [0.1] * 20}
    found._consider(steady)
    assert found.count(lucky) == 20
    assert found.best == steady


def test_promising_configurations_get_more_runs() -> None:
    target = Made()
    found = search(target, 1000)
    best = found.search(SolverConfig())
    counts = sorted(Counter(config for config, _, _ in target.runs).values())
    assert found.count(best) == len(INSTANCES) <= counts[-1] <= len(INSTANCES) + 2
    assert counts[len(counts) // 2] <= 3


def test_runs_are_capped_by_what_the_other_took() -> None:
    target = Made()
    found = search(target, 1e9)
    slow = SolverConfig.of({"bitwuzla.abstraction-ite": True, "bitwuzla.abstraction-bv-add": True})
    found._more_runs(SolverConfig(), 10)
    assert not found.better(slow, SolverConfig())
    config, name, limit = target.runs[-2]
    assert config == slow
    assert limit == pytest.approx(target.cost(SolverConfig(), next(i for i in INSTANCES if i.name == name)))
    assert found.count(slow) == 0


def test_neighbours_differ_in_one_parameter_that_has_an_effect() -> None:
    found = search(Made(), 1)
    start = SolverConfig.of({"bitwuzla.preprocess": False})
    neighbours = list(found.neighbours(start))
    assert len(set(neighbours)) == len(neighbours)
    for neighbour in neighbours:
        differ = [n for n in PARAMETERS if neighbour[n] != start[n]]
        assert len(differ) == 1
        assert not differ[0].startswith(("cadical", "links", "bitwuzla.pp-", "solver"))


def test_what_does_not_show_is_not_tuned() -> None:
    single = [Instance("i", "p", "check", (QUERY,))]
    names = {"bitwuzla.rebuild", "spear.rebuild", "links.models"}
    assert not names & set(ParamILS(Runs(Made()), single).names)
    assert set(ParamILS(Runs(Made()), INSTANCES).names) & names == {"bitwuzla.rebuild", "spear.rebuild"}


def test_fixed_parameters_stay() -> None:
    found = search(Made(), 200)
    best = found.search(SolverConfig())
    assert all(config["solver"] == "bitwuzla" for config in found.costs)
    assert best["solver"] == "bitwuzla"


def test_goes_on_where_the_log_ends(tmp_path: Path) -> None:
    whole = Made()
    expected = search(whole, 400, Runs(whole, tmp_path / "whole.jsonl", {"a": 1}))
    expected.search(SolverConfig())

    log = tmp_path / "log.jsonl"
    first = Made()
    search(first, 150, Runs(first, log, {"a": 1})).search(SolverConfig())
    log.write_text(log.read_text() + '[{"solver": "spe')  # killed in the middle of a line
    second = Made()
    runs = Runs(second, log, {"a": 1})
    resumed = search(second, 400 - first.seconds, runs)
    resumed.search(SolverConfig())
    made = [(c, i) for c, i, _ in first.runs + second.runs]
    known = [(c, i) for c, i, _ in whole.runs]
    common = min(len(made), len(known))
    assert len(first.runs) < common
    assert made[:common] == known[:common]
    assert all(json.loads(line) for line in log.read_text().splitlines())
    with pytest.raises(LogError, match="another search"):
        Runs(second, log, {"a": 2})
