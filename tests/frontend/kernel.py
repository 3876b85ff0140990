"""A kernel of a dozen system calls, for programs on the real C library that only compute and write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.environment import MODELS, Model

ENOSYS, EBADF, ENOTTY = 38, 9, 25
Call = Callable[..., Any]


def _write(m: Any, descriptor: int, address: int, count: int, *_: int) -> int:
    if descriptor not in (1, 2):
        return -EBADF
    m.emit(list(m.read_bytes(address, count)), descriptor)
    return count


def _writev(m: Any, descriptor: int, vectors: int, count: int, *_: int) -> int:
    total = 0
    for position in range(count):
        place = vectors + 16 * position
        total += _write(m, descriptor, m.load(place, 8), m.load(place + 8, 8))
    return total


def _set_thread(m: Any, address: int, *_: int) -> int:
    m.path.notes = m.path.notes.set("thread pointer", address)
    return 0


CALLS: dict[int, Call] = {
    1: _write,
    20: _writev,
    16: lambda m, *_: -ENOTTY,
    39: lambda m, *_: 1,
    205: _set_thread,
    218: lambda m, *_: 1,
    231: lambda m, code, *_: m.exit(code & 0xFF, handlers=False),
}


def _syscall(m: Any, number: int, *arguments: int) -> int:
    call = CALLS.get(number)
    return call(m, *arguments) if call is not None else -ENOSYS


def kernel_models() -> dict[str, Model]:
    """Models of all that the library asks of a kernel."""
    models = {f"__syscall{n}": Model(f"__syscall{n}", _syscall, False, n + 1, n + 1) for n in range(7)}
    models["__get_tp"] = Model("__get_tp", lambda m: m.path.notes.get("thread pointer", 0), False, 0, 0)
    return {name: model for name, model in models.items() if name not in MODELS}
