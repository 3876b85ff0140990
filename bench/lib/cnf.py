"""Formulas in conjunctive normal form for many assignments at once: an assignment is a bit of a number."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

Clause = Sequence[int]


class NotDefining(Exception):
    """Clauses leave a variable open, or contradict each other."""


def simulate(clauses: Iterable[Clause], inputs: Mapping[int, int], cases: int, variables: int) -> list[int]:
    """The values of all variables, given those of the inputs, where clauses define each other variable by
    variables before it. A value has a bit for each case; variable v is at place v.

    A variable is true where a clause leaves it no choice, and false where one wants that: there must be such
    a clause in every case, and never both.
    """
    ones = (1 << cases) - 1
    defining: dict[int, list[Clause]] = {}
    for clause in clauses:
        defining.setdefault(max(map(abs, clause)), []).append(clause)
    values = [0] * (variables + 1)
    for v in range(1, variables + 1):
        if v in inputs:
            if v in defining:
                raise NotDefining(f"an input, variable {v}, is constrained")
            values[v] = inputs[v]
            continue
        forced = {True: 0, False: 0}
        for clause in defining.get(v, ()):
            open_cases = ones
            for literal in clause:
                if abs(literal) != v:
                    held = values[abs(literal)]
                    open_cases &= (ones ^ held) if literal > 0 else held
            forced[v in clause] |= open_cases
        if forced[True] & forced[False] or forced[True] | forced[False] != ones:
            raise NotDefining(f"variable {v} is not defined by {defining.get(v)}")
        values[v] = forced[True]
    return values


def columns(variables: int) -> list[int]:
    """Variable v at place v: its value in each of the 2**variables assignments."""
    cases = 1 << variables
    out = [0]
    for v in range(variables):
        period = ((1 << (1 << v)) - 1) << (1 << v)
        column, width = period, 2 << v
        while width < cases:
            column |= column << width
            width *= 2
        out.append(column)
    return out


def satisfying(clauses: Iterable[Clause], table: Sequence[int]) -> int:
    """The assignments that satisfy all clauses, given the columns of the variables."""
    ones = (1 << (1 << (len(table) - 1))) - 1
    left = ones
    for clause in clauses:
        holds = 0
        for literal in clause:
            holds |= table[literal] if literal > 0 else ones ^ table[-literal]
        left &= holds
    return left


def random_clauses(rng: random.Random, variables: int) -> list[list[int]]:
    """Clauses of one to four literals, about as many as are hard to satisfy."""
    clauses = []
    for _ in range(int(variables * rng.uniform(1.5, 5.5))):
        size = min(variables, rng.choice((1, 2, 2, 3, 3, 3, 3, 4)))
        clauses.append([v * rng.choice((1, -1)) for v in rng.sample(range(1, variables + 1), size)])
    return clauses
