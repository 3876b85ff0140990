"""Linking: the native program by lld, and its whole-program bitcode by lld's own symbol resolution.

lld reads bitcode as it reads objects: given the bitcode of every object, archives as lazy groups in their
place, it takes the members that a linker takes and, told to stop before code is made, writes one module.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.native.long_double import long_double_objects
from anabranch.native.tools import NativeError, link_parts, linker, run_tool
from anabranch.wrapper.arguments import Command, Source
from anabranch.wrapper.elf import (
    OBJECTS,
    ElfError,
    add_section,
    is_archive,
    is_elf,
    members,
    pack,
    read_section,
)

_IN_LIBC = frozenset((
    "c", "m", "pthread", "rt", "dl", "util", "crypt", "xnet", "resolv", "gcc", "gcc_s", "gcc_eh",
))  # fmt: skip
"""Libraries that musl has in libc.a, or that the compiler's own one stands for."""
_STATE = {
    "--whole-archive": True,
    "-whole-archive": True,
    "--no-whole-archive": False,
    "-no-whole-archive": False,
}
_WITH_VALUE = frozenset((
    "-rpath", "--rpath", "-soname", "--soname", "-h", "-Map", "--version-script", "-version-script", "-z",
    "-u", "--undefined", "-e", "--entry", "-T", "--script", "--defsym", "-dynamic-linker",
    "--dynamic-linker", "-rpath-link", "--rpath-link", "--dynamic-list", "-a", "-y", "--wrap",
    "-retain-symbols-file", "--exclude-libs", "-m",
))  # fmt: skip
_DYNAMIC_ONLY = frozenset((
    "-rpath", "--rpath", "-rpath-link", "--rpath-link", "-dynamic-linker", "--dynamic-linker", "-m",
))  # fmt: skip


Linked = Callable[[Path], int]
"""Is given the bitcode of a program that was linked; the exit code of the link is what it returns."""


@dataclass
class Plan:
    """What lld is given: natively, and as bitcode; and the objects that a shared library is made from."""

    native: list[str] = field(default_factory=list)
    bitcode: list[str] = field(default_factory=list)
    objects: list[tuple[str, bytes]] = field(default_factory=list)
    without: list[str] = field(default_factory=list)


class Linker:
    """One link: inputs in the order given, sorted out into a plan."""

    def __init__(
        self,
        command: Command,
        compiled: dict[int, Path],
        directory: Path,
        bitcode: bool,
        linked: Linked | None = None,
    ) -> None:
        self.command = command
        self.compiled = compiled
        self.directory = directory
        self.wants_bitcode = bitcode
        self.linked = linked
        self.plan = Plan()
        self.paths = [word[2:] for word in command.link if isinstance(word, str) and word.startswith("-L")]
        self.whole = False
        self.static = "-static" in command.link_flags
        self._number = 0

    def run(self, output: Path) -> int:
        """Make the native file, then the bitcode beside it; the exit code of the native link."""
        self._sort()
        flags = self.command.link_flags
        try:
            if "-r" in flags:
                self._native([*linker(), "-r", "-o", str(output), *self.plan.native])
            elif "-shared" in flags:
                shared = ["-shared", "--undefined-version", *self._strip()]
                self._native([*linker(), *shared, "-o", str(output), *self.plan.native])
            else:
                self._native(self._program(output))
        except NativeError as error:
            print(error, file=sys.stderr)
            return 1
        whole = self._whole_program(output) if self.wants_bitcode else None
        if whole is None or self.linked is None:
            return 0
        code = self.linked(whole)
        if code:
            output.unlink(missing_ok=True)  # or the next make would think that it is done
        return code

    def _strip(self) -> list[str]:
        return ["-s"] if "-s" in self.command.link_flags else []

    def _program(self, output: Path) -> list[str]:
        before, after = link_parts()
        flags = self.command.link_flags
        start: tuple[str, ...] = before if not flags & {"-nostdlib", "-nostartfiles"} else ()
        ends: tuple[str, ...] = after[-1:] if start else ()
        libraries: list[str] = []
        if not flags & {"-nostdlib", "-nodefaultlibs"}:
            libraries = ["--start-lib", *map(str, long_double_objects()), "--end-lib"]
            libraries += ["--start-group", *after[:-1], "--end-group"]
        command = [*linker(), "-static", "--eh-frame-hdr", "-o", str(output), *self._strip(), *start]
        return [*command, *self.plan.native, *libraries, *ends]

    def _native(self, command: list[str]) -> None:
        printed = run_tool(command)
        if printed:
            sys.stderr.write(printed)

    # ---- inputs

    def _sort(self) -> None:
        words = self.command.link
        position, sources = 0, 0
        while position < len(words):
            word = words[position]
            position += 1
            if isinstance(word, Source):
                self._object(str(self.compiled[sources]), self.compiled[sources].read_bytes(), word.path)
                sources += 1
            elif word in _STATE:
                self.whole = _STATE[word]
                self.plan.native.append(word)
            elif word in _WITH_VALUE and position < len(words):
                value = words[position]
                position += 1
                if word not in _DYNAMIC_ONLY:
                    self.plan.native += [word, str(value)]
            elif word.startswith("-l"):
                self._library(word)
            elif word.startswith("-"):
                self._flag(word)
            else:
                self._file(word)

    def _flag(self, word: str) -> None:
        if word in ("-Bstatic", "-Bdynamic", "-dn", "-dy"):
            self.static = word in ("-Bstatic", "-dn")
        elif word.startswith(("-L", "-rpath=", "--rpath=", "-plugin", "--plugin")):
            self.plan.native += [word] if word.startswith("-L") else []
        else:
            self.plan.native.append(word)

    def _library(self, word: str) -> None:
        name = word[2:]
        if name.startswith(":"):
            wanted = [name[1:]]
        else:
            wanted = [f"lib{name}.a"] if self.static else [f"lib{name}.so", f"lib{name}.a"]
        for directory in self.paths:
            for file in wanted:
                path = os.path.join(directory, file)
                if os.path.isfile(path):
                    self._file(path)
                    return
        if name not in _IN_LIBC:
            self.plan.native.append(word)

    def _file(self, path: str) -> None:
        try:
            data = Path(path).read_bytes()
        except OSError:
            self.plan.native.append(path)  # lld says what is wrong
            return
        if is_archive(data):
            self.plan.native.append(path)
            self._members(list(members(Path(path), data)), path)
            return
        inside = read_section(data, OBJECTS)
        if inside and "-r" not in self.command.link_flags:
            self._shared(path, inside[0])
        else:
            self._object(path, data, path)

    def _shared(self, path: str, inside: bytes) -> None:
        """A shared library of ours: into a library it goes as it is, into a program as if it were static."""
        found = list(members(Path(path), inside))
        if "-shared" in self.command.link_flags:
            self.plan.native.append(path)
        else:
            self.plan.native.append("--start-lib")
            for name, data in found:
                self.plan.native.append(str(self._keep(data, Path(name).stem + ".o")))
            self.plan.native.append("--end-lib")
        if "-shared" not in self.command.link_flags:
            self._members(found, path)

    def _object(self, path: str, data: bytes, shown: str) -> None:
        self.plan.native.append(path)
        self._take(data, shown)

    def _take(self, data: bytes, shown: str) -> None:
        if not self.wants_bitcode:
            return
        parts = read_section(data)
        if not parts and is_elf(data):
            self.plan.without.append(shown)
        self.plan.bitcode += [str(self._keep(bitcode, "bc")) for bitcode in parts]
        if "-shared" in self.command.link_flags and is_elf(data):
            self.plan.objects.append((os.path.basename(shown) + ".o", data))

    def _members(self, found: list[tuple[str, bytes]], path: str) -> None:
        if not self.wants_bitcode:
            return
        lazily = not self.whole
        if lazily:
            self.plan.bitcode.append("--start-lib")
        for name, data in found:
            if lazily:
                self.plan.bitcode += [str(self._keep(bitcode, "bc")) for bitcode in read_section(data)]
            else:
                self._take(data, f"{path}({name})")
        if lazily:
            self.plan.bitcode.append("--end-lib")

    def _keep(self, data: bytes, suffix: str) -> Path:
        self._number += 1
        path = self.directory / f"{self._number}.{suffix}"
        path.write_bytes(data)
        return path

    # ---- bitcode

    def _whole_program(self, output: Path) -> Path | None:
        flags = self.command.link_flags
        if "-r" in flags:
            return None  # lld has concatenated the sections of the objects
        target = output.with_name(output.name + ".bc")
        target.unlink(missing_ok=True)
        if not any(not word.startswith("--") for word in self.plan.bitcode):
            return None
        place = self.directory / "whole.bc"
        try:
            whole = ["-r", "--plugin-opt=emit-llvm", "-u", "main"]
            run_tool([*linker(), *whole, "-o", str(place), *self.plan.bitcode])
            bitcode = place.read_bytes()
            if "-shared" in flags:
                output.write_bytes(add_section(output.read_bytes(), pack(self.plan.objects), OBJECTS))
            target.write_bytes(bitcode)
        except (NativeError, ElfError, OSError) as error:
            print(f"anabranch cc: {output}: no bitcode: {error}", file=sys.stderr)
            return None
        if self.plan.without:
            shown = ", ".join(self.plan.without[:5]) + (", ..." if len(self.plan.without) > 5 else "")
            print(f"anabranch cc: {target}: without the parts that have no bitcode: {shown}", file=sys.stderr)
        return target


def link_program(
    command: Command,
    compiled: dict[int, Path],
    output: Path,
    bitcode: bool,
    linked: Linked | None = None,
) -> int:
    with tempfile.TemporaryDirectory(prefix="anabranch-cc-") as directory:
        return Linker(command, compiled, Path(directory), bitcode, linked).run(output)
