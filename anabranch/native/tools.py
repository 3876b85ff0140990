"""clang and lld of the ziglang wheel, and the parts of a static musl program.

The C library is built once by zig itself (about half a minute on an empty cache); after that a small program
is one call of clang and one of lld, together about 40 ms. Kept light: `anabranch cc` loads it for each file.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from anabranch.native.flags import ADDRESS_FLAGS, LIBC_HEADERS, TARGET

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
KLEE_RUNTIME = HERE / "klee_runtime.c"
CHECKS_RUNTIMES = (HERE / "checks.c", HERE / "frames.c")
UNDEFINED_RUNTIME = HERE / "undefined.c"
COVERAGE_RUNTIME = HERE / "coverage.c"
MODEL_RUNTIME = HERE / "model.c"
ANSWERS_RUNTIME = HERE / "answers.c"
FRESH_RUNTIME = HERE / "fresh.c"
LAST_LINE_RUNTIME = HERE / "last_line.c"
LIBRARY_RUNTIME = HERE / "library.c"


class NativeError(Exception):
    """A program could not be built natively; the message holds the output of the tool."""


@cache
def zig() -> Path:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise NativeError("the compiler is missing: install the Python package ziglang==0.13.0")
    return Path(spec.origin).parent / "zig"


def header_flags() -> list[str]:
    """The compiler's own headers, then musl's."""
    lib = zig().parent / "lib"
    flags = ["-nostdinc", "-isystem", str(lib / "include")]
    for name in LIBC_HEADERS:
        flags += ["-isystem", str(lib / "libc" / "include" / name)]
    return flags


def compiler() -> list[str]:
    """clang for musl programs, headers included; 15 to 20 ms a small file."""
    return [str(zig()), "clang", f"--target={TARGET}", *header_flags()]


def clang_command() -> list[str]:
    """clang for static programs of ours, with `klee/klee.h`."""
    return [*compiler(), "-fno-pie", "-fno-stack-protector", "-I", str(INCLUDE)]


def linker() -> list[str]:
    return [str(zig()), "ld.lld", "-m", "elf_x86_64", "--threads=1"]


def cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and os.path.isabs(base) else Path.home() / ".cache") / "anabranch" / "native"


def run_tool(command: Sequence[str], cwd: Path | None = None) -> str:
    """Run a tool to its end; what it printed on stderr comes back, or is the error."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", cwd=cwd,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise NativeError(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise NativeError((done.stderr or done.stdout).strip() or f"{command[0]}: exit {done.returncode}")
    return done.stderr


@cache
def link_parts() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Start files and libraries for a static musl program, as zig builds and keeps them in its own cache."""
    note = cache_dir() / f"link-{hashlib.sha256(str(zig()).encode()).hexdigest()[:12]}.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        parts = json.loads(note.read_text())
        if all(Path(p).exists() for p in (*parts["before"], *parts["after"])):
            return tuple(parts["before"]), tuple(parts["after"])
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "empty.c"
        source.write_text("int main(void) { return 0; }\n")
        # Debug keeps libc.a free of link-time optimisation: a link then takes 12 ms instead of 950.
        command = [str(zig()), "build-exe", "-target", TARGET, "-lc", "-O", "Debug", "--verbose-link"]
        printed = run_tool([*command, "-cflags", "--", str(source), "--name", "empty"], Path(directory))
    # The last one: with an empty cache zig links the start files first.
    line = next((s for s in reversed(printed.splitlines()) if s.startswith("ld.lld ")), "")
    files = [w for w in shlex.split(line) if w.endswith((".o", ".a"))]
    before = tuple(f for f in files if f.endswith(("crt1.o", "crti.o")))
    after = tuple(f for f in files if f.endswith((".a", "crtn.o")))
    if len(before) != 2 or len(after) != 3:
        raise NativeError(f"unexpected link command of zig: {line}")
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        fresh = note.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps({"before": before, "after": after}))
        fresh.replace(note)
    return before, after


def compile_object(source: Path, output: Path, flags: Sequence[str] = ()) -> Path:
    """Compile one C, LLVM text or bitcode file; compiler messages come back as NativeError."""
    run_tool([*clang_command(), *flags, "-c", str(source), "-o", str(output)])
    return output


def link(
    objects: Sequence[Path], output: Path, lazily: Sequence[Path] = (), wrapped: Sequence[str] = ()
) -> Path:
    """A static program; objects in `lazily` are taken where something asks for them, before the C library.

    Of two definitions the first is taken: a program may define `getopt` and use `optind` of the library,
    which comes with a `getopt`. With a shared library that is allowed. Who calls a function `f` that is
    `wrapped` calls `__wrap_f`, which knows the function itself as `__real_f`.
    """
    before, after = link_parts()
    command = [*linker(), "-static", "-z", "muldefs", "-o", str(output), *before, *map(str, objects)]
    command += [f"--wrap={name}" for name in wrapped]
    # Any bitcode may have been compiled with checks of undefined behaviour.
    lazily = [*lazily, runtime_object(UNDEFINED_RUNTIME)]
    run_tool([*command, "--start-lib", *map(str, lazily), "--end-lib", *after])
    return output


def place_for(name: str) -> Path:
    """Where a file with this name is kept between runs; a directory of its own if the cache is read-only."""
    directory = cache_dir()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            raise PermissionError
    except OSError:
        directory = Path(tempfile.mkdtemp(prefix="anabranch-native-"))
    return directory / name


@cache
def runtime_object(source: Path, flags: tuple[str, ...] = ("-O1",)) -> Path:
    """A runtime file compiled once a content and set of flags."""
    text = source.read_bytes() + repr(flags).encode() + str(zig()).encode()
    output = place_for(f"{source.stem}-{hashlib.sha256(text).hexdigest()[:16]}.o")
    if not output.exists():
        fresh = output.with_suffix(f".{os.getpid()}.tmp")
        compile_object(source, fresh, flags)
        fresh.replace(output)
    return output


def fence() -> Path:
    """An object to be linked first into a program with checks: red zones before its first variables."""
    return runtime_object(HERE / "fence.c", ("-O1", *ADDRESS_FLAGS))


def checked_library() -> Path:
    """Functions of the C library that check the addresses they are given, to be linked lazily."""
    return runtime_object(LIBRARY_RUNTIME, ("-O1", "-fno-builtin", *ADDRESS_FLAGS))
