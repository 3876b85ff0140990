"""The memory of this process."""

from __future__ import annotations

import ctypes
import os
import resource
import sys

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)


def resident_bytes() -> int:
    """Resident now on Linux, the largest so far elsewhere."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as statm:
            return int(statm.read(128).split()[1]) * _PAGE
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def release_memory() -> None:
    """Give free memory back to the system, if the C library can: by itself it keeps that memory."""
    if _TRIM is not None:
        _TRIM(0)
