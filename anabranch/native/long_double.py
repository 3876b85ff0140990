"""Mathematics of `long double` in portable C, for native programs.

The C library that zig builds has these functions in assembly, whose results depend on the processor in the
last bit. The engine runs musl's portable ones; native programs get them as well, to compute the same.
Products and quotients of complex numbers are the engine's too: those that zig brings with the compiler return
`long double` ones in memory, where C expects them in registers.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from anabranch.native.flags import TARGET
from anabranch.native.tools import header_flags, place_for, run_tool, zig

_COMPLEX = Path(__file__).resolve().parent.parent / "frontend/libc/override/src/complex_runtime.c"
_FLAGS = (
    "-std=c99", "-O1", "-w", "-D_XOPEN_SOURCE=700", "-fno-pie", "-fno-stack-protector",
    "-fno-builtin",
)  # fmt: skip


@cache
def long_double_objects() -> tuple[Path, ...]:
    """Objects to be searched before the C library; compiled once (some seconds)."""
    musl = zig().parent / "lib" / "libc" / "musl"
    assembly = sorted((musl / "src" / "math" / "x86_64").glob("*l.s"))
    sources = [*(p.parent.parent / f"{p.stem}.c" for p in assembly), _COMPLEX]
    made_from = (str(zig()), zig().stat().st_mtime_ns, _FLAGS, [*map(str, sources)], _COMPLEX.read_bytes())
    key = hashlib.sha256(repr(made_from).encode())
    directory = place_for(f"long-double-{key.hexdigest()[:16]}")
    directory.mkdir(exist_ok=True)
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

    return tuple(map(make, sources))
