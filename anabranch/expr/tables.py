"""What a read at a symbolic offset finds: the values at the possible places as one expression.

Places that hold the same value form a run; so do places whose values are one function of the place, whether
numbers (`table[i] == i + 1`) or expressions (after `table[x] = y`, each byte is `ite(x == i, y, old)`). It
is read as that function of the offset. Where that leaves more than a few runs of constants, they are one node
(`select.py`). What remains are leaves of a balanced tree of choices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

from .arith import add, mul, sub
from .boolean import ite
from .casts import extract, zext
from .compare import ult
from .count import join_bytes
from .division import udiv
from .node import EQ, ITE, MASK, ULT, VAR, Expr, Value, undefined
from .registry import OPERATORS
from .select import select, table

SHORTEST = 4  # places that a function of the place must hold for
FEW_RUNS = 8  # constants in so many runs need no table
ADDRESSES = 1 << 32  # larger constants may be addresses, which the machine looks for among choices
NODES_LIMIT = 24  # nodes in which two values may differ


class Hole(NamedTuple):
    """A constant that changes with the place: `first + step * (number of the place in the run)`."""

    first: int
    step: int
    width: int


class Pattern(NamedTuple):
    """A node whose operands are patterns, holes, nodes or constants; `node` is the one of the first place."""

    node: Expr
    parts: tuple[Any, Any, Any]


def read_table(data: Sequence[Value], places: Sequence[int], size: int, offset: Expr) -> Value:
    """The value of `size` bytes at an offset that is one of the places; `data` begins at the first one.

    Bytes that were never written are one and the same here: what was read need not tell them apart.
    """
    start = places[0]
    unknown = undefined(8)
    data = [unknown if x.__class__ is Expr and x.op == VAR and x.a < 0 else x for x in data]
    values: list[Value] = []
    for place in places:
        if size == 1:
            values.append(data[place - start])
            continue
        piece = data[place - start : place - start + size]
        try:
            values.append(int.from_bytes(piece, "little"))
        except TypeError:
            values.append(join_bytes(piece))
    return lookup(offset, places, values, 8 * size)


def lookup(index: Value, places: Sequence[int], values: Sequence[Value], width: int) -> Value:
    """The value that belongs to the place that an index is; what it is at other places does not matter.

    The places ascend: a range, where functions of them are looked for, or any numbers of the index's width.
    The values are constants or expressions of one width.
    """
    if index.__class__ is not Expr:
        return values[bisect_right(places, index) - 1]
    runs = _runs(values, places, width, index)
    if len(runs) > FEW_RUNS and all(map(_is_number, values)):
        return select(index, table(width, places[1:], values))
    return _choose(_shorter(runs, index, width), index, width)


def _runs(values: Sequence[Value], places: Sequence[int], width: int, index: Expr) -> list[tuple[int, Value]]:
    """`(first place, value in the run)` of each run."""
    runs: list[tuple[int, Value]] = []
    even = places.step if isinstance(places, range) else 0
    position, count = 0, len(values)
    while position < count:
        value = values[position]
        end = position + 1
        while end < count and _same(value, values[end]):
            end += 1
        if end == position + 1 and even and position + SHORTEST <= count:
            found = _function(values, position, width)
            if found is not None:
                pattern, end = found
                value = _instance(pattern, _number(index, places[position], even))
        runs.append((places[position], value))
        position = end
    return runs


def _shorter(runs: list[tuple[int, Value]], index: Expr, width: int) -> list[tuple[int, Value]]:
    """The runs with one table in place of neighbours that are constants."""
    found: list[tuple[int, Value]] = []
    for constant, group in groupby(runs, lambda run: _is_number(run[1])):
        part = list(group)
        if constant and len(part) >= SHORTEST:
            cuts, values = zip(*part, strict=True)
            part = [(cuts[0], select(index, table(width, cuts[1:], values)))]
        found += part
    return found


def _same(x: Value, y: Value) -> bool:
    return x is y or (x.__class__ is int and y.__class__ is int and x == y)


def _is_number(value: Value) -> bool:
    return value.__class__ is not Expr and value < ADDRESSES


def _number(index: Expr, first: int, step: int) -> Value:
    """How many places an index lies behind the first one."""
    distance = sub(index, first, index.w)
    return distance if step == 1 else udiv(distance, step, index.w)


def _choose(runs: list[tuple[int, Value]], index: Expr, width: int) -> Value:
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    left = _choose(runs[:middle], index, width)
    right = _choose(runs[middle:], index, width)
    return ite(ult(index, runs[middle][0], index.w), left, right, width)


def chooses(e: Value, index: Value = None) -> bool:
    """Is this a choice between numbers by comparing an index (if given, this one) with a constant?"""
    if e.__class__ is not Expr or e.op != ITE or e.w == 1:
        return False
    guard = e.a
    if guard.op not in (ULT, EQ) or guard.b.__class__ is not int:
        return False
    return index is None or index is guard.a


def pieces(e: Expr) -> list[tuple[int, int, Value]]:
    """What choices by one index choose from: `(first, last, value)` for ranges of the index, ascending."""
    index = e.a.a
    found: list[tuple[int, int, Value]] = []
    stack: list[tuple[Value, int, int]] = [(e, 0, MASK[index.w])]
    while stack:
        n, first, last = stack.pop()
        if first > last:
            continue
        if not chooses(n, index):
            found.append((first, last, n))
            continue
        at = n.a.b
        if n.a.op == ULT:
            stack += ((n.c, max(first, at), last), (n.b, first, min(last, at - 1)))
        elif first <= at <= last:
            stack += ((n.c, at + 1, last), (n.b, at, at), (n.c, first, at - 1))
        else:
            stack.append((n.c, first, last))
    return found


# ---- one function for many places ----------------------------------------------------------------------


def _function(values: Sequence[Value], position: int, width: int) -> tuple[Any, int] | None:
    """A pattern that the values from a position on follow, and the end of its run if it is long enough."""
    budget = [NODES_LIMIT]
    pattern = _generalise(values[position], values[position + 1], width, budget)
    if pattern is None:
        return None
    end = position + 2
    while end < len(values) and _follows(pattern, values[end], end - position):
        end += 1
    return (pattern, end) if end - position >= SHORTEST else None


def _generalise(x: Value, y: Value, width: int, budget: list[int]) -> Any:
    """What two values at neighbouring places have in common, with holes where numbers differ; or None."""
    if x is y:
        return x
    if x.__class__ is int and y.__class__ is int:
        return Hole(x, y - x, width) if width <= 64 else None
    if x.__class__ is not Expr or y.__class__ is not Expr or x.op != y.op or x.w != y.w:
        return None
    budget[0] -= 1
    if x.op == VAR or OPERATORS[x.op].binds or budget[0] < 0:
        return None
    widths = OPERATORS[x.op].widths(x)
    parts = []
    for part_x, part_y, part_width in zip_longest((x.a, x.b, x.c), (y.a, y.b, y.c), widths):
        if _same(part_x, part_y):
            part = part_x
        elif part_width is None or _width(part_x, part_width) != _width(part_y, part_width):
            return None  # another parameter, or operands of other widths
        else:
            part = _generalise(part_x, part_y, part_width, budget)
            if part is None:
                return None
        parts.append(part)
    return Pattern(x, (parts[0], parts[1], parts[2]))


def _width(part: Value, width: int) -> int:
    return part.w if part.__class__ is Expr else width


def _follows(pattern: Any, value: Value, number: int) -> bool:
    """Is this the value of the pattern at a place, given by its number in the run?"""
    if pattern.__class__ is Hole:
        return value.__class__ is int and value == pattern.first + pattern.step * number
    if pattern.__class__ is not Pattern:
        return _same(pattern, value)
    node = pattern.node
    if value.__class__ is not Expr or value.op != node.op or value.w != node.w:
        return False
    a, b, c = pattern.parts  # widths agree if those of the operands that are nodes do
    return (
        (a is value.a or _follows(a, value.a, number))
        and (b is value.b or _follows(b, value.b, number))
        and (c is value.c or _follows(c, value.c, number))
    )


def _instance(pattern: Any, number: Value) -> Value:
    """The value of a pattern at the place with that number."""
    if pattern.__class__ is Hole:
        w = max(number.w, pattern.width)
        value = add(mul(zext(number, number.w, w), pattern.step & MASK[w], w), pattern.first, w)
        return extract(value, 0, pattern.width, w)
    if pattern.__class__ is not Pattern:
        return pattern
    a, b, c = (_instance(part, number) for part in pattern.parts)
    return OPERATORS[pattern.node.op].rebuild(pattern.node, a, b, c)
