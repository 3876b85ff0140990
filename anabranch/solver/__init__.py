"""Feasibility of path conditions: slices with memoised decisions over a chain of cheap answers and a solver."""

from .backend import UNKNOWN, UNSAT, Answer, Backend, Model, SolverStats, SolverUnknown, Verdict
from .bitwuzla_backend import BitwuzlaBackend
from .slices import Decision, Slice, Split
from .space import SliceSpace

__all__ = [
    "UNKNOWN",
    "UNSAT",
    "Answer",
    "Backend",
    "BitwuzlaBackend",
    "Decision",
    "Model",
    "Slice",
    "SliceSpace",
    "SolverStats",
    "SolverUnknown",
    "Split",
    "Verdict",
]
