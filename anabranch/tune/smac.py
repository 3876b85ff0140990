"""SMAC3 as the search: a model of what configurations cost chooses the next one (Hutter et al., 2011).

An optional extra (`pip install anabranch[smac]`), behind the interface of ParamILS. SMAC only asks for runs
and is told what they took; they are made, and kept in the log, as those of ParamILS are. What its model costs
counts as time of the search.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from anabranch.solver.config import PARAMETERS, SolverConfig

from .instances import Instance, NoInstances
from .measure import Runs

TRIALS = 1_000_000
"""More than there is time for: the budget ends the search."""


class Smac:
    """One search."""

    def __init__(
        self,
        runs: Runs,
        training: Sequence[Instance],
        cutoff: float,
        seed: int,
        out_of_time: Callable[[], bool],
        names: Sequence[str],
    ) -> None:
        self.incumbents: list[SolverConfig] = []
        """All configurations that were the best for a while, in their order."""
        self._runs = runs
        self._training = {instance.name: instance for instance in training}
        self._cutoff = cutoff
        self._seed = seed
        self._out_of_time = out_of_time
        self._names = names

    def search(self, start: SolverConfig, others: Sequence[SolverConfig] = ()) -> SolverConfig:
        """The best configuration found in the time. `others`: further configurations to begin with."""
        try:
            from smac import AlgorithmConfigurationFacade, Scenario
            from smac.runhistory import TrialValue
        except ImportError as error:
            raise NoInstances(f"--method smac: pip install anabranch[smac] ({error})") from None
        space = self._space(start)
        best = start
        with tempfile.TemporaryDirectory(prefix="anabranch-smac-") as scratch:
            scenario = Scenario(
                space,
                deterministic=True,
                n_trials=TRIALS,
                instances=list(self._training),
                instance_features={n: [i.logged_seconds, len(i.queries)] for n, i in self._training.items()},
                seed=self._seed,
                output_directory=Path(scratch),
            )
            first = [self._asked(space, config) for config in others]
            design = AlgorithmConfigurationFacade.get_initial_design(scenario, additional_configs=first)
            facade = AlgorithmConfigurationFacade(
                scenario, _no_target, initial_design=design, logging_level=False, overwrite=True
            )
            while not self._out_of_time():
                trial = facade.ask()
                config = self._told(start, trial.config)
                result = self._runs.run(config, self._training[trial.instance], self._cutoff)
                cost = min(result.seconds, self._cutoff) if result.solved else self._cutoff
                facade.tell(trial, TrialValue(cost=cost, time=result.seconds))
                incumbents = facade.intensifier.get_incumbents()
                if incumbents:
                    found = self._told(start, incumbents[0])
                    if found != best:
                        best = found
                        self.incumbents.append(found)
        return best

    def _space(self, start: SolverConfig) -> Any:
        """The parameters as SMAC knows them; the start is its default."""
        from ConfigSpace import Categorical, ConfigurationSpace, EqualsCondition

        space = ConfigurationSpace(seed=self._seed)
        known = {
            name: Categorical(name, [str(v) for v in PARAMETERS[name].domain], default=str(start[name]))
            for name in self._names
        }
        space.add(list(known.values()))
        for name in self._names:
            when = PARAMETERS[name].when
            if when is not None and when[0] in known:
                space.add(EqualsCondition(known[name], known[when[0]], str(when[1])))
        return space

    def _told(self, start: SolverConfig, found: Any) -> SolverConfig:
        """A configuration of SMAC as one of ours."""
        values: dict[str, Any] = dict(start.changed)
        for name in self._names:
            text = dict(found).get(name)
            if text is not None:
                values[name] = next(v for v in PARAMETERS[name].domain if str(v) == text)
        return SolverConfig.of(values).canonical()

    def _asked(self, space: Any, config: SolverConfig) -> Any:
        """One of ours as one of SMAC's."""
        from ConfigSpace import Configuration

        values = {name: str(config[name]) for name in self._names if config.is_active(name)}
        return Configuration(space, values=values)


def _no_target(config: Any, instance: str, seed: int) -> float:
    raise AssertionError("runs are made here, not by SMAC")
