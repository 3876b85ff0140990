"""The malloc family."""

from __future__ import annotations

import pytest

from anabranch.environment.heap import LARGEST
from anabranch.expr import undefined, var
from tests.environment.fake import FakeMachine, ended, index_of

ENOMEM = 12


def test_malloc_gives_undefined_bytes_of_the_size() -> None:
    m = FakeMachine()
    addr = m.call("malloc", 5)
    assert m.span(addr) == 5
    assert all(byte is undefined(8) for byte in m.read_bytes(addr, 5))


def test_objects_of_size_zero_have_addresses() -> None:
    m = FakeMachine()
    addresses = {m.call("malloc", 0), m.call("calloc", 0, 8), m.call("malloc", 0)}
    assert len(addresses) == 3 and 0 not in addresses


@pytest.mark.parametrize("size", [LARGEST + 1, (1 << 63) - 1, (1 << 64) - 1])
def test_huge_sizes_fail(size: int) -> None:
    m = FakeMachine()
    assert m.call("malloc", size) == 0
    assert m.errno() == ENOMEM


def test_calloc_zeroes_and_sees_overflow() -> None:
    m = FakeMachine()
    assert m.bytes_at(m.call("calloc", 3, 4), 12) == bytes(12)
    assert m.call("calloc", 1 << 33, 1 << 31) == 0
    assert m.errno() == ENOMEM


@pytest.mark.parametrize(
    ("count", "size", "total"), [(3, 4, 12), (0, 1 << 40, 0), (1 << 40, 0, 0), (7, 1, 7)]
)
def test_calloc_of_symbolic_sizes(count: int, size: int, total: int) -> None:
    a, b = var("count", 64), var("size", 64)
    for first, second in ((a, b), (a, size), (count, b)):
        m = FakeMachine({index_of(a): count, index_of(b): size})
        assert m.span(m.call("calloc", first, second)) == total


def test_symbolic_size_splits_at_the_limit() -> None:
    size = var("size", 64)
    m = FakeMachine({index_of(size): 1 << 62})
    assert m.call("malloc", size) == 0
    assert len(m.decisions) == 1
    m = FakeMachine({index_of(size): 24})
    assert m.span(m.call("malloc", size)) == 24


def test_realloc_keeps_the_bytes_and_ends_the_old_object() -> None:
    m = FakeMachine()
    old = m.call("malloc", 4)
    m.write_bytes(old, b"abcd")
    new = m.call("realloc", old, 6)
    assert m.bytes_at(new, 4) == b"abcd" and m.span(new) == 6
    assert ended(lambda: m.load(old, 1)).how == "ptr"
    small = m.call("realloc", new, 2)
    assert m.bytes_at(small, 2) == b"ab" and m.span(small) == 2


def test_realloc_of_null_allocates_and_a_failure_keeps_the_object() -> None:
    m = FakeMachine()
    addr = m.call("realloc", 0, 3)
    assert m.span(addr) == 3
    assert m.call("realloc", addr, 1 << 50) == 0
    assert m.call("reallocarray", addr, 1 << 40, 1 << 40) == 0
    assert m.span(addr) == 3
    assert m.span(m.call("reallocarray", addr, 3, 5)) == 15


def test_wrong_pointers() -> None:
    m = FakeMachine()
    addr = m.call("malloc", 4)
    other = m.place(b"global")
    assert ended(lambda: m.call("free", addr + 1)).how == "free"
    assert ended(lambda: m.call("free", other)).how == "free"
    assert ended(lambda: m.call("realloc", other, 9)).how == "free"
    assert ended(lambda: m.call("realloc", addr + 2, 9)).how == "free"
    m.call("free", addr)
    assert ended(lambda: m.call("free", addr)).how == "free"
    assert m.call("free", 0) is None


def test_free_of_a_pointer_that_may_be_null() -> None:
    pointer = var("pointer", 64)
    m = FakeMachine()
    addr = m.call("malloc", 4)
    m.inputs[index_of(pointer)] = addr
    m.call("free", pointer)
    assert m.objects[addr >> 32].freed
    m.inputs[index_of(pointer)] = 0
    m.call("free", pointer)


def test_aligned_allocations() -> None:
    m = FakeMachine()
    assert m.call("aligned_alloc", 64, 100) % 64 == 0
    assert m.call("aligned_alloc", 48, 100) == 0
    assert m.errno() == 22
    result = m.place(bytes(8))
    assert m.call("posix_memalign", result, 4, 10) == 22
    assert m.call("posix_memalign", result, 16, 1 << 50) == ENOMEM
    assert m.load(result, 8) == 0
    assert m.call("posix_memalign", result, 16, 10) == 0
    assert m.call("malloc_usable_size", m.load(result, 8)) == 10
    assert m.call("malloc_usable_size", 0) == 0
