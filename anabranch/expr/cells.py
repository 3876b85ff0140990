"""Inputs of many bytes as arrays: which array a variable is a cell of, and reads at a symbolic offset.

Each cell of an input is a variable of its own, named `array[offset]`. A read at a symbolic offset is a tree
of choices among cells (`tables.py`), whose guards compare the offset with constants.
"""

from __future__ import annotations

from typing import NamedTuple

from .node import VAR, Expr
from .tables import chooses, pieces


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
    if not chooses(e):
        return None
    arrays = set()
    leaves = pieces(e)
    for _, _, leaf in leaves:
        name = cell_name(leaf) if leaf.__class__ is Expr and leaf.op == VAR else None
        if name is None:
            return None
        arrays.add(name.array)
    return Read(e.a.a, tuple(leaves)) if len(arrays) == 1 else None
