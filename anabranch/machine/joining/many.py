"""Many waiting states at one location become one that stands for all of them.

A number of its own tells which of them it is (`numbered.py`). Wherever the states differ, the joined one
holds a value as a function of that number: a constant, `a*t + b`, one expression with such numbers in it, or
a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anabranch.expr import Expr, eq, lookup, split_value, ult, zext
from anabranch.machine.joining.chains import join_records
from anabranch.machine.joining.memory import Objects, Pages, first_page, join_objects, whole, word_at
from anabranch.machine.joining.notes import join_notes
from anabranch.machine.joining.numbered import Pattern, number_paths
from anabranch.machine.joining.pending_tests import join_pending_tests
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.same import same
from anabranch.machine.joining.states import join_counts
from anabranch.machine.state import Continuation, Extras, State
from anabranch.semantics.elements import element_types
from anabranch.solver import SliceSpace

Value = Any


class Numbers(NamedTuple):
    """A joined state, and the states that it stands for with what their number t says."""

    state: State
    parts: tuple[State, ...]
    facts: tuple[Expr, ...]


def join_many(
    states: Sequence[State],
    space: SliceSpace,
    extras: Extras,
    heaps_must_agree: bool = False,
    pattern: Pattern | None = None,
) -> Numbers:
    """The state that stands for all of these, none of which is changed; `CannotJoin` says why there is none.

    `heaps_must_agree`: a check for leaks must know at the end which objects there are. `pattern`: what the
    histories of the states have in common, as a function of their numbers.
    """
    first = states[0]
    if any(state.entry is not first.entry for state in states):
        raise CannotJoin("different locations")
    objects: Any = first.objects
    for state in states[1:]:
        objects, pairs = join_objects(objects, state.objects, heaps_must_agree)
        if pairs:
            raise CannotJoin("objects of different sizes")
    found = number_paths(states, space, pattern)
    numbers = range(len(states)) if pattern is None else pattern.numbers
    parts = tuple(states[number] for number in found.order)
    column = Columns(found.t, numbers)
    joined = State()
    joined.entry, joined.place = first.entry, first.place
    joined.values = column.frame(first.entry, [part.values for part in parts])
    joined.continuation = column.continuation([part.continuation for part in parts])
    joined.objects = objects
    joined.pages = column.pages(parts, objects)
    joined.packed = first.slices | {index: part for part in found.slices for index in part.vars}
    joined.condition = found.condition
    joined.tables, joined.extras = first.tables, first.extras
    joined.inputs, joined.output = parts[0].inputs, parts[0].output
    for position, (number, part) in enumerate(zip(numbers, parts, strict=True)):
        if position:
            before = ult(found.t, number, found.t.w)
            counts = join_counts(joined.tables[0], part.tables[0])
            joined.tables = (counts, join_notes(before, joined.tables[1], part.tables[1]))
            joined.inputs = join_records(before, joined.inputs, part.inputs)
            joined.output = join_records(before, joined.output, part.output)
            joined.extras = extras.join(joined, part)
    sides = [(eq(found.t, number, found.t.w), part) for number, part in zip(numbers, parts, strict=True)]
    joined.pending_tests = join_pending_tests(sides)
    joined.depth = max(part.depth for part in parts)
    joined.covered_new = False
    joined.instructions_since_new = min(part.instructions_since_new for part in parts)
    joined.multiplicity = sum(part.multiplicity for part in parts)
    joined.node, joined.number = first.node, first.number
    for part in parts:  # inputs that only some of the paths have made
        for index, own in part.slices.items():
            joined.packed.setdefault(index, own)
    return Numbers(joined, parts, tuple(fact for fact, _ in sides))


class Columns:
    """Values of several states, in the order of their numbers, as functions of the number."""

    def __init__(self, t: Expr, numbers: Sequence[int]) -> None:
        self._index = zext(t, t.w, 64)
        last = numbers[-1]
        self._places = range(numbers[0], last + 1) if last - numbers[0] == len(numbers) - 1 else numbers

    def value(self, values: Sequence[Value], width: int) -> Value:
        """One value for all states."""
        first = values[0]
        if all(value is first for value in values):
            return first
        mask = (1 << width) - 1
        known = [v if v.__class__ is Expr else bool(v) if width == 1 else v & mask for v in values]
        return lookup(self._index, self._places, known, width)

    def typed(self, values: Sequence[Value], type: Any) -> Value:
        """One value of a register."""
        if isinstance(values[0], tuple):
            parts = element_types(type)
            return tuple(self.typed([v[i] for v in values], part) for i, part in enumerate(parts))
        return self.value(values, type.bits)

    def frame(self, site: Any, rows: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
        """The live values of a frame."""
        if all(row is rows[0] for row in rows):
            return rows[0]
        plan = site.unit.plan
        joined = []
        for name, *values in zip(site.names, *rows, strict=True):
            first = values[0]
            if all(value is first for value in values):
                joined.append(first)
            elif name == "D" or name == "va":
                if not all(same(value, first) for value in values):
                    raise CannotJoin("locals of variable size" if name == "D" else "variable arguments")
                joined.append(first)
            elif int(name[1:]) in plan.static_allocas:
                if any(value != first for value in values):
                    raise CannotJoin("locals of different calls")
                joined.append(first)
            else:
                joined.append(self.typed(values, plan.locals[int(name[1:])].type))
        return tuple(joined)

    def continuation(self, continuations: Sequence[Continuation]) -> Continuation:
        """The frames of the callers."""
        levels = []
        while any(one is not continuations[0] for one in continuations):
            site = continuations[0][1]
            if site is None or any(one[1] is not site for one in continuations):
                raise CannotJoin("different call stacks")
            levels.append((site, continuations[0][2], [one[3:] for one in continuations]))
            continuations = [one[0] for one in continuations]
        below = continuations[0]
        for site, depth, rows in reversed(levels):
            below = (below, site, depth, *self.frame(site, rows))
        return below

    def pages(self, parts: Sequence[State], objects: Objects) -> Pages:
        """The pages of all states, joined byte by byte where they differ."""
        first: Any = parts[0].pages
        maps = dict.fromkeys(id(part.pages) for part in parts)
        if len(maps) == 1:
            return first  # type: ignore[no-any-return]
        keys = {key: None for part in parts for key in part.pages}
        changed: dict[int, Any] = {}
        for key in keys:
            pages = [
                page if (page := part.pages.get(key)) is not None else first_page(key, part) for part in parts
            ]
            known = next(page for page in pages if page is not None)
            if all(page is known for page in pages):
                continue
            # A state without the object never reads it: it may have what any other has there.
            changed[key] = self._page([known if page is None else page for page in pages], objects)
        return first.update(changed)  # type: ignore[no-any-return]

    def _page(self, pages: Sequence[Any], objects: Objects) -> Any:
        first = pages[0]
        distinct = list({id(page): page for page in pages}.values())
        joined = list(first)
        done = 0
        for offset, values in enumerate(zip(*distinct, strict=True)):
            byte = values[0]
            if offset < done or all(value is byte for value in values):
                continue
            start, size = offset, 1
            for other in distinct[1:]:
                if other[offset] is not byte:
                    found = word_at(distinct[0], other, offset, objects)
                    if found[1] > size and found[0] >= done:
                        start, size = found
            value = self.value([whole(page, start, size) for page in pages], 8 * size)
            joined[start : start + size] = split_value(value, size)
            done = start + size
        return joined
