"""Loops over bytes as one expression: the walk of an index to the first place where a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.environment.api import Value
from anabranch.environment.ops import Condition, both, either, eq, ite, negated
from anabranch.environment.whole.windows import Answer
from anabranch.expr import Expr

Results = tuple[Value | None, ...]  # None: of no interest
Exits = list[tuple[Condition, Results]]
Step = Callable[[int], tuple[Condition, Exits]]


def reaches(limit: Value | None, index: int) -> Condition:
    """Whether a loop that counts up to `limit` ends at `index`, if it came so far."""
    if limit is None:
        return False
    return eq(limit, index, 64) if isinstance(limit, Expr) else index >= limit


def walk(
    size: int,
    step: Step,
    widths: Sequence[int],
    limit: Value | None = None,
    at_limit: Callable[[int], Results] | None = None,
) -> Answer:
    """The results of a loop over bytes 0, 1, ... of which `size` may be looked at.

    `step(i)` gives the condition that byte i is bad, and the exits of the loop there in the order they are
    tried. A loop with a `limit` ends with the results `at_limit(i)` when i reaches it, before byte i is read.
    Expressions are built from the end, so that walks from neighbouring places share what they have in common.
    """
    entries: list[tuple[Condition, Exits]] = []
    for index in range(size + 1):
        ended = reaches(limit, index)
        final: Exits = [(ended, at_limit(index))] if at_limit is not None and ended is not False else []
        if ended is True or index == size:
            entries.append((negated(ended), [*final, (True, ())]))
            break
        bad, exits = step(index)
        entries.append((both(negated(ended), bad), [*final, *exits]))
        if any(condition is True for condition, _ in exits):
            break
    past: Condition = False
    results: list[Value | None] = [None] * len(widths)
    for bad, exits in reversed(entries):
        stops: Condition = False
        for condition, _ in exits:
            stops = either(stops, condition)
        past = either(bad, both(negated(stops), past))
        for condition, found in reversed(exits):
            for number, value in enumerate(found):
                results[number] = joined(condition, value, results[number], widths[number])
    return Answer(past, tuple(0 if value is None else value for value in results))


def joined(condition: Condition, value: Value | None, rest: Value | None, width: int) -> Value | None:
    """`value` where the condition holds, else `rest`; one of no interest gives way to the other."""
    if value is None:
        return rest
    return value if rest is None else ite(condition, value, rest, width)
