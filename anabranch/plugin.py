"""What a plugin file needs: `anabranch run --plugin FILE.py` imports the file, whose decorators register.

docs/extending.md shows one of each kind.
"""

from anabranch.environment.registry import model
from anabranch.explore.observers import PathEvents, path_listener
from anabranch.explore.protocols import Search
from anabranch.explore.search import UNREACHABLE, SearchContext, search_order, weight
from anabranch.explore.technique import EXACT, Contract, Merge, Settled, Technique, technique
from anabranch.explore.worklist import Index
from anabranch.machine import State
from anabranch.machine.state import frames
from anabranch.reduce.merging.policies import PolicyContext, merge_policy

__all__ = [
    "EXACT",
    "UNREACHABLE",
    "Contract",
    "Index",
    "Merge",
    "PathEvents",
    "PolicyContext",
    "Search",
    "SearchContext",
    "Settled",
    "State",
    "Technique",
    "frames",
    "merge_policy",
    "model",
    "path_listener",
    "search_order",
    "technique",
    "weight",
]
