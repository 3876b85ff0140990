"""Command lines of compilers, sorted."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.wrapper.arguments import Source, bitcode_flags, expand_responses, parse


def words(line: str) -> list[str]:
    return line.split()


def test_order_of_objects_and_libraries_is_kept() -> None:
    command = parse(
        words("-o prog main.o -Lx -la util.c -l b -Wl,--whole-archive,libc.a -Wl,--no-whole-archive")
    )
    assert command.mode == "link" and command.output == "prog"
    assert command.link == [
        "main.o",
        "-Lx",
        "-la",
        Source("util.c", "c", False),
        "-lb",
        "--whole-archive",
        "libc.a",
        "--no-whole-archive",
    ]
    assert command.compile_flags == []


@pytest.mark.parametrize(
    ("line", "mode"),
    [
        ("-c a.c", "compile"),
        ("a.c", "link"),
        ("-E a.c", "other"),
        ("-c -S a.c", "other"),
        ("-S -c a.c", "other"),
        ("-M -c a.c", "other"),
        ("--version", "other"),
        ("-v", "other"),
        ("-print-prog-name=ld", "other"),
        ("-c -MD -MF a.d a.c", "compile"),
    ],
)
def test_modes(line: str, mode: str) -> None:
    assert parse(words(line)).mode == mode


def test_values_in_the_next_word_are_no_inputs() -> None:
    command = parse(
        words("-c -I inc -D NAME -include pre.h -isystem sys -Xclang -x86 -MF dep.d -MT t.o a.c -o a.o")
    )
    assert [source.path for source in command.sources] == ["a.c"]
    assert command.compile_flags == words("-I inc -D NAME -include pre.h -isystem sys -Xclang -x86")
    assert command.dependency_flags == words("-MF dep.d -MT t.o")


def test_languages() -> None:
    command = parse(words("-c -x c - -x none b.S c.i d.cpp"))
    assert [(s.path, s.language, s.forced) for s in command.sources] == [
        ("-", "c", True),
        ("b.S", "assembler-with-cpp", False),
        ("c.i", "cpp-output", False),
        ("d.cpp", "c++", False),
    ]
    assert command.reads_stdin


def test_response_files_nest(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("'two words' b.c")
    (tmp_path / "outer").write_text(f'-DX=\\"1\\" @{tmp_path / "inner"}')
    assert expand_responses([f"@{tmp_path / 'outer'}", "@absent"]) == [
        '-DX="1"',
        "two words",
        "b.c",
        "@absent",
    ]


def test_bitcode_keeps_meaning_and_drops_the_rest() -> None:
    flags = words(
        "-O3 -g3 -Wall -Werror -fPIC -march=native -mavx2 -DX -I inc -std=c99 -fwrapv -fsanitize=address"
    )
    assert bitcode_flags(flags, machine=False) == words("-DX -I inc -std=c99 -fwrapv")
    assert bitcode_flags(flags, machine=True) == words("-march=native -mavx2 -DX -I inc -std=c99 -fwrapv")


def test_link_time_optimisation_is_not_passed_on() -> None:
    assert parse(words("-c -flto=auto -ffat-lto-objects a.c")).compile_flags == []
