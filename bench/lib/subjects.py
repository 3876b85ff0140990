"""The reference subjects: programs with known numbers of paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "subjects"


@dataclass(frozen=True)
class Subject:
    """A program with its macros and the number of paths that end in an exit and in an error.

    ``error_places`` is the number of distinct places of errors; ``assumed`` maps a symbolic object to the
    greatest value that the program assumes for it (unsigned).
    """

    file: str
    defines: tuple[str, ...]
    exits: int
    errors: int = 0
    error_places: int = 0
    assumed: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        return " ".join([self.file.removesuffix(".c"), *self.defines])

    @property
    def paths(self) -> int:
        return self.exits + self.errors


def _memspn(length: int) -> Subject:
    return Subject("memspn.c", (f"-DM={length}",), 3 * 2**length - 2, assumed=(("n", length),))


# Counts are those of the control flow graph as clang writes it, without any folding of branches.
SUBJECTS = (
    Subject("echo_bare.c", ("-DN=2", "-DL=2"), 18),
    Subject("echo_bare.c", ("-DN=3", "-DL=3"), 144),
    Subject("echo_bare.c", ("-DN=3", "-DL=8"), 1_944),
    Subject("echo_bare.c", ("-DN=4", "-DL=8"), 17_496),
    _memspn(5),
    _memspn(10),
    _memspn(15),
    Subject("maze.c", (), 302, 7, 2),
    Subject("regexp.c", (), 6_802, 890, 2),
    Subject("regexp.c", ("-DTERM",), 6_012),
    Subject("bubble.c", (), 5_040),
)


@dataclass(frozen=True)
class Concrete:
    """A program without inputs, for speed; ``bar`` is the time allowed, in units."""

    file: str
    defines: tuple[str, ...]
    bar: float


CONCRETE = (
    Concrete("loop_arr.c", ("-DITER=3000",), 5.0),
    Concrete("loop_int.c", ("-DITER=3000",), 3.5),
    Concrete("loop_call.c", ("-DITER=27",), 0.6),
)


def find(file: str, directory: Path | None) -> Path:
    """A subject in a directory of the user's choice, else the project's own."""
    if directory is not None and (directory / file).exists():
        return directory / file
    return HERE / file
