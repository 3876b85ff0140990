"""Our section in ELF files, and archives."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from anabranch.native.tools import compiler
from anabranch.wrapper.elf import ElfError, add_section, is_archive, members, pack, read_section


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    directory = tmp_path_factory.mktemp("elf")
    (directory / "a.c").write_text("int a(void) { return 1; }\n")
    subprocess.run([*compiler(), "-c", "a.c", "-o", "a.o"], cwd=directory, check=True)
    return (directory / "a.o").read_bytes()


def test_a_section_is_read_back(plain: bytes) -> None:
    assert read_section(plain) == []
    extended = add_section(plain, b"content" * 100)
    assert read_section(extended) == [b"content" * 100]
    assert read_section(extended, b".other") == []
    assert extended[64 : len(plain)] == plain[64:]


def test_two_sections(plain: bytes) -> None:
    both = add_section(add_section(plain, b"one"), b"two", b".second")
    assert (read_section(both), read_section(both, b".second")) == ([b"one"], [b"two"])


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"BC\xc0\xde" + b"\0" * 90, b"\x7fELF\x02\x01" + b"\0" * 58]
)
def test_other_files(data: bytes) -> None:
    assert read_section(data) == []
    with pytest.raises((ElfError, struct.error)):
        add_section(data, b"x")


def test_damaged_section_tables(plain: bytes) -> None:
    for length in range(0, len(plain), 37):
        assert read_section(plain[:length]) == []


def test_archives(tmp_path: Path) -> None:
    files = [("short.o", b"12345"), ("a_name_longer_than_sixteen.o", b""), ("short.o", b"again")]
    data = pack(files)
    assert is_archive(data)
    assert list(members(tmp_path / "x.a", data)) == files
