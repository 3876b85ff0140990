"""What a user can choose about a check."""

from __future__ import annotations

from dataclasses import dataclass

PROPERTIES = ("null", "assert", "division", "uninitialised", "freed", "bounds")
"""The properties that can be checked, in the order in which reports name them."""


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The limits are per condition or per function, so that one hard function does not take the time of
    all."""

    properties: tuple[str, ...] = PROPERTIES
    any_null: bool = False
    """`--null any`: parameters and memory of unknown callers may be NULL."""
    allocations_fail: bool = True
    """An allocation may return NULL."""
    unroll: int | None = None
    """Copies of a loop's body, and then the loop has ended; None: one exact iteration, then an unknown
    one."""
    max_expansions: int = 24
    """Summary operators that are opened for one condition."""
    batch: int = 4
    """Operators that are opened in one round, once some have been opened one by one."""
    one_by_one: int = 3
    """Operators that are opened one a round: most conditions need no more."""
    max_nodes: int = 1_200
    """Size of a condition with everything that was opened, in nodes. With 3,000, zlib took 12.4 s instead of
    9.8 and libtasn1 5.0 instead of 3.7, and as much was undecided: few queries of that size are answered."""
    polls: int = 300
    """Limit of one query, in polls of the solver, which are the same on every machine. With 1,000, zlib took
    11 s instead of 9 and more was undecided: functions spent their time on queries that were given up."""
    condition_polls: int = 900
    """Limit of all queries of one condition."""
    function_polls: int = 12_000
    """Limit of all queries about one function."""
    max_requirements: int = 80
    """Conditions of one function about values of any kind that its callers have to meet."""
    max_depth: int = 5
    """Calls between such a condition and the caller that it is checked in."""
    max_behind: int = 60
    """Conditions that are looked at where a bad value is passed."""
    expand_nodes: int = 150
    """Size up to which a summary is expanded where its value is dereferenced."""
    all_functions: bool = False
    """Check also what nobody calls and nobody outside can see."""
