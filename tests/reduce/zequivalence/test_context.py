"""Which objects may change, and where their bytes are."""

from __future__ import annotations

from typing import Any

import immutables

from anabranch.machine.objects import PAGE_NUMBER_BITS, AllocationSite, ObjectInfo, ObjectNumbers
from anabranch.machine.pages import PAGE_SIZE
from anabranch.reduce.zequivalence.context import LARGE, Layout, Tables


def site(kind: str) -> AllocationSite:
    return ObjectNumbers().new_site(kind, kind)


def objects(*infos: ObjectInfo) -> immutables.Map[int, ObjectInfo]:
    return immutables.Map({info.id: info for info in infos})


VARIABLE = ObjectInfo(1, 2 * PAGE_SIZE, site("global"))
CONSTANT = ObjectInfo(2, 8, site("constant"))
LOCAL = ObjectInfo(3, 8, site("stack"))
HUGE = ObjectInfo(4, (LARGE + 1) * PAGE_SIZE, site("heap"))


def pages_of(*infos: ObjectInfo) -> dict[int, Any]:
    return {
        (info.id << PAGE_NUMBER_BITS) + at: bytearray(8)
        for info in infos
        for at in range((info.size + PAGE_SIZE - 1) // PAGE_SIZE)
    }


def test_pages_of_what_may_change() -> None:
    everything = objects(VARIABLE, CONSTANT, LOCAL, HUGE)
    found = Layout(everything)
    assert set(found.objects) == {1, 3, 4}
    pages = pages_of(VARIABLE, CONSTANT, HUGE)
    assert found.pages(pages) == {key: page for key, page in pages.items() if key >> PAGE_NUMBER_BITS != 2}


def test_what_is_left_of_the_objects_that_were_there() -> None:
    tables = Tables(leaks=False)
    before = objects(VARIABLE, CONSTANT, LOCAL)
    now = objects(VARIABLE, CONSTANT)
    assert tables.layout(before, now).everything is now
    assert tables.layout(before, now).same_as(objects(VARIABLE, CONSTANT))
    assert not tables.layout(before, now).same_as(before)
    # Something is new, or has ended: what was there before counts.
    more = tables.layout(before, objects(VARIABLE, CONSTANT, HUGE))
    assert set(more.everything) == {1, 2}
    ended = tables.layout(before, objects(VARIABLE.dead("freed"), CONSTANT))
    assert ended.objects == {1: VARIABLE}
    assert not ended.same_as(objects(VARIABLE.dead("freed"), CONSTANT))
