"""Which files make up the C library, and how clang is to compile them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch.frontend.compile import clang_command
from anabranch.frontend.toolchain import toolchain_dir

OVERRIDE = Path(__file__).resolve().parent / "override"
SHOWN_ROOT = "/anabranch/musl"
"""The directory that debug information names for the library's sources."""

ARCHITECTURE = "x86_64"
OTHER_ARCHITECTURES = frozenset(
    (
        *("aarch64", "arm", "generic", "i386", "loongarch64", "m68k", "microblaze", "mips", "mips64"),
        *("mipsn32", "or1k", "powerpc", "powerpc64", "riscv32", "riscv64", "s390x", "sh", "x32"),
    )
)
_INCLUDES = (f"arch/{ARCHITECTURE}", "arch/generic", "src/include", "src/internal", "include")
_GENERATED = (f"{ARCHITECTURE}-linux-musl", "generic-musl")
_FLAGS = ("-std=c99", "-ffreestanding", "-D_XOPEN_SOURCE=700", "-w")
_NOT_IN_LIBRARY = (
    *("src/malloc/oldmalloc/", "src/malloc/mallocng/", "src/setjmp/", "src/thread/__unmapself.c"),
    "src/env/__libc_start_main.c",
)
"""Heaps, which are the engine's, what only assembly can say, and what ours replaces."""
_WHOLE_WORDS = "__may_alias__"
"""In files that read strings by the word, past their ends; without __GNUC__ they go byte by byte."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the library."""

    name: str
    path: Path
    flags: tuple[str, ...] = ()


def musl_root() -> Path:
    return toolchain_dir() / "lib/libc/musl"


def portable_files(root: Path, architecture: str | None = None) -> list[Path]:
    """C files for any machine; those that `architecture` has in their place, if one is named."""
    skipped = OTHER_ARCHITECTURES if architecture else OTHER_ARCHITECTURES | {ARCHITECTURE}
    files = [path for path in sorted(root.rglob("*.c")) if path.parent.name not in skipped]
    replaced = {path.parent.parent / path.name for path in files if path.parent.name == architecture}
    return [path for path in files if path not in replaced]


def members() -> list[Member]:
    """All files of the library: musl's in portable C, and our own."""
    root = musl_root()
    found = [Member(f"anabranch/{path.name}", path) for path in sorted((OVERRIDE / "src").glob("*.c"))]
    for path in portable_files(root / "src"):
        name = str(path.relative_to(root))
        if name.startswith(_NOT_IN_LIBRARY):
            continue
        bytewise = _WHOLE_WORDS in path.read_text("utf-8", "replace")
        found.append(Member(name, path, ("-U__GNUC__",) if bytewise else ()))
    return found


def musl_command(before: tuple[Path, ...] = (), flags: tuple[str, ...] = ()) -> list[str]:
    """The start of a clang command for a file of musl; headers are looked for in `before` first."""
    root = musl_root()
    command = [*clang_command(system_headers=False), *flags]
    for directory in (*before, *(root / name for name in _INCLUDES)):
        command += ["-I", str(directory)]
    for name in _GENERATED:
        command += ["-isystem", str(toolchain_dir() / "lib/libc/include" / name)]
    return [*command, *_FLAGS]


@cache
def member_command() -> tuple[str, ...]:
    """The start of a clang command for a file of the library as the engine uses it."""
    return (
        *musl_command((OVERRIDE / "arch",)),
        *("-fno-sanitize=all", "-fno-stack-protector", "-fno-strict-aliasing"),
        # Lines for messages; types and variables of the library would only make programs larger.
        *("-gline-tables-only", f"-fdebug-prefix-map={musl_root()}={SHOWN_ROOT}"),
        *(f"-fdebug-prefix-map={OVERRIDE}={SHOWN_ROOT}", f"-fdebug-compilation-dir={SHOWN_ROOT}"),
    )
