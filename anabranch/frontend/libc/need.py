"""Whether a program needs the library: it uses what neither it nor the engine has, and the library does."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from anabranch.frontend.libc.build import ensure_library, existing_library
from anabranch.frontend.libc.mathematics import call_library
from anabranch.frontend.libc.models import STARTS
from anabranch.frontend.libc.select import by_symbol
from anabranch.frontend.libc.sources import musl_root
from anabranch.frontend.libc.store import Library
from anabranch.frontend.libc.symbols import Symbols, read_symbols
from anabranch.frontend.options import ENTRY_POINTS

_SHOWN = 3


def why_needed(text: str, entry: str | None, models: Collection[str], wanted: str, cache: Path) -> str:
    """Why a program, linked without the library, is to have it; empty if it is not.

    `models` are the names that the engine provides, `wanted` is a reason to link it in any case.
    """
    symbols = read_symbols(call_library(text))
    if not _can_start(symbols, entry):
        return ""
    if wanted:
        return wanted
    missing = sorted(symbols.undefined - set(models), key=lambda name: (name.startswith("_"), name))
    return listed(provided(missing, cache)) if missing else ""


def _can_start(symbols: Symbols, entry: str | None) -> bool:
    names = (entry,) if entry is not None else ENTRY_POINTS
    first = next((name for name in names if name in symbols.offered), None)
    return first in STARTS


def provided(names: Collection[str], cache: Path) -> list[str]:
    """Those of the names that the library defines.

    It is built for that only if a header of it knows one of them.
    """
    path = existing_library(cache)
    if path is None:
        if not in_headers(names):
            return []
        path = ensure_library(cache)
    index = by_symbol(Library(path).symbols)
    return [name for name in names if name in index]


def in_headers(names: Collection[str]) -> bool:
    """Whether any of the names stands in a public header of the library."""
    words: set[str] = set()
    for path in sorted((musl_root() / "include").rglob("*.h")):
        words.update(re.findall(r"\w+", path.read_text(errors="replace")))
    return not words.isdisjoint(names)


def listed(names: Collection[str]) -> str:
    """`a`, `a and b`, `a, b, c and 5 more`."""
    shown = list(names)[:_SHOWN]
    rest = len(names) - len(shown)
    parts = [*shown, f"{rest} more"] if rest else shown
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""
