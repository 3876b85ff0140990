"""What the items of a tape stand for, and what is found beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.machine.tape import RETURN, Forced, Interpreted, Lost, ModelCall, Part, Segment, Touched
from anabranch.machine.translator.sites import ReturnSite, Target
from anabranch.machine.translator.unit import Unit


class Mark:
    """A point on the tape where states are compared."""

    __slots__ = ("point",)

    def __init__(self, point: Any) -> None:
        self.point = point

    @property
    def begins_segment(self) -> bool:
        """Is it at the start of a block, behind the edge that led there, or behind a call?"""
        site = self.point.site
        return isinstance(site, ReturnSite) or (isinstance(site, Target) and site.key[0] == "block")


NOTES = frozenset((Touched, Forced, Lost, Mark))
"""Items about the instruction or segment that is on its way."""


def whole_calls(items: Sequence[Any], segments: Sequence[Segment]) -> dict[int, int]:
    """Of calls that translated code has run from the beginning to the end, the last item -> the first one.
    Those in which states were compared, or inputs were cut off, are looked at item by item."""
    found: dict[int, int] = {}
    open_: list[int] = []
    noted = False
    for position, item in enumerate(items):
        kind = item.__class__
        if kind is int or kind is tuple:
            segment = segments[item if kind is int else item[0]]
            if not segment.start and not segment.block:
                open_.append(-1 if noted else position)
            if segment.kind == RETURN and open_:
                first = open_.pop()
                if first >= 0:
                    found[position] = first
            noted = False
        elif kind is not ModelCall and kind is not Touched:
            open_.clear()
            noted = True  # of the segment that comes next
    return found


def following(items: Sequence[Any], position: int) -> list[Any]:
    """What was noted of an interpreted instruction."""
    found = []
    while position < len(items) and items[position].__class__ in (Touched, Forced):
        found.append(items[position])
        position += 1
    return found


def stands_for_code(item: Any) -> bool:
    return item.__class__ in (int, tuple, Part, Interpreted)


def last_code(items: Sequence[Any], position: int, before: Any) -> Any:
    """The last item up to a position that stands for an instruction."""
    while position >= 0:
        if stands_for_code(items[position]):
            return items[position]
        position -= 1
    return before


def block_of(items: Sequence[Any], position: int, before: Any, segments: Sequence[Segment]) -> int:
    """The block that control came from."""
    item = last_code(items, position, before)
    if isinstance(item, Interpreted):
        return item.block
    if isinstance(item, Part):
        return item.segment.block
    return segments[item if item.__class__ is int else item[0]].block


def call_before(
    items: Sequence[Any], position: int, before: Any, segments: Sequence[Segment]
) -> tuple[Unit, int, int]:
    """The call that an item of a model belongs to."""
    item = last_code(items, position, before)
    if isinstance(item, Interpreted):
        return item.unit, item.block, item.position
    segment = item.segment if isinstance(item, Part) else segments[item if item.__class__ is int else item[0]]
    return segment.unit, segment.block, segment.end


def goes_on(previous: Any, item: Interpreted, segments: Sequence[Segment]) -> bool:
    """Does an interpreted instruction follow the previous item within its block?"""
    if isinstance(previous, Interpreted):
        same = previous.unit is item.unit and previous.block == item.block
        return same and previous.position <= item.position
    if isinstance(previous, Part):
        segment = previous.segment
    elif isinstance(previous, int | tuple):
        segment = segments[previous if isinstance(previous, int) else previous[0]]
        if segment.kind == RETURN:
            return False
    else:
        return False
    return segment.unit is item.unit and segment.block == item.block and segment.end == item.position
