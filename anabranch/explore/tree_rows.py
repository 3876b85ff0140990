"""Rows of the execution tree in the forms they are kept in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from anabranch.explore.coverage import BlockTable
from anabranch.explore.kinds import FORK_NUMBERS, end_number
from anabranch.explore.tree import Row
from anabranch.expr import short_text
from anabranch.report.events import Listener
from anabranch.report.tree_db import DetailRow, NodeRow


def node_rows(rows: Iterable[Row], asm_line: Callable[[int], int]) -> list[NodeRow]:
    """As KLEE's readers know them; `asm_line` gives the line of a block in the run's `assembly.ll`."""
    return [
        (
            ident,
            state,
            left,
            right,
            asm_line(block),
            FORK_NUMBERS.get(kind, 0) if left else end_number(kind),
        )
        for ident, state, left, right, block, kind, _ in rows
    ]


class Details:
    """Location, condition and end of rows as text.

    Texts are kept, because locations and conditions come again and again. Those of conditions are dropped
    when there are many, and long conditions are cut.
    """

    def __init__(
        self,
        describe: Callable[[int], str],
        show: Callable[[Any], str],
        merged_into: dict[int, int] | None = None,
        longest: int = 2000,
        kept: int = 20_000,
    ) -> None:
        self._describe = describe
        self._show = show
        self._merged_into = {} if merged_into is None else merged_into
        self._longest = longest
        self._kept = kept
        self._locations: dict[int, str] = {}
        self._conditions: dict[int, tuple[Any, str]] = {}

    def rows(self, rows: Iterable[Row]) -> list[DetailRow]:
        found: list[DetailRow] = []
        for ident, _, left, _, block, kind, detail in rows:
            where = self._locations.get(block)
            if where is None:
                where = self._locations[block] = self._describe(block)
            if left:
                found.append((ident, where, None if detail is None else self._text(detail), None))
            else:
                into = self._merged_into.pop(ident, None)
                end = kind if into is None else f"{kind} into node {into}"
                found.append((ident, where, None, end))
        return found

    def _text(self, condition: Any) -> str:
        # Conditions are found by identity, because `==` on expressions builds an expression. The entry keeps
        # the expression alive, so that no other gets its id.
        known = self._conditions.get(id(condition))
        if known is not None:
            return known[1]
        if len(self._conditions) >= self._kept:
            self._conditions.clear()
        text = self._show(condition)
        if len(text) > self._longest:
            text = text[: self._longest] + " ..."
        self._conditions[id(condition)] = (condition, text)
        return text


class RowWriter:
    """Holds rows until there are many, and hands them to the listener."""

    def __init__(self, listener: Listener, table: BlockTable, limit: int) -> None:
        self.merged_into: dict[int, int] = {}
        """Node that ended -> node that goes on for both, as the tree tells it."""
        self._listener = listener
        self._table = table
        self._limit = limit
        self._details = Details(table.describe, short_text, self.merged_into)
        self._batches: list[list[Row]] = []
        self._count = 0

    def keep(self, rows: list[Row]) -> None:
        self._batches.append(rows)
        self._count += len(rows)
        if self._count >= self._limit:
            self.write()

    def write(self) -> None:
        batches, self._batches, self._count = self._batches, [], 0
        for batch in batches:
            self._listener.on_tree(node_rows(batch, self._table.text_line), self._details.rows(batch))
