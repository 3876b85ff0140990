"""The measurements of merging: their arithmetic, and a sample of its oracle."""

from __future__ import annotations

import math
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anabranch.reduce.merging import tuning
from bench import merging, merging_oracle, parameter_search
from bench.lib.plot import Line, log_plot
from bench.lib.scaling import AUTO, GROWING, PLAIN, QCE, Growing, Growth, Measured, Point, fit, measure
from bench.merging_oracle import Combination, chosen, combinations


@pytest.fixture(autouse=True)
def constants_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle changes them to suit small programs."""
    monkeypatch.setattr(tuning, "DEFAULT", tuning.DEFAULT)


def grown(speedups: list[float]) -> Growth:
    points = [
        Point(n, Measured(s, True), Measured(1.0, True), Measured(1.0, True))
        for n, s in enumerate(speedups, 3)
    ]
    return Growth(Growing("x.c", "SIZE", 3), points)


def test_the_line_through_points_on_a_line() -> None:
    line = fit([1.0, 2.0, 3.0, 4.0], [5.0, 7.0, 9.0, 11.0])
    assert line.slope == pytest.approx(2.0)
    assert line.base == pytest.approx(3.0)
    assert line.r2 == pytest.approx(1.0)
    assert line.slope_error == pytest.approx(0.0, abs=1e-6)


def test_what_counts_as_exponential() -> None:
    doubling = grown([2.0**n for n in range(5)])
    assert doubling.is_exponential
    assert doubling.exponential is not None and doubling.exponential.factor == pytest.approx(2.0)
    assert not grown([3.0] * 5).is_exponential
    assert not grown([8.0, 4.0, 2.0, 1.0]).is_exponential
    assert not grown([1.0, 9.0, 1.5, 8.0, 1.2, 12.0]).is_exponential
    assert not grown([1.0, 2.0]).is_exponential


def test_slower_and_unfinished_points_are_told() -> None:
    slow = grown([0.5, 2.0, 8.0, 32.0])
    assert slow.worst == 2.0
    slow.points[3].auto.complete = False
    slow.points[2].auto.errors = frozenset({("assert", 3)})
    problems = merging._growth_problems([slow])
    assert [p for p in problems if "2.00 times as slow" in p]
    assert [p for p in problems if "x 6: not finished" in p]
    assert [p for p in problems if "x 5, auto: errors" in p]


def test_a_plot_has_a_line_for_each_subject() -> None:
    lines = [Line("one <1>", ((1, 1.0), (2, 10.0))), Line("two", ((1, 0.5), (3, 200.0)))]
    root = ElementTree.fromstring(log_plot("a & b", "size", "speed-up", lines))
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a & b", "one <1>", "two", "size", "speed-up", "0.1", "1", "1,000"} <= set(texts)
    circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 4
    heights = [float(c.attrib["cy"]) for c in circles]
    assert heights[1] < heights[0] and heights[3] < heights[2]


@pytest.mark.parametrize("subject", GROWING, ids=lambda s: s.name)
def test_merging_finds_the_same_errors(subject: Growing) -> None:
    defines = subject.defines(2 if subject.name == "tokens" else 3)
    plain = measure(subject.file, defines, PLAIN, cpu_limit=300)
    merged = measure(subject.file, defines, QCE, cpu_limit=300)
    assert plain.complete and merged.complete
    assert merged.errors == plain.errors
    assert merged.ends < plain.ends


def test_a_run_over_its_limit_is_interrupted() -> None:
    done = measure("memspn.c", ("-DM=40",), PLAIN, cpu_limit=1)
    assert not done.complete and done.problem == "" and done.ends > 0
    assert measure("memspn.c", ("-DM=3",), AUTO, cpu_limit=300).complete


def test_combinations_take_turns() -> None:
    every = combinations()
    assert len(set(every)) == len(every) == 42
    assert chosen(every, 5, None) == every
    seen = {c for seed in range(21) for c in chosen(every, seed, 2)}
    assert seen == set(every)
    assert len({(c.merge, c.merging) for c in chosen(every, 4, 7)}) == 7


@pytest.mark.parametrize("seed", [2, 3])
def test_oracle(seed: int) -> None:
    every = [
        Combination("all", "static", "dfs"),
        Combination("all", "dynamic", "random-path"),
        Combination("qce", "dynamic", "nurs:covnew", "covering"),
        Combination("auto", "static", "dfs"),
        Combination("auto", "limited", "random-path"),
        Combination("qce", "static", "dfs", "covering"),
    ]
    results = merging_oracle.check_seed(seed, every)
    assert [r.problems for r in results] == [[]] * len(every)
    assert sum(r.merges for r in results) > 0


def test_the_oracle_keeps_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging_oracle, "differences", lambda *_: ["something"])
    results = merging_oracle.check_seed(1, [Combination("all", "static", "dfs")], keep=tmp_path)
    assert "something" in results[0].problems[0]
    kept = tmp_path / "merging-1-all-static-dfs-all"
    assert (kept / "program.c").exists() and (kept / "differences.txt").read_text() == "something\n"


def test_climbing_reaches_the_best_setting() -> None:
    parameters = ["qce-alpha", "qce-beta", "qce-zeta"]
    best = (4, 2, 3)
    asked: list[parameter_search.Setting] = []

    def cost(setting: parameter_search.Setting, bound: float) -> parameter_search.Cost:
        asked.append(setting)
        return parameter_search.Cost(10.0 + sum(abs(a - b) for a, b in zip(setting, best, strict=True)))

    def climb(seed: int) -> tuple[parameter_search.Setting, parameter_search.Cost]:
        return parameter_search.climb((0, 0, 0), parameters, cost, random.Random(seed), 0.01, lambda *_: None)

    assert climb(0) == (best, parameter_search.Cost(10.0))
    first = list(asked)
    asked.clear()
    climb(0)
    assert asked == first


def test_costs_stop_where_nothing_can_be_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, ...]] = []

    def fake(file: str, defines: object, flags: tuple[str, ...], cpu_limit: float) -> Measured:
        runs.append(flags)
        return Measured(seconds=3.0, complete=file != "long.c")

    monkeypatch.setattr(parameter_search, "measure", fake)
    programs = [("a.c", ()), ("long.c", ()), ("b.c", ())]
    costs = parameter_search.Costs(["qce-kappa"], programs, ("--merge", "qce"), cap=5.0)
    assert costs((0,), math.inf) == parameter_search.Cost(16.0, 1)
    assert costs((0,), math.inf) == parameter_search.Cost(16.0, 1) and len(runs) == 3
    assert costs((1,), 2.0) == parameter_search.Cost(3.0, 0, bounded=True) and len(runs) == 4
    assert runs[0] == ("--merge", "qce", "--qce-kappa", "1")


def test_parameters_start_at_the_defaults() -> None:
    known = parameter_search.known_parameters()
    assert known[:4] == ["qce-alpha", "qce-beta", "qce-kappa", "qce-zeta"]
    flags = parameter_search.flags_of(known, parameter_search.default_setting(known))
    assert flags[flags.index("--qce-beta") + 1] == "0.8"
