"""What programs print."""

from __future__ import annotations

import struct

from anabranch.environment import EXTERNAL_GLOBALS
from anabranch.expr import var
from tests.environment.fake import FakeMachine, ended, index_of, symbols

STDIN, STDOUT, STDERR = (
    int.from_bytes(EXTERNAL_GLOBALS[name], "little") for name in ("stdin", "stdout", "stderr")
)


def test_characters_and_strings() -> None:
    m = FakeMachine()
    assert m.call("putchar", ord("a")) == ord("a")
    assert m.call("putchar", 0x1FF) == 0xFF
    assert m.call("puts", m.place(b"line\0")) == 0
    assert m.call("fputc", ord("e"), STDERR) == ord("e")
    assert m.call("fputs", m.place(b"out\0"), STDOUT) == 0
    assert m.printed(1) == b"a\xffline\nout"
    assert m.printed(2) == b"e"


def test_symbolic_characters_stay_symbolic() -> None:
    m = FakeMachine()
    x = var("x32", 32)
    m.inputs[index_of(x)] = 0x141
    assert m.value(m.call("putchar", x)) == 0x41
    assert not m.decisions and m.printed() == b"A"


def test_blocks() -> None:
    m = FakeMachine()
    data = m.place([*b"ab", *symbols(m, b"cd")])
    assert m.call("fwrite", data, 2, 2, STDOUT) == 2
    assert m.call("fwrite", data, 0, 2, STDOUT) == 0
    assert m.call("write", 2, data, 3) == 3
    assert m.printed(1) == b"abcd" and m.printed(2) == b"abc"
    assert m.call("write", 7, data, 3) == (1 << 64) - 1
    assert m.errno() == 9
    assert ended(lambda: m.call("write", 1, data, 5)).how == "ptr"


def test_other_files_are_not_supported() -> None:
    m = FakeMachine()
    text = m.place(b"x\0")
    assert ended(lambda: m.call("fputs", text, STDIN)).how == "unsupported"
    assert ended(lambda: m.call("fprintf", 1 << 32, text)).how == "unsupported"


def test_streams_of_printf() -> None:
    m = FakeMachine()
    assert m.call("printf", m.place(b"%d%%\0"), 5) == 2
    assert m.call("fprintf", STDERR, m.place(b"<%s>\0"), m.place(b"s\0")) == 3
    assert m.call("__printf_chk", 1, m.place(b"!\0")) == 1
    assert m.call("dprintf", 2, m.place(b"?\0")) == 1
    assert m.printed(1) == b"5%!" and m.printed(2) == b"<s>?"


def test_too_few_arguments() -> None:
    m = FakeMachine()
    assert ended(lambda: m.call("printf", m.place(b"%d\0"))).how == "bad-call"
    assert m.printed() == b""


def test_count_so_far() -> None:
    m = FakeMachine()
    cell, wide = m.place(b"\xff" * 4), m.place(b"\xff" * 8)
    assert m.call("printf", m.place(b"ab%n%5d%lln\0"), cell, 1, wide) == 7
    assert m.load(cell, 4) == 2 and m.load(wide, 8) == 7


def va_list(m: FakeMachine, words: list[int], doubles: list[int], used_gp: int, used_fp: int) -> int:
    """A va_list as va_start leaves it: some registers taken by named parameters, the rest saved."""
    registers = 6 - used_gp // 8
    saved = bytearray(176)
    for slot, word in enumerate(words[:registers]):
        struct.pack_into("<Q", saved, used_gp + 8 * slot, word)
    vectors = (176 - used_fp) // 16
    for slot, bits in enumerate(doubles[:vectors]):
        struct.pack_into("<Q", saved, used_fp + 16 * slot, bits)
    stack = m.place(b"".join(struct.pack("<Q", v) for v in [*words[registers:], *doubles[vectors:]]))
    return m.place(struct.pack("<IIQQ", used_gp, used_fp, stack, m.place(bytes(saved))))


def test_variable_argument_lists() -> None:
    m = FakeMachine()
    one = 0x3FF0000000000000
    words = [1, 2, 3, m.place(b"text\0"), 5, 6, 7]
    text = m.place(b"%d %d %.1f %d %s %d %d %ld\0")
    ap = va_list(m, words, [one], 8, 48)
    assert m.call("vprintf", text, ap) == 20
    assert m.printed() == b"1 2 1.0 3 text 5 6 7"
    buffer = m.place(bytes(40))
    assert m.call("vsnprintf", buffer, 10, text, ap) == 20
    assert m.text_at(buffer) == b"1 2 1.0 3"
    result = m.place(bytes(8))
    assert m.call("vasprintf", result, text, ap) == 20
    assert m.text_at(m.value(m.load(result, 8))) == b"1 2 1.0 3 text 5 6 7"


def test_doubles_beyond_the_registers() -> None:
    m = FakeMachine()
    bits = [struct.unpack("<Q", struct.pack("<d", n))[0] for n in range(10)]
    ap = va_list(m, [], bits, 48, 48)
    m.call("vfprintf", STDOUT, m.place(b"%g%g%g%g%g%g%g%g%g%g\0"), ap)
    assert m.printed() == b"0123456789"


def test_sprintf_beyond_the_buffer() -> None:
    m = FakeMachine()
    assert ended(lambda: m.call("sprintf", m.place(bytes(3)), m.place(b"%d\0"), 123)).how == "ptr"
    assert m.call("sprintf", m.place(bytes(4)), m.place(b"%d\0"), 123) == 3
