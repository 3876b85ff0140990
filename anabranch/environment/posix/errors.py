"""Error numbers of the kernel, and how a system call fails."""

from __future__ import annotations

from typing import Final

EPERM: Final = 1
ENOENT: Final = 2
ESRCH: Final = 3
EIO: Final = 5
ENXIO: Final = 6
EBADF: Final = 9
ECHILD: Final = 10
EAGAIN: Final = 11
ENOMEM: Final = 12
EACCES: Final = 13
EFAULT: Final = 14
EBUSY: Final = 16
EEXIST: Final = 17
ENODEV: Final = 19
ENOTDIR: Final = 20
EISDIR: Final = 21
EINVAL: Final = 22
EMFILE: Final = 24
ENOTTY: Final = 25
EFBIG: Final = 27
ENOSPC: Final = 28
ESPIPE: Final = 29
EPIPE: Final = 32
ERANGE: Final = 34
ENAMETOOLONG: Final = 36
ENOSYS: Final = 38
ENOTEMPTY: Final = 39
ELOOP: Final = 40
EOPNOTSUPP: Final = 95


class Failure(Exception):
    """A system call fails with this error number."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
