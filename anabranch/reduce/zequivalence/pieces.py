"""Outputs for the bytes of pages: made once for all states that have a page with the same content."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import compress
from operator import is_not
from typing import Any

from anabranch.expr import Expr, expr_vars, join_bytes
from anabranch.machine.joining.memory import expression_word
from anabranch.reduce.zequivalence.variables import variables_of

BYTES_NUMBERED = 2_000_000  # of pages with expressions, at about 16 bytes each
PIECES_KEPT = 20_000
CHANGES_KEPT = 50_000
KNOWN_PAGE = 16  # what a page of known bytes counts for
Output = tuple[Hashable, Any, int]


class PageNumbers:
    """Numbers of the contents of pages, which stay what they are. Forgotten pages get new ones."""

    def __init__(self) -> None:
        self._next = 1
        self._by_page: dict[int, int] = {id(None): 0}
        self._by_bytes: dict[bytes, int] = {}  # pages of known bytes
        self._by_hash: dict[int, list[tuple[Any, int]]] = {}  # pages with expressions, and their numbers
        # So that the identity of pages stays their own, and that of what is in them.
        self._held: list[Any] = []
        self._bytes = 0

    def of(self, page: Any) -> int:
        known = self._by_page.get(id(page))
        return self._look(page) if known is None else known

    def of_all(self, pages: Iterable[Any]) -> tuple[int, ...]:
        """Of several pages; None has a number too."""
        pages = list(pages)
        found = tuple(map(self._by_page.get, map(id, pages)))
        return found if None not in found else tuple(map(self.of, pages))  # type: ignore[return-value]

    def _look(self, page: Any) -> int:
        if self._bytes >= BYTES_NUMBERED:
            self._by_page = {id(None): 0}
            self._by_bytes.clear()
            self._by_hash.clear()
            self._held.clear()
            self._bytes = 0
        known = page.__class__ is bytearray
        number = self._by_bytes.setdefault(bytes(page), self._next) if known else self._number(page)
        self._next += number == self._next
        self._by_page[id(page)] = number
        self._held.append(page)
        self._bytes += KNOWN_PAGE if known else len(page)
        return number

    def _number(self, page: Sequence[Any]) -> int:
        """Of a page with expressions: known bytes are the same objects wherever they are, and so are those.
        None is asked whether it equals another, which would make a further expression."""
        same_hash = self._by_hash.setdefault(hash(tuple(page)), [])
        for other, number in same_hash:
            if len(other) == len(page) and not any(map(is_not, other, page)):
                return number
        same_hash.append((page, self._next))
        return self._next


class Piece:
    """Outputs for some bytes of a page."""

    __slots__ = ("covered", "numbers", "outputs", "symbolic", "variables")

    def __init__(self, outputs: list[Output], covered: Sequence[int]) -> None:
        self.outputs = outputs
        self.symbolic = [output for output in outputs if output[1].__class__ is Expr]
        self.variables = frozenset([v for _, value, _ in self.symbolic for v in expr_vars(value)])
        self.covered = covered  # the offsets of these bytes
        self.numbers: tuple[int, ...] | None = None  # of the known ones, as `parts` has them


class Pieces:
    """The pieces of all states."""

    def __init__(self) -> None:
        self.numbers = PageNumbers()
        self._known: dict[tuple[int, int, frozenset[int]], Piece] = {}
        self._changes: dict[tuple[int, int], list[int]] = {}
        self._overwritten: dict[tuple[int, Hashable], tuple[set[int], set[int]]] = {}
        self._covers: dict[Hashable, Sequence[int]] = {}
        self._sets: dict[frozenset[int], frozenset[int]] = {}
        self._versions: dict[Hashable, int] = {}
        self._version = 0

    def version(self, touched: Mapping[int, frozenset[int]]) -> int:
        """A number for sets of offsets by page, the same for equal ones."""
        known = self._versions.get(names := frozenset(touched.items()))
        if known is None:
            if len(self._versions) >= CHANGES_KEPT:
                self._versions.clear()
            known = self._versions[names] = self.new_version()
        return known

    def new_version(self) -> int:
        """A number that nothing else has."""
        self._version += 1
        return self._version

    def offsets(self, wanted: Iterable[int]) -> frozenset[int]:
        """A set of offsets, one object for equal ones."""
        found = frozenset(wanted)
        return self._sets.setdefault(found, found)

    def changes(self, before: Any, page: Any, number: int) -> list[int]:
        """Where a page, whose content has this number, is not what it was before."""
        numbers = (self.numbers.of(before), number)
        known = self._changes.get(numbers)
        if known is None:
            if len(self._changes) >= CHANGES_KEPT:
                self._changes.clear()
            # Bytes are small integers, of which there is one object each, or interned expressions.
            known = list(compress(range(len(page)), map(is_not, before, page)))
            known += range(len(before), len(page))
            self._changes[numbers] = known
        return known

    def overwritten(self, page: Any, offsets: Sequence[int]) -> tuple[set[int], set[int]]:
        """The variables in some bytes of a page, and those in the others. Bytes beyond its end do not count:
        where an object was made larger inside the call, nothing was before."""
        names = (self.numbers.of(page), offsets if offsets.__class__ is range else tuple(offsets))
        known = self._overwritten.get(names)
        if known is None:
            if len(self._overwritten) >= CHANGES_KEPT:
                self._overwritten.clear()
            inside = set(offsets)
            known = self._overwritten[names] = (
                variables_of([x for at, x in enumerate(page) if at in inside]),
                variables_of([x for at, x in enumerate(page) if at not in inside]),
            )
        return known

    def of(self, key: int, page: Any, number: int, offsets: frozenset[int]) -> Piece:
        """The outputs for some bytes of a page, where no objects are new."""
        known = self._known.get((key, number, offsets))
        if known is None:
            if len(self._known) >= PIECES_KEPT:
                self._known.clear()
            outputs: list[Output] = []
            covered = bytes_of(outputs, ("mem", key), page, sorted(offsets))
            # One object for equal ones, so that others can tell by it.
            covered = self._covers.setdefault(
                covered if covered.__class__ is range else tuple(covered), covered
            )
            known = self._known[key, number, offsets] = Piece(outputs, covered)
        return known


def bytes_of(
    outputs: list[Output], name: tuple[Hashable, ...], page: Any, offsets: Sequence[int]
) -> Sequence[int]:
    """Adds outputs for some bytes of a page: whole expressions, and runs of known bytes. The offsets that
    these cover."""
    if page.__class__ is bytearray:
        outputs.append(((*name, "all"), int.from_bytes(page, "little"), 8 * len(page)))
        return range(len(page))
    covered: list[int] = []
    done = 0
    known: list[int] = []  # a run of known bytes
    for offset in offsets:
        if offset < done or offset >= len(page):
            continue
        if page[offset].__class__ is not Expr:
            if known and known[-1] + 1 != offset:
                outputs.append(run_of(name, page, known))
                known = []
            known.append(offset)
            covered.append(offset)
            continue
        if known:
            outputs.append(run_of(name, page, known))
            known = []
        start, size = expression_word(page, offset) or (offset, 1)
        outputs.append(((*name, start), whole(page[start : start + size]), 8 * size))
        covered.extend(range(start, start + size))
        done = start + size
    if known:
        outputs.append(run_of(name, page, known))
    return covered


def run_of(name: tuple[Hashable, ...], page: Any, offsets: list[int]) -> Output:
    """Known bytes that follow each other."""
    data = bytes(page[offsets[0] : offsets[-1] + 1])
    return (*name, offsets[0], len(data)), int.from_bytes(data, "little"), 8 * len(data)


def whole(data: Sequence[Any]) -> Any:
    if len(data) == 1:
        return data[0]
    try:
        return int.from_bytes(data, "little")
    except TypeError:
        return join_bytes(data)
