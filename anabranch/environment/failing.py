"""Allocations that may fail (`--failing-allocations`): an input of the path says which calls do.

Natively the same calls fail: harnesses and replays put a function before the real one that counts the calls
of the program's own code. Calls inside the C library are not counted, and do not fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from anabranch import expr
from anabranch.environment.values import ENOMEM, set_errno
from anabranch.expr import Expr
from anabranch.machine import ModelApi
from anabranch.machine.path import Input

CALLS = "allocations"
"""Note: how many calls of these functions the path has made."""


@dataclass(frozen=True, slots=True)
class Allocator:
    """A function that allocates: its C types, what it answers when it fails, the parameters that it reads
    before it allocates (counted from 0)."""

    result: str
    parameters: tuple[str, ...]
    failure: int = 0
    reads: tuple[int, ...] = ()


_SIZE, _POINTER = "unsigned long", "void *"
ALLOCATORS: dict[str, Allocator] = {
    "malloc": Allocator(_POINTER, (_SIZE,)),
    "calloc": Allocator(_POINTER, (_SIZE, _SIZE)),
    "realloc": Allocator(_POINTER, (_POINTER, _SIZE)),
    "reallocarray": Allocator(_POINTER, (_POINTER, _SIZE, _SIZE)),
    "aligned_alloc": Allocator(_POINTER, (_SIZE, _SIZE)),
    "memalign": Allocator(_POINTER, (_SIZE, _SIZE)),
    "valloc": Allocator(_POINTER, (_SIZE,)),
    "posix_memalign": Allocator("int", (_POINTER, _SIZE, _SIZE), failure=ENOMEM),
    "strdup": Allocator(_POINTER, (_POINTER,), reads=(0,)),
    "strndup": Allocator(_POINTER, (_POINTER, _SIZE), reads=(0,)),
}


def renamed(allocator: str) -> str:
    """What programs that are built natively call an allocator instead, so that its calls can be counted."""
    return f"anabranch_{allocator}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of an allocator on a path; it fails if the variable is not zero."""

    function: str
    fails: Expr


def may_fail(
    name: str, model: Callable[..., Any], api: ModelApi, counts: Callable[[], bool]
) -> Callable[..., Any]:
    """The model of an allocator that may also fail; `counts`: does the running call count?"""
    allocator = ALLOCATORS[name]

    def call(*arguments: Any) -> Any:
        if not counts():
            return model(*arguments)
        number = api.note(CALLS, 0)
        fails: Expr = expr.var(f"{name}() fails #{number}", 8)
        # The input is recorded when all is decided: until then the call may run again from its start.
        api.path.slices.setdefault(fails.a, api.path.space.root(fails.a))
        if api.decide(expr.ne(fails, 0, 8)):
            for position in allocator.reads:
                api.read_bytes(arguments[position], 1)
            _record(api, name, number, fails)
            if not allocator.failure:
                set_errno(api, ENOMEM)
            return allocator.failure
        result = model(*arguments)
        _record(api, name, number, fails)
        return result

    return call


def _record(api: ModelApi, name: str, number: int, fails: Expr) -> None:
    api.set_note(CALLS, number + 1)
    label = api.unique(f"{name}() fails")
    api.path.inputs = (Input(label, 1, (fails,), label, about=Attempt(name, fails)), api.path.inputs)


def failing_calls(inputs: Iterable[Input], holds: Callable[[Expr], bool]) -> dict[str, list[int]]:
    """Function -> which of its calls on a path fail, counted from 0; functions that were called and never
    failed are not there."""
    calls: dict[str, int] = {}
    found: dict[str, list[int]] = {}
    for item in inputs:
        if isinstance(item.about, Attempt):
            number = calls.get(item.about.function, 0)
            calls[item.about.function] = number + 1
            if holds(expr.ne(item.about.fails, 0, 8)):
                found.setdefault(item.about.function, []).append(number)
    return found
