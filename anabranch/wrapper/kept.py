"""Bitcode of the files of a project, kept between runs: only what has changed is compiled again.

An entry is found by the compile command and holds the digests of all files that the compile read; it counts
only if they are unchanged. A damaged entry counts as absent, and one that cannot be written is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from anabranch.native.dependencies import parse_depfile
from anabranch.native.tools import cache_dir, run_tool, zig


def compile_bitcode(command: Sequence[str], directory: Path, output: Path, keep: bool = True) -> None:
    """Run a compile that makes bitcode, or take what it made the last time; NativeError if clang fails."""
    if not keep:
        run_tool([*command, "-o", str(output)], directory)
        return
    asked = json.dumps([*command, str(directory)]).encode("utf-8", "surrogateescape")
    entry = cache_dir().parent / "bitcode" / f"{hashlib.sha256(asked).hexdigest()[:40]}.entry"
    found = _load(entry)
    if found is not None:
        output.write_bytes(found)
        return
    rule = output.with_suffix(".d")
    run_tool([*command, "-MD", "-MF", str(rule), "-MT", "x", "-o", str(output)], directory)
    files = parse_depfile(rule.read_text(errors="surrogateescape")) if rule.exists() else []
    tools = str(zig().parent) + os.sep
    read = [str(directory / file) for file in dict.fromkeys(files) if not file.startswith(tools)]
    digests = [(path, _digest_of(Path(path))) for path in read]
    if read and all(digest is not None for _, digest in digests):
        with contextlib.suppress(OSError):
            _store(entry, digests, output.read_bytes())


def _load(entry: Path) -> bytes | None:
    try:
        head, _, body = entry.read_bytes().partition(b"\n")
        found = json.loads(head)
        if found["body"] != hashlib.sha256(body).hexdigest():
            return None
        same = all(_digest_of(Path(path)) == digest for path, digest in found["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return body if same else None


def _store(entry: Path, digests: Sequence[tuple[str, str | None]], body: bytes) -> None:
    """Write so that a reader sees the old file or the new one, whole."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps({"body": hashlib.sha256(body).hexdigest(), "files": digests}).encode()
    fresh = entry.with_name(f".new-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        fresh.write_bytes(head + b"\n" + body)
        fresh.replace(entry)
    finally:
        fresh.unlink(missing_ok=True)


def _digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
