"""Settings of the front end, its result, and its one error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anabranch.ir import Module

C_SUFFIXES = (".c", ".i")
LLVM_SUFFIXES = (".bc", ".ll")
ENTRY_POINTS = ("main", "LLVMFuzzerTestOneInput")
"""Tried in this order when no entry is named."""

ANY_ENTRY = "*"
"""As an entry: any function will do, since the program is not started there."""

NO_LIBC, MUSL, AUTO = "none", "musl", "auto"


class FrontendError(Exception):
    """The message is meant for the user as it is: one clear line, or what clang printed."""


@dataclass(frozen=True, slots=True)
class FrontendOptions:
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    """As after `-D`: `NAME` or `NAME=VALUE`."""
    opt_level: int = 1
    entry: str | None = None
    """Function to start in; None: the first of ENTRY_POINTS that is defined."""
    cflags: tuple[str, ...] = ()
    """More arguments for clang."""
    sanitizers: tuple[str, ...] = ()
    """Checks that clang compiles in, by its names (as after `-fsanitize=`)."""
    cache_dir: Path | None = None
    """None: the user's cache directory."""
    use_cache: bool = True
    libc: str = NO_LIBC
    """NO_LIBC: models only; MUSL: the real library, linked by need; AUTO: MUSL if the program needs it."""
    models: frozenset[str] = frozenset()
    """For AUTO: names of functions and variables that the engine provides without a library."""
    library_for: str = ""
    """For AUTO: a reason to have the library in any case, for the user to read."""


@dataclass(frozen=True, slots=True)
class Program:
    """One linked, simplified program. `sources` are the C files given, as given."""

    module: Module
    ir_text: str
    entry: str
    sources: tuple[Path, ...]
    warnings: str = ""
    """What clang printed although it succeeded."""
    from_cache: bool = False
    libc: str = NO_LIBC
    """What is linked: NO_LIBC or MUSL."""
    library_reason: str = ""
    """Why, if that was for the front end to say."""
