"""Native builds and runs: what the oracles add to `anabranch.native`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.native.flags import ADDRESS_FLAGS
from anabranch.native.run import (
    EXIT_ASSUME,
    EXIT_CHECK,
    EXIT_MISMATCH,
    EXIT_REPORT,
    NativeRun,
    run_native,
)
from anabranch.native.tools import (
    CHECKS_RUNTIMES,
    KLEE_RUNTIME,
    NativeError,
    clang_command,
    compile_object,
    fence,
    link,
    runtime_object,
)

__all__ = [
    "BENCH",
    "CHECKS_RUNTIMES",
    "CHECK_FLAGS",
    "EXIT_ASSUME",
    "EXIT_CHECK",
    "EXIT_MISMATCH",
    "EXIT_REPORT",
    "NATIVE",
    "NativeError",
    "NativeRun",
    "build",
    "build_checked",
    "clang_command",
    "run_native",
]

BENCH = Path(__file__).resolve().parent.parent
NATIVE = BENCH / "native"

# Two instrumentations whose run-time half are anabranch/native/checks.c and frames.c.
CHECK_FLAGS = (
    *ADDRESS_FLAGS,
    "-fsanitize=undefined",
    "-fno-sanitize-recover=all",
    # what the engine does not check unless it is asked to
    "-fno-sanitize=function,vptr,pointer-overflow",
)


def build(
    sources: Sequence[Path],
    output: Path,
    *,
    flags: Sequence[str] = (),
    runtimes: Sequence[Path] = (),
    first: Sequence[Path] = (),
    lazily: Sequence[Path] = (),
) -> Path:
    """One static program out of C or LLVM text files, plus runtime files compiled without instrumentation.

    Objects in `first` stand before all others; those in `lazily` are taken before the C library where
    something asks for them.
    """
    objects = []
    for number, source in enumerate(sources):
        objects.append(compile_object(source, output.with_suffix(f".{number}.o"), flags))
    linked = link([*first, *objects, *(runtime_object(r, ("-O1",)) for r in runtimes)], output, lazily)
    for o in objects:
        o.unlink()
    return linked


def build_checked(sources: Sequence[Path], output: Path, *, flags: Sequence[str] = ()) -> Path:
    """A replay program whose memory errors and undefined behaviour end it with a named kind."""
    return build(
        sources,
        output,
        flags=("-g", "-O0", *CHECK_FLAGS, *flags),
        runtimes=(*CHECKS_RUNTIMES, KLEE_RUNTIME),
        first=(fence(),),
    )
