"""C to bitcode with the clang of the ziglang wheel."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from anabranch.frontend.options import FrontendError, FrontendOptions
from anabranch.frontend.toolchain import toolchain_dir
from anabranch.native.dependencies import parse_depfile
from anabranch.native.flags import LIBC_HEADERS, MODULE_FLAGS, TARGET, sanitizer_flags

OUR_HEADERS = Path(__file__).resolve().parent.parent / "include"


@dataclass(frozen=True, slots=True)
class Compiled:
    """Bitcode of one C file, with the files it was made from and what clang had to say."""

    bitcode: Path
    dependencies: tuple[Path, ...]
    messages: str


def clang_command(system_headers: bool = True) -> list[str]:
    """The start of a clang command line; without `system_headers` only the compiler's own are found."""
    root = toolchain_dir()
    command = [str(root / "zig"), "clang", f"--target={TARGET}", "-nostdinc"]
    command += ["-isystem", str(root / "lib/include")]
    if system_headers:
        for name in LIBC_HEADERS:
            command += ["-isystem", str(root / "lib/libc/include" / name)]
    return [*command, *MODULE_FLAGS]


def compile_all(sources: Sequence[Path], options: FrontendOptions, directory: Path) -> list[Compiled]:
    """Compile every source into `directory`; the first failure, in the order given, is raised."""
    jobs = [(source, directory / f"{number}.bc") for number, source in enumerate(sources)]
    with ThreadPoolExecutor(max(1, min(len(jobs), os.cpu_count() or 1))) as pool:
        return list(pool.map(lambda job: compile_c(job[0], options, job[1]), jobs))


def compile_c(source: Path, options: FrontendOptions, output: Path) -> Compiled:
    """Compile one file; FrontendError with clang's own output if clang fails."""
    depfile = output.with_suffix(".d")
    command = [*clang_command(), "-MD", "-MF", str(depfile), "-MT", "x"]
    for directory in options.include_dirs:
        command += ["-I", str(directory)]
    command += [f"-D{define}" for define in options.defines]
    command += sanitizer_flags(options.sanitizers)
    # Our own headers come last, so that a user who brings another klee.h gets that one.
    command += ["-idirafter", str(OUR_HEADERS), *options.cflags]
    command += ["-o", str(output), "--", str(source)]
    result = run_clang(command)
    messages = result.stderr.strip()
    if result.returncode != 0 or not output.exists():
        raise FrontendError(messages or f"{source}: clang failed with code {result.returncode}")
    dependencies = parse_depfile(depfile.read_text(errors="surrogateescape")) if depfile.exists() else []
    return Compiled(output, tuple(map(Path, dependencies)), messages)


def run_clang(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise FrontendError(f"cannot run the compiler {command[0]}: {error.strerror}") from error
