"""What the explored program is given from outside, and the flags for it among its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: Flags of the program's input with the names of their values, and what they mean.
INPUT_FLAGS: dict[str, tuple[tuple[str, ...], str]] = {
    "sym-arg": (("N",), "an argument of up to N symbolic bytes (repeatable, in order)"),
    "sym-args": (("MIN", "MAX", "N"), "MIN to MAX arguments of up to N symbolic bytes (repeatable)"),
    "sym-files": (("NUM", "N"), "NUM files A, B, ... of N symbolic bytes"),
    "sym-stdin": (("N",), "N symbolic bytes on standard input"),
    "sym-stdout": ((), "standard output is a regular file or a pipe, as the input says"),
    "sym-env": (("NAME", "N"), "environment variable of up to N symbolic bytes (repeatable)"),
    "max-fail": (("N",), "let up to N reads, writes and closes fail"),
}
#: Flags that KLEE knows and that mean nothing here, or the same as another.
OTHER_FLAGS: dict[str, tuple[str, ...]] = {"fd-fail": ("max-fail", "1"), "save-all-writes": ()}


@dataclass(frozen=True, slots=True)
class Argument:
    """One item of the argument list: a text, or from `least` to `most` symbolic arguments of a length."""

    text: bytes | None = None
    length: int = 0
    least: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """All that the explored program is given."""

    name: bytes = b"program"
    """argv[0]"""
    arguments: tuple[Argument, ...] = ()
    environment: tuple[tuple[bytes, bytes | int], ...] = ()
    """Names with their values, or with the length of a symbolic one."""
    files: tuple[tuple[Path, bytes], ...] = ()
    """Files of the host to copy in, with the paths to put them at."""
    stdin: Path | None = None
    """A file of the host that is copied in as standard input."""
    symbolic_files: tuple[int, int] = (0, 0)
    """How many, and of what size."""
    symbolic_stdin: int = 0
    symbolic_stdout: bool = False
    max_fail: int = 0
    sized_files: bool = False
    """Do symbolic files and standard input have any length up to their size?"""
    free_metadata: bool = False
    printable: bool = False

    def needs_library(self) -> str:
        """The flag that only a program on a C library can make use of; empty if there is none."""
        for flag, given in (
            ("--sym-files", self.symbolic_files[0]),
            ("--sym-stdin", self.symbolic_stdin),
            ("--sym-stdout", self.symbolic_stdout),
            ("--file", self.files),
            ("--stdin", self.stdin is not None),
            ("--max-fail", self.max_fail),
        ):
            if given:
                return flag
        return ""


def flag_of(word: str) -> str | None:
    """The input flag that a word is, with one dash or two."""
    name = word.removeprefix("-").removeprefix("-") if word.startswith("-") else ""
    return name if name in INPUT_FLAGS or name in OTHER_FLAGS else None


def value_count(flag: str) -> int:
    return len(INPUT_FLAGS[flag][0]) if flag in INPUT_FLAGS else 0
