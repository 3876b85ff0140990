"""What a read at a symbolic offset finds: the values at the possible places as one expression.

Places that hold the same value form a run; so do places whose values are one function of the place, whether
numbers (`table[i] == i + 1`) or expressions (after `table[x] = y`, each byte is `ite(x == i, y, old)`). It
is read as that function of the offset. The runs are leaves of a balanced tree of choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from .arith import add, mul, sub
from .boolean import ite
from .casts import extract
from .compare import ult
from .count import join_bytes
from .division import udiv
from .node import VAR, Expr, Value
from .registry import OPERATORS

SHORTEST = 4  # places that a function of the place must hold for
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
    """The value of `size` bytes at an offset that is one of the places; `data` begins at the first of them.

    The places ascend; if there are more than two, by a constant step where functions of them are looked for.
    """
    start = places[0]
    if size == 1:
        return _choose(_runs([data[place - start] for place in places], places, 8, offset), offset, 8)
    values: list[Value] = []
    for place in places:
        piece = data[place - start : place - start + size]
        try:
            values.append(int.from_bytes(piece, "little"))
        except TypeError:
            values.append(join_bytes(piece))
    return _choose(_runs(values, places, 8 * size, offset), offset, 8 * size)


def tabulate(values: Sequence[Value], places: Sequence[int], number: Expr, width: int) -> Value:
    """The value at a number of 64 bits that is one of the places, which ascend: a range if they have no gaps,
    so that functions of the number are found."""
    return _choose(_runs(list(values), places, width, number), number, width)


def _runs(values: list[Value], places: Sequence[int], width: int, offset: Expr) -> list[tuple[int, Value]]:
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
                value = _instance(pattern, _number(offset, places[position], even))
        runs.append((places[position], value))
        position = end
    return runs


def _same(x: Value, y: Value) -> bool:
    return x is y or (x.__class__ is int and y.__class__ is int and x == y)


def _number(offset: Expr, first: int, step: int) -> Value:
    """How many places an offset lies behind the first one."""
    distance = sub(offset, first, 64)
    return distance if step == 1 else udiv(distance, step, 64)


def _choose(runs: list[tuple[int, Value]], offset: Expr, width: int) -> Value:
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    left = _choose(runs[:middle], offset, width)
    right = _choose(runs[middle:], offset, width)
    return ite(ult(offset, runs[middle][0], 64), left, right, width)


# ---- one function for many places ----------------------------------------------------------------------


def _function(values: list[Value], position: int, width: int) -> tuple[Any, int] | None:
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
        value = add(mul(number, pattern.step & (1 << 64) - 1, 64), pattern.first, 64)
        return value if pattern.width == 64 else extract(value, 0, pattern.width, 64)
    if pattern.__class__ is not Pattern:
        return pattern
    a, b, c = (_instance(part, number) for part in pattern.parts)
    return OPERATORS[pattern.node.op].rebuild(pattern.node, a, b, c)
