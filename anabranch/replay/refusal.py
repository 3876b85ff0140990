"""System calls that the model does not know, refused natively as well: ENOSYS, by a filter of the kernel.

So a test whose program asks for a socket or a process ends natively as predicted, and a replay does less to
the machine than the program would.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable
from functools import cache

from anabranch.environment.posix import CALLS
from anabranch.environment.posix.numbers import NUMBERS

_ALWAYS = ("execve", "rt_sigreturn", "restart_syscall")
"""To start the program, and to come back from its handlers."""

# classic BPF: (code, jump if true, jump if false, operand)
_LOAD, _AT_LEAST, _ABOVE, _EQUAL, _RETURN = 0x20, 0x35, 0x25, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_ARCHITECTURE = 0xC000003E  # x86-64
_ADDR_NO_RANDOMIZE = 0x0040000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of numbers."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def program(numbers: Iterable[int]) -> bytes:
    """A filter that lets these calls through and answers all others with ENOSYS."""
    refuse = (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    allow = (_RETURN, 0, 0, _ALLOW)
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURE), allow, (_LOAD, 0, 0, 0)]
    for low, high in ranges(numbers):
        steps += [(_AT_LEAST, 1, 0, low), refuse, (_ABOVE, 1, 0, high), allow]
    return b"".join(struct.pack("<HBBI", *step) for step in [*steps, refuse])


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


@cache
def _parts() -> tuple[ctypes.CDLL, bytes]:
    return ctypes.CDLL(None), program([*CALLS, *(NUMBERS[name] for name in _ALWAYS)])


def load() -> None:
    """Do everything that must not be done between fork and exec."""
    _parts()


def same_addresses() -> None:
    """Let the program have the same addresses in every run."""
    _parts()[0].personality(_ADDR_NO_RANDOMIZE)


def refuse_unmodelled() -> bool:
    """Install the filter in this process, for ever; False if the kernel has none."""
    library, steps = _parts()
    wanted = _Program(len(steps) // 8, steps)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    return not library.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(wanted), 0, 0)
