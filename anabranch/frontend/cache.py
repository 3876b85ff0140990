"""Programs on disk by content: a second start neither runs clang nor loads LLVM.

The same class keeps the single units of programs (`units`): after an edit only what includes it is compiled.
An entry is found by what the user asked for (inputs, flags, directory, versions of the tools) and holds the
hashes of every file that went in, headers included; it counts only if all of them are unchanged. A damaged
entry counts as absent. Writing is atomic, and a directory that cannot be written to is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.frontend.libc.digest import own_digest
from anabranch.frontend.options import AUTO, NO_LIBC, FrontendOptions
from anabranch.frontend.toolchain import tool_versions, toolchain_dir

_FORMAT = 5
"""Counted up when the front end makes other text out of the same input."""


@dataclass(frozen=True, slots=True)
class Entry:
    ir_text: str
    warnings: str
    libc: str = NO_LIBC
    library_reason: str = ""
    files: tuple[Path, ...] = ()
    """All that it was made from; of an entry that was loaded, without those of the compiler itself."""


def default_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and os.path.isabs(base) else Path.home() / ".cache") / "anabranch"


class ProgramCache:
    """Entries of one directory."""

    def __init__(self, directory: Path, kind: str = "programs") -> None:
        self.directory = directory / kind
        self._digests: dict[str, str | None] = {}
        """Of files; a header counts for many units of a program."""
        self._tools: list[object] | None = None

    def path(self, inputs: Sequence[Path], options: FrontendOptions) -> Path:
        """Where the entry for this request is or would be."""
        self._tools = self._tools or tool_versions()
        asked = [
            [_FORMAT, str(Path.cwd()), self._tools],
            [str(path) for path in inputs],
            [str(path) for path in options.include_dirs],
            [list(options.defines), list(options.cflags), list(options.sanitizers)],
            [options.opt_level, options.entry],
            [options.libc, own_digest() if options.libc != NO_LIBC else ""],
            [sorted(options.models), options.library_for] if options.libc == AUTO else [],
        ]
        return self.directory / (_digest(json.dumps(asked).encode())[:40] + ".entry")

    def load(self, inputs: Sequence[Path], options: FrontendOptions) -> Entry | None:
        """The entry, if there is one and nothing it was made from has changed."""
        try:
            head, _, body = self.path(inputs, options).read_bytes().partition(b"\n")
            entry = json.loads(head)
            if entry["body"] != _digest(body):
                return None
            if any(self._file_digest(path) != digest for path, digest in entry["files"]):
                return None
            warnings, libc, reason = (str(entry[key]) for key in ("warnings", "libc", "library_reason"))
            files = tuple(Path(path) for path, _ in entry["files"])
            return Entry(body.decode(), warnings, libc, reason, files)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, inputs: Sequence[Path], options: FrontendOptions, entry: Entry) -> None:
        """Write an entry."""
        tools = str(toolchain_dir()) + os.sep
        digests = []
        for path in dict.fromkeys(entry.files):
            if str(path).startswith(tools):
                continue
            digest = self._file_digest(str(path))
            if digest is None:
                return
            digests.append([str(path), digest])
        body = entry.ir_text.encode()
        head = json.dumps(
            {
                "body": _digest(body),
                "files": digests,
                "warnings": entry.warnings,
                "libc": entry.libc,
                "library_reason": entry.library_reason,
            }
        ).encode()
        with contextlib.suppress(OSError):
            _write(self.path(inputs, options), head + b"\n" + body)

    def _file_digest(self, path: str) -> str | None:
        if path not in self._digests:
            try:
                self._digests[path] = _digest(Path(path).read_bytes())
            except OSError:
                self._digests[path] = None
        return self._digests[path]


def _write(path: Path, data: bytes) -> None:
    """Write so that a reader sees the old file or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".new-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
