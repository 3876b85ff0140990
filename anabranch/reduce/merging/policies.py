"""Merge policies by name: `--merge NAME` chooses which states are worth merging.

The command line lists the names, so this module is light: a policy is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from anabranch.registry import Registry

if TYPE_CHECKING:
    from anabranch.machine import Machine, State
    from anabranch.reduce.qce import QceParameters


class Similarity(Protocol):
    """Is merging two states at one location worth it?"""

    def key(self, state: State) -> Hashable:
        """States with different keys are not similar; states with one key are likely to be."""
        ...

    def similar(self, a: State, b: State) -> bool: ...


class PolicyContext(NamedTuple):
    """What merge policies are made of."""

    machine: Machine
    parameters: QceParameters


MakePolicy = Callable[[PolicyContext], Similarity]
M = TypeVar("M", bound=MakePolicy)

POLICIES: Registry[MakePolicy] = Registry("merge policy")


def merge_policy(name: str, *, help: str) -> Callable[[M], M]:
    """Register a class, or a function that makes one, as what `--merge NAME` takes.

    It is called with a `PolicyContext` and gives a `Similarity`.
    """

    def register(make: M) -> M:
        POLICIES.add(name, make, help)
        return make

    return register


@merge_policy("all", help="all that meet")
def everything(context: PolicyContext) -> Similarity:
    from anabranch.reduce.merging.similarity import Everything

    return Everything()


@merge_policy("qce", help="where estimates say that it pays")
@merge_policy("auto", help="plainly and with qce in turns, the first to finish counts")
def by_query_counts(context: PolicyContext) -> Similarity:
    from anabranch.reduce.merging.similarity import QceSimilarity

    return QceSimilarity(context)
