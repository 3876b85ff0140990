"""What a user can choose about a check."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.solver.config import PRESETS as SOLVERS
from anabranch.solver.config import SolverConfig

PROPERTIES = ("null", "assert", "division", "uninitialised", "freed", "bounds")
"""The properties that can be checked, in the order in which reports name them."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a verdict is looked for; within the limits the verdicts are the same. The default is the fastest on
    the programs of `bench.check_thesis`, the others are what it is measured against."""

    inline: bool = False
    """Open all operators before the first query: full inlining, instead of those that a model depends on
    (Algorithm 4)."""
    antecedents_first: bool = False
    """Solve with all antecedents from the start, and open theirs first within a generation, instead of the
    consequent's (section 4.2.4, Heuristics)."""
    incremental: bool = True
    """One solver for all queries of a condition, which keeps what it learned; otherwise a fresh one each."""
    localised: bool = True
    """Check a condition in its own function first, and leave it to the callers by what it depends on only;
    otherwise lift each to the roots, and check it there (section 4.2.4, Lifting)."""


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
    polls: int = 500
    """Limit of one query, in polls of the solver, which are the same on every machine. With 300, libtasn1
    took 5.1 s instead of 6.0, but 8.8% was undecided instead of 8.0; with 1,500 for a condition it took
    7.8 s, and 7.7% was undecided."""
    condition_polls: int = 1_000
    """Limit of all queries of one condition."""
    function_polls: int = 12_000
    """Limit of all queries about one function; see `driver.SHARE`."""
    max_targets: int = 3
    """Functions that an indirect call may reach, by address taken and type; of more none is followed."""
    max_conditions: int | None = None
    """Conditions of one function that are looked at, nearest first; the others are undecided."""
    max_requirements: int = 80
    """Conditions of one function about values of any kind that its callers have to meet."""
    max_depth: int = 5
    """Calls between such a condition and the caller that it is checked in."""
    max_behind: int = 60
    """Conditions that are looked at where a bad value is passed."""
    expand_nodes: int = 150
    """Size up to which a summary is expanded where its value is dereferenced."""
    solver: SolverConfig = SOLVERS["check"]
    """How queries are decided, as far as that concerns a fresh Bitwuzla."""
    all_functions: bool = False
    """Check also what nobody calls and nobody outside can see."""
    strategy: Strategy = Strategy()
    """How verdicts are looked for."""


THESIS_POLLS = 2_000_000
"""What Bitwuzla polls in about 10 s of hard queries: 190,000 a second on libtasn1."""

THESIS = CheckSettings(
    properties=("null",),
    any_null=True,
    unroll=1,
    max_conditions=500,
    max_expansions=200,
    max_nodes=20_000,
    max_requirements=500,
    max_depth=100,
    polls=THESIS_POLLS,
    condition_polls=THESIS_POLLS,
    function_polls=500 * THESIS_POLLS,
)
"""The settings of the thesis' experiments (section 6.2.3): NULL dereferences with unknown callers, one
iteration of a loop, 10 s a condition, 500 conditions a function."""

PRESETS = {"default": CheckSettings(), "thesis": THESIS}
