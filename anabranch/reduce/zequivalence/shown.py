"""What a state shows to whoever goes on behind a call: outputs and the variables that can be told apart.

All states that look the same show the same; which slices of their path conditions that touches is their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, repeat
from operator import is_, is_not
from typing import Any

from anabranch.expr import Expr, expr_vars
from anabranch.reduce.zequivalence.observable import Common
from anabranch.reduce.zequivalence.pieces import Output, Piece, Pieces
from anabranch.solver import Slice

Changed = dict[int, Sequence[int]]
"""Offsets by page of bytes that are not what they were."""


class Shown:
    """Outputs of a state, its own ones and pieces that it shares, and the observable variables."""

    __slots__ = ("hidden", "known", "name", "observable", "order", "outputs", "pieces", "symbolic")

    def __init__(self, outputs: list[Output], pieces: list[Piece], observable: frozenset[int]) -> None:
        self.outputs = outputs
        self.pieces = pieces
        self.observable = observable
        found: set[int] = set()
        for _, value, _ in outputs:
            if value.__class__ is Expr:
                found.update(expr_vars(value))
        found.update(*[piece.variables for piece in pieces])
        self.hidden = tuple(sorted(found - observable))  # the unobservable variables in outputs
        self.order = tuple(sorted(observable))
        # What `parts` keeps: a number for all of it, those of the known outputs, and the others.
        self.name = 0
        self.known: tuple[int, ...] | None = None
        self.symbolic: list[Output] = []

    def parts(self, slices: dict[int, Slice], before: dict[int, Slice]) -> dict[Slice, None]:
        """The slices that say something about observable variables or outputs, as far as they are not the
        same on all paths of the call.

        Slices share no variable, so one that touches neither is satisfied by itself, whatever the others say.
        """
        now = tuple(map(slices.get, self.order))
        found = dict.fromkeys(map(slices.get, self.hidden))
        found |= dict.fromkeys(compress(now, map(is_not, now, map(before.get, self.order))))
        # Variables of what this path has not filled are in no slice, nor is undefined data (negative).
        found.pop(None, None)
        return found  # type: ignore[return-value]


def page_pieces(pages: Mapping[int, Any], common: Common, pieces: Pieces) -> tuple[list[Piece], Changed]:
    """Outputs for the bytes that are not what they were, on this path or on another of the call, where no
    objects are new."""
    changed = pages_gone(pages, common)
    found: list[Piece] = []
    for key, page in touched_pages(pages, common):
        piece = pieces.of(key, page, pieces.numbers.of(page), common.touched[key])
        found.append(piece)
        changed[key] = piece.covered
    return found, changed


def pages_gone(pages: Mapping[int, Any], common: Common) -> Changed:
    """Pages that are no longer there, as far as they had variables."""
    if not common.by_page:
        return {}
    before = common.pages
    gone = [key for key in compress(before, map(is_, map(pages.get, before), repeat(None)))]
    return {key: range(len(before[key])) for key in gone if key not in common.filled}


def touched_pages(pages: Mapping[int, Any], common: Common) -> list[tuple[int, Any]]:
    """Pages in which something has changed on some path, as this one has them."""
    touched = common.touched
    if not touched:
        return []
    found = [(key, pages.get(key)) for key in (sorted(touched) if len(touched) > 1 else touched)]
    if common.filled:
        found = [
            (key, common.pages[key] if page is None and key in common.filled else page) for key, page in found
        ]
    return [one for one in found if one[1] is not None]
