"""Synthesis (section 3.3): one expression with linear holes a*x+b from its instances at numbers x.

All instances must be equal but for numeric constants and the offsets of cells of one input. Every synthesised
template is checked: its instances are the very expressions it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from anabranch.expr import MASK, Expr, Value, add, extract, lookup, mul, var, zext
from anabranch.expr.cells import cell_name
from anabranch.expr.node import ADD, EQ, ULT, VAR
from anabranch.expr.registry import OPERATORS

from .words import Skeletons

NODES_LIMIT = 100  # nodes in which instances may differ


class Hole(NamedTuple):
    """The number a*x+b of a width."""

    a: int
    b: int
    width: int


class Cell(NamedTuple):
    """The variable `array[a*x+b]` of a width."""

    array: str
    a: int
    b: int
    width: int


class Shape(NamedTuple):
    """A node whose operands are shapes, holes, cells, nodes or constants; `node` is one of the instances."""

    node: Expr
    parts: tuple[Any, Any, Any]


class Template:
    """An expression with a free number x, and the numbers it is known for."""

    __slots__ = ("body", "numbers", "width")

    def __init__(self, body: Any, numbers: tuple[int, ...], width: int) -> None:
        self.body = body
        self.numbers = numbers
        """Ascending."""
        self.width = width

    def instance(self, x: int) -> Value:
        """The expression at a number."""
        return _instance(self.body, x)

    def at(self, k: Expr) -> Value:
        """The expression at an expression k that has one of the numbers as its value."""
        return _symbolic(self.body, k, self.numbers)

    def cells(self, x: int) -> list[Expr]:
        """The cells whose offset depends on x, at a number."""
        return [_instance(part, x) for part in _leaves(self.body) if part.__class__ is Cell and part.a]


def synthesise(values: Sequence[Value], numbers: Sequence[int], width: int) -> Template | None:
    """The template whose instances at the numbers are the values, if there is one with linear holes."""
    body = _common(list(values), numbers, width, [NODES_LIMIT])
    if body is None:
        return None
    for value, x in zip(values, numbers, strict=True):
        instance = _instance(body, x)
        if not (instance is value or (instance.__class__ is value.__class__ is int and instance == value)):
            return None
    return Template(body, tuple(sorted(numbers)), width)


def linear(numbers: Sequence[int], values: Sequence[int], modulus: int = 0) -> tuple[int, int] | None:
    """a and b such that a*x+b is the value at each number (modulo a power of two)."""
    x, y = numbers[0], values[0]
    other = next((i for i, number in enumerate(numbers) if number != x), None)
    if other is None:
        return (0, y) if all(value == y for value in values) else None
    difference = values[other] - y
    if modulus:
        difference = (difference + modulus // 2) % modulus - modulus // 2
    a, rest = divmod(difference, numbers[other] - x)
    b = y - a * x
    wrong = [a * n + b - v for n, v in zip(numbers, values, strict=True)]
    if rest or any(d % modulus if modulus else d for d in wrong):
        return None
    return a, b


def _common(values: list[Value], numbers: Sequence[int], width: int, budget: list[int]) -> Any:
    first = values[0]
    if all(v is first for v in values):
        return first
    if all(v.__class__ is int for v in values):
        found = linear(numbers, values, MASK[width] + 1)
        return None if found is None else Hole(*found, width)
    budget[0] -= 1
    if budget[0] < 0 or any(v.__class__ is not Expr or v.w != first.w for v in values):
        return None
    if all(v.op == VAR for v in values):
        return _cell(values, numbers)
    node, rows = _readings(values)
    if node is None or OPERATORS[node.op].binds:
        return None
    parts = []
    for column, part_width in zip_longest(zip(*rows, strict=True), OPERATORS[node.op].widths(node)):
        part = column[0]
        if any(p is not part and not (p.__class__ is part.__class__ is int and p == part) for p in column):
            if part_width is None:
                return None  # another parameter
            part = _common(list(column), numbers, part_width, budget)
            if part is None:
                return None
        parts.append(part)
    return Shape(node, (parts[0], parts[1], parts[2]))


def _cell(values: list[Expr], numbers: Sequence[int]) -> Cell | None:
    names = [cell_name(v) for v in values]
    first = names[0]
    if first is None or any(name is None or name.array != first.array for name in names):
        return None
    found = linear(numbers, [name.offset for name in names if name is not None])
    return None if found is None else Cell(first.array, *found, values[0].w)


def _readings(values: list[Expr]) -> tuple[Expr | None, list[tuple[Value, Value, Value]]]:
    """A node with the operator that all values have, and the operands of each under that operator."""
    node = next((v for v in values if v.op == ADD and v.b.__class__ is int), None)
    if node is not None and any(v.op != ADD or v.b.__class__ is not int for v in values):
        return node, [
            (v.a, v.b, None) if v.op == ADD and v.b.__class__ is int else (v, 0, None) for v in values
        ]
    node = next((v for v in values if v.op == ULT), values[0])
    rows = []
    for v in values:
        if v.op == node.op:
            rows.append((v.a, v.b, v.c))
        elif node.op == ULT and v.op == EQ and v.b.__class__ is int and v.b == 0:
            rows.append((v.a, 1, None))  # x < 1
        else:
            return None, []
    if OPERATORS[node.op].commutative and all(x.__class__ is Expr for row in rows for x in row[:2]):
        skeletons = Skeletons()
        left = skeletons.of(rows[0][0])
        rows = [row if skeletons.of(row[0]) == left else (row[1], row[0], row[2]) for row in rows]
    return node, rows


def _instance(body: Any, x: int) -> Value:
    kind = body.__class__
    if kind is Hole:
        return body.a * x + body.b & MASK[body.width]
    if kind is Cell:
        return var(f"{body.array}[{body.a * x + body.b}]", body.width)
    if kind is Shape:
        return OPERATORS[body.node.op].rebuild(body.node, *(_instance(part, x) for part in body.parts))
    return body


def _symbolic(body: Any, k: Expr, numbers: tuple[int, ...]) -> Value:
    kind = body.__class__
    if kind is Hole:
        w = body.width
        wide = k if k.w == w else zext(k, k.w, w) if k.w < w else extract(k, 0, w, k.w)
        return add(mul(wide, body.a & MASK[w], w), body.b & MASK[w], w)
    if kind is Cell:
        return lookup(k, numbers, [_instance(body, x) for x in numbers], body.width)
    if kind is Shape:
        return OPERATORS[body.node.op].rebuild(
            body.node, *(_symbolic(part, k, numbers) for part in body.parts)
        )
    return body


def _leaves(body: Any) -> Iterator[Any]:
    if body.__class__ is Shape:
        for part in body.parts:
            yield from _leaves(part)
    else:
        yield body
