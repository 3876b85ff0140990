"""Test files: round trips, the layout byte by byte, and files that are not whole."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.report.ktest import KTestError, decode, encode, read_ktest

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
objects = st.lists(st.tuples(names, st.binary(max_size=40)), max_size=6)
arguments = st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8), max_size=4)


@given(objects, arguments)
def test_what_is_written_is_read_back(objs: list[tuple[str, bytes]], args: list[str]) -> None:
    test = decode(encode(objs, args))
    assert test.objects == tuple((name or "unnamed", data) for name, data in objs if data)
    assert test.args == (tuple(a for a in args if a) or ("anabranch",))


@given(objects, arguments)
def test_nothing_empty_is_written(objs: list[tuple[str, bytes]], args: list[str]) -> None:
    """Some readers fail on an empty string, and on a test without arguments."""
    data = encode([("", b""), ("", b"x"), *objs], ["", *args])
    test = decode(data)
    assert test.args
    assert all(test.args)
    assert all(name and content for name, content in test.objects)


def test_layout() -> None:
    expected = b"KTEST" + struct.pack(">II", 3, 1) + struct.pack(">I", 3) + b"p.c" + struct.pack(">II", 0, 0)
    expected += struct.pack(">I", 1) + struct.pack(">I", 1) + b"x" + struct.pack(">I", 4) + b"\1\0\0\0"
    assert encode([("x", b"\1\0\0\0")], ["p.c"]) == expected


def test_arguments_stay_ascii() -> None:
    assert decode(encode([("x", b"1")], ["größe.c"])).args[0].isascii()


@given(objects, st.data())
def test_a_truncated_file_is_refused(objs: list[tuple[str, bytes]], data: st.DataObject) -> None:
    whole = encode(objs, ["prog"])
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(KTestError):
        decode(whole[:cut])


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for content in (data, b"KTEST" + data, b"KTEST\0\0\0\3" + data):
        try:
            decode(content)
        except KTestError:
            continue


def test_old_versions_and_newer_ones() -> None:
    old = (
        b"BOUT\n" + struct.pack(">III", 1, 0, 1) + struct.pack(">I", 1) + b"a" + struct.pack(">I", 2) + b"hi"
    )
    assert decode(old).objects == (("a", b"hi"),)
    with pytest.raises(KTestError, match="newer"):
        decode(b"KTEST" + struct.pack(">III", 4, 0, 0))


def test_the_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.ktest"
    path.write_bytes(b"nonsense")
    with pytest.raises(KTestError, match=r"bad\.ktest: not a ktest file"):
        read_ktest(path)
