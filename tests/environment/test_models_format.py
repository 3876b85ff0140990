"""printf's text against the C library, and symbolic numbers against concrete ones."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.environment import Value, render
from anabranch.environment.format import Invalid, Spec, format_double, parse
from anabranch.environment.text import as_items
from anabranch.expr import Expr, evaluate, var
from tests.environment.fake import FakeMachine, index_of
from tests.environment.libc_oracle import Argument, Double, oracle

ROOM = 400
FLAGS = st.text("-+ #0", max_size=3)
WIDTHS = st.sampled_from(["", "1", "5", "12", "30"])
PRECISIONS = st.sampled_from(["", ".", ".0", ".1", ".3", ".8", ".20"])
LENGTHS = st.sampled_from(["", "hh", "h", "l", "ll", "z", "j", "t"])
NUMBERS = st.one_of(
    st.sampled_from([0, 1, 9, 10, 99, 255, 256, 1 << 31, (1 << 31) - 1, (1 << 64) - 1, 1 << 63, 0xFFFFFFFF]),
    st.integers(0, (1 << 64) - 1),
    st.integers(0, 1000),
)
DOUBLES = st.one_of(
    st.floats(allow_subnormal=True),
    st.integers(-1000, 1000).map(lambda n: n / 8),
    st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.5, 9.5, 99.5, 1e22, 1e23, 1.7976931348623157e308, 5e-324]),
).map(lambda x: struct.unpack("<Q", struct.pack("<d", x))[0])


def model_text(text: bytes, size: int, *args: Argument) -> tuple[str, int, bytes]:
    """What the model of snprintf returns and writes, and errno."""
    m = FakeMachine()
    buffer = m.place(bytes(ROOM))
    values: list[Value] = []
    for arg in args:
        if isinstance(arg, bytes):
            values.append(m.place(arg))
        else:
            values.append(arg.bits if isinstance(arg, Double) else arg)
    result = m.call("snprintf", buffer, size, m.place(text + b"\0"), *values)
    return str(result - (1 << 32) if result >> 31 else result), m.errno(), m.bytes_at(buffer, ROOM)


def same(text: bytes, *args: Argument, size: int = ROOM) -> None:
    natives = [a - (1 << 64) if isinstance(a, int) and a >> 63 else a for a in args]
    truth = oracle()("snprintf", bytes(ROOM), size, text + b"\0", *natives)
    assert model_text(text, size, *args) == (truth.result, truth.errno, truth.buffers[0]), (text, args)


@settings(max_examples=300, deadline=None)
@given(FLAGS, WIDTHS, PRECISIONS, LENGTHS, st.sampled_from("diouxX"), NUMBERS)
def test_integers(flags: str, width: str, precision: str, length: str, conversion: str, number: int) -> None:
    same(f"<%{flags}{width}{precision}{length}{conversion}>".encode(), number)


@settings(max_examples=400, deadline=None)
@given(FLAGS, WIDTHS, PRECISIONS, st.sampled_from("eEfFgGaA"), DOUBLES)
def test_doubles(flags: str, width: str, precision: str, conversion: str, bits: int) -> None:
    same(f"<%{flags}{width}{precision}{conversion}>".encode(), Double(bits))


@settings(max_examples=100, deadline=None)
@given(FLAGS, WIDTHS, PRECISIONS, st.binary(max_size=20), st.integers(0, 255), NUMBERS)
def test_texts(flags: str, width: str, precision: str, text: bytes, char: int, number: int) -> None:
    field = f"%{flags}{width}".encode()
    same(
        field + precision.encode() + b"s|" + field + b"c|" + field + precision.encode() + b"p",
        text + b"\0",
        char,
        number,
    )


@pytest.mark.parametrize("size", [0, 1, 2, 5, 6, 7])
def test_truncation(size: int) -> None:
    same(b"ab%dcd", 12, size=size)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (b"%*d|%-*d|%*d", (5, 1, 5, 2, (1 << 64) - 5, 3)),
        (b"%.*d|%.*d", (3, 7, (1 << 64) - 1, 7)),
        (b"%.*s", (2, b"abc\0")),
        (b"100%% of %i", (7,)),
        (b"%s|%.3s", (0, 0)),
        (b"a%d%y", (1,)),  # an unknown directive after a good one
        (b"a%y%d", (1,)),  # and before any
        (b"%5%", ()),
        (b"%", ()),
        (b"%hs", (b"x\0",)),
        (b"%d %f %d %f", (1, Double(0x3FF8000000000000), 2, Double(0x4000000000000000))),
        (b"%99999999999d", (1,)),
        (b"%'d", (1234567,)),
        (b"", ()),
    ],
)
def test_particular_formats(text: bytes, args: tuple[Argument, ...]) -> None:
    same(text, *args)


def test_parse_reads_each_part_of_a_directive() -> None:
    assert parse(b"a%-08.3lldb%") == (
        b"a",
        Spec("d", "ll", frozenset("-0"), 8, 3),
        b"b",
        Invalid(22),
    )
    assert parse(b"%*.*x") == (Spec("x", "", frozenset(), "*", "*"),)


@settings(max_examples=150, deadline=None)
@given(FLAGS, WIDTHS, PRECISIONS, LENGTHS, st.sampled_from("diouxXp"), NUMBERS)
def test_symbolic_integers(
    flags: str, width: str, precision: str, length: str, conversion: str, number: int
) -> None:
    """The text printed, its length, and the text in memory are those of the value the input takes."""
    length = "" if conversion == "p" else length
    text = f"%{flags}{width}{precision}{length}{conversion}".encode()
    bits = 64 if conversion == "p" or length in ("l", "ll", "z", "j", "t") else 32
    variable = var(f"n{bits}", bits)
    m = FakeMachine({index_of(variable): number & ((1 << bits) - 1)})
    count, _, written = model_text(text, ROOM, number & ((1 << bits) - 1))
    result = m.call("printf", m.place(text + b"\0"), variable)
    assert not m.decisions
    assert m.value(result) == int(count)
    assert m.printed() == written[: int(count)]
    buffer = m.place(bytes(ROOM))
    assert m.value(m.call("sprintf", buffer, m.place(text + b"\0"), variable)) == int(count)
    assert m.text_at(buffer) == written[: int(count)]


def test_symbolic_double_is_printed_when_its_value_is_known() -> None:
    variable = var("double", 64)
    m = FakeMachine({index_of(variable): 0x3FF8000000000000})
    assert m.value(m.call("printf", m.place(b"<%.2f>\0"), variable)) == 6
    assert m.printed() == b"<1.50>"
    assert not m.decisions


def test_symbolic_characters_are_printed_without_a_decision() -> None:
    variable = var("char", 32)
    m = FakeMachine({index_of(variable): ord("q")})
    m.call("printf", m.place(b"%3c|\0"), variable)
    assert not m.decisions
    assert m.printed() == b"  q|"


def test_symbolic_strings_decide_only_where_they_end() -> None:
    m = FakeMachine()
    data = [var("s0", 8), var("s1", 8), var("s2", 8)]
    for variable, byte in zip(data, b"hi\0", strict=True):
        m.inputs[index_of(variable)] = byte
    m.call("printf", m.place(b"%s!\0"), m.place(data))
    assert [answer for _, answer in m.decisions] == [False, False, True]
    assert m.printed() == b"hi!"


def test_output_items_join_known_bytes() -> None:
    x = var("x", 8)
    items = as_items([1, 2, x, 3])
    assert items[0] == b"\1\2" and items[1] is x and items[2] == b"\3" and len(items) == 3
    values = {index_of(x): 9}

    def value(e: Expr) -> int:
        return int(evaluate(e, values))

    assert render(items, value) == b"\1\2\x09\3"


TENTH, LARGEST = 0x3FFBCCCCCCCCCCCCCCCD, 0x7FFEFFFFFFFFFFFFFFFF


@pytest.mark.parametrize(
    ("form", "bits", "text"),
    [
        ("%Lf", TENTH, "0.100000"),
        ("%.30Le", TENTH, "1.000000000000000000013552527156e-01"),
        ("%Lg", LARGEST, "1.18973e+4932"),
        ("%.21Lg", TENTH, "0.100000000000000000001"),
        ("%#.3Lg", 0x3FFF8000000000000000, "1.00"),
        ("%.0Le", 0x4000A000000000000000, "2e+00"),
        ("%La", TENTH, "0x1.999999999999999ap-4"),
        ("%.3LA", TENTH, "0X1.99AP-4"),
        ("%.15La", TENTH, "0x1.999999999999999ap-4"),
        ("%La", 1, "0x1p-16445"),
        ("%08.1Lf|", 0xC000A000000000000000, "-00002.5|"),
        ("%LF", 0x7FFF8000000000000000, "INF"),
        ("%Lf", 0x3FFF0000000000000000, "nan"),  # without its integer bit
    ],
)
def test_long_doubles_as_musl_prints_them(form: str, bits: int, text: str) -> None:
    parts = parse(form.encode())
    pieces = [
        p if isinstance(p, bytes) else format_double(p, bits) for p in parts if not isinstance(p, Invalid)
    ]
    printed = b"".join(pieces)
    assert printed.decode() == text
