"""The whole: sweep, search among what matters, accept on other programs, and the table.

    fit, validation = the programs of training, by thirds
    effects         = every parameter alone, on a sample of fit
    incumbents      = the search on fit, over the parameters that matter, from the sweep's best
    tuned           = the best incumbent on validation, if it is outside the noise there; else the start;
                      without the changes that do not pay on all of training
    table           = start, tuned and another solver, on training and on test

Nothing that decides has seen the test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from anabranch.solver.config import PRESETS, SolverConfig

from .instances import Instance, NoInstances, split
from .measure import Runs
from .paramils import ParamILS, SearchSettings, tunable
from .result import Column, Speedup, measured, speedup
from .sweep import Effect, beginnings, neighbours, noise_of, sample, sweep, that_matter
from .undo import needed

SWEEP_PART = 0.4
"""Of the budget, for the sweep."""
VALIDATED = 4
"""Incumbents that are looked at on the programs of validation."""
FIRST_VALIDATION = 3000
"""The number of the first repetition there."""


class Search(Protocol):
    """ParamILS, or another way to find configurations."""

    incumbents: list[SolverConfig]

    def search(self, start: SolverConfig, others: Sequence[SolverConfig] = ()) -> SolverConfig:
        """The best configuration found in the time."""
        ...


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """What a user chooses."""

    budget: float = 600.0
    """CPU seconds of sweep and search."""
    cutoff: float = 5.0
    repetitions: int = 3
    seed: int = 1
    method: str = "paramils"
    everything: bool = False
    """Search over all parameters, without a sweep."""


class Tuning:
    """One session."""

    def __init__(
        self,
        runs: Runs,
        training: Sequence[Instance],
        start: SolverConfig,
        fixed: Sequence[str] = (),
        settings: TuningSettings | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.settings = settings or TuningSettings()
        self.start = start.canonical()
        self.runs = runs
        self.training = list(training)
        self.names = [name for name in tunable(training) if name not in fixed]
        self.fit, self.validation = _thirds(training, self.settings.seed)
        self.on_improvement: Callable[[Search, SolverConfig], None] = lambda search, config: None
        self._say = say

    @property
    def other(self) -> SolverConfig:
        """A solver that has nothing to do with the start."""
        return PRESETS["spear" if self.start["solver"] == "bitwuzla" else "default"]

    def sweep(self) -> list[Effect]:
        """Every parameter alone, on as many instances as there is time for."""
        given = self.settings
        values = len(neighbours(self.start, self.names))
        seconds = SWEEP_PART * given.budget / ((values + 2) * given.repetitions)
        chosen = sample(self.fit, seconds, given.seed)
        self._say(f"sweep: {values} values on {len(chosen)} instances, {given.repetitions} repetitions")
        return sweep(self.runs, self.start, self.names, chosen, given.cutoff, given.repetitions)

    def search(self, effects: Sequence[Effect] | None) -> list[SolverConfig]:
        """Configurations that were the best for a while, by what the sweep has left."""
        names = self.names
        others: list[SolverConfig] = []
        if effects is not None:
            names = [name for name in that_matter(effects) if name in self.names]
            others = beginnings(self.start, effects)
            self._say(f"beyond the noise of {100 * noise_of(effects):.0f}%: {', '.join(names) or 'nothing'}")
        if not names:
            return []
        search = self._method(names)
        search.search(self.start, others)
        return search.incumbents

    def _method(self, names: Sequence[str]) -> Search:
        given = self.settings
        learnable = [i for i in self.fit if i.was_solved or self._solvable(i)]
        if not learnable:
            raise NoInstances("nothing in the training set is solved within the cutoff")
        if len(learnable) < len(self.fit):
            self._say(f"{len(self.fit) - len(learnable)} instances of the training set not solved: left out")

        def over() -> bool:
            return self.runs.elapsed > given.budget

        if given.method == "smac":
            from .smac import Smac

            return Smac(self.runs, learnable, given.cutoff, given.seed, over, names)
        settings = SearchSettings(cutoff=given.cutoff, seed=given.seed)
        found = ParamILS(self.runs, learnable, settings, over, names)
        found.on_improvement = lambda config: self.on_improvement(found, config)
        return found

    def _solvable(self, instance: Instance) -> bool:
        """By one of two solvers: there is nothing to learn from what nobody solves."""
        cutoff = self.settings.cutoff
        return any(self.runs.run(config, instance, cutoff).solved for config in (self.start, self.other))

    def accepted(self, incumbents: Sequence[SolverConfig]) -> tuple[SolverConfig, Speedup | None]:
        """The best on the programs of validation; the start if none is outside the noise there."""
        candidates = list(dict.fromkeys(reversed(incumbents)))[:VALIDATED]
        if not candidates:
            return self.start, None
        given = self.settings
        configs = {"start": self.start} | {str(n): config for n, config in enumerate(candidates)}
        columns = measured(
            self.runs, configs, self.validation, given.cutoff, given.repetitions, FIRST_VALIDATION
        )
        base = columns["start"].seconds
        gains = {name: speedup(base, columns[name].seconds) for name in configs if name != "start"}
        best = max(gains, key=lambda name: gains[name].low)
        if gains[best].low <= 1:
            return self.start, gains[best]
        return self._needed(configs[best]), gains[best]

    def _needed(self, config: SolverConfig) -> SolverConfig:
        """Without the changes that do not pay."""
        given = self.settings
        kept = needed(self.runs, self.start, config, self.training, given.cutoff, given.repetitions)
        undone = [name for name, value in config.changed if kept[name] != value]
        if undone:
            self._say(f"without effect, and undone: {', '.join(undone)}")
        return kept

    def tables(self, tuned: SolverConfig, test: Sequence[Instance]) -> dict[str, dict[str, Column]]:
        """Start, tuned and another solver on training and on test."""
        given = self.settings
        configs = {"default": self.start, "tuned": tuned, f"{self.other['solver']}, default": self.other}
        return {
            name: measured(self.runs, configs, group, given.cutoff, given.repetitions)
            for name, group in (("training", self.training), ("test", test))
        }


def _thirds(training: Sequence[Instance], seed: int) -> tuple[list[Instance], list[Instance]]:
    """What is learnt from and what validates it, two to one; different programs if there are three."""
    if len({i.program for i in training}) < 3:
        return list(training), list(training)
    return split(training, seed, part=2 / 3)
