"""System calls on the model, in Python's types: a file system without symbols behind the small machine."""

from __future__ import annotations

import struct

from anabranch.environment.posix.filesystem import FileSystem
from anabranch.environment.posix.kernel import FILES
from anabranch.environment.posix.numbers import NUMBERS
from tests.environment.fake import FakeMachine

Result = int | bytes | tuple[object, ...]


class Model:
    """One path with its file system."""

    def __init__(self, fs: FileSystem | None = None) -> None:
        self.m = FakeMachine()
        if fs is not None:
            self.m.notes[FILES] = fs

    def call(self, name: str, *arguments: int | bytes) -> int:
        """A system call; texts are passed by address with a NUL behind them."""
        values = [self.text(a) if isinstance(a, bytes) else a & (1 << 64) - 1 for a in arguments]
        result = self.m.call(f"__syscall{len(values)}", NUMBERS[name], *values)
        assert isinstance(result, int) and 0 <= result < 1 << 64
        return result - (1 << 64) if result >> 63 else result

    def text(self, text: bytes) -> int:
        return self.m.place(text + b"\0")

    def buffer(self, size: int) -> int:
        return self.m.place(bytes(size) or b"\0")

    def output(self, name: str, size: int, *arguments: int | bytes, last: tuple[int, ...] = ()) -> Result:
        """A call that fills a buffer, whose address comes after the arguments: the bytes, or the error."""
        address = self.buffer(size)
        result = self.call(name, *arguments, address, *last)
        return result if result < 0 else self.m.bytes_at(address, size)

    # ---- the calls of the laws -----------------------------------------------------------------------

    def read(self, fd: int, count: int) -> Result:
        address = self.buffer(count)
        result = self.call("read", fd, address, count)
        return result if result < 0 else self.m.bytes_at(address, result)

    def pread(self, fd: int, count: int, offset: int) -> Result:
        address = self.buffer(count)
        result = self.call("pread64", fd, address, count, offset)
        return result if result < 0 else self.m.bytes_at(address, result)

    def write(self, fd: int, data: bytes) -> int:
        return self.call("write", fd, data, len(data))

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        return self.call("pwrite64", fd, data, len(data), offset)

    def stat(self, path: bytes, follow: bool) -> Result:
        data = self.output("stat" if follow else "lstat", 144, path)
        return data if isinstance(data, int) else seen(data)

    def fstat(self, fd: int) -> Result:
        data = self.output("fstat", 144, fd)
        return data if isinstance(data, int) else seen(data)

    def readlink(self, path: bytes) -> Result:
        address = self.buffer(100)
        result = self.call("readlink", path, address, 100)
        return result if result < 0 else self.m.bytes_at(address, result)

    def listing(self, path: bytes) -> Result:
        fd = self.call("open", path, 0o200000, 0)
        if fd < 0:
            return fd
        names: list[bytes] = []
        while True:
            address = self.buffer(300)
            size = self.call("getdents64", fd, address, 300)
            if size <= 0:
                self.call("close", fd)
                return size if size else tuple(sorted(names))
            data = self.m.bytes_at(address, size)
            while data:
                length = struct.unpack_from("<H", data, 16)[0]
                names.append(data[19:length].split(b"\0")[0])
                data = data[length:]


def seen(data: object) -> tuple[object, ...]:
    """Of a struct stat what does not depend on the machine: mode, links, size."""
    assert isinstance(data, bytes)
    nlink, mode = struct.unpack_from("<QI", data, 16)
    size = struct.unpack_from("<q", data, 48)[0]
    directory = mode & 0o170000 == 0o040000
    return (mode, None if directory else nlink, None if directory else size)
