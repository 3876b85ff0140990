"""Points: states as they were where they can be compared, and the places in them that may be relevant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, TypeAlias

from anabranch.analysis.bits import ones_of
from anabranch.expr import Expr
from anabranch.machine.extents import SizeExtent, StringExtent
from anabranch.machine.objects import LIMITED, ObjectInfo
from anabranch.machine.state import Continuation, State
from anabranch.machine.translator.sites import PointSite, ReturnSite, Target
from anabranch.reduce.redundancy.kernel import content
from anabranch.reduce.redundancy.live import Part
from anabranch.solver import Slice

Site: TypeAlias = Target | PointSite | ReturnSite
Location: TypeAlias = tuple[int, ...]
"""Where control is, and the call sites of the stack, by identity."""
Value: TypeAlias = Any
MISSING = object()
"""The value of a page or register that a state does not have."""


class Point:
    """A state as it was at a location, as far as it can be compared."""

    __slots__ = (
        "_location",
        "changed",
        "continuation",
        "notes",
        "objects",
        "packed",
        "pages",
        "site",
        "values",
    )

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
        self._location: Location | None = None

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
        if self._location is None:
            found = [id(self.site)]
            continuation = self.continuation
            while continuation[1] is not None:
                found.append(id(continuation[1]))
                continuation = continuation[0]
            self._location = tuple(found)
        return self._location

    def slices(self) -> dict[int, Slice]:
        packed = self.packed
        slices = dict(packed) if isinstance(packed, dict) else dict(zip(*packed, strict=True))
        if self.changed is not None:
            slices.update(dict.fromkeys(self.changed.vars, self.changed))
        return slices

    # ---- values --------------------------------------------------------------------------------------

    def frames(self) -> list[tuple[Any, tuple[Value, ...]]]:
        """Site and live values of all frames, innermost first."""
        found: list[tuple[Any, tuple[Value, ...]]] = [(self.site, self.values)]
        continuation = self.continuation
        while continuation[1] is not None:
            found.append((continuation[1], continuation[3:]))
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
        return tuple([item if item.__class__ is int else identity(item) for item in value])
    return value


def itself(value: Value) -> Value:
    return value


class RegisterPlace:
    """A register of a frame."""

    __slots__ = ("depth", "position")
    known = staticmethod(identity)

    def __init__(self, depth: int, position: int) -> None:
        self.depth = depth
        """From the innermost frame outwards."""
        self.position = position
        """Among the live values of the frame."""

    def read(self, point: Point, frames: list[tuple[Any, tuple[Value, ...]]]) -> Value:
        return frames[self.depth][1][self.position]


class PagePlace:
    """Some bytes of a page."""

    __slots__ = ("key", "pick", "size")
    known = staticmethod(identity)

    def __init__(self, key: int, mask: int) -> None:
        self.key = key
        self.size = mask.bit_length()
        first = (mask & -mask).bit_length() - 1
        self.pick: Callable[[Any], Any]
        if mask >> first == (1 << self.size - first) - 1:
            self.pick = itemgetter(slice(first, self.size))
        else:
            self.pick = itemgetter(*ones_of(mask))

    def read(self, point: Point, frames: Any) -> Value:
        page = point.page(self.key)
        if page is None or len(page) < self.size:
            return MISSING
        some = self.pick(page)
        try:
            return bytes(some)
        except TypeError:
            return tuple(some)


class PartPlace:
    """A part that is no memory."""

    __slots__ = ("known", "part")

    def __init__(self, part: Part) -> None:
        self.part = part
        self.known: Callable[[Value], Value] = identity if part[0] == "object" else itself

    def read(self, point: Point, frames: Any) -> Value:
        return point.part(self.part)


Place: TypeAlias = RegisterPlace | PagePlace | PartPlace
Key: TypeAlias = tuple[Any, ...]


def place_of(key: Key) -> Place:
    """The place of a key: `("register", depth, position)`, `("page", page, mask)` or `("part", part)`."""
    if key[0] == "register":
        return RegisterPlace(key[1], key[2])
    return PagePlace(key[1], key[2]) if key[0] == "page" else PartPlace(key[1])
