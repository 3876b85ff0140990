"""What a technique is: one way to explore less, with what it promises and the operators that it provides.

Every technique is a subclass of `Technique` in a folder of its own; it overrides the operators that it
provides and leaves the others alone. The loop asks all techniques of a run in their order and knows none of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from anabranch.explore.coverage import BlockTable
from anabranch.explore.protocols import Search
from anabranch.explore.worklist import Index
from anabranch.machine import Events, State

if TYPE_CHECKING:
    from anabranch.explore.build import Parts

Goal = Literal["coverage", "bugs", "paths"]
GOALS: frozenset[Goal] = frozenset(("coverage", "bugs", "paths"))


@dataclass(frozen=True, slots=True)
class Contract:
    """What a technique promises: what it keeps, what it may lose, and the goals it therefore serves."""

    keeps: str
    loses: str
    serves: frozenset[Goal]
    keeps_errors: bool = False
    """Is every error found that would be found without it? If not, a run in which it drops a state is not
    complete: "no error" would not be true."""


EXACT = Contract(keeps="every path, exactly", loses="nothing", serves=GOALS, keeps_errors=True)


class Settled(NamedTuple):
    """Waiting states that go, and those that wait instead."""

    gone: Sequence[State]
    instead: Sequence[State] = ()


class Merge(NamedTuple):
    """A waiting state and what it and the successor at hand become together."""

    partner: State
    merged: State


class Technique:
    """One way to explore less. Every method does nothing unless a technique overrides it."""

    name: ClassVar[str]
    """Of its heading in `run.json`."""
    contract: ClassVar[Contract]

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @property
    def indexes(self) -> Sequence[Index]:
        """What it wants to find waiting states by."""
        return ()

    # ---- before the run ------------------------------------------------------------------------------

    def listen(self, events: Events) -> None:
        """Add its listeners to the events of the running path."""

    def instrument(self, table: BlockTable) -> None:
        """Say what has to be counted beyond blocks, before any code is translated."""

    def order(self, search: Search[State]) -> Search[State]:
        """The search order wrapped in the technique's own, or replaced by it."""
        return search

    def begin(self, states: Sequence[State]) -> Sequence[State]:
        """The states that the run starts with."""
        return states

    # ---- operators -----------------------------------------------------------------------------------

    def settle(self) -> Iterable[Settled]:
        """Groups of waiting states that are complete and become fewer. When an iterator is asked to go on,
        the loop has replaced them."""
        return ()

    def covers(self, state: State) -> bool:
        """Is the state redundant, because others have the same observable outputs? Asked when it is made, and
        when it is picked."""
        return False

    def covered(self, state: State) -> None:
        """A state that it covers goes no further: account for it."""
        self.parts.reporter.pruned(state, state.multiplicity)
        if not self.contract.keeps_errors:
            self.parts.reporter.losses.add(f"pruned: {self.name}")

    def merge(self, state: State) -> Iterator[Merge]:
        """Waiting states that the state is merged with, one after the other. When the iterator is asked to go
        on, the loop has taken the partner out."""
        return iter(())

    def forks(self, state: State) -> int | None:
        """After how many forks the picked state is to wait again; None if the technique has no opinion."""
        return None

    def given_up(self, state: State) -> None:
        """A state that waited will not be explored further: a limit was reached."""

    # ---- after the run -------------------------------------------------------------------------------

    def finish(self) -> None:
        """All is done; told before anything is counted."""

    def figures(self) -> dict[str, Any]:
        """What `run.json` tells of it, under its name."""
        return {}


REGISTERED: list[type[Technique]] = []
"""Techniques from plugins: a run whose goal they serve uses them. They are made of the parts of the run."""

T = TypeVar("T", bound=type[Technique])


def technique(kind: T) -> T:
    """Register a technique; it is called with the `Parts` of a run."""
    REGISTERED.append(kind)
    return kind


class Techniques:
    """The techniques of a run as the loop sees them: who provides an operator is asked, in their order."""

    def __init__(self, techniques: Sequence[Technique] = ()) -> None:
        self.all = tuple(techniques)
        self._settles = self._that_provide("settle")
        self._prunes = tuple(one for one in self.all if type(one).covers is not Technique.covers)
        self._merges = self._that_provide("merge")
        self._forks = self._that_provide("forks")

    def _that_provide(self, operator: str) -> tuple[Any, ...]:
        default: Callable[..., Any] = getattr(Technique, operator)
        return tuple(
            getattr(technique, operator)
            for technique in self.all
            if getattr(type(technique), operator) is not default
        )

    def order(self, search: Search[State]) -> Search[State]:
        for technique in self.all:
            search = technique.order(search)
        return search

    def begin(self, states: Sequence[State]) -> Sequence[State]:
        for technique in self.all:
            states = technique.begin(states)
        return states

    def settle(self) -> Iterable[Settled]:
        settles = self._settles
        if len(settles) < 2:  # asked before every turn: most runs have one such technique, or none
            return settles[0]() if settles else ()
        return chain.from_iterable([settle() for settle in settles])

    def covers(self, state: State) -> bool:
        for technique in self._prunes:
            if technique.covers(state):
                technique.covered(state)
                return True
        return False

    def merge(self, state: State) -> Iterable[Merge]:
        merges = self._merges
        if len(merges) < 2:
            return merges[0](state) if merges else ()
        return self._merge(state)

    def _merge(self, state: State) -> Iterator[Merge]:
        for merge in self._merges:
            for found in merge(state):
                state = found.merged
                yield found

    def forks(self, state: State) -> int | None:
        wanted = None
        for forks in self._forks:
            number = forks(state)
            if wanted is None or (number is not None and number < wanted):
                wanted = number
        return wanted

    def given_up(self, state: State) -> None:
        for technique in self.all:
            technique.given_up(state)

    def finish(self) -> None:
        for technique in self.all:
            technique.finish()

    def figures(self) -> dict[str, Any]:
        """By the names of the techniques."""
        return {technique.name: figures for technique in self.all if (figures := technique.figures())}
