"""The library on disk: one file, a line of JSON that says what is where, then the members' bitcode."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from anabranch.frontend.libc.symbols import Symbols

_FORMAT = "anabranch library 1"


class LibraryError(Exception):
    """The file is not a library, or a damaged one."""


class Library:
    """Members of a library file: symbols at once, bitcode when asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                head = json.loads(file.readline())
                self._start = file.tell()
                size = os.fstat(file.fileno()).st_size
            if head["format"] != _FORMAT or self._start + head["size"] != size:
                raise LibraryError(f"{path}: not a library, or a damaged one")
            self.symbols: dict[str, Symbols] = {
                name: Symbols.from_json(symbols) for name, _, _, symbols in head["members"]
            }
            self._places: dict[str, tuple[int, int]] = {
                name: (start, length) for name, start, length, _ in head["members"]
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LibraryError(f"{path}: cannot be read: {error}") from error

    def read(self, names: Iterable[str]) -> list[bytes]:
        """Bitcode of members."""
        found = []
        with self.path.open("rb") as file:
            for name in names:
                start, length = self._places[name]
                file.seek(self._start + start)
                found.append(file.read(length))
        return found


def write_library(path: Path, members: Mapping[str, tuple[Symbols, bytes]]) -> None:
    """Write so that a reader sees a whole library or none."""
    rows: list[list[object]] = []
    position = 0
    for name, (symbols, data) in members.items():
        rows.append([name, position, len(data), symbols.to_json()])
        position += len(data)
    head = json.dumps({"format": _FORMAT, "size": position, "members": rows}).encode()
    temporary = path.with_name(f".new-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("wb") as file:
            file.write(head + b"\n")
            for _, data in members.values():
                file.write(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
