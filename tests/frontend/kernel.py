"""A kernel of a dozen system calls, for programs on the real C library that only compute and write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.environment import MODELS, Model

ENOSYS, EBADF, ENOTTY = 38, 9, 25
Call = Callable[..., Any]


def _write_all(m: Any, descriptor: int, pieces: list[tuple[Any, Any]]) -> int:
    if descriptor not in (1, 2):
        return -EBADF
    known = [(m.pick(a, 64, "address"), m.pick(n, 64, "length of a write")) for a, n in pieces]
    for address, count in known:
        m.emit(list(m.read_bytes(address, count)), descriptor)
    return sum(count for _, count in known)


def _write(m: Any, descriptor: int, address: Any, count: Any, *_: int) -> int:
    return _write_all(m, descriptor, [(address, count)])


def _writev(m: Any, descriptor: int, vectors: int, count: int, *_: int) -> int:
    places = range(vectors, vectors + 16 * count, 16)
    return _write_all(m, descriptor, [(m.load(place, 8), m.load(place + 8, 8)) for place in places])


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
    231: lambda m, code, *_: m.exit(code & 0xFF, handlers=None),
}


def _syscall(m: Any, number: int, *arguments: int) -> int:
    call = CALLS.get(number)
    return call(m, *arguments) if call is not None else -ENOSYS


def kernel_models() -> dict[str, Model]:
    """Models of all that the library asks of a kernel."""
    models = {f"__syscall{n}": Model(f"__syscall{n}", _syscall, False, n + 1, n + 1) for n in range(7)}
    models["__get_tp"] = Model("__get_tp", lambda m: m.path.notes.get("thread pointer", 0), False, 0, 0)
    return {name: model for name, model in models.items() if name not in MODELS}
