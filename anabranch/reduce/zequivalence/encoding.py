"""States behind a call as constraints (Li et al., sections 3.1 and 4.2).

Everything in which a state may differ from the call context becomes an output with a name: what was returned,
pages that have changed, ends of objects, what models keep. Objects made since then are named in the order in
which they are met from there (`obj`), with their bytes (`val`): two paths that made the same things at other
addresses agree, and what nobody can reach any more does not count. The clauses are those parts of the path
condition that touch a variable of the outputs or an observable one. What cannot be written as a value of bits
is part of a name, so that it has to be the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import compress
from operator import is_not
from typing import Any

from anabranch.expr import Expr, expr_vars, postorder, undefined, undefined_bytes, var
from anabranch.expr.evaluate import substitute_all
from anabranch.expr.node import ITE, SELECT
from anabranch.machine import State
from anabranch.machine.extents import SizeExtent, size_of
from anabranch.machine.joining.same import Same, plain, same
from anabranch.machine.objects import OBJECT_SHIFT, ObjectInfo
from anabranch.machine.sparse import PAGE_SIZE
from anabranch.machine.state import Continuation
from anabranch.reduce.zequivalence.calls import callers_within
from anabranch.reduce.zequivalence.canonical import Table
from anabranch.reduce.zequivalence.constraint import Output, StateConstraint
from anabranch.reduce.zequivalence.contents import POINTER, Outputs, page_outputs
from anabranch.reduce.zequivalence.context import Changes, Tables, pages_of
from anabranch.reduce.zequivalence.variables import counts, readable_variables
from anabranch.semantics.elements import element_types
from anabranch.solver import Slice

NUMBER_SIZE = OBJECT_SHIFT // 8  # bytes of an object's number, at the upper end of an address
LARGEST = 1 << 16  # bytes of a new object that are compared
NEW = 1 << 60  # the first instance of data that was never written that is one by name only
Names = list[tuple[tuple[Hashable, ...], Any]]
"""Of live values, with their types; None for what is no value of a type."""


def live_values(state: State, outer: Continuation) -> tuple[Any, ...]:
    """The live values of the frames in the scope whose continuation this is: what was returned is one."""
    values, continuation = state.values, state.continuation
    while continuation is not outer and continuation[1] is not None:  # as `callers_within`, for every state
        values += continuation[3:]
        continuation = continuation[0]
    return values


def live_names(state: State, outer: Continuation) -> Names:
    """The names of these values, which are the same for all states at a return point."""
    found: Names = []
    around = [continuation[1] for continuation in callers_within(state.continuation, outer)]
    for level, site in enumerate((state.entry, *around)):
        types = site.unit.plan.locals
        for name in site.names:
            found.append(((level, name), None if name in ("D", "va") else types[int(name[1:])].type))
    return found


class Encoded:
    """The state constraint of a state, still in parts: outputs in groups that states share, and slices."""

    __slots__ = ("groups", "observable", "parts", "slices")

    def __init__(self, groups: list[Outputs], observable: frozenset[int], state: State, changes: Changes):
        """The parts are the slices that say something about outputs or observable variables, as far as they
        are not the same on all paths. Slices share no variable, so one that touches neither is satisfied by
        itself, whatever the others say."""
        self.groups = groups
        self.observable = observable
        slices = self.slices = state.slices
        hidden = set().union(*[group.variables for group in groups]).difference(observable)
        found = dict.fromkeys(map(slices.get, sorted(hidden)))
        now = tuple(map(slices.get, changes.order))
        found |= dict.fromkeys(compress(now, map(is_not, now, changes.slices)))
        more = observable.difference(changes.observable)
        found |= dict.fromkeys(map(slices.get, sorted(more)))
        # Variables of what this path has not filled are in no slice, nor is undefined data (negative).
        found.pop(None, None)
        self.parts: dict[Slice, None] = found  # type: ignore[assignment]

    def constraint(self) -> StateConstraint:
        """All of it as one.

        What is left out is about nothing that anybody can see. One unobservable Boolean stands for it, the
        same way for all states: they are paths that are possible, and only what they allow is compared.
        """
        rest = var("rest of the path condition", 1)
        clauses = [clause for part in self.parts for clause in part.order]
        outputs = [output for group in self.groups for output in group.everything]
        return StateConstraint((rest, *clauses), tuple(outputs), self.observable)


class Encoding:
    """Makes the outputs of one state."""

    def __init__(
        self, state: State, changes: Changes, names: Names, tables: Tables, more: frozenset[int]
    ) -> None:
        """`more` variables are observable anyway."""
        self.state = state
        context = self.context = changes.context
        self.outputs: list[Output] = []
        self.groups: list[Outputs] = []
        self.seen: set[int] = set(more)  # variables that must keep their identity
        self.met: dict[int, int] = {}  # new objects by number, in the order in which they were met
        self.queue: list[int] = []
        self.new: dict[int, ObjectInfo] = {}
        self._objects(tables.leaks)
        self._live_values(names, live_values(state, context.outer))
        self._pages(changes, tables.forms.table)
        self._notes()
        for number in self.queue:  # grows while it is gone through
            self._new_object(number)
        if self.new:
            self._name_unwritten()
        self.groups.insert(0, Outputs(self.outputs, tables.forms.table))
        observable = changes.observable | self.seen if self.seen else changes.observable
        self.encoded = Encoded(self.groups, observable, state, changes)

    # ---- objects -------------------------------------------------------------------------------------

    def _objects(self, leaks: bool) -> None:
        """Which objects are new, and which are not what they were."""
        self.new, changed, gone = self.context.objects_since(self.state.objects)
        ended = [(info.id, info.end, info.size, kind_of(info), plain(info.blank)) for info in changed]
        self.outputs += [
            (("size", info.id), size_of(info), 64) for info in changed if isinstance(info.extent, SizeExtent)
        ]
        if ended or gone:
            self.outputs.append((("end", *ended, *gone), 0, 1))
        if leaks:
            lost = [i.site.number for i in self.new.values() if i.site.kind == "heap" and not i.end]
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
        self.outputs.append((("obj", index, info.site.kind, info.end, kind_of(info)), size_of(info), 64))
        if info.end:
            return
        if info.size > LARGEST:
            self.outputs.append((("val", index, Same(self.state)), 0, 1))  # like no other
            return
        for position, key in enumerate(pages_of(info)):
            page = self.state.pages.get(key)
            self._page(("val", index, position), info.blank_page(key) if page is None else page)

    def _name_unwritten(self) -> None:
        """Bytes of new objects that were never written, and copies of them, by the names of the objects: on
        another path, they lie in pages with other numbers."""
        held = {
            v for _, value, _ in self.outputs if value.__class__ is Expr for v in expr_vars(value) if v < 0
        }
        names: dict[Expr, Expr] = {}
        for number, index in self.met.items() if held else ():
            for position, key in enumerate(pages_of(self.new[number])):
                size = min(PAGE_SIZE, self.new[number].size - position * PAGE_SIZE)
                for offset, byte in enumerate(undefined_bytes(key, size)):
                    if byte.a in held:
                        names[byte] = undefined(8, NEW + (index << 40) + position * PAGE_SIZE + offset)
        if names:
            values = substitute_all([value for _, value, _ in self.outputs], names)
            named = zip(self.outputs, values, strict=True)
            self.outputs = [(name, value, width) for (name, _, width), value in named]

    # ---- values --------------------------------------------------------------------------------------

    def _live_values(self, names: Names, values: tuple[Any, ...]) -> None:
        outputs, new = self.outputs, self.new
        for (name, type), value in zip(names, values, strict=True):
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
                self._pin_constants(value)
        elif width > 1:
            value = int(value) & ((1 << width) - 1)
            target = self._pointer(value) if width == 64 else None
            if target is not None:
                name, value = (*name, target[0]), target[1]
        else:
            value = bool(value)
        self.outputs.append((name, value, width))

    def _pointer(self, value: int) -> tuple[Hashable, int] | None:
        """The new object that a value points to, and the offset there."""
        number = value >> OBJECT_SHIFT
        if number not in self.new:
            return None
        return ("to", self._meet(number)), value & ((1 << OBJECT_SHIFT) - 1)

    def _pin(self, number: int) -> None:
        """A new object whose address is used as a number has to be the same one."""
        self.outputs.append((("pin", self._meet(number)), number, 64))

    def _pin_constants(self, value: Expr) -> None:
        """A choice between constants that are narrower than a pointer may be a piece of any address."""
        for constant in constants(value):
            for number in sorted(self.new) if constant is None else [constant >> OBJECT_SHIFT]:
                if number in self.new:
                    self._pin(number)

    # ---- memory --------------------------------------------------------------------------------------

    def _pages(self, changes: Changes, table: Table) -> None:
        """Outputs for the pages that have changed, on this path or on another."""
        for key in changes.pages:
            content = changes.content(self.state, key)
            if self.new:
                self._page(("page", key), content.page, self.context.pages.get(key, ()))
            else:
                self.groups.append(content.outputs(key, table))

    def _page(self, name: tuple[Hashable, ...], page: Any, before: Any = ()) -> None:
        """Outputs for a page that may hold addresses of new objects, where it is not what it was before."""

        def target(offset: int, word: int) -> tuple[Hashable, int] | None:
            return self._pointer(word) if changed(offset, POINTER) else None

        def changed(offset: int, size: int) -> bool:
            return not before or any(
                map(is_not, before[offset : offset + size], page[offset : offset + size])
            )

        for output in page_outputs(name, page, target):
            where: Any = output[0]
            if output[1].__class__ is Expr:
                self._pin_constants(output[1])
            elif where[-1].__class__ is int:  # no pointer, but an object's number may lie among the bytes
                data = output[1].to_bytes(output[2] // 8, "little")
                for number in self.new:
                    at = data.find(number.to_bytes(NUMBER_SIZE, "little"))
                    if at >= 0 and changed(where[-2] + at, NUMBER_SIZE):
                        self._pin(number)
            self.outputs.append(output)

    # ---- what models keep ----------------------------------------------------------------------------

    def _notes(self) -> None:
        before, notes = self.context.base.notes, self.state.tables[1]
        if notes is before:
            return
        keys = [key for key in {**before, **notes} if counts(key) and notes.get(key) is not before.get(key)]
        for key in sorted(keys, key=repr):
            if not same(before.get(key), notes.get(key)):
                self._opaque(("note", plain(key)), notes.get(key))

    def _opaque(self, name: tuple[Hashable, ...], value: Any) -> None:
        """Something that has to be the very same thing."""
        self.outputs.append(((*name, plain(value)), 0, 1))
        inside = readable_variables(value)
        self.seen.update(self.state.slices if inside is None else inside)


def kind_of(info: ObjectInfo) -> Hashable:
    """What an object has to agree in with another but for its size, if it has one."""
    return "sized" if isinstance(info.extent, SizeExtent) else Same(info.extent)


def constants(value: Expr) -> Iterator[int | None]:
    """The constants in an expression that can be addresses; None for one that may be a piece of one."""
    for node in postorder([value]):
        for part in (node.a, node.b, node.c):
            if part.__class__ is int and part >> OBJECT_SHIFT:
                yield part
        if node.op == ITE and node.w < 8 * POINTER and (node.b.__class__ is int or node.c.__class__ is int):
            yield None
        elif node.op == SELECT and node.w > 1:
            yield from node.c.values if node.w == 8 * POINTER else (None,)
