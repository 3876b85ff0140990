"""The malloc family.

Sizes beyond `LARGEST`, which is nearly 4 GiB, fail; where they might succeed in a C library, that is counted
as a loss. Large objects have no pages until they are written, so that their size costs nothing. A symbolic
size splits at `LARGEST`; below it, one object stands for all sizes up to `--capacity`, and a few larger ones
are taken one by one. Objects of size 0 have an address of their own, as in musl.
"""

from __future__ import annotations

from typing import NamedTuple

from anabranch.analysis.effects import MADE, PURE, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.declared_parts import ALLOCATIONS, ERRNO
from anabranch.environment.ops import mul, ugt
from anabranch.environment.registry import model
from anabranch.environment.values import EINVAL, ENOMEM, is_null, set_errno
from anabranch.expr import Expr, undefined
from anabranch.machine.block_lengths import up_to
from anabranch.machine.extents import size_of
from anabranch.machine.objects import MAX_OBJECT

LARGEST = MAX_OBJECT
NEVER = 1 << 47
"""The bytes that a program on x86-64 has addresses for."""
ALLOCATING = effects(reads=[ALLOCATIONS], writes=[ERRNO, ALLOCATIONS], points=[MADE])
MAY_SUCCEED = "very large allocation, which may succeed, explored as failing"


class Wanted(NamedTuple):
    """The size of an object to be made."""

    capacity: int
    extent: Expr | None = None
    """How many of these bytes the program may access, if that depends on the input."""


def wanted_size(m: MachineApi, size: Value, what: str) -> Wanted | None:
    """What a size asks for; None if there is no such amount of memory."""
    if not isinstance(size, Expr):
        if LARGEST < size < NEVER:
            m.lose(MAY_SUCCEED)
        return Wanted(size) if size <= LARGEST else None
    return None if too_large(m, size, 1) else Wanted(*m.capacity(size, f"size of {what}"))


def too_large(m: MachineApi, number: Expr, size: int) -> bool:
    """Is there no such amount of memory, so many times a size?"""
    if not m.decide(ugt(number, LARGEST // size, 64)):
        return False
    if m.bounds(number, 64)[0] * size < NEVER:
        m.lose(MAY_SUCCEED)
    return True


def wanted_product(m: MachineApi, count: Value, size: Value, what: str) -> Wanted | None:
    """What count * size asks for, without overflow; None if there is no such amount of memory."""
    if isinstance(size, Expr):
        count, size = size, count
    if not isinstance(count, Expr):
        assert not isinstance(size, Expr)
        return wanted_size(m, count * size, what)
    if isinstance(size, Expr):
        for one, other in ((count, size), (size, count)):
            if too_large(m, one, 1):
                # Even then none of them is fine; beyond that no product fits.
                return None if m.decide(ugt(other, 0, 64)) else Wanted(0)
    elif size == 0:
        return Wanted(0)
    elif too_large(m, count, size):
        return None
    return wanted_size(m, mul(count, size, 64), what)


def out_of_memory(m: MachineApi) -> int:
    set_errno(m, ENOMEM)
    return 0


def allocated(m: MachineApi, wanted: Wanted | None, what: str, zero: bool = False) -> int:
    """A new object on the heap, or none."""
    if wanted is None:
        return out_of_memory(m)
    return m.allocate(wanted.capacity, "heap", what, zero, wanted.extent)


def malloc_exactly(m: MachineApi, size: int, what: str) -> int:
    """Allocate a known size."""
    return m.allocate(size, "heap", what) if size <= LARGEST else out_of_memory(m)


@model("malloc", "__libc_malloc", "_Znwm", "_Znam", effects=ALLOCATING)
def malloc(m: MachineApi, size: Value) -> Value:
    return allocated(m, wanted_size(m, size, "malloc"), "malloc")


@model("calloc", "__libc_calloc", effects=ALLOCATING)
def calloc(m: MachineApi, count: Value, size: Value) -> Value:
    return allocated(m, wanted_product(m, count, size, "calloc"), "calloc", zero=True)


MOVED = ALLOCATING | effects(passes=[(0, MADE)], ends=[0])


@model("realloc", "__libc_realloc", effects=MOVED)
def realloc(m: MachineApi, old: Value, size: Value) -> Value:
    return _reallocate(m, old, wanted_size(m, size, "realloc"), "realloc")


@model("reallocarray", effects=MOVED)
def reallocarray(m: MachineApi, old: Value, count: Value, size: Value) -> Value:
    return _reallocate(m, old, wanted_product(m, count, size, "reallocarray"), "reallocarray")


def _reallocate(m: MachineApi, old: Value, wanted: Wanted | None, what: str) -> int:
    if is_null(m, old):
        return allocated(m, wanted, what)
    info = m.heap_object(old)
    if wanted is None:
        return out_of_memory(m)
    address = allocated(m, wanted, what)
    kept, held = min(info.size, wanted.capacity), size_of(info)
    if isinstance(held, Expr) or wanted.extent is not None:
        # What the old object did not have is as uninitialised in the new one as in any other.
        data = up_to(held, m.contents(info.base, kept), [undefined(8)] * kept)
        m.overwrite(address, data)
    elif kept:
        m.copy(address, info.base, kept)
    m.free(info.base)
    return address


@model("free", "cfree", "__libc_free", "_ZdlPv", "_ZdaPv", effects=effects(ends=[0]))
def free(m: MachineApi, addr: Value) -> None:
    if is_null(m, addr):
        return
    m.free(addr)


@model("aligned_alloc", "memalign", effects=ALLOCATING)
def aligned_alloc(m: MachineApi, align: Value, size: Value) -> Value:
    alignment = m.pick(align, 64, "alignment of aligned_alloc")
    wanted = wanted_size(m, size, "aligned_alloc")
    if alignment & (alignment - 1):
        set_errno(m, EINVAL)
        return 0
    return allocated(m, wanted if alignment <= LARGEST else None, "aligned_alloc")


@model("valloc", effects=ALLOCATING)
def valloc(m: MachineApi, size: Value) -> Value:
    return aligned_alloc(m, 4096, size)


@model("posix_memalign", effects=effects(reads=[ALLOCATIONS], writes=[0, ALLOCATIONS], puts=[(MADE, 0)]))
def posix_memalign(m: MachineApi, result: Value, align: Value, size: Value) -> Value:
    alignment = m.pick(align, 64, "alignment of posix_memalign")
    wanted = wanted_size(m, size, "posix_memalign")
    if alignment < 8 or alignment & (alignment - 1):
        return EINVAL
    if wanted is None or alignment > LARGEST:
        return ENOMEM
    if isinstance(result, Expr):
        result = m.pick(result, 64, "pointer given to posix_memalign")
    m.store(result, 8, allocated(m, wanted, "posix_memalign"))
    return 0


@model("malloc_usable_size", effects=PURE)
def malloc_usable_size(m: MachineApi, addr: Value) -> Value:
    if is_null(m, addr):
        return 0
    return size_of(m.heap_object(addr))
