"""Arguments, files and standard input from the objects of a test."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

import pytest

from anabranch.replay.inputs import FileInput, inputs_of, program_arguments, write_files

LINE = "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8 --sym-stdout"
STANDARD = LINE.split()


def number(value: int) -> bytes:
    return struct.pack("<i", value)


def status(mode: int, size: int, mtime: int = 7) -> bytes:
    data = bytearray(144)
    struct.pack_into("<I", data, 24, mode)
    struct.pack_into("<q", data, 48, size)
    struct.pack_into("<q", data, 72, 5)
    struct.pack_into("<q", data, 88, mtime)
    return bytes(data)


@pytest.mark.parametrize(
    ("words", "objects", "expected"),
    [
        (["-n", "--sym-arg", "3", "x"], [("arg00", b"ab\0\0")], [b"-n", b"ab", b"x"]),
        (["-sym-arg", "3"], [("arg00", b"abc\0")], [b"abc"]),
        (["--sym-args", "2", "2", "1"], [("arg00", b"a\0"), ("arg01", b"\0\0")], [b"a", b""]),
        (
            ["--sym-args", "0", "3", "2", "end"],
            [("n_args", number(2)), ("arg00", b"x\0\0"), ("arg01", b"yz\0"), ("arg02", b"no\0")],
            [b"x", b"yz", b"end"],
        ),
        (
            STANDARD,
            [
                ("n_args", number(1)),
                ("arg00", b"\xff" * 10 + b"\0"),
                ("n_args_1", number(0)),
                ("A_data", b"8 bytes."),
            ],
            [b"\xff" * 10],
        ),
        (STANDARD, [("n_args", number(0)), ("n_args_1", number(1)), ("arg00", b"-e\0")], [b"-e"]),
        (["--sym-args", "1", "2", "2"], [("n_args", number(99)), ("arg00", b"a\0\0")], [b"a"]),
        (["--", "--sym-argument"], [], [b"--", b"--sym-argument"]),
    ],
)
def test_arguments(words: list[str], objects: list[tuple[str, bytes]], expected: list[bytes]) -> None:
    assert program_arguments(words, objects) == expected


def test_files_and_standard_input() -> None:
    objects = [
        ("A_data", b"12345678"),
        ("A_data_stat", status(0o100640, 8)),
        ("B_data", b"abc\0"),
        ("stdin", b"in\0\0"),
        ("stdin_stat", status(0o100644, 4)),
        ("stdout", b""),
        ("model_version", number(1)),
    ]
    inputs = inputs_of(STANDARD, objects)
    assert inputs.files == [
        FileInput("A", b"12345678", 0o100640, (5 * 10**9, 7 * 10**9)),
        FileInput("B", b"abc\0"),
    ]
    assert inputs.stdin == b"in\0\0" and inputs.stdin_regular and not inputs.stdout_regular
    assert not inputs.failing and not inputs.own_objects


def test_a_size_in_the_status_cuts_the_content() -> None:
    inputs = inputs_of([], [("A_data", b"12345678"), ("A_data_stat", status(0o100644, 3))])
    assert inputs.files[0].content == b"123"


def test_objects_of_the_program_itself_are_left_to_it() -> None:
    inputs = inputs_of([], [("buffer", b"xx"), ("A", b"y")])
    assert inputs.own_objects and inputs.files == [] and inputs.stdin is None


def test_files_on_disk(tmp_path: Path) -> None:
    write_files([FileInput("A", b"xy", 0o100600, (5 * 10**9, 7 * 10**9)), FileInput("B", b"")], tmp_path)
    assert (tmp_path / "A").read_bytes() == b"xy"
    found = os.stat(tmp_path / "A")
    assert stat.S_IMODE(found.st_mode) == 0o600 and found.st_mtime == 7
    assert (tmp_path / "B").read_bytes() == b""


def test_environment_and_failures() -> None:
    inputs = inputs_of(["--sym-env", "HOME", "3"], [("env_HOME", b"/x\0\0"), ("read_fail", bytes(4))])
    assert inputs.environment == {b"HOME": b"/x"} and not inputs.failing and inputs.arguments == []
    assert inputs_of(["--max-fail", "1"], [("read_fail", b"\1\0\0\0")]).failing
    assert inputs_of([], [("stdout_stat", status(0o100644, 0))]).stdout_regular
    assert not inputs_of([], [("stdout_stat", status(0o010644, 0))]).stdout_regular
