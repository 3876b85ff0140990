"""The directory of a run: its name, and files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

PREFIX = "anabranch-out-"
LAST = "anabranch-last"
CRASH_LOG = "anabranch-crash.log"
"""Tracebacks of failures of the engine itself."""


class RunDirError(Exception):
    """The directory cannot be made or written; the message is for the user."""


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


@contextlib.contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn a database's complaint (disk full, no rights) into one for the user."""
    try:
        yield
    except sqlite3.Error as error:
        raise RunDirError(f"cannot write {path}: {error}") from error


class LineLog:
    """A file that grows by whole lines, each handed to the system by a single write."""

    __slots__ = ("_file", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise RunDirError(f"cannot write {path}: {_reason(error)}") from error

    def add(self, line: str) -> None:
        try:
            self._file.write(line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise RunDirError(f"cannot write {self._path}: {_reason(error)}") from error

    def close(self) -> None:
        self._file.close()


class RunDirectory:
    """A directory that this run owns, with atomic writes into it."""

    __slots__ = ("_prefix", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._prefix = f"{path}{os.sep}"

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file under another name first, so that no reader and no kill sees half of it."""
        target = self._prefix + name
        temporary = f"{self._prefix}.{name}.tmp"
        try:
            # Bare system calls: a run may write a hundred thousand tests.
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            try:
                written = os.write(file, data)
                while written < len(data):
                    written += os.write(file, data[written:])
            finally:
                os.close(file)
            os.replace(temporary, target)
        except OSError as error:
            raise RunDirError(f"cannot write {target}: {_reason(error)}") from error

    def write_text(self, name: str, text: str) -> None:
        self.write_bytes(name, text.encode("utf-8", "backslashreplace"))

    def open_log(self, name: str) -> LineLog:
        return LineLog(self.path / name)

    def write_assembly(self, ir_text: str) -> None:
        """Keep the program that was run; the lines of errors and of the tree count in this file."""
        self.write_text("assembly.ll", ir_text)


def create_run_directory(output_dir: Path | None, parent: Path | None = None) -> RunDirectory:
    """Make `output_dir`, which must not exist, or the first free `anabranch-out-N` in `parent`."""
    if output_dir is not None:
        try:
            _make(output_dir)
        except FileExistsError:
            raise RunDirError(
                f"the directory {output_dir} exists already: remove it or name another with --output-dir"
            ) from None
        return RunDirectory(output_dir)
    base = parent if parent is not None else Path()
    for number in itertools.count():
        path = base / f"{PREFIX}{number}"
        try:
            _make(path)
        except FileExistsError:
            continue
        break
    _point_last(base, path.name)
    return RunDirectory(path)


def _make(path: Path) -> None:
    """Make a new directory, and those above it; FileExistsError if there is something of that name."""
    try:
        if not path.parent.is_dir():
            os.makedirs(path.parent)
    except OSError as error:
        raise RunDirError(f"cannot make the output directory {path}: {_reason(error)}") from error
    try:
        path.mkdir()
    except FileExistsError:
        raise
    except OSError as error:
        raise RunDirError(
            f"cannot make the output directory {path}: {_reason(error)}; name a place with --output-dir"
        ) from error


def _point_last(base: Path, name: str) -> None:
    link = base / LAST
    temporary = base / f".{LAST}.{os.getpid()}"
    # The link is a convenience: a file system without links, or a directory of that name, must not end a run.
    with contextlib.suppress(OSError):
        temporary.symlink_to(name)
        os.replace(temporary, link)
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
