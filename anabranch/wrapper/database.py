"""Programs of a project that has a `compile_commands.json`: every entry compiled again, to bitcode.

The files that the user names are taken whole; of the others those that a linker would pull for them.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anabranch.native.flags import BITCODE_FLAGS
from anabranch.native.tools import INCLUDE, NativeError, compiler, linker, run_tool
from anabranch.wrapper.arguments import WITH_BITCODE, bitcode_flags, parse
from anabranch.wrapper.kept import compile_bitcode


class DatabaseError(Exception):
    """The file is no compilation database, or does not serve; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One compile: the source, where it ran, and the user's flags."""

    source: Path
    directory: Path
    flags: tuple[str, ...]


def read_database(file: Path) -> list[Entry]:
    """The C files of a compilation database, each once."""
    try:
        items = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise DatabaseError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:
        raise DatabaseError(f"{file}: not JSON: {error}") from error
    if not isinstance(items, list):
        raise DatabaseError(f"{file}: not a list of compile commands")
    found: dict[Path, Entry] = {}
    for item in items:
        try:
            directory = file.parent / str(item["directory"])
            words = (
                [str(w) for w in item["arguments"]] if "arguments" in item else shlex.split(item["command"])
            )
            named = str(item["file"])
        except (KeyError, TypeError, ValueError) as error:
            raise DatabaseError(f"{file}: an entry without file, directory or command ({error})") from None
        command = parse(_without_compiler(words))
        for source in command.sources:
            path = Path(os.path.normpath(directory / source.path))
            if source.language in WITH_BITCODE and os.path.basename(named) == path.name:
                found.setdefault(path, Entry(path, directory, tuple(command.compile_flags)))
    return list(found.values())


def _without_compiler(words: Sequence[str]) -> list[str]:
    """The words behind the compiler's name, which may itself be several (`ccache gcc`, `anabranch cc`)."""
    rest = list(words[1:])
    while (
        rest
        and not rest[0].startswith("-")
        and "." not in os.path.basename(rest[0])
        and not os.path.exists(rest[0])
    ):
        rest.pop(0)
    return rest


_PATHS = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")


def flags_anywhere(entry: Entry) -> tuple[str, ...]:
    """The flags for a compile of the same file in any other directory."""
    found: list[str] = []
    taken = ""
    for word in bitcode_flags(entry.flags, machine=True):
        flag = taken or next((flag for flag in _PATHS if word.startswith(flag)), "")
        path = word if taken else word[len(flag) :]
        taken = flag if flag and not path else ""
        # What is no file there is looked for along the include path.
        there = flag and path and (entry.directory / path).exists()
        found.append(
            word[: len(word) - len(path)] + os.path.abspath(entry.directory / path) if there else word
        )
    return tuple(found)


def _compile(entry: Entry, output: Path, keep: bool) -> tuple[Path | None, str]:
    message = ""
    for machine in (False, True):
        flags = bitcode_flags(entry.flags, machine)
        command = [*compiler(), "-w", *flags, *BITCODE_FLAGS, "-idirafter", str(INCLUDE)]
        try:
            compile_bitcode([*command, str(entry.source)], entry.directory, output, keep)
            return output, ""
        except (NativeError, OSError) as error:
            message = str(error)
    return None, message


def link_database(
    file: Path, roots: Sequence[Path], directory: Path, keep: bool = True
) -> tuple[Path, list[str]]:
    """One bitcode file for the sources in `roots` and what they need, without roots for all of them; and
    warnings about files left out. `keep`: bitcode of files that have not changed is used again."""
    entries = {entry.source: entry for entry in read_database(file)}
    if not entries:
        raise DatabaseError(f"{file} names no C file")
    wanted = [Path(os.path.abspath(root)) for root in roots]
    missing = [str(root) for root in wanted if root not in entries]
    if missing:
        raise DatabaseError(f"{file} has no entry for {', '.join(missing)}")
    order = [*wanted, *(source for source in entries if source not in set(wanted))]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        outputs = [directory / f"{number}.bc" for number in range(len(order))]
        asked = [entries[source] for source in order]
        results = list(pool.map(partial(_compile, keep=keep), asked, outputs))
    warnings = []
    for source, (made, message) in zip(order, results, strict=True):
        if made is None:
            if source in wanted:
                raise DatabaseError(message)
            first = next((line for line in message.splitlines() if "error" in line), message)
            warnings.append(f"{source} left out: {first}")
    paths = [made for made, _ in results]
    if not any(paths):
        raise DatabaseError(f"no file of {file} can be compiled: {warnings[0]}")
    whole_files = len(wanted) if wanted else len(paths)
    first_part = [str(path) for path in paths[:whole_files] if path is not None]
    lazily = [str(path) for path in paths[whole_files:] if path is not None]
    whole = directory / "whole.bc"
    command = [*linker(), "-r", "--plugin-opt=emit-llvm", "-o", str(whole), *first_part]
    try:
        run_tool([*command, "--start-lib", *lazily, "--end-lib"])
    except NativeError as error:
        raise DatabaseError(f"{file}: cannot link: {_explained(str(error))}") from error
    return whole, warnings


def _explained(message: str) -> str:
    """What lld says, in one line."""
    lines = [line.removeprefix("ld.lld: error: ") for line in message.splitlines() if line.strip()]
    if lines and lines[0].startswith("duplicate symbol: "):
        symbol = lines[0].removeprefix("duplicate symbol: ")
        return f"several files define '{symbol}'; name the sources of one program, as check FILE.c does"
    return lines[0] if lines else "lld failed"
