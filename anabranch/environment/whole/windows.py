"""What a string function may look at: bytes as expressions, and where looking at one is a mistake.

A byte may be looked at if it is there and does not depend on uninitialised data. Both can depend on the
input: an earlier copy leaves `ite(copied, source, uninitialised)`, a symbolic pointer leaves its object in
different places. So every byte comes with a condition, `bad`; what a function does where it meets a bad byte
is not said by an expression but left to the model that goes byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import Condition, add, either, ite, negated, ult
from anabranch.environment.whole.undefined import is_tainted, undefined_where
from anabranch.expr import Expr
from anabranch.machine.undefined import with_zeros

Values = tuple[Value, ...]


def truth(value: Value) -> Condition:
    """A value of width 1 as the condition that it is."""
    return value if isinstance(value, Expr) else bool(value)


@dataclass(frozen=True, slots=True)
class Window:
    """The bytes from an address on. Reading past the last of them is a mistake, too."""

    address: Value
    data: Sequence[Value]
    bad: Sequence[Condition]

    def __len__(self) -> int:
        return len(self.data)

    def at(self, index: int) -> Value:
        """The address of a byte."""
        return add(self.address, index, 64)


@dataclass(frozen=True, slots=True)
class Answer:
    """Results as expressions; they count where the function does not get `past` what may be looked at."""

    past: Condition
    values: Values


@dataclass(frozen=True, slots=True)
class View:
    """The bytes from a pointer on, which may be at one of several places: `start`, `start + 1`, ..."""

    pointer: Value
    start: int
    place: Value  # pointer - start
    places: int
    reach: int
    raw: Sequence[Value]
    data: Sequence[Value]
    bad: Sequence[Condition]
    missing: Sequence[Condition]

    @property
    def outside(self) -> Condition:
        """The pointer is at none of the places."""
        return negated(ult(self.place, self.places, 64))

    @property
    def is_all(self) -> bool:
        """Nothing but the end of the object keeps from looking further."""
        return len(self.raw) < self.places - 1 + self.reach and not any(self.bad)

    @property
    def is_symbolic(self) -> bool:
        return isinstance(self.place, Expr) or any(isinstance(byte, Expr) for byte in self.raw)

    def window(self, place: int) -> Window:
        """The bytes from one place on."""
        end = place + self.reach
        return Window(self.start + place, self.data[place:end], self.bad[place:end])

    def gathered(self) -> Window:
        """One window for all places: each byte is chosen by the place."""
        return self._gather(self.data, self.bad)

    def unread(self) -> Window:
        """Likewise for bytes that are moved but not looked at: bad are only those that are not there."""
        return self._gather(self.raw, self.missing)

    def _gather(self, data: Sequence[Value], bad: Sequence[Condition]) -> Window:
        size = min(self.reach, len(data))
        if self.places == 1:
            return Window(self.start, data[:size], bad[:size])
        chosen: list[Value] = []
        mistaken: list[Condition] = []
        # From some places, the window reaches beyond the end, where there is nothing.
        padded = [*data, *[0] * self.places]
        mistakes = [*bad, *[True] * self.places]
        for index in range(size):
            here = slice(index, index + self.places)
            chosen.append(by_place(self.place, padded[here], 8))
            mistaken.append(truth(by_place(self.place, mistakes[here], 1)))
        return Window(self.pointer, chosen, mistaken)

    def lifted(self, build: Callable[[Window], Answer], widths: Sequence[int]) -> Answer:
        """What `build` says for each place, chosen by the place."""
        answers = [build(self.window(place)) for place in range(self.places)]
        past = truth(by_place(self.place, [answer.past for answer in answers], 1))
        columns = [[answer.values[i] for answer in answers] for i in range(len(widths))]
        values = (by_place(self.place, column, width) for column, width in zip(columns, widths, strict=True))
        return Answer(past, tuple(values))


def by_place(place: Value, choices: Sequence[Value], width: int) -> Value:
    """The choice of that number, as a balanced tree."""

    def between(low: int, high: int) -> Value:
        if high - low == 1:
            return choices[low]
        middle = (low + high) // 2
        return ite(ult(place, middle, 64), between(low, middle), between(middle, high), width)

    return between(0, len(choices))


def settled(m: MachineApi, view: View, answer: Answer) -> Values | None:
    """The results, unless the function gets past what may be looked at: the one thing that is decided."""
    if m.decide(view.outside):
        return None
    if not m.decide(answer.past):
        return answer.values
    if view.is_all:
        m.load(view.start + len(view.raw), 1)  # the error, once for all ways there
    return None


def look(m: MachineApi, pointer: Value, limit: int) -> View | None:
    """The bytes from a pointer on, at most `limit` and at most so many places; None if it cannot be said."""
    found = m.view(pointer, limit, limit)
    if found is None:
        return None
    start, place, places, raw, absent = found
    missing = [truth(condition) for condition in absent] or [False] * len(raw)
    if not any(is_tainted(byte) for byte in raw):
        return View(pointer, start, place, places, limit, raw, raw, missing, missing)
    data = [with_zeros(byte) if isinstance(byte, Expr) and is_tainted(byte) else byte for byte in raw]
    bad = [either(gone, undefined_where(byte)) for gone, byte in zip(missing, raw, strict=True)]
    return View(pointer, start, place, places, limit, raw, data, bad, missing)


def look_at(
    m: MachineApi, limit: int, pointers: Iterable[Value], scalars: Iterable[Value] = ()
) -> list[View]:
    """Views of all pointers; empty if there is nothing symbolic to say, or something that cannot be said."""
    views: list[View] = []
    symbolic = False
    for value in scalars:
        if is_tainted(value):
            return []
        symbolic = symbolic or isinstance(value, Expr)
    for pointer in pointers:
        view = look(m, pointer, limit)
        if view is None:
            return []
        symbolic = symbolic or view.is_symbolic
        views.append(view)
    return views if symbolic else []
