"""One parameter at a time: which matter at all, and how large is the noise?

Every value of every parameter that has an effect is compared with the start, alone. The start is also
compared with itself, which is the noise. A search over dozens of parameters, most of which do nothing, on
noisy runs finds what was lucky: the parameters that are within the noise here are left out of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.solver.config import PARAMETERS, Setting, SolverConfig

from .instances import Instance
from .measure import Runs
from .result import Speedup, aligned, measured, speedup

FIRST_REPETITION = 1000
"""Repetitions from here on are those of sweeps, so that nobody else decides by the same runs."""
AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Effect:
    """A value of one parameter, against the start."""

    name: str
    """Of the parameter; `AGAIN` for the start against itself."""
    value: Setting
    gain: Speedup
    config: SolverConfig

    def outside(self, noise: float) -> bool:
        """Is the whole interval farther from 1 than the noise?"""
        return self.gain.low > 1 + noise or self.gain.high < 1 - noise

    def better(self, noise: float) -> bool:
        return self.gain.low > 1 + noise


def sample(instances: Sequence[Instance], seconds: float, seed: int) -> list[Instance]:
    """Instances that took about so many seconds when they were logged; programs take turns."""
    rng = random.Random(seed)
    by_program: dict[str, list[Instance]] = {}
    for instance in instances:
        by_program.setdefault(instance.program, []).append(instance)
    for group in by_program.values():
        rng.shuffle(group)
    found: list[Instance] = []
    used = 0.0
    while by_program and (used < seconds or len(found) < 10):
        for program, group in list(by_program.items()):
            found.append(group.pop())
            used += found[-1].logged_seconds
            if not group:
                del by_program[program]
    return found


def neighbours(start: SolverConfig, names: Sequence[str]) -> list[tuple[str, Setting, SolverConfig]]:
    """The start with one other value of one parameter that has an effect."""
    return [
        (name, value, start.replaced(name, value).canonical())
        for name in names
        if start.is_active(name)
        for value in PARAMETERS[name].domain
        if value != start[name]
    ]


def sweep(
    runs: Runs,
    start: SolverConfig,
    names: Sequence[str],
    instances: Sequence[Instance],
    cutoff: float,
    repetitions: int,
) -> list[Effect]:
    """The effects, best first. The start is run twice as often, to be compared with itself. What the first
    repetition shows to be slower gets no others."""
    rows = neighbours(start, names)

    def looked(numbers: Sequence[int], repetitions: int) -> dict[int, Speedup]:
        configs = {"start": start} | {str(k): rows[k][2] for k in numbers}
        columns = measured(runs, configs, instances, cutoff, repetitions, FIRST_REPETITION, factor=10.0)
        base.append(columns["start"].seconds)
        return {k: speedup(base[-1], columns[str(k)].seconds) for k in numbers}

    base: list[list[float]] = []
    gains = looked(range(len(rows)), 1)
    if repetitions > 1:
        gains |= looked([k for k, gain in gains.items() if gain.high >= 1], repetitions)
    again = measured(runs, {"start": start}, instances, cutoff, repetitions, 2 * FIRST_REPETITION)
    found = [Effect(AGAIN, "", speedup(base[-1], again["start"].seconds), start)]
    found += [Effect(name, value, gains[k], config) for k, (name, value, config) in enumerate(rows)]
    return sorted(found, key=lambda effect: -effect.gain.factor)


def noise_of(effects: Sequence[Effect]) -> float:
    """How far from 1 the start seems to be from itself, and at least 2%."""
    gain = next(effect.gain for effect in effects if effect.name == AGAIN)
    return max(abs(gain.factor - 1), 0.02)


def that_matter(effects: Sequence[Effect]) -> list[str]:
    """Parameters of which some value is better than the noise, and those that depend on these."""
    noise = noise_of(effects)
    names = {e.name for e in effects if e.name != AGAIN and e.better(noise)}
    size = 0
    while size < len(names):
        size = len(names)
        names |= {name for name, p in PARAMETERS.items() if p.when is not None and p.when[0] in names}
    return [name for name in PARAMETERS if name in names]


def beginnings(start: SolverConfig, effects: Sequence[Effect]) -> list[SolverConfig]:
    """Where a search may begin: the best value alone, and the best value of every parameter that has a better
    one."""
    noise = noise_of(effects)
    good = [effect for effect in effects if effect.name != AGAIN and effect.better(noise)]
    together = start
    for effect in reversed(good):  # the best last, so that it is the one that stays
        together = together.replaced(effect.name, effect.value)
    return list(dict.fromkeys(c for c in (*(e.config for e in good[:1]), together.canonical()) if c != start))


def table(effects: Sequence[Effect]) -> str:
    """The effects for people, best first."""
    noise = noise_of(effects)
    rows = [("parameter", "value", "times the start", "")]
    for effect in effects:
        value = str(effect.value).lower() if isinstance(effect.value, bool) else str(effect.value)
        mark = "noise" if effect.name == AGAIN else "*" if effect.outside(noise) else ""
        rows.append(("(start again)" if effect.name == AGAIN else effect.name, value, str(effect.gain), mark))
    return aligned(rows)
