"""The worklist algorithm that all techniques are instances of.

It is Algorithm 1 of Kuznetsov et al., "Efficient State Merging in Symbolic Execution" (PLDI 2012), with the
operators of configurable program analysis: states wait in a worklist, the machine gives the successors of the
one that the search order picks, and techniques make fewer of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from anabranch.explore.technique import Techniques
from anabranch.explore.worklist import Worklist
from anabranch.machine import State


class Successors(Protocol):
    """What are the successors of a state?"""

    def advance(self, state: State, forks: int | None) -> Iterable[State]:
        """Run to the next stop, at most `forks` forks far; the states that go on, the newest last."""
        ...


class Budget(Protocol):
    """May the run go on, and with whom?"""

    def excess(self, worklist: Worklist) -> Sequence[State] | None:
        """Waiting states that there is no memory for, mostly none; None if the run is to end."""
        ...


def explore_states(
    worklist: Worklist,
    machine: Successors,
    techniques: Techniques,
    budget: Budget,
    give_up: Callable[[State], None],
) -> None:
    """Explore until nothing waits or the budget is used up."""
    while (excess := budget.excess(worklist)) is not None:
        for state in excess:
            worklist.remove(state)
            give_up(state)
        for settled in techniques.settle():  # groups that are complete become fewer
            for state in settled.gone:
                worklist.remove(state)
            worklist.add(settled.instead)
        if not worklist.size:
            return
        picked = worklist.pick()
        if techniques.covers(picked):  # what is known may have grown while it waited
            continue
        for successor in machine.advance(picked, techniques.forks(picked)):
            if techniques.covers(successor):
                continue
            for merge in techniques.merge(successor):
                worklist.remove(merge.partner)
                successor = merge.merged
            worklist.add((successor,))
