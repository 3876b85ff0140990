"""The malloc family.

Sizes beyond `LARGEST`, which is nearly 4 GiB, fail; where they might succeed in a C library, that is counted
as a loss. Large objects have no pages until they are written, so that their size costs nothing. A symbolic
size splits at `LARGEST`; of many sizes below it, a handful stands for all, and the others are a loss.
Objects of size 0 have an address of their own, as in musl.
"""

from __future__ import annotations

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import ugt
from anabranch.environment.registry import model
from anabranch.environment.values import EINVAL, ENOMEM, is_null, set_errno
from anabranch.expr import Expr
from anabranch.machine.objects import MAX_OBJECT

LARGEST = MAX_OBJECT
NEVER = 1 << 47
"""The bytes that a program on x86-64 has addresses for."""
MAY_SUCCEED = "very large allocation, which may succeed, explored as failing"


def resolve_size(m: MachineApi, size: Value, what: str) -> int | None:
    """A concrete size, None if there is no such amount of memory."""
    if not isinstance(size, Expr):
        if LARGEST < size < NEVER:
            m.lose(MAY_SUCCEED)
        return size if size <= LARGEST else None
    return None if too_large(m, size, 1) else m.size(size, 64, f"size of {what}")


def too_large(m: MachineApi, number: Expr, size: int) -> bool:
    """Is there no such amount of memory, so many times a size?"""
    if not m.decide(ugt(number, LARGEST // size, 64)):
        return False
    if m.bounds(number, 64)[0] * size < NEVER:
        m.lose(MAY_SUCCEED)
    return True


def resolve_product(m: MachineApi, count: Value, size: Value, what: str) -> int | None:
    """count * size without overflow, None if there is no such amount of memory."""
    if isinstance(count, Expr) and isinstance(size, Expr):
        if too_large(m, size, 1):
            # Even then a count of zero is fine; beyond it no product fits.
            return None if m.decide(ugt(count, 0, 64)) else 0
        size = m.size(size, 64, f"size of {what}")
    if isinstance(size, Expr):
        count, size = size, count
    assert not isinstance(size, Expr)
    if isinstance(count, Expr):
        if size == 0:
            return 0
        if too_large(m, count, size):
            return None
        return m.size(count, 64, f"size of {what}", size) * size
    return resolve_size(m, count * size, what)


def out_of_memory(m: MachineApi) -> int:
    set_errno(m, ENOMEM)
    return 0


def malloc_exactly(m: MachineApi, size: int, what: str) -> int:
    """Allocate a known size."""
    return m.allocate(size, "heap", what) if size <= LARGEST else out_of_memory(m)


@model("malloc", "__libc_malloc", "_Znwm", "_Znam")
def malloc(m: MachineApi, size: Value) -> Value:
    wanted = resolve_size(m, size, "malloc")
    return out_of_memory(m) if wanted is None else m.allocate(wanted, "heap", "malloc")


@model("calloc", "__libc_calloc")
def calloc(m: MachineApi, count: Value, size: Value) -> Value:
    wanted = resolve_product(m, count, size, "calloc")
    if wanted is None:
        return out_of_memory(m)
    return m.allocate(wanted, "heap", "calloc", zero=True)


@model("realloc", "__libc_realloc")
def realloc(m: MachineApi, old: Value, size: Value) -> Value:
    return _reallocate(m, old, resolve_size(m, size, "realloc"), "realloc")


@model("reallocarray")
def reallocarray(m: MachineApi, old: Value, count: Value, size: Value) -> Value:
    return _reallocate(m, old, resolve_product(m, count, size, "reallocarray"), "reallocarray")


def _reallocate(m: MachineApi, old: Value, wanted: int | None, what: str) -> int:
    if is_null(m, old):
        return out_of_memory(m) if wanted is None else m.allocate(wanted, "heap", what)
    old, held = m.heap_object(old)
    if wanted is None:
        return out_of_memory(m)
    addr = m.allocate(wanted, "heap", what)
    if kept := min(held, wanted):
        m.copy(addr, old, kept)
    m.free(old)
    return addr


@model("free", "cfree", "__libc_free", "_ZdlPv", "_ZdaPv")
def free(m: MachineApi, addr: Value) -> None:
    if is_null(m, addr):
        return
    m.free(addr)


@model("aligned_alloc", "memalign")
def aligned_alloc(m: MachineApi, align: Value, size: Value) -> Value:
    alignment = m.pick(align, 64, "alignment of aligned_alloc")
    wanted = resolve_size(m, size, "aligned_alloc")
    if alignment & (alignment - 1):
        set_errno(m, EINVAL)
        return 0
    if wanted is None or alignment > LARGEST:
        return out_of_memory(m)
    return m.allocate(wanted, "heap", "aligned_alloc")


@model("valloc")
def valloc(m: MachineApi, size: Value) -> Value:
    return aligned_alloc(m, 4096, size)


@model("posix_memalign")
def posix_memalign(m: MachineApi, result: Value, align: Value, size: Value) -> Value:
    alignment = m.pick(align, 64, "alignment of posix_memalign")
    wanted = resolve_size(m, size, "posix_memalign")
    if alignment < 8 or alignment & (alignment - 1):
        return EINVAL
    if wanted is None or alignment > LARGEST:
        return ENOMEM
    if isinstance(result, Expr):
        result = m.pick(result, 64, "pointer given to posix_memalign")
    m.store(result, 8, m.allocate(wanted, "heap", "posix_memalign"))
    return 0


@model("malloc_usable_size")
def malloc_usable_size(m: MachineApi, addr: Value) -> Value:
    if is_null(m, addr):
        return 0
    return m.heap_object(addr)[1]
