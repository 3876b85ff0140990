"""Feasibility of path conditions: slices with memoised decisions, a chain of cheap answers, a solver."""

from .backend import UNKNOWN, UNSAT, Answer, Backend, Model, SolverStats, SolverUnknown, Verdict
from .bitwuzla_backend import BitwuzlaBackend
from .decorators import CrossChecked, QueryLog, SolverDisagreement
from .disjunction import Disjunction, conjunction, disjunction
from .enumeration import Values
from .limit import QueryLimits
from .slices import Decision, Slice, Split
from .space import SliceSpace
from .z3_backend import Z3Backend

__all__ = [
    "UNKNOWN",
    "UNSAT",
    "Answer",
    "Backend",
    "BitwuzlaBackend",
    "CrossChecked",
    "Decision",
    "Disjunction",
    "Model",
    "QueryLimits",
    "QueryLog",
    "Slice",
    "SliceSpace",
    "SolverDisagreement",
    "SolverStats",
    "SolverUnknown",
    "Split",
    "Values",
    "Verdict",
    "Z3Backend",
    "conjunction",
    "disjunction",
]
