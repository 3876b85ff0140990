"""Random operations give the same results on the model and on the kernel's own file system."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.environment.posix.filesystem import standard_file_system
from tests.environment.posix.system import Model, Result

HOME = b"/home/user"


class Kernel:
    """The same calls on a directory of the host."""

    def __init__(self, root: Path) -> None:
        work = root / HOME.decode().lstrip("/")
        work.mkdir(parents=True)
        self.base = os.open(work, os.O_RDONLY)
        self.work = work

    def attempt(self, action: Callable[[], Any]) -> Any:
        try:
            result = action()
        except OSError as error:
            assert error.errno is not None
            return -error.errno
        return 0 if result is None else result

    def path(self, path: bytes) -> bytes:
        return path

    def open(self, path: bytes, flags: int, mode: int) -> Any:
        return self.attempt(lambda: os.open(path, flags, mode, dir_fd=self.base))

    def call(self, name: str, *arguments: Any) -> Any:
        base = self.base
        actions: dict[str, Callable[..., Any]] = {
            "mkdir": lambda p, m: os.mkdir(p, m, dir_fd=base),
            "rmdir": lambda p: os.rmdir(p, dir_fd=base),
            "unlink": lambda p: os.unlink(p, dir_fd=base),
            "rename": lambda a, b: os.rename(a, b, src_dir_fd=base, dst_dir_fd=base),
            "link": lambda a, b: os.link(a, b, src_dir_fd=base, dst_dir_fd=base, follow_symlinks=False),
            "symlink": lambda a, b: os.symlink(a, b, dir_fd=base),
            "chmod": lambda p, m: os.chmod(p, m, dir_fd=base),
            "lseek": os.lseek,
            "ftruncate": os.ftruncate,
            "close": os.close,
        }
        return self.attempt(lambda: actions[name](*arguments))

    def read(self, fd: int, count: int) -> Result:
        result: Result = self.attempt(lambda: os.read(fd, count))
        return result

    def pread(self, fd: int, count: int, offset: int) -> Result:
        result: Result = self.attempt(lambda: os.pread(fd, count, offset))
        return result

    def write(self, fd: int, data: bytes) -> Any:
        return self.attempt(lambda: os.write(fd, data))

    def pwrite(self, fd: int, data: bytes, offset: int) -> Any:
        return self.attempt(lambda: os.pwrite(fd, data, offset))

    def stat(self, path: bytes, follow: bool) -> Result:
        result: Result = self.attempt(lambda: shown(os.stat(path, dir_fd=self.base, follow_symlinks=follow)))
        return result

    def fstat(self, fd: int) -> Result:
        result: Result = self.attempt(lambda: shown(os.fstat(fd)))
        return result

    def readlink(self, path: bytes) -> Result:
        result: Result = self.attempt(lambda: os.readlink(path, dir_fd=self.base))
        return result

    def listing(self, path: bytes) -> Result:
        fd = self.open(path, os.O_DIRECTORY, 0)
        if fd < 0:
            return int(fd)
        try:
            names = [os.fsencode(name) for name in os.listdir(fd)]
        finally:
            os.close(fd)
        return tuple(sorted([b".", b"..", *names]))


def shown(found: os.stat_result) -> tuple[object, ...]:
    directory = stat.S_ISDIR(found.st_mode)
    return (found.st_mode, None if directory else found.st_nlink, None if directory else found.st_size)


NAMES = [b"a", b"b", b"c", b"d"]
simple = st.sampled_from(NAMES)
short = st.one_of(
    simple,
    st.tuples(simple, simple).map(b"/".join),
    st.tuples(simple, simple, simple).map(b"/".join),
    simple.map(lambda name: name + b"/"),
    simple.map(lambda name: b"../" + name),
    simple.map(lambda name: b"./" + name),
    simple.map(lambda name: name + b"/."),
    simple.map(lambda name: name + b"//" + name),
    simple.map(lambda name: name + b"/.."),
    st.sampled_from([b"", b".", b".."]),
)
paths = st.one_of(short, short, short, st.sampled_from([b"x" * 255, b"x" * 256]))
targets = st.one_of(simple, st.tuples(simple, simple).map(b"/".join), st.just(b"."), st.just(b""))
flags = st.tuples(
    st.sampled_from([os.O_RDONLY, os.O_WRONLY, os.O_RDWR]),
    st.sampled_from([0, os.O_CREAT, os.O_CREAT | os.O_EXCL]),
    st.sampled_from([0, 0, os.O_APPEND, os.O_TRUNC]),
    st.sampled_from([0, 0, 0, os.O_DIRECTORY, os.O_NOFOLLOW]),
).map(lambda parts: parts[0] | parts[1] | parts[2] | parts[3])
slots = st.integers(0, 3)
data = st.binary(max_size=6)
modes = st.sampled_from([0o644, 0o600, 0o755, 0o700])
operations = st.one_of(
    st.tuples(st.just("open"), paths, flags, modes),
    st.tuples(st.just("open"), simple, st.just(os.O_RDWR | os.O_CREAT), modes),
    st.tuples(st.just("read"), slots, st.integers(0, 9)),
    st.tuples(st.just("write"), slots, data),
    st.tuples(st.just("pread"), slots, st.integers(0, 9), st.integers(-1, 9)),
    st.tuples(st.just("pwrite"), slots, data, st.integers(-1, 9)),
    st.tuples(st.just("lseek"), slots, st.integers(-3, 12), st.integers(0, 2)),
    st.tuples(st.just("ftruncate"), slots, st.integers(-1, 9)),
    st.tuples(st.just("fstat"), slots),
    st.tuples(st.just("close"), slots),
    st.tuples(st.just("mkdir"), paths, modes),
    st.tuples(st.just("rmdir"), paths),
    st.tuples(st.just("unlink"), paths),
    st.tuples(st.just("rename"), short, short),
    st.tuples(st.just("link"), short, short),
    st.tuples(st.just("symlink"), targets, paths),
    st.tuples(st.just("chmod"), paths, modes),
    st.tuples(st.just("stat"), paths, st.booleans()),
    st.tuples(st.just("readlink"), paths),
    st.tuples(st.just("listing"), paths),
)
BY_SLOT = ("read", "write", "pread", "pwrite", "lseek", "ftruncate", "fstat", "close")
DIRECT = ("read", "write", "pread", "pwrite", "fstat", "stat", "readlink", "listing")


def perform(system: Any, files: dict[int, int], operation: tuple[Any, ...]) -> Any:
    name, *arguments = operation
    if name == "open":
        path, how, mode = arguments
        number = (
            system.open(path, how, mode) if isinstance(system, Kernel) else system.call("open", *arguments)
        )
        if number < 0:
            return number
        slot = min(set(range(len(files) + 1)) - set(files))
        files[slot] = number
        return slot
    if name in BY_SLOT:
        slot = arguments[0]
        if slot not in files:
            return "closed"
        arguments[0] = files.pop(slot) if name == "close" else files[slot]
    if name in DIRECT:
        return getattr(system, name)(*arguments)
    return system.call(name, *arguments)


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(operations, min_size=1, max_size=30))
def test_the_model_does_what_the_kernel_does(steps: list[tuple[Any, ...]]) -> None:
    before = os.umask(0o022)
    with tempfile.TemporaryDirectory() as directory:
        kernel = Kernel(Path(directory))
        model = Model(standard_file_system(HOME, os.getuid(), os.getgid()))
        here: dict[int, int] = {}
        there: dict[int, int] = {}
        try:
            for step in steps:
                real, ours = perform(kernel, here, step), perform(model, there, step)
                assert ours == real, step
                assert model.listing(b".") == kernel.listing(b"."), step
        finally:
            os.umask(before)
            for number in [*here.values(), kernel.base]:
                os.close(number)
