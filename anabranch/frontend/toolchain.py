"""Where the tools are and which ones they are, found without loading any of them."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from anabranch.frontend.options import FrontendError
from anabranch.native.flags import LIBC_HEADERS, MODULE_FLAGS, TARGET

_OURS = ("promote.py", "passes.py", "link.py", "compile.py", "units.py")
"""Modules of this package that decide what comes out of the same input."""


@cache
def toolchain_dir() -> Path:
    """Where the ziglang wheel is installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise FrontendError("the compiler is missing: install the Python package ziglang==0.13.0")
    return Path(spec.origin).parent


def tool_versions() -> list[object]:
    """What tells one installation of the tools from another."""
    zig = (toolchain_dir() / "zig").stat()
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise FrontendError("LLVM is missing: install the Python package llvmlite")
    files = [Path(spec.origin).with_name("_version.py"), *(Path(__file__).with_name(name) for name in _OURS)]
    flags = [TARGET, *LIBC_HEADERS, *MODULE_FLAGS]
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return [zig.st_size, zig.st_mtime_ns, flags, *digests]
