"""Running a native program under a time limit, and what its run-time files say at the end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Exit codes of the run-time files linked into native programs.
EXIT_CHECK = 96  # checks.c found an error and named its kind on stderr
EXIT_MISMATCH = 97  # klee_runtime.c: the program asked for another object than the test holds
EXIT_ASSUME = 98  # klee_runtime.c: an assumption is false
EXIT_REPORT = 99  # klee_runtime.c: klee_report_error

_CHECK = re.compile(rb"anabranch-check: (\S+) (\d+)")


@dataclass(frozen=True)
class NativeRun:
    """How one native run ended; `signal` is 0 unless a signal ended it."""

    code: int
    signal: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False

    def check_kind(self) -> str | None:
        """The error kind that checks.c printed, if it ended the run."""
        if self.code != EXIT_CHECK:
            return None
        found = _CHECK.search(self.stderr)
        return found.group(1).decode() if found else None


def _enter(root: Path | None, cwd: Path | None, prepare: Callable[[], object] | None) -> None:
    if root is not None:
        os.chroot(root)
        os.chdir(cwd or "/")
    if prepare is not None:
        prepare()


@dataclass(frozen=True)
class Streams:
    """Regular files for standard input and output; None is a pipe."""

    stdin: Path | None = None
    stdout: Path | None = None


def run_native(
    program: Path,
    *,
    arguments: Sequence[str | bytes] = (),
    environment: Mapping[str, str] | Mapping[bytes, bytes] | None = None,
    time_limit: float = 10.0,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    streams: Streams | None = None,
    name: str | bytes | None = None,
    root: Path | None = None,
    prepare: Callable[[], object] | None = None,
) -> NativeRun:
    """Run a built program in an empty environment plus the variables given, in a session of its own.

    `stdin` None is the null device; `streams` says where regular files stand for pipes; `name` is argv[0].
    With `root` (superuser only) that directory is all that the program sees of the file system; `program` and
    `cwd` are then paths inside of it. `prepare` is called in the process that becomes the program.
    At the limit all that the program started is killed with it.
    """
    first = os.fsencode(name if name is not None else str(program))
    with contextlib.ExitStack() as opened:
        source: int | IO[bytes] = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        target: int | IO[bytes] = subprocess.PIPE
        if streams is not None and streams.stdin is not None and stdin is not None:
            streams.stdin.write_bytes(stdin)
            source, stdin = opened.enter_context(open(streams.stdin, "r+b")), None
        if streams is not None and streams.stdout is not None:
            target = opened.enter_context(open(streams.stdout, "w+b"))
        process = opened.enter_context(
            subprocess.Popen(
                [first, *map(os.fsencode, arguments)],
                executable=program,
                env=dict(environment or {}),
                stdin=source,
                stdout=target,
                stderr=subprocess.PIPE,
                cwd=cwd if root is None else None,
                start_new_session=True,
                preexec_fn=None if root is None and prepare is None else lambda: _enter(root, cwd, prepare),
            )
        )
        timed_out = False
        try:
            out, err = process.communicate(stdin, time_limit)
        except subprocess.TimeoutExpired:
            timed_out = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        code = process.returncode
    if streams is not None and streams.stdout is not None:
        out = streams.stdout.read_bytes()
    if timed_out:
        return NativeRun(-1, 0, out, err, timed_out=True)
    return NativeRun(code if code >= 0 else -1, -code if code < 0 else 0, out, err)
