"""What a search has changed without need is undone.

A search over noisy runs changes parameters that do nothing for the programs at hand, and harm others. Each
change is taken back alone, and both configurations are run anew: a change stays only if the configuration is
slower without it, beyond the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.solver.config import PARAMETERS, SolverConfig

from .instances import Instance
from .measure import Runs
from .result import Speedup, measured, speedup

FIRST_REPETITION = 4000
"""Repetitions from here on are those of this pass."""


def needed(
    runs: Runs,
    start: SolverConfig,
    config: SolverConfig,
    instances: Sequence[Instance],
    cutoff: float,
    repetitions: int,
    tell: Callable[[str, Speedup], None] = lambda name, gain: None,
) -> SolverConfig:
    """The configuration with those changes only that pay. The one that pays least goes first, and the others
    are looked at again: a change can depend on another."""
    first = FIRST_REPETITION
    while changes := [name for name in PARAMETERS if config[name] != start[name]]:
        without = {name: config.replaced(name, start[name]).canonical() for name in changes}
        columns = measured(runs, {"": config} | without, instances, cutoff, repetitions, first, factor=10.0)
        gains = {name: speedup(columns[name].seconds, columns[""].seconds) for name in changes}
        least = min(changes, key=lambda name: gains[name].low)
        tell(least, gains[least])
        if gains[least].low > 1:
            return config
        config = without[least]
        first += repetitions
    return config
