"""Which states are worth joining: the relation `~` of seed 001, Algorithm 1."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Protocol

from anabranch.expr import Expr, expr_vars
from anabranch.machine import Machine, State
from anabranch.machine.joining.memory import differing
from anabranch.machine.memory import PAGE_BITS
from anabranch.reduce.merging.frames import StackCounts, frames
from anabranch.reduce.merging.places import stack_of
from anabranch.reduce.qce import QceParameters, QueryCounts, similar

STAR = "symbolic"
HOT_CELLS = 64  # hot places in memory that a key looks at

Value = Any


class Similarity(Protocol):
    """Is joining two states at one place worth it?"""

    def key(self, state: State) -> Hashable:
        """States with different keys are not similar; states with one key are likely to be."""
        ...

    def similar(self, a: State, b: State) -> bool: ...


class Everything:
    """All states at one place are similar."""

    def key(self, state: State) -> Hashable:
        return stack_of(state)

    def similar(self, a: State, b: State) -> bool:
        return True


class QceSimilarity:
    """Equation 7: the queries that a merge would add or make harder are few among those to come.

    The key is the place and the values of the hot variables, `*` for symbolic ones (section 4.3).
    """

    def __init__(self, machine: Machine, parameters: QceParameters) -> None:
        self.parameters = parameters
        self.estimator = QueryCounts(machine.module, parameters)
        self._layout = machine.layout
        self._stacks: dict[tuple[Any, ...], StackCounts] = {}
        self._hot: dict[tuple[Any, ...], tuple[list[list[int]], list[tuple[int, int]]]] = {}
        self._globals = {address >> 32: variable.name for address, variable in machine.layout.globals}

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
        for (_, values), positions in zip(frames(state), registers, strict=True):
            for position in positions:
                value = values[position]
                parts.append(STAR if value.__class__ is Expr else value)
        for key, offset in cells:
            page = state.pages.get(key)
            if page is not None and offset < len(page):
                value = page[offset]
                parts.append(STAR if value.__class__ is Expr else value)
        return tuple(parts)

    def _hot_of(self, stack: tuple[Any, ...], state: State) -> tuple[list[list[int]], list[tuple[int, int]]]:
        """Positions of hot registers in each frame, and hot bytes of globals as page and offset."""
        found = self._hot.get(stack)
        if found is None:
            counts = self.counts(state)
            limit = self.parameters.alpha * counts.total
            registers = [[p for p, q in enumerate(qs) if q > limit] for qs in counts.registers]
            found = self._hot[stack] = (registers, self._hot_globals(counts, limit))
        return found

    def _hot_globals(self, counts: StackCounts, limit: float) -> list[tuple[int, int]]:
        hot: dict[tuple[int, int], None] = {}
        for frame in counts.counts.frames:
            for base, cells in frame.cells.items():
                if base[0] != "global":
                    continue
                for offset, size, _ in cells:
                    names = [(n, base, offset) for n in range(len(counts.counts.frames))]
                    if offset >= 0 and counts.counts.byte(names, False) > limit:
                        address = self._layout.address(base[1]) + offset
                        hot |= dict.fromkeys(
                            (place >> PAGE_BITS, place & 255)
                            for place in range(address, address + min(size, 8))
                        )
        return list(hot)[:HOT_CELLS]

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
        for (_, mine), (_, others), qs in zip(frames(a), frames(b), counts.registers, strict=True):
            if mine is others:
                continue
            for x, y, q in zip(mine, others, qs, strict=True):
                if q and x is not y and (kind := difference(x, y)) is not None:
                    yield kind, q
        yield from self._memory_differences(counts, a, b)

    def _memory_differences(self, counts: StackCounts, a: State, b: State) -> Iterator[tuple[bool, float]]:
        if a.pages is b.pages:
            return
        names: dict[int, list[tuple[int, Any, int]]] | None = None
        for key, other in b.pages.items():
            mine = a.pages.get(key)
            if mine is None or mine is other or len(mine) != len(other):
                continue  # objects that one side has, or of different sizes: the join will see to them
            number = key >> 32 - PAGE_BITS
            start = (key << PAGE_BITS) & 0xFFFFFFFF
            known: dict[int, float] = {}
            for offset in differing(mine, other):
                if names is None:
                    names = self._names(counts, a)
                count = self._byte(counts, names, number, start + offset, a, known)
                if count and (kind := difference(mine[offset], other[offset])) is not None:
                    yield kind, count

    def _names(self, counts: StackCounts, state: State) -> dict[int, list[tuple[int, Any, int]]]:
        """Object -> the bases that lead to it, with the offset where each points: `(frame, base, offset)`."""
        names: dict[int, list[tuple[int, Any, int]]] = {}
        for frame, ((site, values), local) in enumerate(
            zip(frames(state), counts.counts.frames, strict=True)
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
        state: State,
        known: dict[int, float],
    ) -> float:
        found = known.get(offset)
        if found is None:
            own = [(frame, base, offset - start) for frame, base, start in names.get(number, ())]
            found = known[offset] = counts.counts.byte(own, self._escapes(number, state))
        return found

    def _escapes(self, number: int, state: State) -> bool:
        """May an object be reached through pointers that lie in memory?"""
        name = self._globals.get(number)
        return name is None or self.estimator.escapes("", ("global", name))


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
