"""What tuning has brought: tables as 5.1 of the thesis, with confidence intervals, and a scatter plot."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log10
from statistics import mean

from anabranch.solver.config import SolverConfig

from .instances import Instance
from .measure import Runs

RESAMPLES = 1000
PROBABILITY = 0.95


@dataclass
class Column:
    """One configuration on a set of instances: CPU seconds, the least of the repetitions. Solvers do the same
    again; what else the machine does only adds."""

    seconds: list[float] = field(default_factory=list)
    solved: list[bool] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Of all instances; those that were not solved took the cutoff."""
        return sum(self.seconds)

    @property
    def mean_of_solved(self) -> float:
        """As the thesis' table has it: over the instances that this configuration solves."""
        return mean([t for t, s in zip(self.seconds, self.solved, strict=True) if s] or [0.0])


def measured(
    runs: Runs,
    configs: Mapping[str, SolverConfig],
    instances: Sequence[Instance],
    cutoff: float,
    repetitions: int,
    first: int = 1,
    factor: float = inf,
) -> dict[str, Column]:
    """Every configuration on every instance. They take turns: a load that comes and goes meets all.

    `first` is the number of the first repetition. The search's own runs have number 0: it chose by them, so
    that they are too good. `factor`: a run is given up after so many times what the first configuration took,
    and a tenth of a second.
    """
    columns = {name: Column() for name in configs}
    for instance in instances:
        seconds: dict[str, list[float]] = {name: [] for name in configs}
        solved = dict.fromkeys(configs, True)
        for repetition in range(first, first + repetitions):
            limit = cutoff
            for name, config in configs.items():
                result = runs.run(config, instance, limit, repetition)
                seconds[name].append(min(result.seconds, limit) if result.solved else limit)
                solved[name] &= result.solved
                if limit == cutoff and factor < inf:
                    limit = min(cutoff, factor * result.seconds + 0.1)
        for name, column in columns.items():
            column.seconds.append(min(seconds[name]))
            column.solved.append(solved[name])
    return columns


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times quicker, in total time, with an interval that holds it with a probability of 95%."""

    factor: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.factor:.2f}x ({self.low:.2f} to {self.high:.2f})"


def speedup(slow: Sequence[float], quick: Sequence[float], seed: int = 0) -> Speedup:
    """The quotient of the totals; the interval by resampling the instances."""
    rng = random.Random(seed)
    pairs = list(zip(slow, quick, strict=True))
    factors = []
    for _ in range(RESAMPLES):
        chosen = rng.choices(pairs, k=len(pairs))
        factors.append(sum(p[0] for p in chosen) / max(sum(p[1] for p in chosen), 1e-9))
    factors.sort()
    cut = int(RESAMPLES * (1 - PROBABILITY) / 2)
    return Speedup(sum(slow) / max(sum(quick), 1e-9), factors[cut], factors[-1 - cut])


def table(sets: Mapping[str, Mapping[str, Column]], default: str) -> str:
    """Number solved, mean CPU time of those, total time and speed-up, for each set and configuration."""
    header = ("set", "configuration", "solved", "mean of solved", "total", "times the default")
    rows = [header]
    for set_name, columns in sets.items():
        for name, column in columns.items():
            gain = "" if name == default else str(speedup(columns[default].seconds, column.seconds))
            solved = f"{sum(column.solved)}/{len(column.solved)}"
            times = (f"{1000 * column.mean_of_solved:.2f} ms", f"{column.total:.2f} s")
            rows.append((set_name, name, solved, *times, gain))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns, the first row as their heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def scatter(x: Column, y: Column, x_name: str, y_name: str) -> str:
    """An SVG of both configurations on each instance, on logarithmic axes: below the line, y is quicker."""
    size, margin = 480, 60
    values = [max(t, 1e-5) for t in (*x.seconds, *y.seconds)]
    low, high = log10(min(values)) - 0.1, log10(max(values)) + 0.1

    def at(seconds: float) -> float:
        return (log10(max(seconds, 1e-5)) - low) / (high - low) * size

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size + 2 * margin}" height="{size + 2 * margin}" '
        'font-family="sans-serif" font-size="12">',
        f'<g transform="translate({margin},{margin})">',
        f'<rect width="{size}" height="{size}" fill="none" stroke="black"/>',
        f'<line x1="0" y1="{size}" x2="{size}" y2="0" stroke="gray"/>',
    ]
    for power in range(-5, 3):
        if low <= power <= high:
            p = at(10.0**power)
            parts.append(f'<text x="{p:.0f}" y="{size + 16}" text-anchor="middle">{10.0**power:g}</text>')
            parts.append(f'<text x="-6" y="{size - p + 4:.0f}" text-anchor="end">{10.0**power:g}</text>')
    parts += [
        f'<circle cx="{at(a):.1f}" cy="{size - at(b):.1f}" r="2.5" fill="steelblue" fill-opacity="0.6"/>'
        for a, b in zip(x.seconds, y.seconds, strict=True)
    ]
    parts.append(f'<text x="{size / 2}" y="{size + 40}" text-anchor="middle">{x_name}, CPU s</text>')
    parts.append(
        f'<text x="{-size / 2}" y="-44" text-anchor="middle" transform="rotate(-90)">{y_name}, CPU s</text>'
    )
    return "\n".join([*parts, "</g>", "</svg>", ""])
