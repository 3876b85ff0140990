"""What unknown functions answered on one path, for one input: numbers and objects that stubs can hand out.

Plain data, so that a native program that is linked with stubs can be told (`replay/answers.py`); harnesses in
C are written from the same parts (`unit/harness.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from anabranch.environment.failing import Attempt, failing_calls
from anabranch.environment.unknown.contents import Contents, Place
from anabranch.environment.unknown.objects import UnknownObjects
from anabranch.environment.unknown.results import Answer
from anabranch.expr import Expr, evaluate, expr_vars
from anabranch.ir.types import VOID, PointerType, StructType, Type
from anabranch.machine.path import Input

Value = Any
Model = Mapping[int, int]
Named = Sequence[tuple[str, Input]]
LARGEST = 8  # bytes of a number that stubs hand out
Put = list[Any]
"""Offset, size, and a number or the object and offset that a pointer leads to."""


class NoAnswer(Exception):
    """What a function answered cannot be told outside of the engine; the message says why."""


def contents_of(inputs: Iterable[Input]) -> dict[int, list[Contents]]:
    """What unknown objects were filled with on a path, by number; a larger view comes after a smaller one."""
    found: dict[int, list[Contents]] = {}
    for item in inputs:
        if isinstance(item.about, Contents):
            found.setdefault(item.about.made.number, []).append(item.about)
    return found


def scalars_of(type: Type, value: Value) -> Iterator[tuple[int, int, Value, bool]]:
    """Offset, size and value of the scalars of a result, and whether each is a pointer."""
    if isinstance(type, StructType):
        for offset, part, inner in zip(type.offsets, type.fields or (), value, strict=True):
            yield offset, part.size, inner, isinstance(part, PointerType)
    else:
        yield 0, type.size, value, isinstance(type, PointerType)


def answers_of(inputs: Named, model: Model, objects: UnknownObjects | None) -> dict[str, Any] | None:
    """The answers of a path in order, the objects that they lead to, and the allocations that failed; None if
    it asked nobody. `objects` may be None where there are no unknown functions.

    `names` are the objects of the test that hold them: nobody asks for these by `klee_make_symbolic`.
    """
    names = [name for name, item in inputs if isinstance(item.about, Answer | Contents | Attempt)]
    if not names:
        return None
    try:
        return {"names": names, **_Teller([item for _, item in inputs], model, objects).told()}
    except NoAnswer as reason:
        return {"names": names, "unsupported": str(reason)}


class _Teller:
    def __init__(self, inputs: Sequence[Input], model: Model, objects: UnknownObjects | None) -> None:
        self.inputs = inputs
        self.model = model
        self.objects = objects
        self.contents = contents_of(inputs)
        self.waiting: list[int] = []
        self.met: set[int] = set()

    def told(self) -> dict[str, Any]:
        calls = [self._call(item.about) for item in self.inputs if isinstance(item.about, Answer)]
        made = []
        while self.waiting:
            made.append(self._object(self.waiting.pop(0)))
        fails = failing_calls(self.inputs, lambda condition: evaluate(condition, self.model) is True)
        return {"calls": calls, "objects": made, "fails": fails}

    def _call(self, answer: Answer) -> list[Any]:
        result = []
        if answer.type is not VOID:
            result = [self._put(*scalar) for scalar in scalars_of(answer.type, answer.value)]
        writes = [[number, self._places(places)] for number, places in answer.writes]
        assert self.objects is not None
        declared = self.objects.machine.module.functions.get(answer.function)
        if declared is not None and any(number > len(declared.type.params) for number, _ in answer.writes):
            raise NoAnswer("memory written through an argument without a declaration")
        return [answer.function, result, writes]

    def _object(self, number: int) -> list[Any]:
        assert self.objects is not None
        made = self.objects.by_number[number]
        other = self.objects.contents.get(number)
        filled = self.contents.get(number) or ([other] if other is not None else [])
        size = max((part.size for part in filled), default=made.size)
        return [number, size, [put for part in filled for put in self._places(part.places)]]

    def _places(self, places: Iterable[Place]) -> list[Put]:
        return [self._put(place.offset, place.size, place.value, place.kind == "pointer") for place in places]

    def _put(self, offset: int, size: int, value: Value, is_pointer: bool) -> Put:
        if value.__class__ is Expr:
            # A path that was merged with this one may have filled an object that this one never read.
            known = all(index in self.model for index in expr_vars(value))
            value = evaluate(value, self.model) if known else 0
        number = int(value)
        if size > LARGEST:
            raise NoAnswer(f"a number of {size} bytes")
        return [offset, size, self._target(number) if is_pointer and number else number]

    def _target(self, address: int) -> list[int]:
        assert self.objects is not None
        made = self.objects.by_number.get(address >> 32)
        if made is None:
            raise NoAnswer("a pointer to something that no unknown function made")
        if made.function is not None:
            raise NoAnswer("a pointer to an unknown function")
        if made.origin == "global" and not made.depth:
            raise NoAnswer("a pointer to an unknown variable")
        if made.number not in self.met:
            self.met.add(made.number)
            self.waiting.append(made.number)
        return [made.number, address & 0xFFFFFFFF]
