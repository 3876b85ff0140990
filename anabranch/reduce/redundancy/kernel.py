"""Which parts of what models keep (files, descriptors, handlers) a call depends on and changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

from anabranch.analysis.effects import Inside
from anabranch.environment import parts
from anabranch.environment.call_parts import CallParts, call_parts, touched
from anabranch.environment.declared_parts import HANDLERS as REGISTERED
from anabranch.environment.parts import ANY, Key
from anabranch.environment.posix.parts import OF_FILES, OF_NODES
from anabranch.expr import Expr, expr_vars
from anabranch.machine.joining.same import Same
from anabranch.machine.tape import ModelCall
from anabranch.memo import Memo
from anabranch.reduce.redundancy.facts import EVERYTHING_KEPT

EVERYTHING: Key = (EVERYTHING_KEPT, None)
HANDLERS: Key = (REGISTERED.kind, ANY)
"""The functions that run at the end of the program."""
MEMORIZED = frozenset((*OF_NODES, *OF_FILES))
"""Kinds of which most states have the same."""
_known: Memo[int, tuple[Any, set[int]]] = Memo(4096)
"""Identity of the content of a part -> that content, and its variables."""
PLACELESS = frozenset(("va_start", "copy_argument"))


def content(notes: Any, key: Key) -> Any:
    """What a part holds, comparable by `==`."""
    if key == EVERYTHING:
        return Same(notes)
    return parts.content(notes, key)


def variables_of(notes: Any, keys: Iterable[Key]) -> set[int]:
    """The variables in some parts."""
    found: set[int] = set()
    for key in keys:
        if key == EVERYTHING:
            found |= _variables(list(notes.values()))
        elif key[0] in MEMORIZED and key[1] is not ANY:
            held = content(notes, key)
            known = _known.get(id(held))
            if known is None:
                known = _known.keep(id(held), (held, _variables(parts.values(notes, key))))
            found |= known[1]
        else:
            found |= _variables(parts.values(notes, key))
    return found


def _variables(pending: list[Any]) -> set[int]:
    found: set[int] = set()
    while pending:
        item = pending.pop()
        if item.__class__ is Expr:
            found.update(expr_vars(item))
        elif isinstance(item, tuple | list):
            pending.extend(item)
        elif isinstance(item, Mapping):
            pending.extend(item.values())
        elif is_dataclass(item):
            pending.extend(getattr(item, field.name) for field in fields(item))
    return found


class Effect:
    """What a call of a model has to do with the parts, and with memory that it only hands on."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._keeps_nothing = call.name.startswith("llvm.") or call.name in PLACELESS

    @cached_property
    def _known(self) -> CallParts | None:
        """Found out when it is asked for: of most calls nothing is relevant."""
        call = self._call
        if not self._keeps_nothing and call.parts is None:
            after = call.before if call.failed else call.after
            call.parts = call_parts(call.name, call.arguments, call.before, after)
        found: CallParts | None = call.parts
        return found

    @property
    def is_declared(self) -> bool:
        return self._keeps_nothing or self._known is not None

    def writes(self, relevant: Collection[Key]) -> bool:
        """Does the call change one of these?"""
        kept = [key for key in relevant if key[0] != "object"]
        if not kept:
            return False
        if not self.is_declared:
            return self._call.before is not self._call.after
        return self._known is not None and bool(touched(kept, self._known.writes))

    def might_write(self, relevant: Collection[Key]) -> bool:
        """Might it with other arguments, or in another state?"""
        kept = [key for key in relevant if key[0] != "object"]
        if not kept:
            return False
        if not self.is_declared:
            return True
        return self._known is not None and any(kind in self._known.kinds for kind, _ in kept)

    @cached_property
    def made(self) -> frozenset[Key]:
        """Parts that owe nothing to what they were before."""
        return self._known.made if self._known is not None else frozenset()

    @property
    def chooses(self) -> frozenset[Key]:
        """What decides which parts are changed."""
        if not self.is_declared:
            return frozenset((EVERYTHING,))
        return self._known.chooses if self._known is not None else frozenset()

    def depends(self, relevant: Collection[Key], memory: bool) -> set[Key]:
        """The parts that the result, and what is changed, depends on. `memory`: is some of the memory
        relevant that it writes?"""
        if not self.is_declared:
            return {EVERYTHING}
        if self._known is None:
            return set()
        found = set(self._known.reads)
        for source, target in self._known.passes:
            if isinstance(source, tuple) and self._matters(target, relevant, memory):
                found.add(source)
        return found

    def reads(self, relevant: Collection[Key], memory: bool) -> list[tuple[int, int]]:
        """The memory that they depend on: not what goes to where it is not relevant."""
        call = self._call
        if self._known is None:
            return call.reads
        sources = {
            source
            for source, target in self._known.passes
            if isinstance(source, int | Inside) and not self._matters(target, relevant, memory)
        }
        if not sources:
            return call.reads
        looked_at = {self._object(place) for place in self._known.effects.reads if isinstance(place, int)}
        for source, target in self._known.passes:
            if isinstance(source, int) and self._matters(target, relevant, memory):
                looked_at.add(self._object(source))
            elif isinstance(source, Inside) and self._matters(target, relevant, memory):
                return call.reads
        skipped = {self._object(source) for source in sources if isinstance(source, int)} - looked_at
        inside = any(isinstance(source, Inside) for source in sources)
        kept = []
        for address, size in call.reads:
            number = address >> 32
            if number in skipped or (inside and number not in looked_at):
                continue
            kept.append((address, size))
        return kept

    def _matters(self, target: Any, relevant: Collection[Key], memory: bool) -> bool:
        if isinstance(target, tuple):
            return bool(touched(relevant, frozenset((target,))))
        return memory and isinstance(target, int | Inside)

    def _object(self, argument: int) -> int | None:
        arguments = self._call.arguments
        value = arguments[argument] if argument < len(arguments) else None
        return value >> 32 if value.__class__ is int else None
