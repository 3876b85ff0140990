"""The memory of two states as one: objects, and the bytes in which their pages differ.

Values of several bytes stay whole: where either side holds all bytes of one expression, or both hold a
pointer or an aligned word of known bytes, the choice is made once for the whole word.
"""

from __future__ import annotations

from typing import Any

import immutables

from anabranch.expr import Expr, byte_parts, join_bytes, split_value, undefined
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.values import choose
from anabranch.machine.memory import PAGE_BITS, Page
from anabranch.machine.objects import OBJECT_SHIFT, ObjectInfo
from anabranch.machine.sparse import same_runs
from anabranch.machine.state import State

Value = Any
Objects = immutables.Map[int, ObjectInfo]
Pages = immutables.Map[int, Page]
POINTER = 8
WORD = 4


def join_objects(a: Any, b: Any, heaps_must_agree: bool) -> Objects:
    """The objects of both sides; one that only one side has is reached by that side's pointers only."""
    if a is b:
        return a  # type: ignore[no-any-return]
    more: dict[int, ObjectInfo] = {}
    for number, other in b.items():
        mine = a.get(number)
        if mine is other:
            continue
        if mine is None:
            _check_alone(other, heaps_must_agree)
            more[number] = other
        elif mine.end != other.end:
            raise CannotJoin("an object freed on one side")
        elif mine.size != other.size or mine.site is not other.site or mine.extent != other.extent:
            raise CannotJoin("objects of different sizes")
        elif not same_runs(mine.blank, other.blank):
            raise CannotJoin("large objects of different contents")
    for number, mine in a.items():
        if number not in b:
            _check_alone(mine, heaps_must_agree)
    return a.update(more) if more else a  # type: ignore[no-any-return]


def _check_alone(info: ObjectInfo, heaps_must_agree: bool) -> None:
    if info.site.kind == "stack":
        raise CannotJoin("locals of different calls")
    if heaps_must_agree and info.site.kind == "heap" and not info.end:
        raise CannotJoin("different heaps while leaks are looked for")


def join_pages(guard: Expr, a: State, b: State, objects: Objects) -> Pages:
    """The pages of both sides, joined byte by byte where they differ."""
    mine: Any = a.pages
    others: Any = b.pages
    if mine is others:
        return mine  # type: ignore[no-any-return]
    changed: dict[int, Page] = {}
    common = 0
    for key, other in others.items():
        page = mine.get(key)
        if page is None:
            page = first_page(key, a)
            changed[key] = other if page is None else join_page(guard, page, other, objects)
            continue
        common += 1
        if page is other:
            continue
        joined = join_page(guard, page, other, objects)
        if joined is not page:
            changed[key] = joined
    if common < len(mine):
        for key, page in mine.items():
            other = first_page(key, b) if key not in others else None
            if other is not None:
                changed[key] = join_page(guard, page, other, objects)
    return mine.update(changed) if changed else mine  # type: ignore[no-any-return]


def first_page(key: int, state: State) -> Page | None:
    """A page that only another state has, as this state would find it; None if it has no such object."""
    info = state.objects.get(key >> OBJECT_SHIFT - PAGE_BITS)
    if info is None or info.end:
        return None
    if info.blank is not None:
        return info.blank_page(key)
    if info.site.first is None or key not in info.site.first:
        raise CannotJoin("an object filled on one side")
    return info.site.first[key]


def differing(a: Page, b: Page) -> list[int]:
    """Offsets of the bytes that differ."""
    if a.__class__ is bytearray and b.__class__ is bytearray and a == b:
        return []
    # Bytes are small integers, of which there is one object each, or interned expressions.
    return [offset for offset, (x, y) in enumerate(zip(a, b, strict=True)) if x is not y]


def join_page(guard: Expr, a: Page, b: Page, objects: Objects) -> Page:
    offsets = differing(a, b)
    if not offsets:
        return a
    page = list(a)
    done = 0
    for offset in offsets:
        if offset < done:
            continue
        start, size = word_at(a, b, offset, objects)
        if start < done:
            start, size = offset, 1
        value = choose(guard, whole(a, start, size), whole(b, start, size), 8 * size)
        page[start : start + size] = split_value(value, size)
        done = start + size
    return page


def whole(page: Page, start: int, size: int) -> Value:
    """Some bytes as one value.

    An uninitialised byte becomes one that differs from those beside it, so that a value that is read as a
    whole depends on all of them.
    """
    unknown = undefined(8)
    data = [
        undefined(8, 1 + start + i) if x is unknown else x for i, x in enumerate(page[start : start + size])
    ]
    if size == 1:
        return data[0]
    try:
        return int.from_bytes(data, "little")
    except TypeError:
        return join_bytes(data)


def word_at(a: Page, b: Page, offset: int, objects: Objects) -> tuple[int, int]:
    """Start and size of the value that the byte at an offset belongs to."""
    words = [word for word in (expression_word(a, offset), expression_word(b, offset)) if word is not None]
    if words:
        return max(words, key=lambda word: word[1])
    start = offset & ~(POINTER - 1)
    if pointer_like(a, start, objects) or pointer_like(b, start, objects):
        return start, POINTER
    start = offset & ~(WORD - 1)
    if known(a, start, WORD) is not None and known(b, start, WORD) is not None:
        return start, WORD
    return offset, 1


def expression_word(page: Page, offset: int) -> tuple[int, int] | None:
    """The whole expression that a byte is a part of, if all of its bytes lie there."""
    byte = page[offset]
    if byte.__class__ is not Expr or byte.op != "extract":
        return None
    source = byte.a
    if source.w % 8 or byte.c % 8 or source.w > 64:
        return None
    start, size = offset - byte.c // 8, source.w // 8
    if start < 0 or start + size > len(page):
        return None
    parts = byte_parts(source)
    for mine, part in zip(page[start : start + size], parts, strict=True):
        if mine is not part:
            return None
    return start, size


def known(page: Page, start: int, size: int) -> int | None:
    data = page[start : start + size]
    if len(data) < size:
        return None
    try:
        return int.from_bytes(data, "little")
    except TypeError:
        return None


def pointer_like(page: Page, start: int, objects: Objects) -> bool:
    value = known(page, start, POINTER)
    return value is not None and value >> 32 in objects and bool(value >> 32)
