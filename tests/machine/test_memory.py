"""Laws of the store: pages against a plain dictionary, bytes of values, objects and their ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch import expr
from anabranch.expr import Expr, evaluate, is_undefined, join_bytes, split_value, undefined, undefined_bytes
from anabranch.ir.types import (
    PTR,
    ArrayType,
    Type,
    array_type,
    float_type,
    int_type,
    struct_type,
    vector_type,
)
from anabranch.machine.api import scalar_parts
from anabranch.machine.ends import ProgramError
from anabranch.machine.memory import Memory
from anabranch.machine.objects import MAX_OBJECT, ObjectNumbers


@pytest.fixture(autouse=True)
def fresh_expressions() -> Iterator[None]:
    expr.reset()
    yield
    expr.reset()


def new_memory() -> tuple[Memory, ObjectNumbers]:
    numbers = ObjectNumbers()
    return Memory(numbers), numbers


# ---- pages -------------------------------------------------------------------------------------------

SIZES = (1, 10, 255, 256, 257, 600)
operations = st.lists(
    st.one_of(
        st.tuples(
            st.just("store"), st.integers(0, 5), st.integers(0, 620), st.integers(1, 16), st.integers(0)
        ),
        st.tuples(st.just("symbol"), st.integers(0, 5), st.integers(0, 620), st.integers(1, 16), st.just(0)),
        st.tuples(
            st.just("block"), st.integers(0, 5), st.integers(0, 620), st.integers(1, 300), st.integers(0)
        ),
        st.tuples(st.just("load"), st.integers(0, 5), st.integers(0, 620), st.integers(1, 16), st.just(0)),
        st.tuples(st.just("fork"), st.just(0), st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("switch"), st.integers(0, 5), st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("end"), st.integers(-2, -1), st.just(0), st.just(0), st.just(0)),
    ),
    max_size=60,
)
State = tuple[Any, Any, Any, dict[int, Any]]


def bytes_of(value: Any, size: int) -> list[Any]:
    return list(split_value(value, size))


class Model:
    """The store as a dictionary of bytes beside the real one; forks copy it."""

    def __init__(self) -> None:
        self.memory, numbers = new_memory()
        self.bases = []
        self.bytes: dict[int, Any] = {}
        for size in SIZES:
            site = numbers.new_site("heap", f"of {size}")
            base = self.memory.allocate(site, size, bytes(size) if size % 2 else None)
            self.bases.append(base)
            fresh = self.memory.read_bytes(base, size)
            assert len(set(map(id, fresh))) == size or size % 2, "bytes never written are not equal"
            self.bytes.update({base + i: byte for i, byte in enumerate(fresh)})
        self.waiting: list[State] = []
        self.symbols = 0

    def value(self, kind: str, size: int, seed: int) -> Any:
        if kind == "symbol":
            self.symbols += 1
            return expr.var(f"s{self.symbols}", 8 * size)
        return seed % (1 << 8 * size)

    def run(self, kind: str, which: int, offset: int, size: int, seed: int) -> None:
        memory = self.memory
        address = self.bases[which] + offset
        inside = offset + size <= SIZES[which]
        if kind == "fork":
            memory.freeze()
            self.waiting.append((memory.pages, memory.objects, memory.counts, dict(self.bytes)))
        elif kind == "switch":
            if self.waiting:
                memory.freeze()
                now = (memory.pages, memory.objects, memory.counts, dict(self.bytes))
                pages, objects, counts, self.bytes = self.waiting.pop(which % len(self.waiting))
                memory.restore(pages, objects, counts)
                self.waiting.append(now)
        elif kind == "end":  # what it has written since the last fork is gone
            if len(self.waiting) >= -which:
                pages, objects, counts, self.bytes = self.waiting.pop(which)
                memory.restore(pages, objects, counts)
        elif not inside:
            with pytest.raises(ProgramError) as error:
                memory.load(address, size) if kind == "load" else memory.store(
                    address, size, self.value("store", size, seed)
                )
            assert error.value.fault.kind == "out-of-bounds"
        elif kind == "load":
            found = memory.load(address, size)
            expected = [self.bytes[address + i] for i in range(size)]
            same(found, expected, size)
        elif kind == "block":
            data = (seed % (1 << 8 * size)).to_bytes(size, "little")
            memory.write_bytes(address, data)
            self.bytes.update({address + i: byte for i, byte in enumerate(data)})
        else:
            value = self.value(kind, size, seed)
            memory.store(address, size, value)
            self.bytes.update({address + i: byte for i, byte in enumerate(bytes_of(value, size))})

    def check_all(self) -> None:
        for base, size in zip(self.bases, SIZES, strict=True):
            found = self.memory.read_bytes(base, size)
            for i in range(size):
                expected = self.bytes[base + i]
                assert found[i] is expected or (found[i] == expected and isinstance(expected, int)), i


def same(found: Any, expected: list[Any], size: int) -> None:
    if all(isinstance(byte, int) for byte in expected):
        assert found == int.from_bytes(bytes(expected), "little")
        return
    assert isinstance(found, Expr) and found.w == 8 * size
    model = {i: (i * 2654435761 + 12345) % (1 << 8 * size) for i in range(64)}
    known = [int(evaluate(b, model)) if isinstance(b, Expr) else b for b in expected]
    assert evaluate(found, model) == int.from_bytes(bytes(known), "little")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations)
def test_pages_are_a_dictionary_of_bytes(steps: list[tuple[str, int, int, int, int]]) -> None:
    expr.reset()
    model = Model()
    for step in steps:
        model.run(*step)
    model.check_all()
    while model.waiting:
        model.run("switch", 0, 0, 0, 0)
        model.check_all()
        model.waiting.pop()


@pytest.mark.parametrize("kind", ["store", "symbol", "block"])
@pytest.mark.parametrize("which", range(len(SIZES)))
def test_what_a_path_has_written_is_gone_when_its_sibling_runs(kind: str, which: int) -> None:
    model = Model()
    for step in (
        ("store", which, 0, 1, 7),
        ("fork", 0, 0, 0, 0),
        (kind, which, 0, 1, 9),
        ("end", -1, 0, 0, 0),
    ):
        model.run(*step)
        model.check_all()


# ---- bytes of values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 16])
def test_a_value_survives_being_split(size: int) -> None:
    x = expr.var("x", 8 * size)
    values = [x, expr.add(x, 1, 8 * size), undefined(8 * size), expr.zext(expr.var("b", 8), 8, 8 * size)]
    if size > 1:
        values.append(expr.concat(expr.var("high", 8), 8, expr.var("low", 8 * size - 8), 8 * size - 8))
    for value in values:
        assert join_bytes(split_value(value, size)) is value
    assert int.from_bytes(bytes(split_value(77, size)), "little") == 77


def test_bytes_of_different_values_stay_apart() -> None:
    x, y = expr.var("x", 32), expr.var("y", 32)
    mixed = [*split_value(x, 4)[:2], *split_value(y, 4)[2:]]
    found = join_bytes(mixed)
    assert evaluate(found, {0: 0x11223344, 1: 0x55667788}) == 0x55663344


def test_a_value_that_does_not_fill_its_bytes_is_refused() -> None:
    with pytest.raises(TypeError):
        split_value(expr.var("x", 16), 4)


TYPES: list[Type] = [
    int_type(8), int_type(1), int_type(33), int_type(32), int_type(64), int_type(128), PTR,
    float_type("float"), float_type("double"), float_type("x86_fp80"),
    array_type(7, int_type(8)), array_type(3, int_type(16)), array_type(2, array_type(3, int_type(32))),
    struct_type((int_type(8), int_type(32), int_type(16))),
    struct_type((int_type(8), int_type(32)), packed=True),
    array_type(3, struct_type((int_type(8), int_type(64), int_type(8)))),
    struct_type((PTR, array_type(5, int_type(8)), float_type("double"))),
    vector_type(4, int_type(32)), struct_type(()), array_type(0, int_type(32)),
]  # fmt: skip


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_parts_of_a_type_sum_up(type: Type) -> None:
    parts = scalar_parts(type, type.size)
    assert sum(parts) == type.size
    assert set(parts) <= {1, 2, 4, 8}
    assert scalar_parts(type, type.size + 1) == [1] * (type.size + 1)
    assert scalar_parts(None, 5) == [1] * 5


def test_parts_follow_the_fields() -> None:
    type = struct_type((int_type(8), int_type(32), int_type(16)))
    assert scalar_parts(type, 12) == [1, 1, 1, 1, 4, 2, 1, 1]
    large = array_type(5000, int_type(32))
    assert isinstance(large, ArrayType) and scalar_parts(large, large.size) == [1] * 20_000


# ---- objects -----------------------------------------------------------------------------------------


def kind_of(action: Any) -> str:
    with pytest.raises(ProgramError) as error:
        action()
    return error.value.fault.kind


def test_ends_of_objects_are_told_apart() -> None:
    memory, numbers = new_memory()
    heap = numbers.new_site("heap", "malloc")
    first, second = memory.allocate(heap, 300), memory.allocate(heap, 8, bytes(8))
    info = memory.find(first >> 32)
    assert info is not None
    memory.release(info, "freed")
    assert kind_of(lambda: memory.load(first, 1)) == "use-after-free"
    assert kind_of(lambda: memory.store(first + 299, 1, 0)) == "use-after-free"
    assert kind_of(lambda: memory.load(second + 5, 4)) == "out-of-bounds"
    assert kind_of(lambda: memory.load(second - 1, 1)) == "out-of-bounds"
    assert kind_of(lambda: memory.load(8, 1)) == "null-pointer"
    assert kind_of(lambda: memory.load(12345 << 32, 1)) == "wild-pointer"
    constant = memory.allocate(numbers.new_site("constant", "c"), 4, b"abcd")
    memory.freeze()
    assert memory.load(constant, 4) == int.from_bytes(b"abcd", "little")
    assert kind_of(lambda: memory.store(constant, 1, 0)) == "read-only"
    local = memory.allocate(numbers.new_site("stack", "l"), 4)
    memory.release_stack((local,))
    assert kind_of(lambda: memory.load(local, 4)) == "use-after-scope"


def test_locals_leave_the_very_map_that_was_there_before() -> None:
    memory, numbers = new_memory()
    memory.allocate(numbers.new_site("global", "g"), 4)
    memory.freeze()
    before = memory.objects
    locals_ = [memory.allocate(numbers.new_site("stack", name), 4) for name in "ab"]
    memory.freeze()
    inner = memory.objects
    last = memory.allocate(numbers.new_site("stack", "c"), 4)
    memory.freeze()
    memory.release_stack((last,))
    assert memory.objects is inner
    memory.release_stack(tuple(locals_))
    assert memory.objects is before


def test_what_was_made_since_stays_when_locals_leave() -> None:
    memory, numbers = new_memory()
    local = memory.allocate(numbers.new_site("stack", "l"), 4)
    memory.freeze()
    heap = memory.allocate(numbers.new_site("heap", "h"), 4, b"abcd")
    memory.freeze()
    memory.release_stack((local,))
    assert set(memory.objects) == {heap >> 32}
    assert memory.load(heap, 4) == int.from_bytes(b"abcd", "little")


def test_locals_that_leave_out_of_order_or_were_made_anew() -> None:
    memory, numbers = new_memory()
    first, second = (memory.allocate(numbers.new_site("stack", name), 4) for name in "ab")
    memory.freeze()
    memory.release_stack((first,))
    assert set(memory.objects) == {second >> 32}
    info = memory.find(second >> 32)
    assert info is not None
    memory.release(info, "freed")  # there is another entry for it now, over the one of before
    memory.freeze()
    memory.release_stack((second,))
    assert not memory.objects


def test_paths_that_did_the_same_agree_on_addresses() -> None:
    numbers = ObjectNumbers()
    site, other = numbers.new_site("heap", "a"), numbers.new_site("heap", "b")
    one, two = Memory(numbers), Memory(numbers)
    first = [one.allocate(site, 4), one.allocate(other, 4), one.allocate(site, 4)]
    assert [two.allocate(site, 8), two.allocate(site, 8)] == [first[0], first[2]]
    assert len({*first}) == 3


def test_an_object_may_not_be_larger_than_its_offsets() -> None:
    memory, numbers = new_memory()
    with pytest.raises(Exception, match="object too large"):
        memory.allocate(numbers.new_site("heap", "huge"), MAX_OBJECT + 1)


def test_large_objects_share_untouched_pages_and_leave_nothing_behind() -> None:
    memory = Memory(ObjectNumbers())
    before = memory.pages
    site = memory.numbers.new_site("heap", "large")
    first, second = memory.allocate(site, 10_000), memory.allocate(site, 10_000)
    page = memory.page((first >> 8) + 3)
    assert page is undefined_bytes((first >> 8) + 3, 256)
    assert memory.page((second >> 8) + 3) is not page
    memory.store(first + 3 * 256 + 1, 1, 7)
    memory.store(first + 9_999, 1, 8)
    assert memory.load(first + 3 * 256 + 1, 1) == 7
    assert memory.load(first + 9_999, 1) == 8
    assert is_undefined(memory.load(second + 5 * 256 + 1, 1))
    memory.freeze()
    for base in (first, second):
        info = memory.find(base >> 32)
        assert info is not None
        memory.release(info, "freed")
    assert memory.pages == before
    assert not memory.S and not memory.W
    for offset in (0, 3 * 256, 9_999):
        with pytest.raises(ProgramError):
            memory.load(first + offset, 1)
