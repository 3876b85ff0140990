"""State matching (3.3): which states are redundant, by the snapshots at the same location and call stack.

A snapshot keeps of its state what is relevant: the values of some registers, bytes and parts, and the
constraints on the variables in them. A state matches if it has the same values, and if its constraints allow
nothing that those of the snapshot do not. Snapshots with the same relevant places, their *shape*, share a
table of values. Most states differ from a whole table in one place: each table asks first for the place that
ended the comparison last time, and what was read of a state for one table is not read again for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from anabranch.analysis.bits import ones_of
from anabranch.expr import Expr, expr_vars
from anabranch.machine.objects import PAGE_NUMBER_BITS
from anabranch.reduce.redundancy.constraints import Constraints
from anabranch.reduce.redundancy.kernel import variables_of
from anabranch.reduce.redundancy.live import Live, Part
from anabranch.reduce.redundancy.points import Key, Location, Place, Point, Value, place_of
from anabranch.solver import Slice

MOST_SHAPES = 48  # at a location: each is looked at for every state that comes there
UNREAD = object()
"""Stands for a value of a state that no table has asked for."""
Shape: TypeAlias = tuple[int, ...]
"""Numbers of places."""


class Snapshot:
    """What was relevant at a point whose paths have all ended."""

    __slots__ = ("constraints", "keeps", "live")

    def __init__(self, constraints: Constraints, live: Live, keeps: Any) -> None:
        self.constraints = constraints
        self.live = live
        self.keeps = keeps
        """The values, so that the identities of expressions stay theirs."""


class ValueTable:
    """Snapshots of one shape."""

    __slots__ = ("by_values", "tests")

    def __init__(self, shape: Shape) -> None:
        self.by_values: dict[tuple[Value, ...], list[Snapshot]] = {}
        self.tests: list[tuple[int, set[Value]]] = [(number, set()) for number in shape]
        """Places, and all values of the snapshots there, in the order in which they are compared."""


class Here:
    """The snapshots of one location."""

    __slots__ = ("numbers", "pending", "places", "tables")

    def __init__(self) -> None:
        self.pending: list[tuple[Point, Live]] = []
        """Points, and what is relevant there, that are not in the tables: nobody has come here since."""
        self.places: list[Place] = []
        self.numbers: dict[Key, int] = {}
        self.tables: dict[Shape, ValueTable] = {}

    def shape(self, keys: list[Key]) -> Shape:
        found = []
        for key in keys:
            number = self.numbers.get(key)
            if number is None:
                number = self.numbers[key] = len(self.places)
                self.places.append(place_of(key))
            found.append(number)
        return tuple(found)

    def table(self, shape: Shape) -> ValueTable:
        table = self.tables.get(shape)
        if table is None:
            if len(self.tables) >= MOST_SHAPES:
                del self.tables[next(iter(self.tables))]
            table = self.tables[shape] = ValueTable(shape)
        return table


class Table:
    """All snapshots of a run."""

    def __init__(self) -> None:
        self._by_location: dict[Location, Here] = {}
        self._positions: dict[Any, dict[int, int]] = {}
        """By site: register -> its position among the live values."""
        self.snapshots = 0
        self.looked_up = 0
        self.not_kept = 0
        """Points at which something is relevant that waiting states do not keep."""

    def clear(self) -> None:
        self._by_location.clear()
        self.snapshots = 0

    # ---- snapshots -----------------------------------------------------------------------------------

    def add(self, point: Point, live: Live) -> None:
        """The relevant places at a point are known."""
        if live.top:
            return
        here = self._by_location.get(point.location)
        if here is None:
            here = self._by_location[point.location] = Here()
        here.pending.append((point, live.copy()))

    def _insert(self, here: Here, point: Point, live: Live) -> None:
        keys = self._relevant(point, live)
        if keys is None:
            self.not_kept += 1
            return
        shape = here.shape(keys)
        frames = point.frames()
        raw = [here.places[number].read(point, frames) for number in shape]
        values = tuple([here.places[number].known(value) for number, value in zip(shape, raw, strict=True)])
        table = here.table(shape)
        known = table.by_values.setdefault(values, [])
        parts = [key[1] for key in keys if key[0] == "part"]
        constraints = Constraints.of(needed_slices(point, raw, parts))
        if any(other.constraints.include(constraints) for other in known):
            return  # whatever matches this one matches the other
        by_number = dict(zip(shape, values, strict=True))
        for number, seen in table.tests:
            seen.add(by_number[number])
        insert(known, Snapshot(constraints, live, (raw, point.notes)))
        self.snapshots += 1

    def _relevant(self, point: Point, live: Live) -> list[Key] | None:
        """The relevant places that the state at a point has; None if it does not have them all."""
        keys: list[Key] = []
        frames = point.frames()
        for depth, frame in enumerate(reversed(live.frames)):
            if not frame.registers:
                continue
            if depth >= len(frames):
                return None
            positions = self._positions_at(frames[depth][0])
            for index in ones_of(frame.registers):
                position = positions.get(index)
                if position is None:
                    return None
                keys.append(("register", depth, position))
        for key in sorted(live.pages):
            page = point.page(key)
            if page is None:
                info = point.objects.get(key >> PAGE_NUMBER_BITS)
                if info is not None and info.blank is not None and not info.end:
                    return None  # an object of which only some pages are kept
                continue  # the object is made later
            mask = live.pages[key] & (1 << len(page)) - 1
            if mask:
                keys.append(("page", key, mask))
        keys += [("part", part) for part in sorted(live.parts, key=repr)]
        return keys

    def _positions_at(self, site: Any) -> dict[int, int]:
        found = self._positions.get(site)
        if found is None:
            found = {register_of(site.unit, name): position for position, name in enumerate(site.names)}
            self._positions[site] = found
        return found

    # ---- matching ------------------------------------------------------------------------------------

    def find(self, point: Point) -> Snapshot | None:
        """A snapshot that shows all that the state at a point could."""
        here = self._by_location.get(point.location)
        if here is None:
            return None
        self.looked_up += 1
        if here.pending:
            for waiting in here.pending:
                self._insert(here, *waiting)
            here.pending.clear()
        places, frames = here.places, point.frames()
        read: list[Value] = [UNREAD] * len(places)
        slices: dict[int, Slice] | None = None
        for shape, table in here.tables.items():
            tests = table.tests
            for at, (number, seen) in enumerate(tests):
                value = read[number]
                if value is UNREAD:
                    place = places[number]
                    value = read[number] = place.known(place.read(point, frames))
                if value not in seen:
                    if at:
                        tests.insert(0, tests.pop(at))
                    break
            else:
                known = table.by_values.get(tuple([read[number] for number in shape]))
                if not known:
                    continue
                if slices is None:
                    slices = point.slices()
                for snapshot in known:
                    if snapshot.constraints.allow(slices):
                        return snapshot
        return None


def insert(known: list[Snapshot], new: Snapshot) -> None:
    """Add a snapshot to others with the same values; those that are one with it become one."""
    position = 0
    while position < len(known):
        other = known[position]
        if new.constraints.include(other.constraints):
            del known[position]
            continue
        both = new.constraints.united(other.constraints)
        if both is None:
            position += 1
            continue
        new.live.join(other.live)
        new = Snapshot(both, new.live, (new.keeps, other.keeps))
        del known[position]
        position = 0
    known.append(new)


def register_of(unit: Any, name: str) -> int:
    if name == "D":
        return int(unit.plan.dynamic_index)
    if name == "va":
        return int(unit.plan.varargs_index)
    return int(name[1:])


def needed_slices(point: Point, raw: list[Value], parts: Sequence[Part]) -> tuple[Slice, ...]:
    """The constraints that depend on some values: of all variables in them, and of those that are constrained
    together with these."""
    variables: set[int] = set()
    pending = list(raw)
    while pending:
        value = pending.pop()
        if value.__class__ is Expr:
            variables.update(expr_vars(value))
        elif value.__class__ is tuple:
            pending.extend([item for item in value if item.__class__ is Expr or item.__class__ is tuple])
    variables |= variables_of(point.notes, [part for part in parts if part[0] != "object"])
    if not any(variable >= 0 for variable in variables):
        return ()
    slices = point.slices()
    found = {id(part): part for v in sorted(variables) if v >= 0 and (part := slices[v]).constraints}
    return tuple(found.values())
