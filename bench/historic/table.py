"""What is known of each bug, and what a trial found out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SUBJECTS = Path(__file__).resolve().parent.parent / "subjects" / "historic"


@dataclass(frozen=True)
class Package:
    """A source package by name and version, and the C library in it."""

    registry: str
    """pypi, npm or debian."""
    name: str
    version: str
    library: str
    """What the bug is in, with its version."""


@dataclass(frozen=True)
class Bug:
    """One publicly known crash. Paths are those of files in the package."""

    name: str
    package: Package
    number: str
    """CVE or issue."""
    kind: str
    """As the engine calls it."""
    function: str
    lines: tuple[int, ...]
    """Where the error is, or the call that leads to it."""
    harness: str
    """File of bench/subjects/historic."""
    known: bytes
    """An input that is known to crash: what the harness declares as the object `input`."""
    files: tuple[str, ...] = ()
    """C files; names may be patterns."""
    include: tuple[str, ...] = ()
    stubs: str | None = None
    """Directory of bench/subjects/historic with headers that the package expects from elsewhere."""
    define: tuple[str, ...] = ()
    access: str = ""
    """`read` or `write`, where one line has both."""


@dataclass(frozen=True)
class Found:
    """One exploration: CPU seconds until the bug was found (None: not found), whether replay confirms it."""

    goal: str
    seconds: float | None
    confirmed: bool
    note: str = ""


@dataclass(frozen=True)
class Trial:
    """A bug with what became of it."""

    bug: Bug
    native: str
    """The kind of error that the known input shows natively, or what else happened."""
    found: tuple[Found, ...] = ()
    note: str = ""

    @property
    def native_holds(self) -> bool:
        return self.native == self.bug.kind
