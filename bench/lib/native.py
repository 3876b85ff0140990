"""Native builds and runs with nothing but the ziglang wheel: its clang, its lld, its musl.

The C library is built once by zig itself (about half a minute on an empty cache); after that a program is
one call of clang and one of lld, together about 40 ms.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
NATIVE = BENCH / "native"
INCLUDE = ROOT / "anabranch" / "include"
REPLAY_RUNTIME = ROOT / "anabranch" / "native" / "klee_runtime.c"

TARGET = "x86_64-linux-musl"

# Exit codes of the runtimes linked into native programs.
EXIT_CHECK = 96  # bench/native/checks.c found an error and named its kind on stderr
EXIT_MISMATCH = 97  # klee_runtime.c: the program asked for another object than the test holds
EXIT_ASSUME = 98  # klee_runtime.c: klee_assume of a false condition
EXIT_REPORT = 99  # klee_runtime.c: klee_report_error

# Two instrumentations whose run-time half is bench/native/checks.c.
CHECK_FLAGS = (
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    # objects are what is checked, as in the engine: not arrays inside of them
    "-fno-sanitize=function,vptr,bounds",
    "-fsanitize-address-use-after-return=never",
)


class NativeError(Exception):
    """A program could not be built natively; the message holds the compiler's output."""


@dataclass(frozen=True)
class NativeRun:
    """How one native run ended; ``signal`` is 0 unless a signal ended it."""

    code: int
    signal: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False

    def check_kind(self) -> str | None:
        """The error kind that checks.c printed, if it ended the run."""
        if self.code != EXIT_CHECK:
            return None
        found = re.search(rb"bench-check: (\S+) (\d+)", self.stderr)
        return found.group(1).decode() if found else None


@cache
def zig() -> Path:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise NativeError("the ziglang wheel is not installed (pip install ziglang==0.13.0)")
    return Path(spec.origin).parent / "zig"


def clang_command() -> list[str]:
    """clang of the wheel with musl's headers and ours; 15 to 20 ms a small file."""
    lib = zig().parent / "lib"
    headers = [lib / "include"]
    headers += [
        lib / "libc" / "include" / d
        for d in ("x86_64-linux-musl", "generic-musl", "x86-linux-any", "any-linux-any")
    ]
    command = [str(zig()), "clang", f"--target={TARGET}", "-nostdinc", "-fno-pie", "-fno-stack-protector"]
    for header in headers:
        command += ["-isystem", str(header)]
    return [*command, "-I", str(INCLUDE)]


def cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "anabranch" / "bench"


def _run_tool(command: Sequence[str], cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
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
        printed = _run_tool([*command, "-cflags", "--", str(source), "--name", "empty"], Path(directory))
    # The last one: with an empty cache zig links the start files first.
    line = next((s for s in reversed(printed.splitlines()) if s.startswith("ld.lld ")), "")
    files = [w for w in shlex.split(line) if w.endswith((".o", ".a"))]
    before = tuple(f for f in files if f.endswith(("crt1.o", "crti.o")))
    after = tuple(f for f in files if f.endswith((".a", "crtn.o")))
    if len(before) != 2 or len(after) != 3:
        raise NativeError(f"unexpected link command of zig: {line}")
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"before": before, "after": after}))
    return before, after


def compile_object(source: Path, output: Path, flags: Sequence[str] = ()) -> Path:
    """Compile one C or LLVM text file; compiler messages come back as NativeError."""
    _run_tool([*clang_command(), *flags, "-c", str(source), "-o", str(output)])
    return output


def link(objects: Sequence[Path], output: Path) -> Path:
    before, after = link_parts()
    command = [str(zig()), "ld.lld", "-m", "elf_x86_64", "-static", "--threads=1", "-o", str(output)]
    _run_tool([*command, *before, *map(str, objects), *after])
    return output


@cache
def runtime_object(source: Path, flags: tuple[str, ...]) -> Path:
    """A runtime file compiled once a content and set of flags."""
    text = source.read_bytes() + repr(flags).encode() + str(zig()).encode()
    directory = cache_dir()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        directory = Path(tempfile.mkdtemp(prefix="anabranch-bench-"))
    output = directory / f"{source.stem}-{hashlib.sha256(text).hexdigest()[:16]}.o"
    if not output.exists():
        fresh = output.with_suffix(f".{os.getpid()}.tmp")
        compile_object(source, fresh, flags)
        fresh.replace(output)
    return output


def build(
    sources: Sequence[Path],
    output: Path,
    *,
    flags: Sequence[str] = (),
    runtimes: Sequence[Path] = (),
) -> Path:
    """One static program out of C or LLVM text files, plus runtime files compiled without instrumentation."""
    objects = []
    for number, source in enumerate(sources):
        objects.append(compile_object(source, output.with_suffix(f".{number}.o"), flags))
    linked = link([*objects, *(runtime_object(r, ("-O1",)) for r in runtimes)], output)
    for o in objects:
        o.unlink()
    return linked


def build_checked(sources: Sequence[Path], output: Path, *, flags: Sequence[str] = ()) -> Path:
    """A replay program whose memory errors and undefined behaviour end it with a named kind."""
    return build(
        sources,
        output,
        flags=("-g", "-O0", *CHECK_FLAGS, *flags),
        runtimes=(NATIVE / "checks.c", REPLAY_RUNTIME),
    )


def run_native(
    program: Path,
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    time_limit: float = 10.0,
) -> NativeRun:
    """Run a built program in an empty environment plus the variables given."""
    try:
        done = subprocess.run(
            [str(program), *arguments],
            env=dict(environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return NativeRun(-1, 0, late.stdout or b"", late.stderr or b"", timed_out=True)
    signal = -done.returncode if done.returncode < 0 else 0
    return NativeRun(done.returncode if not signal else -1, signal, done.stdout, done.stderr)
