"""What can be chosen: the circuits, and every parameter of the SAT solver that is worth one.

The bindings of CaDiCaL ignore a name that they do not know and take a number that is out of range for the
nearest one; here both are errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Choice(NamedTuple):
    """A parameter of CaDiCaL 1.9.5."""

    default: int
    values: tuple[int, ...]
    """Those worth trying."""
    lowest: int
    highest: int
    meaning: str


def _switch(default: int, meaning: str) -> Choice:
    return Choice(default, (0, 1), 0, 1, meaning)


_MANY = 2_000_000_000

CADICAL: dict[str, Choice] = {
    "elim": _switch(1, "eliminate variables by resolution"),
    "elimocclim": Choice(100, (4, 16, 100, 1000), 0, _MANY, "clauses with a literal that is eliminated"),
    "elimclslim": Choice(100, (20, 100, 1000), 2, _MANY, "literals of a clause that elimination makes"),
    "elimboundmax": Choice(16, (0, 4, 16, 64), -1, 2_000_000, "clauses more than before, at most"),
    "elimint": Choice(2000, (500, 2000, 10_000), 1, _MANY, "conflicts between eliminations"),
    "elimrounds": Choice(2, (1, 2, 8), 1, 512, "rounds of an elimination"),
    "subsume": _switch(1, "remove clauses that others imply"),
    "probe": _switch(1, "try literals"),
    "vivify": _switch(1, "shorten clauses by propagation"),
    "ternary": _switch(1, "resolve clauses of three literals"),
    "decompose": _switch(1, "merge equivalent literals"),
    "inprocessing": _switch(1, "simplify during the search"),
    "lucky": _switch(1, "try assignments that are satisfying by luck"),
    "walk": _switch(1, "local search for phases"),
    "phase": _switch(1, "the first value of a variable"),
    "forcephase": _switch(0, "always the first value, whatever it had last"),
    "rephase": _switch(1, "reset the values to try now and then"),
    "target": Choice(1, (0, 1, 2), 0, 2, "values of the longest trail: never, in stable mode, always"),
    "chrono": Choice(1, (0, 1, 2), 0, 2, "chronological backtracking"),
    "restartint": Choice(2, (2, 10, 50, 200), 1, _MANY, "conflicts between restarts, at least"),
    "restartmargin": Choice(10, (0, 5, 10, 20), 0, 100, "per cent that clauses must be worse to restart"),
    "stabilize": _switch(1, "phases with few restarts"),
    "stabilizeonly": _switch(0, "nothing but phases with few restarts"),
    "reluctant": Choice(1024, (50, 256, 1024, 4096), 0, _MANY, "conflicts to a restart in stable mode"),
    "score": _switch(1, "order variables by activity in stable mode"),
    "scorefactor": Choice(950, (800, 900, 950, 990), 500, 1000, "per mille of activity that is kept"),
    "bumpreason": _switch(1, "reasons of a conflict count as active too"),
    "reduceint": Choice(300, (100, 300, 1000, 3000), 10, 1_000_000, "conflicts between deletions of clauses"),
    "reducetarget": Choice(75, (50, 75, 90), 10, 100, "per cent of the learned clauses to delete"),
    "reducetier1glue": Choice(2, (1, 2, 4), 1, _MANY, "levels in a clause that is never deleted"),
    "reducetier2glue": Choice(6, (4, 6, 10), 1, _MANY, "levels in a clause that is deleted late"),
    "minimize": _switch(1, "drop literals of learned clauses that others imply"),
    "shrink": Choice(3, (0, 1, 2, 3), 0, 3, "replace literals of learned clauses by fewer"),
    "otfs": _switch(1, "strengthen clauses met in a conflict"),
}  # fmt: skip
"""Defaults and limits as CaDiCaL has them."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """Which circuits are used."""

    multiplier: str = "rows"
    """`rows`: an array of adders; `columns`: a tree."""
    divider: str = "array"
    """`array`: rows that restore the rest, half a square; `guild`: rows that add or subtract."""
    constant_division: str = "shifts"
    """`shifts`: by additions where these are fewer; `array`: as any other division."""
    redundant_choices: bool = False
    """Choices also say what follows from both branches."""


@dataclass(frozen=True, slots=True)
class SpearOptions:
    """All options of the back end."""

    encoding: Encoding = field(default_factory=Encoding)
    rebuild: int = 1
    """Queries after which gates and clauses are forgotten. With 1, constraints are clauses; else they are
    assumptions, and the clauses that define gates stay."""
    sat: tuple[tuple[str, int], ...] = ()
    """Parameters of CaDiCaL that are not at their defaults."""

    def __post_init__(self) -> None:
        check_sat_options(dict(self.sat))


def check_sat_options(options: Mapping[str, int]) -> None:
    """ValueError for a name or a number that CaDiCaL would pass over in silence."""
    for name, value in options.items():
        choice = CADICAL.get(name)
        if choice is None:
            raise ValueError(f"CaDiCaL has no parameter {name!r} here")
        if not choice.lowest <= value <= choice.highest:
            raise ValueError(f"{name} = {value} is not in {choice.lowest}..{choice.highest}")


THESIS = SpearOptions(
    sat=(
        ("elimocclim", 4),
        ("elimclslim", 100),
        ("elimboundmax", 16),
        ("restartint", 50),
        ("stabilizeonly", 1),
        ("reluctant", 50),
        ("phase", 0),
        ("forcephase", 1),
        ("rephase", 0),
        ("walk", 0),
        ("lucky", 0),
    )
)
"""What the thesis found best for software (5.1.3, 5.2.5), as far as CaDiCaL has it: few clauses and literals
for a variable to be eliminated, an order by activity, the first restart after 50 conflicts, false first and
always, no randomness."""
