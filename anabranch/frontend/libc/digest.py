"""What the library is made from, as one short text: it changes when the library may come out differently."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_BUILDING = ("sources.py", "prepare.py", "symbols.py", "../promote.py", "../passes.py")
_LINKING = ("models.py", "select.py", "link.py", "mathematics.py", "need.py", "giving_way.py")
"""Modules of the front end that decide what comes out of the same sources."""


def _contents(directories: tuple[Path, ...], modules: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    for directory in directories:
        for path in sorted(directory.rglob("*.[ch]")):
            yield str(path.relative_to(directory)), path.read_bytes()
    for name in modules:
        yield name, (_HERE / name).read_bytes()


def _digest(directories: tuple[Path, ...], modules: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name, data in _contents(directories, modules):
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()[:40]


@cache
def own_digest() -> str:
    """Of what we bring: with the version of the compiler's wheel it says what a program is linked with."""
    return _digest((_HERE / "override",), (*_BUILDING, *_LINKING))


def library_digest(root: Path) -> str:
    """Of all sources of the library, musl's tree at `root`."""
    return _digest((root, _HERE / "override"), _BUILDING)
