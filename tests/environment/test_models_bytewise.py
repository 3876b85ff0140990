"""Where byte loops read, decide and fail."""

from __future__ import annotations

from functools import partial

import pytest

from anabranch.environment import MODELS
from anabranch.expr import var
from tests.environment.fake import Ended, FakeMachine, ended, index_of, symbols
from tests.environment.libc_oracle import oracle


def paths(name: str, size: int, *others: bytes, alphabet: bytes = b"\0ab") -> set[tuple[bool, ...]]:
    """The sequences of decisions over all contents of a symbolic buffer."""
    found = set()
    for number in range(len(alphabet) ** size):
        data = bytes(alphabet[number // len(alphabet) ** i % len(alphabet)] for i in range(size))
        m = FakeMachine()
        args = [m.place(symbols(m, data)), *(m.place(o) for o in others)]
        try:
            m.call(name, *args)
        except Ended as end:
            assert end.how == "ptr"
        found.add(tuple(answer for _, answer in m.decisions))
    return found


def test_strlen_decides_each_byte_in_order() -> None:
    assert paths("strlen", 3) == {(True,), (False, True), (False, False, True), (False, False, False)}


def test_strcmp_with_a_known_string_decides_equality_only() -> None:
    assert paths("strcmp", 3, b"ab\0") == {(False,), (True, False), (True, True, False), (True, True, True)}


def test_sets_take_one_decision_a_byte() -> None:
    assert {len(p) for p in paths("strspn", 2, b"ab\0")} == {1, 2}
    assert {len(p) for p in paths("strcspn", 2, b"ab\0", alphabet=b"\0ac")} == {1, 2}


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("strlen", (b"abc",)),
        ("strcmp", (b"abc", b"abcd\0")),
        ("strchr", (b"abc", ord("z"))),
        ("strrchr", (b"abc", ord("a"))),
        ("strstr", (b"abc", b"x\0")),
        ("strspn", (b"abc", b"abc\0")),
        ("strcspn", (b"abc", b"x\0")),
        ("memcmp", (b"abc", b"abcd", 4)),
        ("memchr", (b"abc", ord("z"), 4)),
        ("atoi", (b"123",)),
        ("puts", (b"abc",)),
    ],
)
@pytest.mark.parametrize("symbolic", [False, True])
def test_reading_beyond_the_end_fails_at_the_first_byte_outside(
    name: str, args: tuple[bytes | int, ...], symbolic: bool
) -> None:
    m = FakeMachine()
    values = [
        a if isinstance(a, int) else m.place(symbols(m, a) if symbolic and not i else a)
        for i, a in enumerate(args)
    ]
    end = ended(lambda: m.call(name, *values))
    assert (end.how, end.what) == ("ptr", values[0] + 3)


@pytest.mark.parametrize(
    ("name", "args", "result"),
    [
        ("memcmp", (b"abc", b"axc", 100), 0xFFFFFFEA),
        ("memchr", (b"abc", ord("b"), 100), None),
        ("strncmp", (b"ab", b"abcd", 2), 0),
        ("strnlen", (b"ab", 2), 2),
        ("strnlen", (b"a\0b", 100), 1),
        ("strncmp", (b"", b"", 0), 0),
        ("memcmp", (b"", b"", 0), 0),
    ],
)
@pytest.mark.parametrize("symbolic", [False, True])
def test_a_loop_that_stops_in_time_is_no_error(
    name: str, args: tuple[bytes | int, ...], result: int | None, symbolic: bool
) -> None:
    m = FakeMachine()
    values = [a if isinstance(a, int) else m.place(symbols(m, a) if symbolic else a) for a in args]
    value = m.value(m.call(name, *values))
    assert value == (values[0] + 1 if result is None else result)


def test_null_lengths_do_not_touch_bad_pointers() -> None:
    m = FakeMachine()
    assert m.call("memcpy", 0, 0, 0) == 0
    assert m.call("memcmp", 0, 0, 0) == 0
    assert m.call("strncmp", 0, 0, 0) == 0
    assert ended(lambda: m.call("memcpy", 0, 0, 1)).how == "ptr"


def test_strcpy_that_does_not_fit_fails_whatever_follows_in_the_source() -> None:
    seen = set()
    for text in (b"abcd\0\0", b"abcde\0", b"abcdef"):
        m = FakeMachine()
        target = m.place(bytes(3))
        end = ended(partial(m.call, "strcpy", target, m.place(symbols(m, text))))
        assert (end.how, end.what) == ("ptr", target + 3)
        seen.add(tuple(answer for _, answer in m.decisions))
    assert seen == {(False, False, False)}


@pytest.mark.parametrize("name", ["memcpy", "memset", "strncpy"])
def test_symbolic_lengths_that_do_not_fit_are_one_error(name: str) -> None:
    length = var("length", 64)
    seen = set()
    for n in (5, 6, 1 << 40):
        m = FakeMachine({index_of(length): n})
        target, source = m.place(bytes(4)), m.place(b"ab" + bytes(8))
        end = ended(partial(m.call, name, target, 7 if name == "memset" else source, length))
        assert (end.how, end.what) == ("ptr", target + 4)
        seen.add(tuple(answer for _, answer in m.decisions))
    assert len(seen) == 1


def test_memmove_of_overlapping_blocks() -> None:
    m = FakeMachine()
    addr = m.place(b"abcdef")
    m.call("memmove", addr + 2, addr, 4)
    assert m.bytes_at(addr, 6) == b"ababcd"


def test_fortified_functions_stop_at_the_known_size() -> None:
    m = FakeMachine()
    target, source = m.place(bytes(8)), m.place(b"abcdef\0\0")
    assert ended(lambda: m.call("__memcpy_chk", target, source, 5, 4)).how == "abort"
    assert ended(lambda: m.call("__strcpy_chk", target, source, 6)).how == "abort"
    assert m.call("__strcpy_chk", target, source, 7) == target
    assert ended(lambda: m.call("__strcat_chk", target, source, 8)).how == "abort"
    assert m.call("__memset_chk", target, 1, 8, 1 << 63) == target


@pytest.mark.parametrize("text", [b"a b  c\0", b"\0", b"   \0", b"abc\0", b" ,x,,y \0"])
@pytest.mark.parametrize("symbolic", [False, True])
def test_strtok(text: bytes, symbolic: bool) -> None:
    truth = oracle()("tokens", text, b" ,\0")
    m = FakeMachine()
    addr = m.place(symbols(m, text) if symbolic else text)
    separators = m.place(b" ,\0")
    offsets = []
    token = m.value(m.call("strtok", addr, separators))
    while token:
        offsets.append(token - addr)
        token = m.value(m.call("strtok", 0, separators))
    assert bytes(offsets) == bytes.fromhex(truth.result[1:])
    assert m.bytes_at(addr, len(text)) == truth.buffers[0]


def test_strsep() -> None:
    m = FakeMachine()
    addr = m.place(b"a,,b\0")
    cell = m.place(addr.to_bytes(8, "little"))
    separators = m.place(b",\0")
    pieces = []
    while piece := m.call("strsep", cell, separators):
        pieces.append(m.text_at(piece))
    assert pieces == [b"a", b"", b"b"]


def test_a_symbolic_pointer_is_read_byte_by_byte() -> None:
    m = FakeMachine()
    pointer = var("pointer", 64)
    m.inputs[index_of(pointer)] = m.place(b"xyhello\0") + 2
    assert m.call("strlen", pointer) == 5
    assert m.value(m.call("strchr", pointer, ord("l"))) == m.inputs[index_of(pointer)] + 2


def test_large_concrete_strings_are_read_in_windows() -> None:
    reads: list[int] = []

    class Counting(FakeMachine):
        def concrete_bytes(self, addr: int, n: int) -> bytes | None:
            reads.append(n)
            return super().concrete_bytes(addr, n)

    m = Counting()
    addr = m.place(b"x" * 100_000 + b"\0")
    assert m.call("strlen", addr) == 100_000
    assert len(reads) < 15


def test_every_model_is_registered_under_its_c_name() -> None:
    expected = (
        "strlen memcpy malloc printf klee_assume __VERIFIER_nondet_int __assert_fail abort strtol toupper"
    )
    assert set(expected.split()) <= set(MODELS)
    assert MODELS["abort"].noreturn and not MODELS["strlen"].noreturn
    assert MODELS["printf"].accepts(7) and not MODELS["printf"].accepts(0)
    assert MODELS["memcpy"].accepts(3) and not MODELS["memcpy"].accepts(2)
