"""ParamILS: iterated local search over configurations (Hutter, Hoos, Leyton-Brown, Stuetzle, 2009).

    start with the best of the default and some random configurations, and climb from it
    until the time is over:
        perturb: change some parameters at random
        climb: change one parameter at a time as long as that is an improvement
        go on from the better of both local optima; begin anew at random now and then

*Focused*: how many instances a configuration is run on depends on how promising it is. Of two that are
compared, the one with fewer runs gets more until one dominates: it has at least as many runs as the other and
is at least as good on those that the other has. A challenger that wins then gets as many more as there were
comparisons since the last one that did. *Adaptive capping*: a run goes on only as long as its configuration
can still win.

What is minimised is the mean CPU time of an instance, where one that is not solved counts as the cutoff.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from anabranch.solver.config import PARAMETERS, Setting, SolverConfig

from .instances import Instance
from .measure import Runs


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The parameters of the search, as the paper has them."""

    cutoff: float = 5.0
    """CPU seconds of a run at most."""
    random_starts: int = 10
    """Random configurations that are looked at before the first climb."""
    perturbation: int = 3
    """Parameters that are changed at random to leave a local optimum."""
    restart: float = 0.01
    """The probability of beginning anew after an iteration."""
    bound_factor: float = 2.0
    """A configuration is given up when it has taken so many times what the best has on the same instances."""
    seed: int = 1


def tunable(training: Sequence[Instance]) -> list[str]:
    """The parameters whose effect shows in such instances."""
    in_a_row = any(len(instance.queries) > 1 for instance in training)
    shown = ("query", "row") if in_a_row else ("query",)
    return [name for name, parameter in PARAMETERS.items() if parameter.shows in shown]


class OutOfTime(Exception):
    """The budget is used up."""


class ParamILS:
    """One search."""

    def __init__(
        self,
        runs: Runs,
        training: Sequence[Instance],
        settings: SearchSettings | None = None,
        out_of_time: Callable[[], bool] = lambda: False,
        names: Sequence[str] | None = None,
    ) -> None:
        self.settings = settings or SearchSettings()
        self.rng = random.Random(self.settings.seed)
        self.instances = list(training)
        self.rng.shuffle(self.instances)
        self.names = tunable(training) if names is None else list(names)
        """The parameters that are tuned."""
        self.costs: dict[SolverConfig, list[float]] = {}
        """What a configuration took on the first so many instances."""
        self.best = SolverConfig()
        """The incumbent: what the search would answer now."""
        self.incumbents: list[SolverConfig] = []
        """All that were, in their order."""
        self.comparisons = 0
        """Since the last improvement: so many more runs for the winner of a comparison."""
        self.iterations = 0
        self.on_improvement: Callable[[SolverConfig], None] = lambda config: None
        self._runs = runs
        self._out_of_time = out_of_time

    def search(self, start: SolverConfig, others: Sequence[SolverConfig] = ()) -> SolverConfig:
        """The best configuration found in the time. `others`: further configurations to begin with."""
        self.best = start = start.canonical()
        try:
            self._more_runs(start, 1)
            current = start
            drawn = (self.random_configuration(start) for _ in range(self.settings.random_starts))
            for candidate in (*others, *drawn):
                if self.better(candidate, current):
                    current = candidate
            current = self.climb(current)
            while True:
                self.iterations += 1
                local = self.climb(self.perturbed(current))
                if self.better(local, current):
                    current = local
                if self.rng.random() < self.settings.restart:
                    current = self.random_configuration(start)
        except OutOfTime:
            return self.best

    def climb(self, config: SolverConfig) -> SolverConfig:
        """The local optimum that one-exchange hill climbing leads to: the first improvement is taken."""
        improved = True
        while improved:
            improved = False
            for neighbour in self.neighbours(config):
                if self.better(neighbour, config):
                    config, improved = neighbour, True
                    break
        return config

    # -- configurations ------------------------------------------------------------------------------------

    def neighbours(self, config: SolverConfig) -> Iterator[SolverConfig]:
        """All configurations that differ in one parameter that has an effect, in random order."""
        changes = [
            (name, value)
            for name in self.names
            if config.is_active(name)
            for value in PARAMETERS[name].domain
            if value != config[name]
        ]
        self.rng.shuffle(changes)
        for name, value in changes:
            yield config.replaced(name, value).canonical()

    def perturbed(self, config: SolverConfig) -> SolverConfig:
        """Some parameters changed at random."""
        for _ in range(self.settings.perturbation):
            config = next(iter(self.neighbours(config)))
        return config

    def random_configuration(self, start: SolverConfig) -> SolverConfig:
        """Every parameter at random; those that are not tuned as in the start."""
        values: dict[str, Setting] = dict(start.changed)
        for name in self.names:
            values[name] = self.rng.choice(PARAMETERS[name].domain)
        return SolverConfig.of(values).canonical()

    # -- comparisons ---------------------------------------------------------------------------------------

    def better(self, challenger: SolverConfig, champion: SolverConfig) -> bool:
        """Whether a configuration is better than another, by as many runs as that takes."""
        if challenger == champion:
            return False
        self.comparisons += 1
        while True:
            fewer, more = sorted((challenger, champion), key=lambda c: (self.count(c), c is champion))
            if self.count(fewer) == len(self.instances):  # both have all
                won = self.total(challenger, len(self.instances)) < self.total(champion, len(self.instances))
                break
            if self.count(fewer) == self.count(more):
                self._more_runs(more, 1)
            if not self._one_more_run(fewer, self._bound(fewer, more)):
                won = more is challenger
                break
            if self.dominates(more, fewer) or self.dominates(fewer, more):
                won = not self.dominates(champion, challenger)
                break
        winner = challenger if won else champion
        bonus, self.comparisons = (self.comparisons, 0) if won else (1, self.comparisons)
        self._more_runs(winner, bonus)
        self._consider(winner)
        return won

    def dominates(self, a: SolverConfig, b: SolverConfig) -> bool:
        """At least as many runs, and at least as good on the runs that both have."""
        n = self.count(b)
        return self.count(a) >= n and self.total(a, n) <= self.total(b, n)

    def count(self, config: SolverConfig) -> int:
        """Instances that a configuration was run on."""
        return len(self.costs.get(config, ()))

    def total(self, config: SolverConfig, n: int) -> float:
        """Cost of the first n instances."""
        return sum(self.costs.get(config, [])[:n])

    def _consider(self, config: SolverConfig) -> None:
        """Is this the best so far? It must have as many runs as the best has, which then gets as many as it
        has: else a configuration that was lucky on a few instances stays the best."""
        n = self.count(config)
        if config == self.best or n < self.count(self.best):
            return
        self._more_runs(self.best, n - self.count(self.best))
        if self.total(config, n) < self.total(self.best, n):
            self.best = config
            self.incumbents.append(config)
            self.on_improvement(config)

    # -- runs ----------------------------------------------------------------------------------------------

    def _bound(self, config: SolverConfig, other: SolverConfig) -> float:
        """What a configuration may take on one instance more than it has, so that it can still win."""
        n = self.count(config) + 1
        bound = self.total(other, n) if self.count(other) >= n else inf
        if self.count(self.best) >= n and config != self.best:
            bound = min(bound, self.settings.bound_factor * self.total(self.best, n))
        return bound

    def _one_more_run(self, config: SolverConfig, bound: float) -> bool:
        """Runs a configuration on the next instance; False if it takes more than the bound in all."""
        if self._out_of_time():
            raise OutOfTime
        cutoff, n = self.settings.cutoff, self.count(config)
        left = bound - self.total(config, n)
        cap = min(cutoff, left)
        if cap <= 0:
            return False
        result = self._runs.run(config, self.instances[n], cap)
        if result.seconds > left or (not result.solved and cap < cutoff):
            return False
        cost = min(result.seconds, cutoff) if result.solved else cutoff
        self.costs.setdefault(config, []).append(cost)
        return True

    def _more_runs(self, config: SolverConfig, count: int) -> None:
        for _ in range(min(count, len(self.instances) - self.count(config))):
            self._one_more_run(config, inf)
