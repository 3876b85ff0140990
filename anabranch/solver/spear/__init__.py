"""A decision procedure in the shape of Spear: simplified expressions, circuits of few gates, a SAT solver.

The back end itself (`backend.py`), whose library takes time to load, is imported by those who ask for it.
"""

from .options import CADICAL, THESIS, Encoding, SpearOptions

__all__ = ["CADICAL", "THESIS", "Encoding", "SpearOptions"]
