"""Which states are worth merging: the relation `~` of Kuznetsov et al. (PLDI 2012), Algorithm 1."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from anabranch.analysis.addresses import Base
from anabranch.expr import Expr, expr_vars
from anabranch.ir.types import ArrayType, Type
from anabranch.machine import State
from anabranch.machine.extents import size_of
from anabranch.machine.joining.memory import differing
from anabranch.machine.objects import LIMITED, NUMBER_MASK, PAGE_NUMBER_BITS
from anabranch.machine.pages import PAGE_BITS, Page
from anabranch.reduce.merging.frames import StackCounts, stack_frames
from anabranch.reduce.merging.join_points import stack_of
from anabranch.reduce.merging.policies import PolicyContext
from anabranch.reduce.qce import QueryCounts, similar

STAR = "symbolic"
HOT_CELLS = 64  # hot cells of memory that a key contains

Value = Any
Cell = tuple[int, int, int, int]
"""A range of memory: frame and position of the value that it is named from (-1: none), offset, size."""


class Everything:
    """All states at one location are similar."""

    def key(self, state: State) -> Hashable:
        return stack_of(state)

    def similar(self, a: State, b: State) -> bool:
        return True


class QceSimilarity:
    """Equation 7: the queries that a merge would add or make harder are few among those to come.

    The key is the location and the values of the hot variables, `*` for symbolic ones (section 4.3).
    """

    def __init__(self, context: PolicyContext) -> None:
        machine = context.machine
        self.parameters = parameters = context.parameters
        self.estimator = QueryCounts(machine.module, parameters)
        self._layout = machine.layout
        self._numbers = machine.numbers
        self._stacks: dict[tuple[Any, ...], StackCounts] = {}
        self._hot: dict[tuple[Any, ...], tuple[list[list[int]], list[Cell]]] = {}
        self._globals = {address >> 32: variable for address, variable in machine.layout.globals}
        self._shares: dict[int, float] = {}

    def counts(self, state: State) -> StackCounts:
        stack = stack_of(state)
        found = self._stacks.get(stack)
        if found is None:
            sites = [stack[0], *stack[1:]][::-1]
            found = self._stacks[stack] = StackCounts(sites, self.estimator)
        return found

    # ---- the key -------------------------------------------------------------------------------------

    def key(self, state: State) -> Hashable:
        stack = stack_of(state)
        registers, cells = self._hot_of(stack, state)
        parts: list[Any] = [stack]
        outermost_first = stack_frames(state)
        for (_, values), positions in zip(outermost_first, registers, strict=True):
            for position in positions:
                value = values[position]
                parts.append(STAR if value.__class__ is Expr else value)
        return (*parts, *self._values(cells, outermost_first, state))

    def hot_cells(self, state: State) -> Hashable:
        """The values of the hot cells of memory."""
        _, cells = self._hot_of(stack_of(state), state)
        return tuple(self._values(cells, stack_frames(state), state))

    def _values(
        self, cells: list[Cell], outermost_first: list[tuple[Any, Any]], state: State
    ) -> Iterator[Value]:
        for frame, position, shift, size in cells:
            base = outermost_first[frame][1][position] if position >= 0 else 0
            if base.__class__ is int:
                yield _cell(state, base + shift, size)

    def _hot_of(self, stack: tuple[Any, ...], state: State) -> tuple[list[list[int]], list[Cell]]:
        """Positions of hot registers in each frame, and hot cells of memory."""
        found = self._hot.get(stack)
        if found is None:
            counts = self.counts(state)
            limit = self.parameters.alpha * counts.total
            registers = [[p for p, q in enumerate(qs) if q > limit] for qs in counts.registers]
            found = self._hot[stack] = (registers, self._hot_cells(counts, limit, state))
        return found

    def _hot_cells(self, counts: StackCounts, limit: float, state: State) -> list[Cell]:
        """Hot cells of globals, locals and what arguments point to; each under the first of its names."""
        hot: dict[int, Cell] = {}
        outermost_first = stack_frames(state)
        for number, names in self._names(counts, state).items():
            share = self._share(number)
            for frame, base, start in names:
                if base[0] == "pointer":
                    continue  # it moves from state to state
                for offset, size, _ in counts.counts.frames[frame].cells.get(base, ()):
                    begin = start + offset
                    own = [(f, b, begin - s) for f, b, s in names]
                    if begin < 0 or number << 32 | begin in hot or counts.counts.byte(own, share) <= limit:
                        continue
                    if base[0] == "global":
                        cell = (frame, -1, self._layout.address(base[1]) + offset, size)
                    else:
                        position = outermost_first[frame][0].names.index(f"v{base[1]}")
                        cell = (frame, position, offset, size)
                    hot[number << 32 | begin] = cell
        return list(hot.values())[:HOT_CELLS]

    # ---- the relation --------------------------------------------------------------------------------

    def similar(self, a: State, b: State) -> bool:
        counts = self.counts(a)
        total = counts.total
        added = chosen = 0.0
        for concrete, count in self._differences(counts, a, b):
            if concrete:
                if count > added:
                    added = count
            elif count > chosen:
                chosen = count
            else:
                continue
            if not similar(total, (added,), (chosen,), self.parameters):
                return False
        return True

    def _differences(self, counts: StackCounts, a: State, b: State) -> Iterator[tuple[bool, float]]:
        """For every variable that differs: are both values concrete, and its count."""
        pairs = zip(stack_frames(a), stack_frames(b), counts.registers, strict=True)
        for (_, mine), (_, others), qs in pairs:
            if mine is others:
                continue
            for x, y, q in zip(mine, others, qs, strict=True):
                if q and x is not y and (kind := difference(x, y)) is not None:
                    yield kind, q
        if a.objects is not b.objects:
            yield from self._size_differences(counts, a, b)
        yield from self._memory_differences(counts, a, b)

    def _size_differences(self, counts: StackCounts, a: State, b: State) -> Iterator[tuple[bool, float]]:
        """Objects that would have a size that depends on the side from which the merged state came."""
        names: dict[int, list[tuple[int, Any, int]]] | None = None
        for number, mine in a.objects.items():
            other = b.objects.get(number)
            if other is None or other is mine or mine.end or other.end:
                continue
            size, another = size_of(mine), size_of(other)
            if size is another or (kind := difference(size, another)) is None:
                continue
            if names is None:
                names = self._names(counts, a)
            named = [(frame, base) for frame, base, _ in names.get(number, ())]
            yield kind, counts.counts.extent(named, self._share(number))

    def _memory_differences(self, counts: StackCounts, a: State, b: State) -> Iterator[tuple[bool, float]]:
        if a.pages is b.pages:
            return
        names: dict[int, list[tuple[int, Any, int]]] | None = None
        for key, mine, other in _page_pairs(a, b):
            if mine is other:
                continue
            if len(mine) != len(other):  # objects of different sizes: what both have
                size = min(len(mine), len(other))
                mine, other = mine[:size], other[:size]
            number = key >> PAGE_NUMBER_BITS & NUMBER_MASK
            start = (key << PAGE_BITS) & 0xFFFFFFFF
            known: dict[int, float] = {}
            for offset in differing(mine, other):
                if names is None:
                    names = self._names(counts, a)
                count = self._byte(counts, names, number, start + offset, known)
                if count and (kind := difference(mine[offset], other[offset])) is not None:
                    yield kind, count

    def _names(self, counts: StackCounts, state: State) -> dict[int, list[tuple[int, Any, int]]]:
        """Object -> the bases that lead to it, with the offset where each points: `(frame, base, offset)`."""
        names: dict[int, list[tuple[int, Any, int]]] = {}
        for frame, ((site, values), local) in enumerate(
            zip(stack_frames(state), counts.counts.frames, strict=True)
        ):
            positions = {name: position for position, name in enumerate(site.names)}
            for base in local.bases:
                if base[0] == "global":
                    address: Value = self._layout.address(base[1])
                else:
                    position = positions.get(f"v{base[1]}")
                    address = values[position] if position is not None else None
                if address.__class__ is int:
                    names.setdefault(address >> 32, []).append((frame, base, address & 0xFFFFFFFF))
        return names

    def _byte(
        self,
        counts: StackCounts,
        names: dict[int, list[tuple[int, Any, int]]],
        number: int,
        offset: int,
        known: dict[int, float],
    ) -> float:
        found = known.get(offset)
        if found is None:
            own = [(frame, base, offset - start) for frame, base, start in names.get(number, ())]
            found = known[offset] = counts.counts.byte(own, self._share(number))
        return found

    def _share(self, number: int) -> float:
        """How many of the reads through pointers in memory read a byte of an object, if all objects are
        equally likely: none if nothing in memory points to it, one of its elements if it is an array."""
        found = self._shares.get(number)
        if found is None:
            found = self._shares[number] = self._find_share(number)
        return found

    def _find_share(self, number: int) -> float:
        variable = self._globals.get(number)
        if variable is not None:
            base: Base = ("global", variable.name)
            return _one_element(variable.value_type) if self.estimator.escapes("", base) else 0.0
        owner = self._numbers.owner(number)
        if owner is None:
            return 1.0
        function, local = owner
        if not self.estimator.escapes(function, ("alloca", local)):
            return 0.0
        return _one_element(self.estimator.allocated_type(function, local))


def _one_element(kind: Type) -> float:
    return 1.0 / kind.count if isinstance(kind, ArrayType) and kind.count else 1.0


def _cell(state: State, address: int, size: int) -> Value:
    """The bytes of a cell, `*` if any of them is symbolic."""
    key = address >> PAGE_BITS
    page = state.pages.get(key) or state.pages.get(key | LIMITED) or _absent_page(state, key)
    if page is None:
        return None
    offset = address & 255
    data = page[offset : offset + size]
    try:
        return bytes(data)
    except TypeError:
        return STAR


def _page_pairs(a: State, b: State) -> Iterator[tuple[int, Page, Page]]:
    """The pages of objects that both sides have, as each of them has it."""
    common = 0
    for key, other in b.pages.items():
        mine = a.pages.get(key)
        if mine is not None:
            common += 1
        else:
            mine = _absent_page(a, key)
        if mine is not None:
            yield key, mine, other
    for key, mine in a.pages.items() if common < len(a.pages) else ():
        other = _absent_page(b, key) if key not in b.pages else None
        if other is not None:
            yield key, mine, other


def _absent_page(state: State, key: int) -> Page | None:
    """A page that a state has not: what its object says if that is sparse, else None."""
    info = state.objects.get(key >> PAGE_NUMBER_BITS & NUMBER_MASK)
    return info.blank_page(key) if info is not None else None


def difference(x: Value, y: Value) -> bool | None:
    """How two values differ: True if both are concrete, False if not, None if not at all.

    Uninitialised data counts as no difference: no query can depend on it.
    """
    symbolic = False
    for value in (x, y):
        if value.__class__ is Expr:
            indices = expr_vars(value)
            if indices and indices[0] < 0:
                return None
            symbolic = True
        elif value.__class__ is tuple:
            return False if x is not y else None
    if symbolic:
        return False
    return True if x != y else None
