"""Functions of musl that see a `long double`, compiled for programs in which it has 64 bits.

The engine's programs have it so; natively they need printf, scanf, strtod and the mathematics of that size
before those of the C library that zig builds, in which it has 80.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from anabranch.native.flags import LONG_DOUBLE, TARGET
from anabranch.native.tools import header_flags, place_for, run_tool, zig

_FILES = (
    "stdio/vfprintf.c", "stdio/vfwprintf.c", "stdio/vfscanf.c", "stdio/vfwscanf.c", "internal/floatscan.c",
    "stdlib/strtod.c", "stdlib/wcstod.c", "math/nexttoward.c", "math/nexttowardf.c",
)  # fmt: skip
_FLAGS = (
    "-std=c99", "-O1", "-w", "-D_XOPEN_SOURCE=700", LONG_DOUBLE, "-fno-pie", "-fno-stack-protector",
    "-fno-builtin",
)  # fmt: skip


@cache
def long_double_objects() -> tuple[Path, ...]:
    """Objects to be searched before the C library; compiled once (some seconds)."""
    musl = zig().parent / "lib" / "libc" / "musl"
    math = sorted((musl / "src" / "math").glob("*l.c")) + sorted((musl / "src" / "complex").glob("*l.c"))
    # ceil.c and the like end in l too; only the long double ones have a brother without the letter
    longs = [p for p in math if p.name.startswith("__") or p.with_name(p.stem[:-1] + ".c").exists()]
    sources = [*(musl / "src" / name for name in _FILES), *longs]
    key = hashlib.sha256(repr((str(zig()), zig().stat().st_mtime_ns, _FLAGS, [*map(str, sources)])).encode())
    directory = place_for(f"long-double-{key.hexdigest()[:16]}")
    directory.mkdir(exist_ok=True)
    # the compiler's own float.h, which follows -mlong-double-64, has to be found before musl's
    includes = ["-isystem", str(zig().parent / "lib" / "include")]
    for name in ("src/include", "src/internal", "arch/x86_64", "arch/generic", "include"):
        includes += ["-isystem", str(musl / name)]
    command = [str(zig()), "clang", f"--target={TARGET}", *_FLAGS, *includes, *header_flags(), "-c"]

    def make(source: Path) -> Path:
        output = directory / f"{source.stem}.o"
        if not output.exists():
            fresh = output.with_suffix(f".{os.getpid()}.tmp")
            run_tool([*command, str(source), "-o", str(fresh)])
            fresh.replace(output)
        return output

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return tuple(pool.map(make, sources))
