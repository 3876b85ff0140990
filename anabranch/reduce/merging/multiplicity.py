"""Paths behind merged states (Kuznetsov et al., PLDI 2012, section 5.2).

Multiplicity over-estimates the number of paths, since both sides of a fork keep all of it. Both grow with the
same exponent as exploration goes on, so that `log p = c1 + c2 log m` relates them; where paths were counted
one by one, the coefficients are fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10


def regression(points: Sequence[tuple[int, int]]) -> tuple[float, float] | None:
    """`(c1, c2)` by least squares over pairs `(m, p)`, logarithms to base 10; None if m never varies."""
    logs = [(log10(m), log10(p)) for m, p in points if m > 0 and p > 0]
    count = len(logs)
    if count < 2:
        return None
    mean_m, mean_p = sum(m for m, _ in logs) / count, sum(p for _, p in logs) / count
    spread = sum((m - mean_m) ** 2 for m, _ in logs)
    if spread == 0:
        return None
    slope = sum((m - mean_m) * (p - mean_p) for m, p in logs) / spread
    return mean_p - slope * mean_m, slope
