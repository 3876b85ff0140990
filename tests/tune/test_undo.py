"""The sweep, and the pass that undoes what does not pay, on a made-up target."""

from __future__ import annotations

from collections import Counter

from anabranch.solver.config import SolverConfig
from anabranch.tune.measure import Result, Runs
from anabranch.tune.sweep import AGAIN, sweep, that_matter
from anabranch.tune.undo import needed

from .test_paramils import GOOD, INSTANCES, Instance, Made

IDLE = {"bitwuzla.pp-flatten-and": False, "bitwuzla.abstraction-bv-add": True}


class WithIdle(Made):
    """Some parameters have no effect."""

    def run(self, config: SolverConfig, instance: Instance, limit: float) -> Result:
        shown = SolverConfig(tuple((name, value) for name, value in config.changed if name not in IDLE))
        result = super().run(shown, instance, limit)
        self.runs[-1] = (config, instance.name, limit)
        return result


def test_changes_that_do_not_pay_are_undone() -> None:
    start, harmful = SolverConfig(), {"bitwuzla.pp-embedded-constr": False}
    found = SolverConfig.of({**GOOD, **IDLE, **harmful})
    told: list[str] = []
    runs = Runs(WithIdle())
    kept = needed(runs, start, found, INSTANCES, 20.0, 1, lambda name, gain: told.append(name))
    assert kept == SolverConfig.of(GOOD)
    assert set(told[:3]) == {*IDLE, *harmful}
    assert told[0] in harmful
    assert len(told) == 4


def test_nothing_that_pays_is_nothing() -> None:
    start = SolverConfig.of({"bitwuzla.rewrite-level": 0})
    assert needed(Runs(WithIdle()), start, start, INSTANCES, 20.0, 1) == start
    idle = SolverConfig.of({"bitwuzla.rewrite-level": 0, **IDLE})
    assert needed(Runs(WithIdle()), start, idle, INSTANCES, 20.0, 1) == start


def test_the_sweep_finds_what_matters_and_repeats_what_may() -> None:
    target = WithIdle()
    names = [*GOOD, *IDLE, "bitwuzla.pp-embedded-constr"]
    effects = sweep(Runs(target), SolverConfig(), names, INSTANCES, 20.0, 3)
    assert set(that_matter(effects)) == set(GOOD)
    assert {e.name for e in effects if e.gain.factor == 1} >= {AGAIN, *IDLE}
    runs = Counter(dict(config.changed).get("bitwuzla.pp-embedded-constr") for config, *_ in target.runs)
    assert runs[False] == len(INSTANCES)  # slower at once
