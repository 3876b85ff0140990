"""The unit of speed: CPU time of 10 million iterations of a fixed loop, taken in the same run."""

from __future__ import annotations

import time

ITERATIONS_A_UNIT = 10_000_000


def unit_seconds(iterations: int = 2_000_000, rounds: int = 5) -> float:
    """CPU seconds of one unit, the best of a few rounds."""
    best = float("inf")
    for _ in range(rounds):
        x = 1
        start = time.process_time()
        for i in range(iterations):
            x = (x * 5 + i) & 0xFFFFFFFF
        best = min(best, time.process_time() - start)
    return best * ITERATIONS_A_UNIT / iterations
