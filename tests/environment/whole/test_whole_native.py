"""The models without forks against the C library on random strings; how far they decide, and what fails."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.environment import Value
from anabranch.environment.whole import WHOLE, whole_model
from anabranch.expr import eq, ite, undefined, var
from tests.environment.fake import FakeMachine, ended, index_of, symbols
from tests.environment.libc_oracle import compare as compare_with
from tests.environment.libc_oracle import oracle
from tests.environment.test_models_convert import NUMERALS
from tests.environment.test_models_strings import CHAR, LETTERS, SIZES, TEXT

LIMIT = 24
FEW = settings(max_examples=15, deadline=None)


class WholeMachine(FakeMachine):
    def call(self, name: str, *args: Value) -> Any:
        model = whole_model(name, LIMIT)
        assert model is not None
        self.acted = False
        return model(self, *args)


compare = partial(compare_with, machine=WholeMachine)


@FEW
@given(TEXT, TEXT, SIZES, CHAR)
def test_strings(left: bytes, right: bytes, n: int, char: int) -> None:
    compare("strlen", left, bits=64)
    compare("strnlen", left, n, bits=64)
    for name in ("strcmp", "strcasecmp"):
        compare(name, left, right, bits=32)
    for name in ("strncmp", "strncasecmp"):
        compare(name, left, right, n, bits=32)
    for name in ("strchr", "strchrnul", "strrchr"):
        compare(name, left, char)
    for name in ("strspn", "strcspn"):
        compare(name, left, right, bits=64)


@FEW
@given(TEXT, st.lists(st.sampled_from(b"ab"), max_size=3).map(bytes))
def test_searches_for_a_string(text: bytes, wanted: bytes) -> None:
    compare("strstr", text, wanted + b"\0")
    compare("strpbrk", text, wanted + b"\0")
    compare("memmem", text, len(text), wanted + b"?", len(wanted))


@FEW
@given(LETTERS, LETTERS, SIZES, CHAR)
def test_blocks(left: bytes, right: bytes, n: int, char: int) -> None:
    compare("memchr", left, char, min(n, len(left)))
    compare("memrchr", left, char, min(n, len(left)))
    compare("memcmp", left, right, min(n, len(left), len(right)), bits=32)
    compare("memcpy", b"#" * 14, right + b"!", min(n, len(right)))
    compare("mempcpy", b"#" * 14, right + b"!", min(n, len(right)))
    compare("memset", b"#" * 14, char, n)


@FEW
@given(TEXT, TEXT, SIZES)
def test_copies(left: bytes, right: bytes, n: int) -> None:
    compare("strcpy", b"#" * 14, right)
    compare("stpcpy", b"#" * 14, right)
    compare("strncpy", b"#" * 14, right, n)
    compare("stpncpy", b"#" * 14, right, n)
    compare("strcat", left + b"#" * 14, right)
    compare("strncat", left + b"#" * 14, right, n)


@pytest.mark.parametrize("name", ["strtol", "strtoul"])
@settings(max_examples=80, deadline=None)
@given(NUMERALS, st.sampled_from([0, 10, 16, 8, 2, 36, 7, 1, 37]))
def test_numbers(name: str, text: bytes, base: int) -> None:
    m = WholeMachine()
    source, end = m.place(symbols(m, text)), m.place(bytes(8))
    value = m.value(m.call(name, source, end, base))
    shown = f"{value - (1 << 64) if value >> 63 else value}:{m.value(m.load(end, 8)) - source}"
    truth = oracle()(name, text, base)
    assert (shown, m.errno()) == (truth.result, truth.errno)
    compare("atol", text, bits=64)
    compare("atoi", text, bits=32)


@FEW
@given(TEXT, st.integers(0, 12), CHAR)
def test_symbolic_pointers(text: bytes, skip: int, char: int) -> None:
    skip = min(skip, len(text) - 1)
    pointer = var("pointer", 64)
    m = WholeMachine()
    start = m.place(symbols(m, text))
    m.inputs[index_of(pointer)] = start + skip
    rest = text[skip:-1]
    assert m.value(m.call("strlen", pointer)) == len(rest)
    truth = oracle()("strcmp", text[skip:], b"aA\0").result
    assert m.value(m.call("strcmp", pointer, m.place(b"aA\0"))) == int(truth) & 0xFFFFFFFF
    found = rest.find(char & 0xFF) if char & 0xFF else len(rest)
    assert m.value(m.call("strchr", pointer, char)) == (start + skip + found if found >= 0 else 0)
    assert len(m.decisions) <= 6


def test_beyond_the_limit_the_model_forks() -> None:
    m = WholeMachine()
    assert m.call("strlen", m.place(symbols(m, b"x" * (LIMIT + 3) + b"\0"))) == LIMIT + 3
    assert len(m.decisions) > LIMIT
    m = WholeMachine()
    assert m.value(m.call("strlen", m.place(symbols(m, b"x" * (LIMIT - 1) + b"\0" * 9)))) == LIMIT - 1
    assert len(m.decisions) == 1


def test_concrete_data_is_left_to_the_plain_models() -> None:
    m = WholeMachine()
    assert m.call("strlen", m.place(b"abc\0")) == 3
    assert m.call("strcmp", m.place(b"abc\0"), m.place(b"abd\0")) == 0xFFFFFFFF
    assert not m.decisions


@pytest.mark.parametrize("name", ["strlen", "strchr", "strcpy", "atoi", "memcmp"])
def test_bad_pointers_fail_as_they_do_in_the_plain_models(name: str) -> None:
    for address in (0, 5 << 32):
        m = WholeMachine()
        text = m.place(symbols(m, b"ab\0"))
        args = {"strlen": (address,), "strchr": (address, 97), "atoi": (address,)}.get(
            name, (address, text, 2)
        )
        end = ended(partial(m.call, name, *args[: 2 if name == "strcpy" else 3]))
        assert (end.how, end.what) == ("ptr", address)


def test_nothing_is_read_where_the_count_is_zero() -> None:
    m = WholeMachine()
    n = var("n", 64)
    m.inputs[index_of(n)] = 0
    assert m.call("memcmp", 0, 0, 0) == 0
    assert m.call("strncmp", 0, 0, n) == 0
    assert m.call("memchr", 0, 97, n) == 0


def test_bytes_that_an_unfinished_copy_left_uninitialised_are_not_read() -> None:
    """`ite(first is NUL, uninitialised, known)` after a copy: reached only where it is known."""
    first = var("first", 8)
    second = ite(eq(first, 0, 8), undefined(8), ord("b"), 8)
    for value, length in ((0, 0), (97, 2)):
        m = WholeMachine({index_of(first): value})
        assert m.value(m.call("strlen", m.place([first, second, 0]))) == length
        assert not any(answer for _, answer in m.decisions)


def test_models_take_what_the_plain_ones_take() -> None:
    assert all(whole_model(name, 1) is not None for name in WHOLE)
    assert whole_model("printf", 64) is None
