"""Which parts of what models keep (files, descriptors, variables of the environment) a call depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch.analysis.effects import Other, Part, Place
from anabranch.environment.declared_parts import NAMES, OUTPUT
from anabranch.environment.effects import SYSTEM_CALLS, system_call_effects
from anabranch.environment.registry import MODELS
from anabranch.machine.tape import ModelCall
from anabranch.reduce.redundancy.facts import EVERYTHING_KEPT

Key = tuple[str, Any]
IGNORED = frozenset(("names", "prefer"))
EVERYTHING: Key = (EVERYTHING_KEPT, None)
HANDLERS = EVERYTHING
"""The functions that run at the end of the program."""


@dataclass(frozen=True, slots=True)
class CallParts:
    """What a call of a model does to the parts."""

    chooses: frozenset[Key] = frozenset()
    reads: frozenset[Key] = frozenset()
    writes: frozenset[Key] = frozenset()
    changed: frozenset[Key] = frozenset()
    passes: frozenset[tuple[Any, Any]] = frozenset()
    kinds: frozenset[str] = frozenset()


NOTHING = CallParts()
ALL = CallParts(
    frozenset((EVERYTHING,)), frozenset((EVERYTHING,)), frozenset((EVERYTHING,)), frozenset(), frozenset(),
    frozenset((EVERYTHING_KEPT,)),
)  # fmt: skip
READS = CallParts(reads=frozenset((EVERYTHING,)))


def parts_of_call(call: ModelCall) -> CallParts:
    if call.name.startswith("llvm.") or call.name in ("va_start", "copy_argument"):
        return NOTHING
    if call.name in SYSTEM_CALLS:
        number = call.arguments[0] if call.arguments else None
        declared = system_call_effects(number) if number.__class__ is int else None
    else:
        found = MODELS.get(call.name)
        declared = found.effects if found is not None else None
    if declared is None:
        return ALL
    places = {*declared.reads, *declared.writes}
    for source, target in declared.passes:
        places |= {source, target}
    kept = [place for place in places if is_kept(place)]
    if not kept:
        return NOTHING if call.before is call.after else ALL
    written = {*declared.writes, *(target for _, target in declared.passes)}
    if call.before is call.after and not any(place in written for place in kept):
        return READS
    return ALL


def is_kept(place: Place) -> bool:
    return (isinstance(place, Part) and place not in (OUTPUT, NAMES)) or place is Other.OUTSIDE


def content(notes: Any, key: Key) -> Any:
    """What a part holds, comparable by `==`."""
    return frozenset((name, id(value)) for name, value in notes.items() if name not in IGNORED)
