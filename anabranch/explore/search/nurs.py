"""Non-uniform random search: a state is picked with probability proportional to its weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import frexp
from random import Random
from typing import Generic

from anabranch.explore.protocols import S

_LOWEST = -64  # weights are held to 2^-64 .. 2^64
_HIGHEST = 64
_UNIT = 2.0**_LOWEST


class _Bucket(Generic[S]):
    """States whose weight, when last computed, was at least half of `bound` and below it."""

    __slots__ = ("bound", "exponent", "states", "unit")

    def __init__(self, exponent: int) -> None:
        self.exponent = exponent
        self.bound = 2.0**exponent
        self.unit = 1 << exponent - _LOWEST
        self.states: list[S] = []


class Nurs(Generic[S]):
    """Weighted random choice with constant expected cost, for positive weights that fall while a state waits.

    States lie in buckets by the power of two above their weight. A pick draws a candidate with probability
    proportional to that bound and accepts it with probability weight / bound, the weight being computed anew;
    a candidate that is refused moves to the bucket of its present weight. Because more coverage only lowers
    weights (the uncovered code gets further away, the counts grow), the bounds stay bounds, and the choice is
    exactly by present weights although a change of coverage touches no waiting state.

    A state that waits alone needs no weight, so that a program that does not fork is not measured at all.
    """

    def __init__(self, name: str, weight: Callable[[S], float], random: Random) -> None:
        self.description = name
        self._weight = weight
        self._random = random.random
        self._where: dict[S, tuple[_Bucket[S], int]] = {}
        self._buckets: dict[int, _Bucket[S]] = {}
        self._order: list[_Bucket[S]] = []  # all buckets, largest bound first
        # Sum of the bounds of all states, in units of 2^-64: an integer, so that it never drifts.
        self._total = 0
        self._lone: S | None = None

    def add(self, states: Sequence[S]) -> None:
        if not self._total:
            if self._lone is None and len(states) == 1:
                self._lone = states[0]
                return
            if self._lone is not None and states:
                lone, self._lone = self._lone, None
                self._insert((lone,))
        self._insert(states)

    def _insert(self, states: Sequence[S]) -> None:
        weight, buckets, where = self._weight, self._buckets, self._where
        for state in states:
            exponent = frexp(weight(state))[1]
            bucket = buckets.get(exponent)
            if bucket is None:
                bucket = self._bucket(exponent)
            waiting = bucket.states
            where[state] = (bucket, len(waiting))
            waiting.append(state)
            self._total += bucket.unit

    def remove(self, state: S) -> None:
        if state is self._lone:
            self._lone = None
            return
        bucket, position = self._where.pop(state)
        self._total -= bucket.unit
        last = bucket.states.pop()
        if last is not state:
            bucket.states[position] = last
            self._where[last] = (bucket, position)

    def pick(self) -> S:
        if not self._total:
            state, self._lone = self._lone, None
            if state is None:
                raise IndexError("no state waits")
            return state
        while True:
            point = self._random() * (self._total * _UNIT)
            for bucket in self._order:
                point -= len(bucket.states) * bucket.bound
                if point < 0:
                    break
            else:
                continue  # rounding at the very end of the range
            # One random number chooses the bucket and the position in it; what is left of it is uniform
            # again and serves as the coin.
            states = bucket.states
            coin = -point / bucket.bound
            position = int(coin)
            if position == len(states):
                continue
            state = states[position]
            weight = self._weight(state)
            if (coin - position) * bucket.bound <= weight or bucket.exponent == _LOWEST:
                del self._where[state]
                self._total -= bucket.unit
                last = states.pop()
                if last is not state:
                    states[position] = last
                    self._where[last] = (bucket, position)
                return state
            if frexp(weight)[1] < bucket.exponent:
                self.remove(state)
                self._insert((state,))

    def __len__(self) -> int:
        return len(self._where) + (self._lone is not None)

    def states(self) -> Iterator[S]:
        return iter(self._where if self._lone is None else (self._lone,))

    def _bucket(self, exponent: int) -> _Bucket[S]:
        held = min(max(exponent, _LOWEST), _HIGHEST)
        bucket = self._buckets.get(held)
        if bucket is None:
            bucket = self._buckets[held] = _Bucket(held)
            self._order.append(bucket)
            self._order.sort(key=lambda b: -b.exponent)
        self._buckets[exponent] = bucket
        return bucket
