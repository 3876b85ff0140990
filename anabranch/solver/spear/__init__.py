"""A decision procedure in the shape of Spear: simplified expressions, circuits of few gates, a SAT solver."""

from .backend import SpearBackend
from .options import CADICAL, THESIS, Encoding, SpearOptions

__all__ = ["CADICAL", "THESIS", "Encoding", "SpearBackend", "SpearOptions"]
