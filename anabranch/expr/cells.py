"""Inputs of many bytes as arrays: which array a variable is a cell of, and reads at a symbolic offset.

Each cell of an input is a variable of its own, named `array[offset]`. A read at a symbolic offset is a tree
of choices among cells (`tables.py`), whose guards compare the offset with constants.
"""

from __future__ import annotations

from typing import NamedTuple

from .node import EQ, ITE, MASK, ULT, VAR, Expr, Value


class CellName(NamedTuple):
    """The array that a variable is a cell of, and where in it."""

    array: str
    offset: int


def cell_name(v: Expr) -> CellName | None:
    """The cell that a variable is; None for a variable that is no part of an array."""
    name: str = v.b
    if not name.endswith("]"):
        return None
    array, _, offset = name[:-1].rpartition("[")
    return CellName(array, int(offset)) if array and offset.isdecimal() else None


class Read(NamedTuple):
    """A choice among cells: `(first, last, cell)` for each range of values of the offset."""

    offset: Expr
    leaves: tuple[tuple[int, int, Expr], ...]


def as_read(e: Expr) -> Read | None:
    """A node as a read of cells of one array at a symbolic offset, if it is one."""
    if e.op != ITE or e.w == 1 or e.a.op not in (ULT, EQ):
        return None
    offset: Value = e.a.a
    leaves: list[tuple[int, int, Expr]] = []
    stack: list[tuple[Value, int, int]] = [(e, 0, MASK[offset.w])]
    arrays = set()
    while stack:
        n, first, last = stack.pop()
        if first > last:
            continue
        if n.__class__ is not Expr:
            return None
        if n.op == VAR:
            name = cell_name(n)
            if name is None:
                return None
            arrays.add(name.array)
            leaves.append((first, last, n))
            continue
        if n.op != ITE or n.a.op not in (ULT, EQ) or n.a.a is not offset or n.a.b.__class__ is not int:
            return None
        at = n.a.b
        if n.a.op == ULT:
            stack += ((n.c, max(first, at), last), (n.b, first, min(last, at - 1)))
        else:
            stack.append((n.c, first, min(last, at - 1)))
            stack.append((n.c, max(first, at + 1), last))
            if first <= at <= last:
                stack.append((n.b, at, at))
    leaves.sort(key=lambda leaf: leaf[0])
    return Read(offset, tuple(leaves)) if len(arrays) == 1 else None
