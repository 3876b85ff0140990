"""Subjects whose input grows, runs of them with and without merging, and how the speed-up grows."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.engine import EngineFailure, run_engine
from bench.lib.subjects import find

PLAIN = ("--merge", "none", "--search", "dfs")
AUTO = ("--merge", "auto")
QCE = ("--merge", "qce")
NOISY = 6.0  # seconds: longer runs are measured once


@dataclass(frozen=True)
class Growing:
    """A subject with the macro that sets the size of its input, and the sizes to try in turn."""

    file: str
    macro: str
    first: int
    step: int = 1
    fixed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.file.removesuffix(".c")

    def defines(self, size: int) -> tuple[str, ...]:
        return (f"-D{self.macro}={size}", *self.fixed)


GROWING = (
    Growing("echo_bare.c", "N", 2, fixed=("-DL=4",)),
    Growing("memspn.c", "M", 9, 2),
    Growing("regexp.c", "SIZE", 5),
    Growing("rle_decode.c", "SIZE", 4),
    Growing("utf8_valid.c", "SIZE", 6, 2),
    Growing("key_value.c", "SIZE", 3),
    Growing("tokens.c", "SIZE", 2),
    Growing("isbn.c", "SIZE", 7, 2),
    Growing("brackets.c", "SIZE", 4),
    Growing("base64.c", "SIZE", 3),
    Growing("number_list.c", "SIZE", 4),
    Growing("bubble.c", "N", 4),
)


@dataclass
class Measured:
    """One exploration without tests: CPU time of exploration, and what was done."""

    seconds: float = 0.0
    complete: bool = False
    states: int = 0
    ends: int = 0
    multiplicity: int = 0
    merges: int = 0
    errors: frozenset[tuple[str, int]] = frozenset()
    problem: str = ""


def measure(
    file: str,
    defines: Sequence[str],
    flags: Sequence[str],
    *,
    cpu_limit: float,
    programs: Path | None = None,
) -> Measured:
    """Explore once; at the limit the run is interrupted, and its figures are those up to there."""
    result = Measured()
    with tempfile.TemporaryDirectory(prefix="anabranch-merging-") as scratch:
        try:
            done = run_engine(
                [find(file, programs)], Path(scratch), defines=defines, search=None, tests="none",
                extra=flags, time_limit=10 * cpu_limit + 60, cpu_limit=cpu_limit,
            )  # fmt: skip
        except EngineFailure as failure:
            result.seconds, result.problem = cpu_limit, str(failure)
            return result
    run = done.run
    result.seconds = float(run["timers"]["explore"])
    result.complete = done.complete
    result.states = int(run["states"]["explored"])
    result.ends = int(run["paths"]["total"])
    result.multiplicity = int(run["multiplicity"])
    result.merges = int(run.get("reductions", {}).get("merging", {}).get("merges", 0))
    result.errors = frozenset(done.errors())
    return result


def measure_well(file: str, defines: Sequence[str], flags: Sequence[str], cpu_limit: float) -> Measured:
    """The same; of a run that noise can make a difference to, the best of three."""
    best = measure(file, defines, flags, cpu_limit=cpu_limit)
    if best.seconds < NOISY and not best.problem:
        for _ in range(2):
            again = measure(file, defines, flags, cpu_limit=cpu_limit)
            if again.seconds < best.seconds:
                best = again
    return best


@dataclass(frozen=True)
class Point:
    """One size of one subject: plain, with all states merged that estimates say, and as `auto` does it."""

    size: int
    plain: Measured
    merged: Measured
    auto: Measured

    @property
    def speedup(self) -> float:
        """Plain over merged; a bound from above where merging did not finish."""
        return self.plain.seconds / max(self.merged.seconds, 1e-4)

    @property
    def slowdown(self) -> float:
        """Time of `auto` over that of plain."""
        return self.auto.seconds / max(self.plain.seconds, 1e-4)


@dataclass(frozen=True)
class Fit:
    """The line log(speed-up) = a + b * x by least squares, and how much of the variance it explains."""

    base: float
    slope: float
    r2: float
    slope_error: float

    @property
    def factor(self) -> float:
        """By how much the speed-up grows with each unit of x."""
        return math.exp(self.slope)


def fit(x: Sequence[float], y: Sequence[float]) -> Fit:
    """Least squares of y on x (three points at least)."""
    count = len(x)
    mean_x, mean_y = sum(x) / count, sum(y) / count
    sxx = sum((a - mean_x) ** 2 for a in x)
    syy = sum((b - mean_y) ** 2 for b in y)
    sxy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = sxy / sxx
    rest = max(syy - slope * sxy, 0.0)
    r2 = 1 - rest / syy if syy > 0 else 0.0
    return Fit(mean_y - slope * mean_x, slope, r2, math.sqrt(rest / max(count - 2, 1) / sxx))


# One-sided 95% quantiles of Student's t distribution, by degrees of freedom.
T95 = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833, 10: 1.812}
LEAST_R2 = 0.8


@dataclass
class Growth:
    """A subject over its sizes."""

    subject: Growing
    points: list[Point] = field(default_factory=list)

    @property
    def finished(self) -> list[Point]:
        return [p for p in self.points if p.plain.complete and p.merged.complete]

    @property
    def exponential(self) -> Fit | None:
        points = self.finished
        if len(points) < 3:
            return None
        return fit([float(p.size) for p in points], [math.log(p.speedup) for p in points])

    @property
    def power(self) -> Fit | None:
        """The rival: speed-up as a power of the size."""
        points = self.finished
        if len(points) < 3:
            return None
        return fit([math.log(p.size) for p in points], [math.log(p.speedup) for p in points])

    @property
    def is_exponential(self) -> bool:
        """Slope above zero at 95% confidence, and the line explains at least 80% of the variance."""
        line = self.exponential
        if line is None:
            return False
        quantile = T95.get(len(self.finished) - 2, 1.7)
        return line.slope - quantile * line.slope_error > 0 and line.r2 >= LEAST_R2

    @property
    def worst(self) -> float:
        """The greatest ratio of the time of `auto` to that of plain over all sizes."""
        return max((p.slowdown for p in self.points), default=0.0)


def grow(
    subject: Growing,
    flags: Sequence[str] = (),
    *,
    shortest: float = 0.05,
    longest: float = 30.0,
    points: int = 8,
    tell: object = None,
) -> Growth:
    """Larger and larger sizes, as long as plain exploration takes between two times."""
    growth = Growth(subject)
    size = subject.first
    previous = 0.0
    while len(growth.points) < points:
        plain = measure_well(subject.file, subject.defines(size), PLAIN, longest * 1.2 + 2)
        if not plain.complete:
            break
        if plain.seconds >= shortest:
            limit = max(4 * plain.seconds, 10.0)
            merged = measure_well(subject.file, subject.defines(size), (*QCE, *flags), limit)
            auto = measure_well(subject.file, subject.defines(size), (*AUTO, *flags), limit)
            growth.points.append(Point(size, plain, merged, auto))
            if callable(tell):
                tell(
                    f"{subject.name} {size}: plain {plain.seconds:.2f} s, merged {merged.seconds:.2f} s, "
                    f"auto {auto.seconds:.2f} s"
                )
        expected = plain.seconds * max(plain.seconds / previous if previous else 2.0, 1.5)
        if expected > longest:
            break
        previous = plain.seconds
        size += subject.step
    return growth
