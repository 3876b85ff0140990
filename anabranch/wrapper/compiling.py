"""One source file to a native object that carries its bitcode."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.native.flags import BITCODE_FLAGS
from anabranch.native.tools import INCLUDE, compiler
from anabranch.wrapper.arguments import WITH_BITCODE, Command, Source, bitcode_flags
from anabranch.wrapper.elf import ElfError, add_section

_PROBE_FILES = (
    "conftest",
    "CMakeCCompilerId",
    "CMakeCCompilerABI",
    "testCCompiler",
    "CheckSymbolExists",
    "sanitycheckc",
)
_PROBE_DIRECTORIES = (
    "CMakeFiles/CMakeTmp",
    "CMakeFiles/CMakeScratch",
    "CMakeFiles/_CMakeLTOTest",
    "meson-private",
)
NATIVE_ONLY = "ANABRANCH_CC_NATIVE_ONLY"


@dataclass(frozen=True, slots=True)
class Job:
    """A native compile, and the bitcode one beside it (None: the language has none, or nobody wants it)."""

    native: list[str]
    bitcode: list[str] | None
    retry: list[str] | None
    output: Path
    bitcode_output: Path
    stdin: bytes | None


def is_probe(command: Command) -> bool:
    """Whether a build system only asks what the compiler can do: such programs are never explored."""
    if os.environ.get(NATIVE_ONLY):
        return True
    here = os.getcwd().replace(os.sep, "/")
    if any(name in here for name in _PROBE_DIRECTORIES):
        return True
    files = [s.path for s in command.sources] + [w for w in command.link if isinstance(w, str)]
    return any(os.path.basename(name).startswith(_PROBE_FILES) for name in files)


def job_for(command: Command, source: Source, output: Path, bitcode: Path | None, stdin: bytes | None) -> Job:
    """How to make `output` from a source; no `bitcode` path: natively only."""
    # with the language known, forced and unforced look alike, but messages about missing files stay clang's
    language = ["-x", source.language] if source.forced else []
    ending = [*language, source.path]
    flags = [*command.compile_flags, *command.dependency_flags]
    native = [*compiler(), *flags, "-c", "-o", str(output), *ending]
    native[2:2] = ["-Wno-unused-command-line-argument"]
    if bitcode is None or source.language not in WITH_BITCODE:
        return Job(native, None, None, output, output, stdin)
    asked = [bitcode_flags(command.compile_flags, machine) for machine in (False, True)]
    head = [*compiler(), "-w"]
    tail = [*BITCODE_FLAGS, "-idirafter", str(INCLUDE), "-o", str(bitcode), *ending]
    first, second = ([*head, *flags, *tail] for flags in asked)
    return Job(native, first, second if asked[0] != asked[1] else None, output, bitcode, stdin)


def run_job(job: Job) -> int:
    """Compile; both compiles run at the same time. Only the native one can fail the build."""
    second = None
    if job.bitcode is not None:
        second = _start(job.bitcode, job.stdin, quiet=True)
    code = _wait(_start(job.native, job.stdin, quiet=False), job.stdin)[0]
    if second is None:
        return code
    failed, message = _wait(second, job.stdin)
    if code:
        return code
    if failed and job.retry is not None:
        failed, message = _wait(_start(job.retry, job.stdin, quiet=True), job.stdin)
    if failed:
        first = next((line for line in message.splitlines() if "error" in line), message.strip())
        print(f"anabranch cc: {job.output}: no bitcode: {first}", file=sys.stderr)
        return 0
    _embed(job.output, job.bitcode_output.read_bytes())
    return 0


def _embed(path: Path, bitcode: bytes) -> None:
    try:
        data = add_section(path.read_bytes(), bitcode)
    except ElfError as error:
        print(f"anabranch cc: {path}: no bitcode: {error}", file=sys.stderr)
        return
    path.write_bytes(data)


def _start(command: Sequence[str], stdin: bytes | None, quiet: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.PIPE if quiet else None,
    )


def _wait(process: subprocess.Popen[bytes], stdin: bytes | None) -> tuple[int, str]:
    _, errors = process.communicate(stdin)
    return process.returncode, (errors or b"").decode("utf-8", "replace")
