"""The parameters of query count estimation."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class QceParameters:
    """alpha, beta and kappa are those of Kuznetsov et al., found by hill climbing (section 5.4)."""

    alpha: float = 1e-12
    """Share of all queries to come that a variable may add before it is hot; 0 never merges, infinity
    always."""
    beta: float = 0.8
    """Probability that one side of a branch is feasible."""
    kappa: int = 10
    """Iterations of a loop, and depth of a recursion, whose number is not known."""
    zeta: float = 1.0
    """Cost of a query with a new ite in it, next to 1 for one without. The paper gives no value; its
    prototype left the term out, which is what 1 does. A larger one weighs values that differ and are
    symbolic already."""
    memory_weight: float = 1.0
    """Queries of an access whose address is not static, if that address is symbolic; a branch counts 1."""
    check_weight: float = 1.0
    """Queries of other checks: divisors, shift amounts, assumptions, sizes of allocations."""
    model_weight: float = 1.0
    """Queries of a call of a string function that the engine models (`strlen`, `memcmp`, ...)."""
    trip_limit: int = 256
    """Known trip counts are taken up to this."""
    loop_growth: float = inf
    """Largest weight with which one iteration of a loop leads to the next. Equation 6 sets no limit: a body
    with many branches multiplies the count by the number of its paths, every time. With 1, n iterations
    count at most n times as much as one."""

    def __post_init__(self) -> None:
        if not 0 < self.beta <= 1:
            raise ValueError(f"beta must be in (0, 1], is {self.beta}")
        if self.kappa < 1 or self.trip_limit < 1:
            raise ValueError("kappa and the limit of trip counts must be at least 1")
        if self.alpha < 0 or self.zeta < 1:
            raise ValueError("alpha must not be negative, zeta at least 1")
        if self.loop_growth <= 0:
            raise ValueError("the growth of loops must be positive")
        if min(self.memory_weight, self.check_weight, self.model_weight) < 0:
            raise ValueError("weights must not be negative")
