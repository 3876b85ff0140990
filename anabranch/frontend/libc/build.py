"""The library built on first use: all of musl to bitcode, on all cores, once on a machine."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from anabranch.frontend.compile import run_clang
from anabranch.frontend.libc.digest import library_digest
from anabranch.frontend.libc.progress import Progress
from anabranch.frontend.libc.sources import Member, member_command, members, musl_root
from anabranch.frontend.libc.store import Library, LibraryError, write_library
from anabranch.frontend.libc.symbols import Symbols
from anabranch.frontend.options import FrontendError
from anabranch.frontend.process import run_worker
from anabranch.frontend.toolchain import tool_versions

CHUNK = 40
"""Members a process simplifies: loading LLVM is paid once for so many, and they end about together."""


def ensure_library(directory: Path) -> Path:
    """The library file of this machine in a cache directory; built if it is not there.

    A process that finds another one building waits for it. If the directory cannot be written to, the library
    is built for this process alone.
    """
    path = _place(directory)
    if _usable(path):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = (path.parent / "lock").open("w")
    except OSError:
        return build_library(Path(tempfile.mkdtemp(prefix="anabranch-libc-")) / path.name)
    with lock, _locked(lock.fileno()):
        return path if _usable(path) else build_library(path)


def existing_library(directory: Path) -> Path | None:
    """The library file, if it has been built."""
    path = _place(directory)
    return path if _usable(path) else None


def _place(directory: Path) -> Path:
    return directory / "libc" / f"musl-{_key()}.library"


def build_library(path: Path) -> Path:
    """Build the library into a file."""
    with tempfile.TemporaryDirectory(prefix="anabranch-libc-") as scratch, Progress() as progress:
        built = compile_members(members(), Path(scratch), progress)
    try:
        write_library(path, built)
    except OSError as error:
        raise FrontendError(f"cannot keep the C library in {path.parent}: {error.strerror}") from error
    return path


def compile_members(
    wanted: Sequence[Member], directory: Path, progress: Progress
) -> dict[str, tuple[Symbols, bytes]]:
    """Compile and simplify members, in parallel; FrontendError with the tool's own words if one fails."""
    jobs = [
        (member, directory / f"{number}.bc", directory / f"{number}.s.bc")
        for number, member in enumerate(wanted)
    ]
    chunks = [jobs[start : start + CHUNK] for start in range(0, len(jobs), CHUNK)]
    progress.begin(len(jobs))
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        answers = pool.map(lambda chunk: _build_chunk(chunk, progress), chunks)
        symbols = [found for answer in answers for found in answer]
    finally:
        # After a failure or Ctrl-C the rest is not worth waiting for.
        pool.shutdown(cancel_futures=True)
    return {
        member.name: (found, output.read_bytes())
        for (member, _, output), found in zip(jobs, symbols, strict=True)
    }


def _build_chunk(jobs: Sequence[tuple[Member, Path, Path]], progress: Progress) -> list[Symbols]:
    for member, bitcode, _ in jobs:
        command = [*member_command(), *member.flags, "-o", str(bitcode), "--", str(member.path)]
        result = run_clang(command)
        if result.returncode != 0:
            raise FrontendError(f"the C library does not compile: {member.name}:\n{result.stderr.strip()}")
        progress.advance()
    return _simplify(jobs)


def _simplify(jobs: Sequence[tuple[Member, Path, Path]]) -> list[Symbols]:
    request = [[str(bitcode), str(output)] for _, bitcode, output in jobs]
    result = run_worker("anabranch.frontend.libc.prepare", request)
    answers = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    for (member, _, _), answer in zip(jobs, answers, strict=False):
        if "error" in answer:
            raise FrontendError(f"the C library: {member.name}: {answer['error']}")
    if len(answers) < len(jobs):
        last = (result.stderr.strip().splitlines() or [f"code {result.returncode}"])[-1]
        raise FrontendError(f"the C library: {jobs[len(answers)][0].name}: LLVM failed: {last}")
    return [Symbols.from_json(answer["symbols"]) for answer in answers]


def _key() -> str:
    known = json.dumps([tool_versions(), library_digest(musl_root())])
    return hashlib.sha256(known.encode()).hexdigest()[:24]


def _usable(path: Path) -> bool:
    try:
        Library(path)
    except LibraryError:
        return False
    return True


@contextlib.contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Hold the lock of a directory; the kernel gives it back if the process dies."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
