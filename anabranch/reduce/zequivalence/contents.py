"""What pages hold, one object for equal contents, and the outputs that it makes.

States share most pages, and write the same things to others: a `Content` is what they are compared by. Its
variables and its outputs are found once for all states behind all calls.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from operator import is_
from typing import Any

from anabranch.expr import Expr, expr_vars, join_bytes
from anabranch.machine.joining.memory import expression_word
from anabranch.memo import Memo
from anabranch.reduce.zequivalence.canonical import Table
from anabranch.reduce.zequivalence.constraint import Output
from anabranch.reduce.zequivalence.reduction import code
from anabranch.reduce.zequivalence.variables import variables_of

PAGES_KEPT = 50_000  # pages whose contents are known
BYTES_KEPT = 2_000_000  # of pages with expressions, at about 16 bytes each
POINTER = 8

Pointer = Callable[[int, int], tuple[Hashable, int] | None]
"""What a known word at an offset points to, by a name that is the same on all paths, and the offset there."""


class Outputs:
    """Some outputs of a state: numbers of the known ones in the table of forms, and the symbolic ones."""

    __slots__ = ("everything", "known", "symbolic", "variables")

    def __init__(self, everything: list[Output], table: Table) -> None:
        self.everything = everything
        self.symbolic = [output for output in everything if output[1].__class__ is Expr]
        self.known = [
            table.number(("output", name, width, code(int(value))))
            for name, value, width in everything
            if value.__class__ is not Expr
        ]
        self.variables: set[int] = set()
        for _, value, _ in self.symbolic:
            self.variables.update(expr_vars(value))


@dataclass(slots=True, eq=False)
class Content:
    """What a page holds, wherever it lies."""

    page: Any  # bytes, a list with expressions, or None where there is no page
    variables: frozenset[int] = frozenset()
    _outputs: dict[int, Outputs] = field(default_factory=dict)

    def outputs(self, key: int, table: Table) -> Outputs:
        """The outputs of a page with this content, where no objects are new."""
        found = self._outputs.get(key)
        if found is None:
            found = self._outputs[key] = Outputs(page_outputs(("page", key), self.page), table)
        return found


ABSENT = Content(None)


class Contents:
    """The contents of all pages. What was forgotten gets a new object: it is then told apart from the former
    one by its fingerprint, and not by its canonical form."""

    def __init__(self) -> None:
        # By the identity of a page, which is held so that it keeps it.
        self._pages: Memo[int, tuple[Any, Content]] = Memo(PAGES_KEPT)
        self._known: dict[bytes, Content] = {}
        self._symbolic: dict[int, list[Content]] = {}  # by hash
        self._bytes = 0

    def of(self, page: Any) -> Content:
        found = self._pages.get(id(page))
        if found is not None:
            return found[1]
        if page is None:
            return ABSENT
        if self._bytes >= BYTES_KEPT:
            self._known.clear()
            self._symbolic.clear()
            self._bytes = 0
        try:
            known = bytes(page)
        except TypeError:
            content = self._with_expressions(page)
        else:
            content = self._known.get(known) or self._known.setdefault(known, Content(known))
        self._pages.keep(id(page), (page, content))
        return content

    def _with_expressions(self, page: list[Any]) -> Content:
        """Bytes are small integers, of which there is one object each, and expressions are interned. They are
        never compared by `==`, which would make a further expression."""
        same_hash = self._symbolic.setdefault(hash(tuple(page)), [])
        for content in same_hash:
            if len(content.page) == len(page) and all(map(is_, content.page, page)):
                return content
        content = Content(page, frozenset(variables_of(dict.fromkeys(page))))
        same_hash.append(content)
        self._bytes += len(page)
        return content


def page_outputs(name: tuple[Hashable, ...], page: Any, pointer: Pointer | None = None) -> list[Output]:
    """Outputs for a page: whole expressions, pointers to new objects, and runs of known bytes between."""
    if page is None:
        return []
    outputs: list[Output] = []
    start = offset = 0  # of the run of known bytes, and of what comes next

    def end_run() -> None:
        if start < offset:
            value = int.from_bytes(page[start:offset], "little")
            outputs.append(((*name, start, offset - start), value, 8 * (offset - start)))

    if page.__class__ is not list and pointer is None:
        offset = len(page)
    while offset < len(page):
        if page[offset].__class__ is Expr:
            end_run()
            size = (expression_word(page, offset) or (offset, 1))[1]
            outputs.append(((*name, offset), whole(page[offset : offset + size]), 8 * size))
            start = offset = offset + size
            continue
        if pointer is not None and offset % POINTER == 0:
            word = whole(page[offset : offset + POINTER])
            target = pointer(offset, word) if word.__class__ is int else None
            if target is not None:
                end_run()
                outputs.append(((*name, offset, target[0]), target[1], 64))
                start = offset = offset + POINTER
                continue
        offset += 1
    end_run()
    return outputs


def whole(data: Any) -> Any:
    """The value of some bytes."""
    if len(data) == 1:
        return data[0]
    try:
        return int.from_bytes(data, "little")
    except TypeError:
        return join_bytes(data)
