"""Where a test runs: a fresh directory and, for the superuser, nothing else of the file system.

A static program needs no files to start, so that a root directory of its own can look as the model of the
kernel has it: `/tmp`, a few devices, and the files of the test in `/home/user`. It also keeps a test that
removes or overwrites what it finds from doing so to the machine.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

HOME = Path("/home/user")
_DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
_PROGRAM, _COUNTERS, _TEST, _NODES, _ANSWERS = (
    f".anabranch-{name}" for name in ("program", "counters", "test", "nodes", "answers")
)


@dataclass(frozen=True, slots=True)
class Place:
    """Directories and files of one test, as the host names them; `seen` tells how the program does."""

    root: Path | None
    files: Path
    program: Path
    counters: Path
    test: Path
    nodes: Path
    """What is known of the files before the program starts."""
    answers: Path
    """What functions without a body answer."""

    def seen(self, path: Path) -> Path:
        return path if self.root is None else Path("/") / path.relative_to(self.root)

    def guest(self, name: str) -> Path:
        """Where a file lies that the program knows by this name."""
        if self.root is not None and name.startswith("/"):
            return self.root / name.lstrip("/")
        return self.files / name.lstrip("/")


def can_have_root(static: bool) -> bool:
    return static and os.geteuid() == 0 and hasattr(os, "chroot")


def make_place(scratch: Path, program: Path, test: Path, own_root: bool) -> Place:
    """A fresh place below `scratch`, which must not hold one yet."""
    base = scratch / "place"
    base.mkdir()
    if not own_root:
        files = base / "files"
        files.mkdir()
        counters, nodes, answers = (base / name for name in ("counters", "nodes", "answers"))
        return Place(None, files, program.resolve(), counters, test.resolve(), nodes, answers)
    (base / "tmp").mkdir()
    (base / "tmp").chmod(0o1777)
    (base / "dev").mkdir()
    for name, (major, minor) in _DEVICES.items():
        with contextlib.suppress(OSError):  # a container may forbid devices
            os.mknod(base / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
            (base / "dev" / name).chmod(0o666)
    files = base / str(HOME).lstrip("/")
    files.mkdir(parents=True)
    try:
        os.link(program, base / _PROGRAM)
    except OSError:
        shutil.copy(program, base / _PROGRAM)
    shutil.copy(test, base / _TEST)
    for name in (_COUNTERS, _NODES, _ANSWERS):  # later the root directory would change with them
        (base / name).touch()
    counters, test, nodes, answers = (base / name for name in (_COUNTERS, _TEST, _NODES, _ANSWERS))
    return Place(base, files, base / _PROGRAM, counters, test, nodes, answers)
