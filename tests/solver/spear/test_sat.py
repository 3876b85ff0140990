"""The SAT layer against brute force, its limits and its parameters."""

from __future__ import annotations

import itertools
import time
from math import inf
from pathlib import Path

import pysolvers
import pytest

from anabranch.solver.spear.options import CADICAL, SpearOptions
from anabranch.solver.spear.sat import Cadical
from bench.lib.sat import trouble


def test_random_clauses() -> None:
    assert [found for found in map(trouble, range(1500)) if found] == []


def pigeons(count: int) -> list[list[int]]:
    """More pigeons than holes: hard for resolution."""

    def at(pigeon: int, hole: int) -> int:
        return pigeon * count + hole + 1

    clauses = [[at(p, h) for h in range(count)] for p in range(count + 1)]
    for h in range(count):
        clauses += [[-at(p, h), -at(q, h)] for p, q in itertools.combinations(range(count + 1), 2)]
    return clauses


def solver(clauses: list[list[int]], **options: int) -> Cadical:
    found = Cadical(options)
    for clause in clauses:
        found.add(clause)
    return found


def test_gives_up_after_conflicts() -> None:
    hard = solver(pigeons(11))
    assert hard.solve([], 500, inf) is None
    assert 500 <= hard.conflicts < 600


def test_gives_up_in_time() -> None:
    hard = solver(pigeons(12))
    start = time.monotonic()
    assert hard.solve([], 1 << 30, start + 0.2) is None
    assert time.monotonic() - start < 10


def test_unknown_and_impossible_parameters_are_errors() -> None:
    with pytest.raises(ValueError, match="elimocs"):
        Cadical({"elimocs": 4})
    with pytest.raises(ValueError, match="phase = 2"):
        SpearOptions(sat=(("phase", 2),))


@pytest.mark.parametrize("name", CADICAL)
def test_the_library_has_the_parameter(name: str) -> None:
    """The bindings do not say whether they know a name. Literals of the library are merged by their ends, so
    that a name need not begin behind a zero."""
    assert f"{name}\0".encode() in Path(pysolvers.__file__).read_bytes()


def test_parameters_arrive() -> None:
    """Each changes the search on a formula that needs one, or is about something rare."""
    clauses = pigeons(7)

    def conflicts(**options: int) -> int:
        found = solver(clauses, **options)
        assert found.solve([], 1 << 30, inf) is False
        return found.conflicts

    default = conflicts()
    same = {
        name
        for name, choice in CADICAL.items()
        if all(conflicts(**{name: v}) == default for v in choice.values if v != choice.default)
    }
    assert same <= {"elimclslim", "elimboundmax", "lucky", "walk", "decompose", "ternary"}
