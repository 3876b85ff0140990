"""Which parts of a path one call of a model depends on and changes, by what the model declares.

A function of the call's name and arguments and of the notes before and after it: it may be asked at any time
later. With `relevant`, the parts that matter behind the call, those that matter before it are:

    found = call_parts(name, arguments, before, after)
    if the result matters, memory that it writes, or touched(relevant, found.writes):
        relevant - found.made + found.reads, the arguments, and the sources of `passes` whose targets matter
    elif relevant has a kind in found.kinds:        # with other arguments it might write what is relevant
        relevant + found.chooses, and the arguments in found.by
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from anabranch.analysis.effects import Effects, Part, Place, Static
from anabranch.environment.declared_parts import ALLOCATIONS, HANDLERS, NAMES, OUTPUT
from anabranch.environment.effects import SYSTEM_CALLS, system_call_effects
from anabranch.environment.parts import ANY, Key, Notes, differing, is_there, kernel_state
from anabranch.environment.posix.parts import CIRCUMSTANCES, KINDS, choosing, meant
from anabranch.environment.registry import MODELS


@dataclass(frozen=True, slots=True)
class CallParts:
    """One call. In `reads` and `writes`, `(kind, ANY)` is any part of a kind."""

    effects: Effects
    """What is declared; a number is the position of an argument."""
    reads: frozenset[Key]
    """What the result depends on, and all that is written."""
    writes: frozenset[Key]
    """What may be changed, if `by` and `chooses` are as they are."""
    made: frozenset[Key]
    """What was not there before the call, or is not there behind it."""
    passes: frozenset[tuple[Key | Place, Key | Place]]
    """(from, to): only `to` depends on it. A place that is no part is an argument (`Effects.passes`)."""
    chooses: frozenset[Key]
    """Parts that decide which parts are written."""
    by: frozenset[int]
    """Arguments that decide the same."""
    kinds: frozenset[str]
    """Of all that such a call may write, whatever its arguments."""


def call_effects(name: str, arguments: Sequence[object]) -> Effects | None:
    """What is declared for a call; None: it may depend on anything, and change anything."""
    if name not in SYSTEM_CALLS:
        found = MODELS.get(name)
        return found.effects if found is not None else None
    number = arguments[0]
    return system_call_effects(number) if isinstance(number, int) else None


def call_parts(name: str, arguments: Sequence[object], before: Notes, after: Notes) -> CallParts | None:
    """None if nothing is declared. Of a call that ended its path, `after` is what was there before."""
    effects = call_effects(name, arguments)
    if effects is None:
        return None
    meaning = _Meaning(arguments, before, after)
    written = [place for place in effects.writes if isinstance(place, Part) and place != OUTPUT]
    by = frozenset(place.argument for place in written if place.argument is not None)
    statics = [("static", place.name) for place in _statics(effects)]
    reads = [*statics, *(key for place in effects.reads for key in meaning.parts(place, writes=False))]
    writes = [key for place in written for key in meaning.parts(place, writes=True)]
    writes += [key for key in statics if not is_there(before, key)]  # made when it is first used
    return CallParts(
        effects=effects,
        reads=frozenset(reads),
        writes=frozenset(writes),
        made=frozenset(
            key for key in differing(before, after) if not is_there(before, key) or not is_there(after, key)
        ),
        passes=frozenset(
            pair
            for source, target in effects.passes
            for pair in product(meaning.places(source, False), meaning.places(target, True))
        ),
        chooses=frozenset(
            key for position in by for key in choosing(meaning.state, meaning.argument(position))
        ),
        by=by,
        kinds=frozenset(place.kind for place in written),
    )


def touched(relevant: Iterable[Key], written: frozenset[Key]) -> set[Key]:
    """Those of some parts that writes to others may change."""
    kinds = {kind for kind, which in written if which is ANY}
    all_of = {kind for kind, _ in written}
    return {
        key for key in relevant if key in written or key[0] in kinds or (key[1] is ANY and key[0] in all_of)
    }


class _Meaning:
    """What places of a declaration mean for one call."""

    def __init__(self, arguments: Sequence[object], before: Notes, after: Notes) -> None:
        self._arguments = arguments
        self._counted = any(is_there(notes, (ALLOCATIONS.kind, None)) for notes in (before, after))
        self.state = kernel_state(before)

    def argument(self, position: int) -> object:
        """Those that a call does not have are zero to the kernel."""
        return self._arguments[position] if position < len(self._arguments) else 0

    def parts(self, place: Place, writes: bool) -> Iterator[Key]:
        if not isinstance(place, Part) or place == OUTPUT:
            return
        if place.kind in KINDS or place.kind in CIRCUMSTANCES:
            argument = None if place.argument is None else self.argument(place.argument)
            yield from meant(self.state, place.kind, argument, writes)
        elif place.kind == HANDLERS.kind:
            yield place.kind, ANY
        elif place != ALLOCATIONS:
            yield place.kind, None
        elif self._counted:  # then each of them is an input
            yield from ((ALLOCATIONS.kind, None), (NAMES.kind, None))

    def places(self, place: Place, writes: bool) -> Iterator[Key | Place]:
        if isinstance(place, Part):
            yield from self.parts(place, writes)
        else:
            yield place


def _statics(effects: Effects) -> set[Static]:
    """The environment's variables that a call has to do with."""
    pairs = [place for pair in (*effects.passes, *effects.puts) for place in pair]
    places = {*effects.reads, *effects.writes, *effects.points, *pairs}
    return {place for place in places if isinstance(place, Static)}
