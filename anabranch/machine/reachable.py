"""Which heap objects the program can still reach: through pointers from globals and from locals alive.

A word of memory is taken for a pointer to an object if its value lies in the object or right behind it. Words
of types that hold no pointers (arrays of int, numbers) are left out; objects without a type, as the heap's,
are read at every address that a pointer may be aligned to. A symbolic word points to the objects that its
value is based on, under the condition that it does: what nobody reaches is then a condition too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anabranch import expr
from anabranch.expr import Expr, join_bytes
from anabranch.ir.types import ArrayType, FloatType, IntType, StructType, Type
from anabranch.machine.bases import base_numbers
from anabranch.machine.memory import Memory
from anabranch.machine.objects import NUMBER_MASK, OBJECT_SHIFT, OFFSET_MASK, PAGE_NUMBER_BITS, ObjectInfo
from anabranch.machine.pages import PAGE_BITS, PAGE_MASK, Page
from anabranch.machine.undefined import has_undefined, with_zeros

Value = Any
POINTER = 8
LARGEST_TYPED = 1 << 24  # bytes of an object whose words are listed
MAX_ROUNDS = 64  # of conditions that depend on each other in circles


Named = Callable[[int, Value], ObjectInfo | None]


class Undecided(Exception):
    """There are too many pointers that depend on each other."""


def unreached(memory: Memory, named: Named) -> dict[int, Value]:
    """Live heap objects by number, each with the condition under which nothing points to it; those that are
    reached in any case are left out. `named`: as `AddressTargets.named`."""
    memory.freeze()
    heap = {info.id: info for info in memory.live_objects() if info.site.kind == "heap"}
    if not heap:
        return {}
    edges = _edges(memory, heap, named)
    reached = _certain(edges, heap)
    conditions: dict[int, Value] = {number: number in reached for number in heap}
    uncertain = [(source, target, when) for source, target, when in edges if target not in reached]
    for _ in range(MAX_ROUNDS if uncertain else 0):
        before = dict(conditions)
        for source, target, when in uncertain:
            start = True if source == 0 else conditions[source]
            conditions[target] = expr.or_(conditions[target], expr.and_(start, when, 1), 1)
        if all(conditions[number] is before[number] for number in heap):
            break
    else:
        if uncertain:
            raise Undecided
    return {number: expr.not_(found) for number, found in conditions.items() if found is not True}


def _certain(edges: list[tuple[int, int, Value]], heap: dict[int, ObjectInfo]) -> set[int]:
    """The objects that are reached whatever the input is."""
    targets: dict[int, list[int]] = {}
    for source, target, when in edges:
        if when is True:
            targets.setdefault(source, []).append(target)
    reached: set[int] = set()
    pending = [0]
    while pending:
        for target in targets.get(pending.pop(), ()):
            if target not in reached:
                reached.add(target)
                pending.append(target)
    return reached


def _edges(memory: Memory, heap: dict[int, ObjectInfo], named: Named) -> list[tuple[int, int, Value]]:
    """`(source, target, condition)`: pointers into the heap; 0 stands for all that is not in the heap.

    The absent pages of sparse objects hold one byte over and over, which is never the address of an object.
    """
    edges: dict[tuple[int, int, Value], None] = {}
    words: dict[int, list[int] | None] = {}  # by object: offsets of its words, None for all
    for key, page in memory.pages.items():
        number = key >> PAGE_NUMBER_BITS & NUMBER_MASK
        info = memory.find(number)
        if info is None or info.end or info.readonly:
            continue
        if number not in words:
            words[number] = _words(info)
        source = number if number in heap else 0
        for word in _values(page, key << PAGE_BITS & OFFSET_MASK, words[number]):
            for target, when in _targets(word, heap, named):
                edges[source, target, when] = None
    return list(edges)


def _words(info: ObjectInfo) -> list[int] | None:
    """Offsets at which a typed object may hold pointers; None where that is not known."""
    type = info.site.type
    if not isinstance(type, Type) or type.size != info.size or info.size > LARGEST_TYPED:
        return None
    found: list[int] = []
    _add_words(type, 0, found)
    return found


def _add_words(type: Type, offset: int, found: list[int]) -> None:
    if isinstance(type, StructType) and type.fields is not None:
        for field, inside in zip(type.fields, type.offsets, strict=True):
            _add_words(field, offset + inside, found)
    elif isinstance(type, ArrayType) and _may_hold_pointers(type.element):
        if isinstance(type.element, IntType):  # bytes: anything may have been copied there
            found.extend(range(offset + -offset % POINTER, offset + type.size - POINTER + 1, POINTER))
            return
        for index in range(type.count):
            _add_words(type.element, offset + index * type.element.size, found)
    elif _may_hold_pointers(type):
        found.extend(range(offset, offset + type.size - POINTER + 1, POINTER))


def _may_hold_pointers(type: Type) -> bool:
    """Numbers narrower than a pointer hold none, but for bytes, which are used for anything."""
    if isinstance(type, IntType):
        return type.width == 8 or type.width >= 64
    return not isinstance(type, FloatType)


def _values(page: Page, start: int, words: list[int] | None) -> Iterator[Value]:
    """The values of the words of a page that begins at an offset of its object."""
    end = start + len(page)
    offsets: Sequence[int] = range(start, end - POINTER + 1, POINTER)
    if words is not None:
        offsets = words[bisect_left(words, start) : bisect_right(words, end - POINTER)]
    for offset in offsets:
        data = page[offset & PAGE_MASK : (offset & PAGE_MASK) + POINTER]
        try:
            yield int.from_bytes(data, "little")
        except TypeError:
            yield join_bytes(data)


def _targets(word: Value, heap: dict[int, ObjectInfo], named: Named) -> Iterator[tuple[int, Value]]:
    if word.__class__ is Expr and has_undefined(word):
        word = with_zeros(word)
    if word.__class__ is not Expr:
        info = heap.get(word >> OBJECT_SHIFT)
        if info is not None and word & OFFSET_MASK <= info.size:
            yield info.id, True
        return
    numbers = base_numbers(word)
    meant = None if numbers is None else [named(number, word) for number in numbers if number]
    if meant is None or None in meant:  # which object is not told by the constant part
        meant = list(heap.values())
    for info in meant:
        if info is not None and info.id in heap:
            when = expr.ule(expr.sub(word, info.base, 64), info.size, 64)
            if when is not False:
                yield info.id, when
