"""How clang is called for programs of the engine: one wording for front end, compiler wrapper and replay."""

from __future__ import annotations

from collections.abc import Sequence

TARGET = "x86_64-linux-musl"
LIBC_HEADERS = ("x86_64-linux-musl", "generic-musl", "x86-linux-any", "any-linux-any")
"""Directories of musl's headers in the wheel, in order."""

MODULE_FLAGS = ("-O1", "-g", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c")
"""-O1 for lifetime markers and no `optnone`; the passes themselves are the engine's to choose."""
ADDRESS_FLAGS = ("-fsanitize=address", "-fsanitize-address-use-after-return=always")
"""Checks of addresses, with `CHECKS_RUNTIMES`; uses of locals out of scope are among them."""
BITCODE_FLAGS = (*MODULE_FLAGS, "-fno-sanitize=all", "-fno-stack-protector")
"""For bitcode of whole projects, whose own flags come first."""


def sanitizer_flags(names: Sequence[str]) -> list[str]:
    """For checks of undefined behaviour; a program ends at the first one that fails."""
    return [f"-fsanitize={','.join(names)}", f"-fno-sanitize-recover={','.join(names)}"] if names else []
