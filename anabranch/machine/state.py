"""States that wait, the continuations their frames are kept in, and what techniques keep on a state.

A continuation is a tuple `(parent, site, depth, live values...)`: what has to run after the current
function returns. `site.resume(parent, continuation, result)` goes on after the call. The root has
`site` None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

from anabranch.solver import Slice

Continuation = tuple[Any, ...]
Cons = tuple[Any, Any] | None
"""A chain `(newest, rest)` that states share."""
ROOT: Continuation = (None, None, 0)

Entry = Callable[[Continuation, tuple[Any, ...]], Any]


Packed = dict[int, Slice] | tuple[tuple[int, ...], tuple[Slice, ...]]
"""A map from variables to slices, or the variables, which states share, and the slice of each."""


class State:
    """A path that waits: where it goes on, with which values, memory and path condition.

    Everything is shared with the states it was forked from; nothing here is written after creation but
    the fields of the exploration (node, covered_new, ...) and the extras of techniques.
    """

    __slots__ = (
        "condition",
        "continuation",
        "covered_new",
        "depth",
        "entry",
        "extras",
        "inputs",
        "instructions_since_new",
        "multiplicity",
        "node",
        "number",
        "objects",
        "output",
        "packed",
        "pages",
        "pending_tests",
        "place",
        "tables",
        "values",
    )

    entry: Entry
    """Where the innermost frame goes on: calling it with `continuation` and `values` runs the state."""
    values: tuple[Any, ...]
    """The live values of the innermost frame, in the order of `entry.names`."""
    continuation: Continuation
    """The frames of the callers."""
    pages: Mapping[int, Any]
    """Number of a page -> its bytes: `Memory` says how they are held."""
    objects: Mapping[int, Any]
    """Number of an object -> its `ObjectInfo`, dead ones included."""
    tables: tuple[Any, ...]
    """`(counts, notes)`: allocations by site, and what models keep."""
    packed: Packed
    """The slices of the path condition as they wait: `slices` gives the map."""
    condition: Cons
    """The path condition as it was added, newest first."""
    inputs: Cons
    """The symbolic inputs that the path has made, newest first."""
    output: Cons
    """What the path has written to its descriptors, newest first."""
    pending_tests: tuple[Any, ...]
    """Tests for what parts of a merged state covered before the merge, not yet written."""
    extras: tuple[Any, ...]
    """What techniques keep on the state: `Extras` hands out the slots."""
    place: int
    """Its block: the number of the counter of the basic block where the state waits."""
    node: Any
    """The tip of the path in the execution tree."""
    depth: int
    """Forks on the path."""
    covered_new: bool
    """Has the path covered something for which there is no test yet?"""
    instructions_since_new: int
    """About how many instructions ago the path covered something new; 0: never."""
    multiplicity: int
    """The paths that the state stands for, at most."""
    number: int
    """Of the state in the execution tree."""

    @property
    def slices(self) -> dict[int, Slice]:
        """Variable -> its slice of the path condition; not to be changed."""
        packed = self.packed
        return packed if isinstance(packed, dict) else dict(zip(*packed, strict=True))


def frames(state: State) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The sites of a state's frames with their live values, innermost first."""
    yield state.entry, state.values
    for continuation in callers(state.continuation):
        yield continuation[1], continuation[3:]


def callers(continuation: Continuation) -> Iterator[Continuation]:
    """A continuation and those around it, innermost first, without the root."""
    while continuation[1] is not None:
        yield continuation
        continuation = continuation[0]


T = TypeVar("T")
JoinKept = Callable[[State, State, T, T], T]
"""`(a, b, what a keeps, what b keeps)`: what the state keeps into which a and b are joined."""


class Holder(Protocol):
    """A state or the running path."""

    extras: tuple[Any, ...]


class Slot(Generic[T]):
    """One technique's part of the extras of every state. Forks share the values: replace them."""

    __slots__ = ("_index", "join")

    def __init__(self, index: int, join: JoinKept[T]) -> None:
        self._index = index
        self.join = join

    def get(self, holder: Holder) -> T:
        return holder.extras[self._index]  # type: ignore[no-any-return]

    def put(self, holder: Holder, value: T) -> None:
        extras, index = holder.extras, self._index
        holder.extras = (*extras[:index], value, *extras[index + 1 :])


class Extras:
    """The slots of one machine; techniques ask for theirs before the first state is made."""

    def __init__(self) -> None:
        self._slots: list[Slot[Any]] = []
        self.initial: tuple[Any, ...] = ()
        """What the first state keeps."""

    def slot(self, initial: T, join: JoinKept[T]) -> Slot[T]:
        made: Slot[T] = Slot(len(self._slots), join)
        self._slots.append(made)
        self.initial = (*self.initial, initial)
        return made

    def join(self, a: State, b: State) -> tuple[Any, ...]:
        """What a state keeps into which two others are joined."""
        return tuple([slot.join(a, b, slot.get(a), slot.get(b)) for slot in self._slots])
