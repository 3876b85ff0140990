"""What the model of the kernel tells the program besides its inputs, made so natively.

The run-time file `native/model.c` answers for clocks, process, system and metadata with the model's numbers;
limits are set before the program starts; calls that are not modelled are refused as in the model.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from anabranch.environment.posix.calls_processes import UNLIMITED, USUAL_LIMITS
from anabranch.environment.posix.filesystem import (
    ROOT,
    START_TIME,
    FileSystem,
    standard_file_system,
    with_file,
)
from anabranch.environment.posix.kernel import Process
from anabranch.environment.posix.nodes import DEVICE, S_IFREG
from anabranch.replay import refusal
from anabranch.replay.inputs import Inputs
from anabranch.replay.place import HOME, Place

SECOND = 10**9
PROCESS = Process()


def model_flags() -> tuple[str, ...]:
    """How `native/model.c` is compiled."""
    return (
        "-O1",
        "-fno-builtin",
        f"-DMODEL_START={START_TIME}",
        f"-DMODEL_PID={PROCESS.pid}",
        f"-DMODEL_PARENT={PROCESS.parent}",
        f"-DMODEL_DEVICE={DEVICE}",
    )


def file_system(inputs: Inputs, settings: Mapping[str, Any]) -> FileSystem:
    """The file system of the model as far as names and numbers go, in the order in which it is made there."""
    fs = standard_file_system(os.fsencode(HOME))
    for _, guest in settings.get("files") or ():
        fs = with_file(fs, os.fsencode(str(guest)), b"")
    if settings.get("stdin"):
        fs = _with_stdin(fs)
    for file in inputs.files:
        fs = with_file(fs, os.fsencode(file.name), b"")
    return _with_stdin(fs) if inputs.stdin is not None and not settings.get("stdin") else fs


def _with_stdin(fs: FileSystem) -> FileSystem:
    fs, number = fs.add_loose("file", S_IFREG | 0o644)
    return fs.closed(0).opened(number, 0)[0]


def _paths(fs: FileSystem, number: int, path: str) -> Iterator[tuple[str, int]]:
    """Every node below a directory, the directory itself last."""
    for name, child in fs.nodes[number].entries.items():
        inner = f"{path}/{os.fsdecode(name)}"
        if fs.nodes[child].is_directory:
            yield from _paths(fs, child, inner)
        else:
            yield inner, child
    yield path or "/", number


def prepare(place: Place, inputs: Inputs, settings: Mapping[str, Any]) -> str:
    """Give the files of a test the times of the model; returns the table for `native/model.c`."""
    refusal.load()
    fs = file_system(inputs, settings)
    symbolic = {str(place.files / file.name) for file in inputs.files if file.times is not None}
    lines = []
    for path, number in _paths(fs, fs.cwd if place.root is None else ROOT, ""):
        host = f"{place.root or place.files}{path}"
        with suppress(OSError):
            if host not in symbolic:
                os.utime(host, ns=(START_TIME * SECOND, START_TIME * SECOND), follow_symlinks=False)
            lines.append(f"{_identity(os.lstat(host))} {number} {_times(os.lstat(host))}")
    for descriptor in range(3):
        times = f"{START_TIME * SECOND} {START_TIME * SECOND} 0"
        lines.append(f"fd {descriptor} {fs.node_of(descriptor).number} {times}")
    return "\n".join([*lines, f"next {fs.next_node}", ""])


def _identity(status: os.stat_result) -> str:
    return f"{status.st_dev} {status.st_ino}"


def _times(status: os.stat_result) -> str:
    return f"{status.st_atime_ns} {status.st_mtime_ns} {status.st_ctime_ns}"


def as_modelled() -> None:
    """Limits, processors and refused calls as in the model, for the process that becomes the program."""
    for which, (soft, hard) in USUAL_LIMITS.items():
        wanted = tuple(resource.RLIM_INFINITY if n == UNLIMITED else n for n in (soft, hard))
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (wanted[0], wanted[1]))
    with suppress(OSError):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.umask(0o022)
    refusal.same_addresses()
    refusal.refuse_unmodelled()
