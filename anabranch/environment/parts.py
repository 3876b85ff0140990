"""What models keep for a path (`Path.notes`) in parts that can be compared one by one, by structure.

The kernel's state has the parts of `posix.parts`; beside these there is a part for every other note. Output
is no part: no program reads it back. Neither are wishes for the values of tests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from anabranch.environment.failing import CALLS
from anabranch.environment.posix.kernel import ENVIRONMENT, FILES, PROCESS
from anabranch.environment.posix.parts import (
    ANY,
    KINDS,
    STANDARD_PROCESS,
    KernelState,
    Key,
    differing_kernel,
    kernel_content,
    kernel_has,
    kernel_values,
    numbers,
    standard_files,
)
from anabranch.machine.ends import AT_EXIT, AT_QUICK_EXIT
from anabranch.machine.joining.same import plain, same
from anabranch.machine.path import NAMES

Notes = Mapping[Any, Any]

__all__ = ["ANY", "Key", "Notes", "content", "differing", "is_there", "kernel_state", "parts", "values"]

_SINGLE: Final = {NAMES: "names", ENVIRONMENT: "environment", CALLS: "allocations"}
_HANDLERS: Final = (AT_EXIT, AT_QUICK_EXIT)
_IGNORED: Final = (FILES, PROCESS, "prefer")


def kernel_state(notes: Notes) -> KernelState:
    fs, process = notes.get(FILES), notes.get(PROCESS)
    return KernelState(
        standard_files() if fs is None else fs, STANDARD_PROCESS if process is None else process
    )


def _key_of(note: Any) -> Key:
    """The part that a note is."""
    if note in _SINGLE:
        return _SINGLE[note], None
    if note in _HANDLERS:
        return "handlers", note
    if isinstance(note, tuple) and note[0] == "static":
        return "static", note[1]
    return "note", note


_NOTE_OF: Final[dict[str, Callable[[Any], Any]]] = {
    **{kind: partial(lambda note, which: note, note) for note, kind in _SINGLE.items()},
    "handlers": lambda which: which,
    "static": lambda which: ("static", which),
    "note": lambda which: which,
}


def _others(notes: Notes) -> dict[Key, Any]:
    return {_key_of(note): value for note, value in notes.items() if note not in _IGNORED}


def parts(notes: Notes) -> Iterator[Key]:
    """All that there are."""
    state = kernel_state(notes)
    for kind in sorted(KINDS):
        for number in numbers(state, kind):
            yield kind, number
    yield from _others(notes)


def is_there(notes: Notes, key: Key) -> bool:
    """Is there such a part?"""
    kind, which = key
    return kernel_has(kernel_state(notes), key) if kind in KINDS else _NOTE_OF[kind](which) in notes


def content(notes: Notes, key: Key) -> Hashable:
    """A part, such that equal contents are the same for every program. Expressions
    are told apart by identity: whoever keeps a content holds on to the state."""
    kind, which = key
    if kind in KINDS:
        return kernel_content(kernel_state(notes), key)
    if which is ANY:
        found = {key: plain(value) for key, value in _others(notes).items() if key[0] == kind}
        return tuple(sorted(found.items(), key=repr))
    value = notes.get(_NOTE_OF[kind](which))
    return None if value is None else plain(value)


def values(notes: Notes, key: Key) -> list[Any]:
    """What the content of a part is made of."""
    kind, which = key
    if kind in KINDS:
        return kernel_values(kernel_state(notes), key)
    if which is ANY:
        return [value for other, value in _others(notes).items() if other[0] == kind]
    return [notes.get(_NOTE_OF[kind](which))]


def differing(a: Notes, b: Notes) -> frozenset[Key]:
    """The parts that two paths do not have in common."""
    if a is b:
        return frozenset()
    found = set(differing_kernel(kernel_state(a), kernel_state(b)))
    for note in {*a, *b}:
        if note in _IGNORED or a.get(note) is b.get(note):
            continue
        if not same(a.get(note), b.get(note)):
            found.add(_key_of(note))
    return frozenset(found)
