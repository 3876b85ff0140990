"""States behind a call as constraints (seed 000, sections 3.1 and 4.2).

Everything in which a state may differ from what all paths of the call had in common becomes an output with a
name: what was returned, changed bytes of memory, ends of objects, what models keep. Objects made since then
are named in the order in which they are met from there (`obj`), with their bytes (`val`): two paths that
made the same things in other places agree, and what nobody can reach any more does not count. The clauses
are those parts of the path condition that touch a variable of the outputs or an observable one. What cannot
be written as a value of bits is part of a name, so that it has to be the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import compress
from operator import is_not
from typing import Any

from anabranch.expr import Expr, var
from anabranch.expr.node import ITE, operands
from anabranch.machine import State
from anabranch.machine.elements import element_types
from anabranch.machine.joining.memory import expression_word
from anabranch.machine.joining.same import same
from anabranch.machine.memory import PAGE_BITS
from anabranch.machine.objects import OBJECT_SHIFT
from anabranch.reduce.zequivalence.calls import Call, Meeting
from anabranch.reduce.zequivalence.glance import Alike, Glance, Same
from anabranch.reduce.zequivalence.ground import Grounds
from anabranch.reduce.zequivalence.layout import NUMBER_BITS, Layouts
from anabranch.reduce.zequivalence.observable import Common, shared
from anabranch.reduce.zequivalence.parts import Encoded
from anabranch.reduce.zequivalence.pieces import Output, Piece, Pieces, bytes_of, run_of, whole
from anabranch.reduce.zequivalence.shown import Shown, page_pieces, pages_gone, touched_pages
from anabranch.reduce.zequivalence.variables import (
    IGNORED_NOTES,
    NoteVariables,
    PageVariables,
    Unreadable,
    kind_of,
    variables_in,
)

POINTER = 8
LARGEST = 1 << 16  # bytes of a new object that are compared
FRAMES_KEPT = 20_000


class Encoder:
    """Makes the constraints of the states behind one call after another."""

    def __init__(self, leaks: bool) -> None:
        self.leaks = leaks  # does it matter which heap objects there are, though nobody reaches them?
        self.pages = PageVariables()
        self.notes = NoteVariables()
        self.pieces = Pieces()
        self.layouts = Layouts()
        self.grounds = Grounds(self.pieces.numbers, self.pages)
        self.names: dict[tuple[int, Any], tuple[Any, ...]] = {}  # and types, of the values of frames
        self.frames: dict[tuple[Hashable, Hashable], Piece] = {}  # by place and values
        self.more = (var("rest of the path condition", 1),)

    def encode(
        self, state: State, scope: Call, meeting: Meeting, more: frozenset[int], alike: Alike | None = None
    ) -> Encoded:
        """What tells a state from others at its place in the scope; `more` variables are observable anyway.

        `meeting.common.grown` is set where outputs came up that the states before this one did not have.
        States that are alike differ in the slices of their variables only.
        """
        common: Common = meeting.common
        if common is None:
            common = meeting.common = Common(scope.base, meeting.shared, self.pieces)
        if alike is None:
            shown = _Encoding(state, scope, common, self, more).shown()
        else:
            if not alike.touched:
                meeting.glance.touch(state, alike, common)
            known = alike.looked.shown.get(common.version)
            if known is None:
                known = self._show(state, scope, meeting, alike)
                alike.looked.shown[common.version] = known
            shown = known
        # What was left out is about nothing that anybody can see. One unobservable Boolean stands for it, the
        # same way for all states: they are paths that are possible, and only what they allow is compared.
        parts = shown.parts(state.slices, scope.base.slices)
        return Encoded(shown, parts, state.slices, self.more)

    def _show(self, state: State, scope: Call, meeting: Meeting, alike: Alike) -> Shown:
        """What states with some looks show: the values of their frames, for which there is a piece if others
        had the same ones there, and pages. There is nothing else that they could."""
        common: Common = meeting.common
        if common.filled:
            return _Encoding(state, scope, common, self, alike.more).shown()
        key = (meeting.glance.place, meeting.glance.values(alike.looked.looks))
        values = self.frames.get(key)
        if values is None:
            one = _Encoding(state, scope, common, self, alike.more)
            if len(one.seen) > len(alike.more):
                return one.shown()
            if len(self.frames) >= FRAMES_KEPT:
                self.frames.clear()
            values = self.frames[key] = Piece(one.outputs, ())
        pieces, changed = page_pieces(state.pages, common, self.pieces)
        observable = common.observable(changed, self.pages)
        return Shown([], [values, *pieces], observable | alike.more if alike.more else observable)

    def touch(self, state: State, common: Common) -> None:
        """Take into account what has changed in a state."""
        pages = state.pages
        now = list(map(pages.get, common.pages))
        for key in compress(common.pages, map(is_not, common.pages.values(), now)):
            page = pages.get(key)
            if page is not None:
                common.touch(key, page, self.pieces.numbers.of(page))

    def prepare(self, state: State, scope: Call, meeting: Meeting) -> None:
        """What the states at a place have in common, of which this is the first."""
        found = meeting.shared = shared(scope, state, self.notes, self.layouts, self.grounds)
        meeting.glance = Glance(scope, meeting.place, found, self.pieces.numbers, self.grounds)


class _Encoding:
    """One state at one place of one call."""

    def __init__(
        self, state: State, scope: Call, common: Common, encoder: Encoder, more: frozenset[int]
    ) -> None:
        self.state = state
        self.common = common
        self.encoder = encoder
        self.outputs: list[Output] = []
        self.seen: set[int] = set(more)  # variables that must keep their identity
        self.met: dict[int, int] = {}  # new objects by number, in the order in which they were met
        self.queue: list[int] = []
        self.pieces: list[Piece] = []
        self._objects(encoder.leaks)
        self._frames(scope)

    def shown(self) -> Shown:
        """With memory and what models keep."""
        changed = self._memory()
        self._notes()
        for number in self.queue:  # grows while it is gone through
            self._new_object(number)
        observable = self.common.observable(changed, self.encoder.pages)
        return Shown(self.outputs, self.pieces, observable | self.seen if self.seen else observable)

    # ---- objects -------------------------------------------------------------------------------------

    def _objects(self, leaks: bool) -> None:
        """Which objects are new, and which have ended."""
        self.new, ended = self.common.objects_since(self.state.objects)
        if ended:
            self.outputs.append((("end", *ended), 0, 1))
            common = self.common.layout.objects
            if any(number in common and common[number].blank for number, end, _ in ended if not end):
                self.outputs.append((("blank", Same(self.state)), 0, 1))  # like no other
        if leaks:
            lost = [(i.site.number, i.size) for i in self.new.values() if i.site.kind == "heap" and not i.end]
            self.outputs.append((("leaks", *sorted(lost)), 0, 1))

    def _meet(self, number: int) -> int:
        """The canonical name of a new object."""
        index = self.met.get(number)
        if index is None:
            index = self.met[number] = len(self.met)
            self.queue.append(number)
        return index

    def _new_object(self, number: int) -> None:
        info, index = self.new[number], self.met[number]
        self.outputs.append((("obj", index, info.site.kind, info.end), info.size, 64))
        if info.end:
            return
        if info.size > LARGEST:
            self.outputs.append((("val", index, Same(self.state)), 0, 1))  # like no other
            return
        first = number << NUMBER_BITS
        for position in range((info.size + (1 << PAGE_BITS) - 1) >> PAGE_BITS):
            page = self.state.pages.get(first + position) or info.blank_page(first + position)
            if page is not None:
                self._bytes(("val", index, position), page, range(len(page)))

    # ---- values --------------------------------------------------------------------------------------

    def _frames(self, scope: Call) -> None:
        """The live values of the frames in the scope: what was returned is one of them."""
        site: Any = self.state.entry
        self._frame(0, site, self.state.values)
        continuation, level = self.state.continuation, 1
        while continuation is not scope.continuation and continuation[1] is not None:
            self._frame(level, continuation[1], continuation[3:])
            continuation, level = continuation[0], level + 1

    def _frame(self, level: int, site: Any, values: tuple[Any, ...]) -> None:
        known = self.encoder.names.get((level, site))
        if known is None:
            types = site.unit.plan.locals
            known = self.encoder.names[level, site] = tuple(
                [
                    ((level, name), None if name in ("D", "va") else types[int(name[1:])].type)
                    for name in site.names
                ]
            )
        outputs, new = self.outputs, self.new
        for (name, type), value in zip(known, values, strict=True):
            if type is None:
                self._special(name, value)
            elif not new and (value.__class__ is Expr or value.__class__ is int):
                outputs.append((name, value, type.bits))
            else:
                self._typed(name, value, type)

    def _special(self, name: tuple[Hashable, ...], value: Any) -> None:
        """Variable arguments, and the addresses of dynamic locals."""
        if name[1] == "va":
            self._opaque(name, value)
        else:
            for position, address in enumerate(value):
                self._value((*name, position), address, 64)

    def _typed(self, name: tuple[Hashable, ...], value: Any, type: Any) -> None:
        if isinstance(value, tuple):
            for position, (part, kind) in enumerate(zip(value, element_types(type), strict=True)):
                self._typed((*name, position), part, kind)
        else:
            self._value(name, value, type.bits)

    def _value(self, name: tuple[Hashable, ...], value: Any, width: int) -> None:
        """An output; a pointer to a new object by the object's name."""
        if value.__class__ is Expr:
            if self.new:
                self._pin(value)
            self.outputs.append((name, value, width))
            return
        if width > 1:
            value = int(value) & ((1 << width) - 1)
            number = value >> OBJECT_SHIFT
            if width == 64 and number in self.new:
                offset = value & ((1 << OBJECT_SHIFT) - 1)
                self.outputs.append(((*name, "to", self._meet(number)), offset, 64))
                return
        else:
            value = bool(value)
        self.outputs.append((name, value, width))

    def _pin(self, value: Expr) -> None:
        """New objects whose addresses are constants of an expression have to be the same ones.

        A choice between constants that are narrower than a pointer may be a piece of any of them.
        """
        for constant in constants(value):
            if constant is None:
                for number in sorted(self.new):
                    self.outputs.append((("pin", self._meet(number)), number, 64))
                return
            number = constant >> OBJECT_SHIFT
            if number in self.new:
                self.outputs.append((("pin", self._meet(number)), number, 64))

    # ---- memory --------------------------------------------------------------------------------------

    def _memory(self) -> dict[int, Sequence[int]]:
        """Outputs for the bytes that are not what they were, on this path or on another of the call; their
        offsets by page."""
        pages, common = self.state.pages, self.common
        if common.unfilled or common.layout.sparse:
            for key in common.fill(pages, self.encoder.pages):
                self._bytes(("made", key), pages[key], range(len(pages[key])))
        self.encoder.touch(self.state, common)
        if not self.new:
            self.pieces, changed = page_pieces(pages, common, self.encoder.pieces)
            return changed
        changed = pages_gone(pages, common)
        for key, page in touched_pages(pages, common):
            changed[key] = self._bytes(("mem", key), page, sorted(common.touched[key]))
        return changed

    def _bytes(self, name: tuple[Hashable, ...], page: Any, offsets: Sequence[int]) -> Sequence[int]:
        """Outputs for some bytes of a page, with pointers to new objects. The offsets that these cover."""
        if not self.new or (page.__class__ is bytearray and not self._points_to_new(page)):
            return bytes_of(self.outputs, name, page, offsets)
        covered: list[int] = []
        done = 0
        known: list[int] = []  # a run of known bytes
        for offset in offsets:
            if offset < done or offset >= len(page):
                continue
            word = self._word(page, offset)
            if word is None and page[offset].__class__ is not Expr:
                if known and known[-1] + 1 != offset:
                    self._run(name, page, known)
                    known = []
                known.append(offset)
                covered.append(offset)
                done = offset + 1
                continue
            self._run(name, page, known)
            known = []
            start, size = word or (offset, 1)
            self._value((*name, start), whole(page[start : start + size]), 8 * size)
            covered.extend(range(start, start + size))
            done = start + size
        self._run(name, page, known)
        return covered

    def _points_to_new(self, page: bytearray) -> bool:
        return any(page.find(number.to_bytes(OBJECT_SHIFT // 8, "little")) >= 0 for number in self.new)

    def _run(self, name: tuple[Hashable, ...], page: Any, offsets: list[int]) -> None:
        if offsets:
            self.outputs.append(run_of(name, page, offsets))
            self._pin_bytes(bytes(page[offsets[0] : offsets[-1] + 1]))

    def _pin_bytes(self, data: bytes) -> None:
        """Addresses of new objects in other places than those where pointers lie."""
        for number in self.new:
            if data.find(number.to_bytes(OBJECT_SHIFT // 8, "little")) >= 0:
                self.outputs.append((("pin", self._meet(number)), number, 64))

    def _word(self, page: Any, offset: int) -> tuple[int, int] | None:
        """Start and size of the expression or pointer that a byte is part of."""
        if page[offset].__class__ is Expr:
            return expression_word(page, offset)
        start = offset & ~(POINTER - 1)
        data = page[start : start + POINTER]
        if len(data) < POINTER:
            return None
        try:
            value = int.from_bytes(data, "little")
        except TypeError:
            return None
        return (start, POINTER) if value >> OBJECT_SHIFT in self.new else None

    # ---- what models keep ----------------------------------------------------------------------------

    def _notes(self) -> None:
        before, notes = self.common.notes, self.state.tables[1]
        if notes is self.common.all_notes:
            return
        changed = [(key, notes.get(key)) for key, old in before.items() if notes.get(key) is not old]
        keys = self.common.keys
        for key in [key for key in notes if key not in keys]:
            if kind_of(key) in IGNORED_NOTES:
                keys.add(key)  # nothing to look at another time
            else:
                changed.append((key, notes[key]))
        for key, now in sorted(changed, key=lambda item: repr(item[0])) if len(changed) > 1 else changed:
            if not same(before.get(key), now):
                self._opaque(("note", plain(key)), now)

    def _opaque(self, name: tuple[Hashable, ...], value: Any) -> None:
        """Something that has to be the very same thing."""
        self.outputs.append(((*name, plain(value)), 0, 1))
        try:
            self.seen |= variables_in(value)
        except Unreadable:
            self.seen.update(self.state.slices)


def constants(value: Expr) -> Iterator[int | None]:
    """The constants in an expression that can be addresses; None for one that may be a piece of one."""
    seen = {value}
    pending = [value]
    while pending:
        node = pending.pop()
        for part in (node.a, node.b, node.c):
            if part.__class__ is int and part >> OBJECT_SHIFT:
                yield part
        if node.op == ITE and node.w < 8 * POINTER and (node.b.__class__ is int or node.c.__class__ is int):
            yield None
        for part in operands(node):
            if part not in seen:
                seen.add(part)
                pending.append(part)


def plain(value: Any) -> Hashable:
    """Something to compare by, equal only for things that are the same."""
    if value is None or isinstance(value, bool | int | str | bytes | float):
        return (value.__class__.__name__, value)
    if value.__class__ is Expr:
        return ("expression", value.id)
    if isinstance(value, tuple | list):
        return (value.__class__.__name__, *map(plain, value))
    if isinstance(value, frozenset):
        return value
    if isinstance(value, Mapping):
        return ("map", *sorted(((plain(k), plain(v)) for k, v in value.items()), key=repr))
    if is_dataclass(value):
        return (value.__class__.__name__, *(plain(getattr(value, field.name)) for field in fields(value)))
    return Same(value)
