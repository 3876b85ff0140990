"""The C files of a program one by one: after an edit only those are compiled that include what has changed.

What is kept of a file is its module as it is linked, with locals marked (`promote`): a hit saves clang, and
LLVM reads it only once. Another program with the same file and flags finds it too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch.frontend.cache import Entry, ProgramCache, default_directory
from anabranch.frontend.compile import Compiled
from anabranch.frontend.options import NO_LIBC, FrontendOptions


@dataclass(frozen=True, slots=True)
class Unit:
    """One module of a program."""

    path: Path
    """Bitcode or text."""
    shown: str
    """Its name to the user."""
    files: tuple[Path, ...] = ()
    """All that it was made from."""
    warnings: str = ""
    ready: bool = False
    """It is a text that was checked and marked before."""
    kept: Path | None = None
    """Where the worker writes such a text."""


class Units:
    """What is known of the C files of one program. Of level 0, which marks nothing, nothing is kept."""

    def __init__(self, options: FrontendOptions, directory: Path) -> None:
        self._directory = directory
        self._cache: ProgramCache | None = None
        if options.use_cache and options.opt_level > 0:
            self._cache = ProgramCache(options.cache_dir or default_directory(), "units")
        # The units of a program do not depend on where it starts and on what it is linked with.
        self._options = replace(options, entry=None, libc=NO_LIBC, models=frozenset(), library_for="")
        self._number = 0

    def known(self, source: Path) -> Unit | None:
        entry = None if self._cache is None else self._cache.load([source], self._options)
        if entry is None:
            return None
        path = self._place()
        path.write_text(entry.ir_text)
        return Unit(path, str(source), entry.files, entry.warnings, ready=True)

    def compiled(self, source: Path, result: Compiled) -> Unit:
        kept = None if self._cache is None else self._place()
        return Unit(result.bitcode, str(source), (source, *result.dependencies), result.messages, kept=kept)

    def keep(self, units: Iterable[Unit]) -> None:
        """The program has been linked: keep what is new."""
        for unit in units:
            if self._cache is not None and unit.kept is not None:
                entry = Entry(unit.kept.read_text(), unit.warnings, files=unit.files)
                self._cache.store([Path(unit.shown)], self._options, entry)

    def _place(self) -> Path:
        self._number += 1
        return self._directory / f"unit{self._number}.ll"
