"""What an address is based on: the objects whose numbers its constant parts name, and when each of them.

The constant part of a sum carries the number of an object, so `table + index` names its object without the
solver. Where paths were merged, an address is a choice between such sums; in memory a choice between
constants comes apart into choices between bytes, and is put together again here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from anabranch import expr
from anabranch.expr import Expr, substitute
from anabranch.expr.boolean import bool_and, bool_or, negation
from anabranch.expr.node import ITE, SELECT, VAR
from anabranch.expr.registry import OPERATORS
from anabranch.expr.variables import postorder_within, values_within
from anabranch.machine.objects import NEAR

Value = Any
Cases = dict[int, Value]
"""Conditions by number or value; one of them holds, and only one."""

MAX_PARTS = 512  # of an address that are looked at to find the objects it names
MAX_BASES = 16
SUMS = ("add", "sub")
INDEX_BITS = 32  # no value of so few bits is an address


def nearest(constant: int) -> int:
    """The object number that a constant part names; `p[n - 1]` leaves it somewhat below the object."""
    return (constant + NEAR) >> 32 & 0xFFFFFFFF


def number_of(address: Value) -> Value:
    """The number that `nearest` finds, of an address that may be an expression."""
    if address.__class__ is int:
        return nearest(address)
    return expr.extract(expr.add(address, NEAR, 64), 32, 32, 64)


# ---- numbers -------------------------------------------------------------------------------------------


def base_numbers(address: Expr) -> list[int] | None:
    """Object numbers that the constant parts of an address add up to, through sums, differences and `ite`s; 0
    stands for none. None if there are too many to look at.

    Only whole sums are looked at: in `p + (end - q)` the constant part of `end` names nothing that the
    address is based on.
    """
    found = _numbers_below(address)
    return None if found is None else sorted(_numbers(address, found))


def _numbers_below(address: Expr) -> dict[Value, set[int]] | None:
    order = postorder_within([address], MAX_PARTS, _parts)
    if order is None:
        return None
    numbers: dict[Value, set[int]] = {}
    for node in order:
        if node.op == "ite":
            found = _numbers(node.b, numbers) | _numbers(node.c, numbers)
        elif node.op in SUMS:
            sign = 1 if node.op == "add" else -1
            right = _numbers(node.b, numbers)
            found = {(x + sign * y) & 0xFFFFFFFF for x in _numbers(node.a, numbers) for y in right}
        else:
            found = {0}
        if len(found) > MAX_BASES:
            return None
        numbers[node] = found
    return numbers


def _parts(e: Expr) -> list[Expr]:
    parts = (e.a, e.b) if e.op in SUMS else (e.b, e.c) if e.op == "ite" else ()
    return [part for part in parts if part.__class__ is Expr]


def _numbers(part: Value, known: dict[Value, set[int]]) -> set[int]:
    return known[part] if part.__class__ is Expr else {nearest(part)}


def cases_by_base(address: Expr) -> Cases | None:
    """For each object number that an address may be based on, the condition under which it is."""
    order = postorder_within([address], MAX_PARTS, _parts)
    if order is None:
        return None
    cases: dict[Expr, Cases] = {}

    def of(part: Value) -> Cases:
        return cases[part] if part.__class__ is Expr else {nearest(part): True}

    for node in order:
        found: Cases = {}
        if node.op == "ite":
            _add_choice(found, node.a, of(node.b), of(node.c))
        elif node.op in SUMS:
            sign = 1 if node.op == "add" else -1
            for (x, if_x), (y, if_y) in product(of(node.a).items(), of(node.b).items()):
                _add(found, (x + sign * y) & 0xFFFFFFFF, bool_and(if_x, if_y))
        else:
            found[0] = True
        if len(found) > MAX_BASES:
            return None
        cases[node] = found
    return cases[address]


def _add(cases: Cases, key: int, condition: Value) -> None:
    if condition is not False:
        cases[key] = bool_or(cases.get(key, False), condition)


def _add_choice(cases: Cases, guard: Expr, if_true: Cases, if_false: Cases) -> None:
    for key, condition in if_true.items():
        _add(cases, key, bool_and(guard, condition))
    for key, condition in if_false.items():
        _add(cases, key, bool_and(negation(guard), condition))


def narrowed(address: Expr, number: int) -> Value:
    """The address on paths where it is based on this object: without the choices that lead to others."""
    numbers = _numbers_below(address)
    return address if numbers is None else _narrowed(address, number, numbers)


def _narrowed(part: Value, number: int, numbers: dict[Value, set[int]]) -> Value:
    while part.__class__ is Expr:
        if part.op == "ite":
            sides = [side for side in (part.b, part.c) if number in _numbers(side, numbers)]
            if len(sides) != 1:
                return part
            part = sides[0]
        elif part.op in SUMS:
            left, right = _numbers(part.a, numbers), _numbers(part.b, numbers)
            if len(right) == 1:
                sign = 1 if part.op == "add" else -1
                wanted = (number - sign * next(iter(right))) & 0xFFFFFFFF
                a, b = _narrowed(part.a, wanted, numbers), part.b
            elif len(left) == 1 and part.op == "add":
                a, b = part.a, _narrowed(part.b, (number - next(iter(left))) & 0xFFFFFFFF, numbers)
            else:
                return part
            return expr.add(a, b, 64) if part.op == "add" else expr.sub(a, b, 64)
        else:
            return part
    return part


# ---- choices between constants -------------------------------------------------------------------------


def with_whole_choices(address: Expr) -> Value:
    """The address with one choice for each part that is put together from choices between bytes."""
    order = postorder_within([address], MAX_PARTS, _parts)
    if order is None:
        return address
    wholes: dict[Expr, Value] = {}
    for part in order:
        if part.op in SUMS or part.op == ITE or not _may_be_address(part):
            continue
        cases = constant_cases(part)
        if cases is not None and any(map(nearest, cases)):
            wholes[part] = _choice(cases)
    return substitute(address, wholes) if wholes else address


def _may_be_address(part: Expr) -> bool:
    return part.op != VAR and not (part.op == "zext" and part.a.w <= INDEX_BITS)


def _choice(cases: Cases) -> Value:
    values = sorted(cases)
    chosen: Value = values[-1]
    for value in reversed(values[:-1]):
        chosen = expr.ite(cases[value], value, chosen, 64)
    return chosen


def constant_cases(part: Expr) -> Cases | None:
    """The constants that a value is chosen from, and when it is which; None if it is more than a choice."""
    order = values_within(part, MAX_PARTS)
    if order is None:
        return None
    cases: dict[Expr, Cases] = {}
    for node in order:
        found = _constants(node, cases)
        if found is None or len(found) > MAX_BASES:
            return None
        cases[node] = found
    return cases[part]


def _constants(node: Expr, known: dict[Expr, Cases]) -> Cases | None:
    found: Cases = {}
    if node.op == ITE and node.w > 1:
        sides = [known[side] if side.__class__ is Expr else {side: True} for side in (node.b, node.c)]
        _add_choice(found, node.a, *sides)
        return found
    if node.op == SELECT:
        values = set(node.c.values)
        return {v: expr.eq(node, v, node.w) for v in values} if len(values) <= MAX_BASES else None
    operator = OPERATORS.get(node.op)
    if operator is None or operator.binds or node.w == 1:
        return None  # variables, and conditions used as numbers
    operands = [known[x] if x.__class__ is Expr else {x: True} for x in (node.a, node.b, node.c)]
    for combination in product(*(cases.items() for cases in operands)):
        condition = _all(part for _, part in combination)
        if condition is not False and not _exclude(combination, operands):
            _add(found, operator.evaluate(node, *(value for value, _ in combination)), condition)
        if len(found) > MAX_BASES:
            return None
    return found


def _all(parts: Iterable[Value]) -> Value:
    condition: Value = True
    for part in parts:
        condition = bool_and(condition, part)
    return condition


def _exclude(combination: tuple[tuple[Value, Value], ...], operands: list[Cases]) -> bool:
    """Is one operand's case a different case of another operand, so that both never hold?"""
    for (_, mine), (position, (value, _)) in product(combination, enumerate(combination)):
        others = (condition for other, condition in operands[position].items() if other != value)
        if mine is not True and any(condition is mine for condition in others):
            return True
    return False


def is_made_of_constants(address: Value) -> bool:
    """Can the address of an object have gone into an address? Not if it is a number that was only ever input,
    or null with an index."""
    if address.__class__ is int:
        return nearest(address) != 0
    order = postorder_within([address], MAX_PARTS, _parts)
    if order is None:
        return True
    for part in order:
        if part.op in SUMS or part.op == ITE:
            if any(x.__class__ is int and nearest(x) for x in (part.a, part.b, part.c)):
                return True
        elif _may_be_address(part):
            below = values_within(part, MAX_PARTS)
            if below is None or not any(node.op == VAR for node in below):
                return True
            if any(x.__class__ is int and nearest(x) for node in below for x in (node.a, node.b, node.c)):
                return True
    return False
