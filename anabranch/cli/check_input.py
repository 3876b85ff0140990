"""The program that `anabranch check` is given: C files, bitcode, or a project by its compile commands."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.cli.codes import USAGE, CommandError

SUFFIXES = (".c", ".i", ".bc", ".ll")
DATABASE = "compile_commands.json"


@dataclass(frozen=True, slots=True)
class CheckInput:
    files: list[Path]
    """C files and bitcode that the front end reads."""
    identity: tuple[str, ...]
    """The same for the program after an edit."""
    warnings: tuple[str, ...] = ()
    flags: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    """The C files of compile commands, with the flags of each."""


def read_input(words: Sequence[str], database: Path | None, keep: bool = True) -> CheckInput:
    """`database` is that of a flag. A directory, or a file .json among the words, is one too; sources that
    are named beside it are a program, else all sources are one. `keep`: bitcode of files that have not
    changed is used again."""
    sources: list[Path] = []
    for path in map(Path, words):
        if path.is_dir() or path.suffix == ".json":
            if database is not None:
                raise CommandError(f"check: {database} and {path}: one file of compile commands at a time")
            database = path / DATABASE if path.is_dir() else path
        else:
            sources.append(path)
    if not sources and database is None:
        raise CommandError("check: no program given: name C files, for example anabranch check list.c")
    for path in sources:
        if path.suffix not in SUFFIXES:
            known = f"{', '.join(SUFFIXES)}, or {DATABASE}"
            raise CommandError(f"check: {path} is not a C file, bitcode or LLVM text ({known})")
        if not path.is_file():
            raise CommandError(f"check: there is no file {path}")
    if database is None:
        return CheckInput(sources, tuple(str(path.resolve()) for path in sources))
    return _project(database, sources, keep)


def _project(database: Path, sources: Sequence[Path], keep: bool) -> CheckInput:
    from anabranch.native.tools import place_for
    from anabranch.wrapper.database import DatabaseError, flags_anywhere, link_database, read_database

    if not database.is_file():
        hint = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON or bear -- make writes one"
        raise CommandError(f"check: there is no file {database}; {hint}")
    identity = (str(database.resolve()), *(str(path.resolve()) for path in sources))
    with tempfile.TemporaryDirectory(prefix="anabranch-check-") as place:
        try:
            whole, warnings = link_database(database, sources, Path(place), keep)
            flags = {entry.source.resolve(): flags_anywhere(entry) for entry in read_database(database)}
        except DatabaseError as error:
            message = str(error).strip().splitlines()[0]
            raise CommandError(f"check: {message}", USAGE) from None
        # Under one name for the project, so that the front end finds it unchanged the next time.
        digest = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()
        target = place_for(f"check-{digest[:32]}.bc")
        if not target.exists() or target.read_bytes() != whole.read_bytes():
            fresh = target.with_name(f".new-{os.getpid()}-{target.name}")
            try:
                shutil.copy(whole, fresh)
                fresh.replace(target)
            except OSError as error:
                fresh.unlink(missing_ok=True)
                reason = (error.strerror or str(error)).lower()
                raise CommandError(f"check: cannot write {target}: {reason}") from None
    return CheckInput([target], identity, tuple(warnings), flags)
