"""String and memory functions against the C library, on concrete and on symbolic bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.environment.libc_oracle import compare

FEW = settings(max_examples=30, deadline=None)

# A small alphabet makes matches and near misses likely.
LETTERS = st.lists(st.sampled_from(b"aAbBc \xff"), max_size=12).map(bytes)
TEXT = LETTERS.map(lambda t: t + b"\0")
LONG = st.integers(0, 200).map(lambda n: b"x" * n)
SIZES = st.integers(0, 14)
CHAR = st.sampled_from([ord("a"), ord("B"), 0, 0xFF, -1, ord("z"), 0x161])


@FEW
@given(st.one_of(TEXT, LONG.map(lambda t: t + b"\0junk")))
def test_strlen(text: bytes) -> None:
    compare("strlen", text, bits=64)


@FEW
@given(TEXT, SIZES)
def test_strnlen(text: bytes, n: int) -> None:
    compare("strnlen", text, n, bits=64)


@pytest.mark.parametrize("name", ["strcmp", "strcasecmp"])
@FEW
@given(TEXT, TEXT, LONG)
def test_comparisons(name: str, left: bytes, right: bytes, prefix: bytes) -> None:
    compare(name, left, right, bits=32)
    compare(name, prefix + left, prefix + right, bits=32)


@pytest.mark.parametrize("name", ["strncmp", "strncasecmp"])
@FEW
@given(TEXT, TEXT, SIZES)
def test_bounded_comparisons(name: str, left: bytes, right: bytes, n: int) -> None:
    compare(name, left, right, n, bits=32)


@FEW
@given(st.binary(max_size=8), st.binary(max_size=8), st.binary(max_size=100))
def test_memcmp(left: bytes, right: bytes, prefix: bytes) -> None:
    n = min(len(left), len(right))
    compare("memcmp", prefix + left, prefix + right, len(prefix) + n, bits=32)


@pytest.mark.parametrize("name", ["strchr", "strchrnul", "strrchr"])
@FEW
@given(TEXT, CHAR)
def test_searches_for_a_character(name: str, text: bytes, char: int) -> None:
    compare(name, text, char)


@pytest.mark.parametrize("name", ["memchr", "memrchr"])
@FEW
@given(LETTERS, CHAR, SIZES)
def test_searches_in_memory(name: str, data: bytes, char: int, n: int) -> None:
    compare(name, data, char, min(n, len(data)))


@pytest.mark.parametrize("name", ["strstr", "strpbrk"])
@FEW
@given(TEXT, st.lists(st.sampled_from(b"ab"), max_size=3).map(bytes), LONG)
def test_searches_for_a_string(name: str, text: bytes, wanted: bytes, prefix: bytes) -> None:
    compare(name, text, wanted + b"\0")
    compare(name, prefix + text, wanted + b"\0")


@FEW
@given(LETTERS, st.lists(st.sampled_from(b"ab"), max_size=3).map(bytes))
def test_memmem(data: bytes, wanted: bytes) -> None:
    compare("memmem", data + b"!", len(data), wanted + b"?", len(wanted))


@pytest.mark.parametrize("name", ["strspn", "strcspn"])
@FEW
@given(TEXT, TEXT)
def test_spans(name: str, text: bytes, chars: bytes) -> None:
    compare(name, text, chars, bits=64)


@pytest.mark.parametrize("name", ["strcpy", "stpcpy"])
@FEW
@given(TEXT)
def test_copies(name: str, text: bytes) -> None:
    compare(name, b"#" * 14, text)


@pytest.mark.parametrize("name", ["strncpy", "stpncpy"])
@FEW
@given(TEXT, SIZES)
def test_bounded_copies(name: str, text: bytes, n: int) -> None:
    compare(name, b"#" * 14, text, n)


@FEW
@given(TEXT, TEXT, SIZES)
def test_concatenations(left: bytes, right: bytes, n: int) -> None:
    compare("strcat", left + b"#" * 14, right)
    compare("strncat", left + b"#" * 14, right, n)


@pytest.mark.parametrize("name", ["strlcpy", "strlcat"])
@FEW
@given(TEXT, TEXT, SIZES)
def test_bsd_copies(name: str, left: bytes, right: bytes, n: int) -> None:
    compare(name, left + b"#" * 14, right, n, bits=64)


@FEW
@given(TEXT, SIZES)
def test_duplicates(text: bytes, n: int) -> None:
    compare("strdup", text)
    compare("strndup", text, n)


@FEW
@given(st.binary(max_size=12), CHAR, SIZES)
def test_blocks(data: bytes, char: int, n: int) -> None:
    n = min(n, len(data))
    compare("memcpy", b"#" * 14, data + b"!", n)
    compare("mempcpy", b"#" * 14, data + b"!", n)
    compare("memset", b"#" * 14, char, n)
    compare("memccpy", b"#" * 14, data + b"!", char, n)
