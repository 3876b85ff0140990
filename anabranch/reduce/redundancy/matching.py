"""State matching (3.3): which states are redundant, by the snapshots at the same location and call stack.

A snapshot keeps of its state what is relevant: the values of some registers, bytes and parts, and the
constraints on the variables in them. A state matches if it has the same values, and all of the constraints.
Snapshots with the same relevant locations, their *shape*, share a table of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from anabranch.analysis.bits import ones_of
from anabranch.expr import Expr, expr_vars
from anabranch.machine.extents import SizeExtent, StringExtent
from anabranch.machine.objects import LIMITED, PAGE_NUMBER_BITS, ObjectInfo
from anabranch.machine.state import Continuation, State
from anabranch.machine.translator.sites import PointSite, Target
from anabranch.reduce.redundancy.kernel import content, variables_of
from anabranch.reduce.redundancy.live import Live, Part
from anabranch.solver import Slice

Site: TypeAlias = Target | PointSite
Location: TypeAlias = tuple[int, ...]
"""Where control is, and the call sites of the stack, by identity."""
Value: TypeAlias = Any
MOST_SHAPES = 48  # at a location: each is looked at for every state that comes there
MISSING = object()
"""The value of a page or register that a state does not have."""


class Point:
    """A state as it was at a location, as far as it can be compared."""

    __slots__ = ("changed", "continuation", "notes", "objects", "packed", "pages", "site", "values")

    def __init__(
        self,
        site: Site,
        values: tuple[Value, ...],
        continuation: Continuation,
        pages: Mapping[int, Any],
        objects: Mapping[int, ObjectInfo],
        notes: Any,
        packed: Any,
        changed: Slice | None = None,
    ) -> None:
        self.site = site
        self.values = values
        self.continuation = continuation
        self.pages = pages
        self.objects = objects
        self.notes = notes
        self.packed = packed
        """The slices as a state keeps them."""
        self.changed = changed
        """A slice that is different from these."""

    @classmethod
    def of(cls, state: State, site: Site, changed: Slice | None = None) -> Point:
        """Where a state waits, or its twin on the other side of a branch."""
        return cls(
            site,
            state.values,
            state.continuation,
            state.pages,
            state.objects,
            state.tables[1],
            state.packed,
            changed,
        )

    @property
    def location(self) -> Location:
        found = [id(self.site)]
        continuation = self.continuation
        while continuation[1] is not None:
            found.append(id(continuation[1]))
            continuation = continuation[0]
        return tuple(found)

    def slices(self) -> dict[int, Slice]:
        packed = self.packed
        slices = dict(packed) if isinstance(packed, dict) else dict(zip(*packed, strict=True))
        if self.changed is not None:
            slices.update(dict.fromkeys(self.changed.vars, self.changed))
        return slices

    # ---- values --------------------------------------------------------------------------------------

    def frames(self) -> list[tuple[Any, tuple[Value, ...]]]:
        """Unit and names, and the live values, of all frames, innermost first."""
        found = [((self.site.unit, self.site.names), self.values)]
        continuation = self.continuation
        while continuation[1] is not None:
            found.append(((continuation[1].unit, continuation[1].names), continuation[3:]))
            continuation = continuation[0]
        return found

    def page(self, key: int) -> Any:
        page = self.pages.get(key)
        return self.pages.get(key | LIMITED) if page is None else page

    def part(self, part: Part) -> Value:
        kind, which = part
        if kind != "object":
            return content(self.notes, part)
        info = self.objects.get(which)
        if info is None:
            return None
        extent = info.extent
        bound: Value = None
        if isinstance(extent, SizeExtent):
            bound = extent.size
        elif isinstance(extent, StringExtent):
            bound = tuple(extent.data)
        return (info.size, info.end, info.site.number, bound)


def identity(value: Value) -> Value:
    """A value that can be compared by `==`; expressions are interned."""
    if value.__class__ is Expr:
        return ("expression", id(value))
    if value.__class__ is tuple:
        return tuple(map(identity, value))
    return value


def bytes_of(page: Any, mask: int) -> Value:
    """Some bytes of a page; `MISSING` if it has not all of them."""
    size = len(page)
    if mask >> size:
        return MISSING
    part = page if mask == (1 << size) - 1 else [page[offset] for offset in ones_of(mask)]
    try:
        return bytes(part)
    except TypeError:
        return tuple(part)


class Shape(NamedTuple):
    """The relevant locations of a snapshot."""

    registers: tuple[tuple[int, int], ...]
    """Frame, from the innermost outwards, and position among its live values."""
    pages: tuple[tuple[int, int], ...]
    """Page and mask of its bytes."""
    parts: tuple[Part, ...]


class Snapshot:
    """What was relevant at a point whose paths have all ended."""

    __slots__ = ("keeps", "live", "slices")

    def __init__(self, slices: tuple[Slice, ...], live: Live, keeps: Any) -> None:
        self.slices = slices
        self.live = live
        self.keeps = keeps
        """The values, so that the identities of expressions stay theirs."""


class ValueTable:
    """Snapshots of one shape."""

    __slots__ = ("by_values", "seen")

    def __init__(self, count: int) -> None:
        self.by_values: dict[tuple[Value, ...], list[Snapshot]] = {}
        self.seen: list[set[Value]] = [set() for _ in range(count)]
        """By position: all values of the snapshots. Most states end here."""


class Table:
    """All snapshots of a run."""

    def __init__(self) -> None:
        self._by_location: dict[Location, dict[Shape, ValueTable]] = {}
        self.snapshots = 0
        self.looked_up = 0
        self.not_kept = 0
        """Points at which something is relevant that waiting states do not keep."""

    def clear(self) -> None:
        self._by_location.clear()
        self.snapshots = 0

    def __contains__(self, location: Location) -> bool:
        return location in self._by_location

    # ---- snapshots -----------------------------------------------------------------------------------

    def add(self, point: Point, live: Live) -> None:
        """The relevant locations at a point are known."""
        if live.top:
            return
        made = shape_of(point, live)
        if made is None:
            self.not_kept += 1
            return
        shapes = self._by_location.setdefault(point.location, {})
        found = values_of(point, made, None)
        assert found is not None
        values, raw = found
        table = shapes.get(made)
        if table is None:
            if len(shapes) >= MOST_SHAPES:
                del shapes[next(iter(shapes))]
            table = shapes[made] = ValueTable(len(values))
        known = table.by_values.setdefault(values, [])
        slices = needed_slices(point, raw, made)
        if any(all(one in slices for one in other.slices) for other in known):
            return  # whatever matches this one matches the other
        for seen, value in zip(table.seen, values, strict=True):
            seen.add(value)
        known.append(Snapshot(slices, live.copy(), raw))
        self.snapshots += 1

    # ---- matching ------------------------------------------------------------------------------------

    def find(self, point: Point, location: Location | None = None) -> Snapshot | None:
        """A snapshot that shows all that the state at a point could."""
        shapes = self._by_location.get(location or point.location)
        if not shapes:
            return None
        self.looked_up += 1
        slices: dict[int, Slice] | None = None
        for shape, table in shapes.items():
            found = values_of(point, shape, table.seen)
            if found is None:
                continue
            known = table.by_values.get(found[0])
            if not known:
                continue
            if slices is None:
                slices = point.slices()
            for snapshot in known:
                if all(implied(one, slices) for one in snapshot.slices):
                    return snapshot
        return None


def shape_of(point: Point, live: Live) -> Shape | None:
    """The relevant locations that the state at a point has; None if it does not have them all."""
    registers: list[tuple[int, int]] = []
    frames = point.frames()
    for depth, frame in enumerate(reversed(live.frames)):
        mask = frame.registers
        if not mask:
            continue
        if depth >= len(frames):
            return None
        (unit, names), _ = frames[depth]
        for position, name in enumerate(names):
            index = register_of(unit, name)
            if mask >> index & 1:
                registers.append((depth, position))
                mask &= ~(1 << index)
        if mask:
            return None
    pages: list[tuple[int, int]] = []
    for key in sorted(live.pages):
        page = point.page(key)
        if page is None:
            info = point.objects.get(key >> PAGE_NUMBER_BITS)
            if info is not None and info.blank is not None and not info.end:
                return None  # an object of which only some pages are kept
            continue  # the object is made later
        mask = live.pages[key] & (1 << len(page)) - 1
        if mask:
            pages.append((key, mask))
    return Shape(tuple(registers), tuple(pages), tuple(sorted(live.parts, key=repr)))


def register_of(unit: Any, name: str) -> int:
    if name == "D":
        return int(unit.plan.dynamic_index)
    if name == "va":
        return int(unit.plan.varargs_index)
    return int(name[1:])


def values_of(
    point: Point, shape: Shape, seen: list[set[Value]] | None
) -> tuple[tuple[Value, ...], list[Value]] | None:
    """The values at the locations of a shape, to compare and as they are; None as soon as one is not among
    those seen."""
    values: list[Value] = []
    raw: list[Value] = []
    frames: list[tuple[Value, ...]] | None = None
    at = 0
    for depth, position in shape.registers:
        if depth == 0:
            value = point.values[position]
        else:
            if frames is None:
                frames = [values for _, values in point.frames()]
            value = frames[depth][position]
        known = value if value.__class__ is int else identity(value)
        if seen is not None and known not in seen[at]:
            return None
        at += 1
        values.append(known)
        raw.append(value)
    for key, mask in shape.pages:
        page = point.page(key)
        value = MISSING if page is None else bytes_of(page, mask)
        known = value if value.__class__ is bytes else identity(value)
        if value is MISSING or (seen is not None and known not in seen[at]):
            return None
        at += 1
        values.append(known)
        raw.append(value)
    for part in shape.parts:
        value = point.part(part)
        known = identity(value)
        if seen is not None and known not in seen[at]:
            return None
        at += 1
        values.append(known)
        raw.append(value)
    raw.append(point.notes)
    return tuple(values), raw


def needed_slices(point: Point, raw: list[Value], shape: Shape) -> tuple[Slice, ...]:
    """The constraints that depend on some values: of all variables in them, and of those that are constrained
    together with these."""
    variables: set[int] = set()
    *pending, _ = raw
    while pending:
        value = pending.pop()
        if value.__class__ is Expr:
            variables.update(expr_vars(value))
        elif value.__class__ is tuple:
            pending.extend(value)
    variables |= variables_of(point.notes, [part for part in shape.parts if part[0] != "object"])
    if not any(variable >= 0 for variable in variables):
        return ()
    slices = point.slices()
    found = {id(part): part for v in sorted(variables) if v >= 0 and (part := slices[v]).constraints}
    return tuple(found.values())


def implied(part: Slice, slices: dict[int, Slice]) -> bool:
    """Do the constraints of a state include those of a slice?"""
    mine = slices.get(part.vars[0])
    if mine is part:
        return True
    if mine is None:
        return False
    if part.constraints <= mine.constraints:
        return True
    for constraint in part.constraints:
        known = slices.get(expr_vars(constraint)[0])
        if known is None or constraint not in known.constraints:
            return False
    return True
