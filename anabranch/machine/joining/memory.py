"""The memory of two states as one: objects, and the bytes in which their pages differ.

Values of several bytes stay whole: where either side holds all bytes of one expression, or both hold a
pointer or an aligned word of known bytes, the choice is made once for the whole word. An object that has
another size on the other side gets an extent, which is that choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import immutables

from anabranch.expr import Expr, byte_parts, join_bytes, split_value
from anabranch.machine.extents import SizeExtent, same_extent, size_of
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.values import choose
from anabranch.machine.objects import LIMITED, NUMBER_MASK, PAGE_NUMBER_BITS, ObjectInfo
from anabranch.machine.pages import PAGE_BITS, PAGE_SIZE, Page
from anabranch.machine.sparse import SPARSE_SIZE, same_runs
from anabranch.machine.state import State

Value = Any
Objects = immutables.Map[int, ObjectInfo]
Pages = immutables.Map[int, Page]
Pair: TypeAlias = tuple[ObjectInfo, ObjectInfo]
POINTER = 8
WORD = 4


def join_objects(a: Any, b: Any, heaps_must_agree: bool) -> tuple[Objects, list[Pair]]:
    """The objects of both sides, and those that have another size on the other side, as on either of them.
    One that only one side has is reached by that side's pointers only."""
    pairs: list[Pair] = []
    if a is b:
        return a, pairs
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
        elif mine.site is not other.site:
            raise CannotJoin("different objects")
        elif mine.size != other.size or not same_extent(mine.extent, other.extent):
            if not (_has_size(mine) and _has_size(other)):
                raise CannotJoin("objects of different sizes")
            pairs.append((mine, other))
        elif not same_runs(mine.blank, other.blank):
            raise CannotJoin("large objects of different contents")
    for number, mine in a.items():
        if number not in b:
            _check_alone(mine, heaps_must_agree)
    return a.update(more) if more else a, pairs


def _has_size(info: ObjectInfo) -> bool:
    """Is the size of an object one that may depend on the input?"""
    size_only = info.extent is None or isinstance(info.extent, SizeExtent)
    return size_only and info.blank is None and info.site.first is None and info.size <= SPARSE_SIZE


def resize(guard: Expr, objects: Objects, pairs: Sequence[Pair]) -> Objects:
    """Let objects that have different sizes on two sides have a size that depends on the side."""
    resized = {}
    for mine, other in pairs:
        capacity = max(mine.size, other.size)
        if mine.end:
            resized[mine.id] = mine if mine.size == capacity else other
        else:
            size: Value = choose(guard, size_of(mine), size_of(other), 64)
            resized[mine.id] = mine.limited(SizeExtent(size), capacity)
    return objects.update(resized)


def resize_pages(pages: Pages, others: Pages, pairs: Sequence[Pair]) -> Pages:
    """The pages of one side, those of resized objects as long and under the keys that the joined state has
    them. Nobody can tell what is behind the end of an object: it is what the other side has there."""
    more = pages.mutate()
    for mine, other in pairs:
        if mine.end:
            continue
        data = [byte for key in mine.keys for byte in pages[key]]
        data += [byte for key in other.keys for byte in others[key]][len(data) :]
        for key in mine.keys:
            del more[key]
        first = mine.id << PAGE_NUMBER_BITS | LIMITED
        for start in range(0, max(1, len(data)), PAGE_SIZE):
            more[first + (start >> PAGE_BITS)] = data[start : start + PAGE_SIZE]
    return more.finish()


def _check_alone(info: ObjectInfo, heaps_must_agree: bool) -> None:
    if info.site.kind == "stack":
        raise CannotJoin("locals of different calls")
    if heaps_must_agree and info.site.kind == "heap" and not info.end:
        raise CannotJoin("different heaps while leaks are looked for")


def join_pages(guard: Expr, a: State, b: State, objects: Objects, pairs: Sequence[Pair]) -> Pages:
    """The pages of both sides, joined byte by byte where they differ."""
    mine: Any = a.pages
    others: Any = b.pages
    if pairs:
        turned = [(other, own) for own, other in pairs]
        mine, others = resize_pages(mine, others, pairs), resize_pages(others, mine, turned)
    elif mine is others:
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
    info = state.objects.get(key >> PAGE_NUMBER_BITS & NUMBER_MASK)
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
    """Some bytes as one value."""
    data = page[start : start + size]
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
