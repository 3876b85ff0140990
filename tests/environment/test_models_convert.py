"""Conversions, character classes and the generator of random numbers against the C library."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.environment import EXTERNAL_GLOBALS
from anabranch.environment.chars import CLASSES
from anabranch.expr import evaluate, var
from tests.environment.fake import FakeMachine, index_of, symbols
from tests.environment.libc_oracle import compare, oracle

LIMITS = [2**31, 2**32, 2**63, 2**64]
NUMERALS = st.one_of(
    st.builds(
        lambda space, sign, body, tail: (space + sign + body + tail).encode(),
        st.sampled_from(["", " ", "\t\n "]),
        st.sampled_from(["", "+", "-", "+-"]),
        st.one_of(
            st.integers(0, 2**66).map(str),
            st.integers(0, 2**66).map(lambda n: f"{n:x}"),
            st.integers(0, 2**66).map(lambda n: f"0x{n:X}"),
            st.integers(0, 2**66).map(lambda n: f"0{n:o}"),
            st.sampled_from([f"{n + d}" for n in LIMITS for d in (-1, 0, 1)]),
            st.sampled_from(["", "0x", "0xg", "08", "0X1f", "zz", "1_0"]),
        ),
        st.sampled_from(["", "9", "z", " ", "x1"]),
    ),
    st.binary(max_size=4),
).map(lambda text: text.replace(b"\0", b"") + b"\0")


def converted(name: str, text: bytes, base: int, symbolic: bool) -> tuple[str, int]:
    m = FakeMachine()
    source = m.place(symbols(m, text) if symbolic else text)
    end = m.place(bytes(8))
    value = m.value(m.call(name, source, end, base))
    value = value - (1 << 64) if value >> 63 else value
    return f"{value}:{m.value(m.load(end, 8)) - source}", m.errno()


@pytest.mark.parametrize("name", ["strtol", "strtoul"])
@settings(max_examples=150, deadline=None)
@given(NUMERALS, st.sampled_from([0, 10, 16, 8, 2, 36, 7, 1, 37]))
def test_strtol(name: str, text: bytes, base: int) -> None:
    truth = oracle()(name, text, base)
    for symbolic in (False, True):
        assert converted(name, text, base, symbolic) == (truth.result, truth.errno), (text, base, symbolic)


@settings(max_examples=100, deadline=None)
@given(NUMERALS)
def test_atoi(text: bytes) -> None:
    compare("atol", text, bits=64)
    compare("atoi", text, bits=32)


def test_atoi_of_symbolic_digits_has_one_path_for_each_length() -> None:
    """One decision a character after the sign: a digit or not."""
    seen = set()
    for text in (b"1234\0", b"987\0.", b"1x", b"+\0"):
        m = FakeMachine()
        m.call("atoi", m.place(symbols(m, text)))
        seen.add(len(m.decisions))
    assert seen == {8, 7, 5, 4}


@pytest.mark.parametrize("value", [0, 1, -1, 2**31 - 1, -(2**31) + 1])
def test_absolute_values(value: int) -> None:
    compare("abs", value, bits=32)
    compare("labs", value * 2**32, bits=64)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_random_numbers(seed: int) -> None:
    m = FakeMachine()
    m.call("srand", seed)
    m.call("rand")
    assert str(m.call("rand")) == oracle()("rand", seed).result


def test_random_numbers_without_a_seed_are_those_of_seed_one() -> None:
    first, second = FakeMachine(), FakeMachine()
    second.call("srand", 1)
    assert [first.call("rand") for _ in range(3)] == [second.call("rand") for _ in range(3)]


@pytest.mark.parametrize("name", [*CLASSES, "tolower", "toupper", "toascii"])
def test_characters(name: str) -> None:
    m = FakeMachine()
    variable = var("c", 32)
    symbolic = m.call(name, variable)
    assert not m.decisions
    for code in range(-1, 257):
        truth = int(oracle()(name, code).result) & 0xFFFFFFFF
        masked = code & 0xFFFFFFFF
        assert m.call(name, masked) == truth, code
        assert evaluate(symbolic, {index_of(variable): masked}) == truth, code


def test_character_tables_for_programs_built_with_glibc_headers() -> None:
    m = FakeMachine()
    classes = m.load(m.call("__ctype_b_loc"), 8)
    lower = m.load(m.call("__ctype_tolower_loc"), 8)
    upper = m.load(m.call("__ctype_toupper_loc"), 8)
    bits = {"isupper": 0x100, "isspace": 0x2000, "ispunct": 4, "isalnum": 8}
    for code in range(128):
        for name, bit in bits.items():
            assert bool(m.load(classes + 2 * code, 2) & bit) == bool(m.call(name, code)), (name, code)
        assert m.load(lower + 4 * code, 4) == m.call("tolower", code)
        assert m.load(upper + 4 * code, 4) == m.call("toupper", code)
    assert m.load(classes - 2, 2) == 0
    assert m.load(lower - 4, 4) == 0xFFFFFFFF
    assert m.load(lower - 512, 4) == 128


def test_standard_streams_have_distinct_values() -> None:
    assert len(set(EXTERNAL_GLOBALS.values())) == 3
