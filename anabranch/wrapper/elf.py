"""Bitcode inside of native objects: a section that linkers leave out and archivers carry along.

Reading and appending one section is all of ELF that is needed; no other tool is asked.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

SECTION = b".anabranch.bc"
"""Compressed bitcode of an object."""
OBJECTS = b".anabranch.objects"
"""In a shared library: compressed archive of the objects it was made from."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SHT_PROGBITS = 1
_SHF_EXCLUDE = 0x80000000


class ElfError(Exception):
    """Not a 64-bit ELF file that this module can extend."""


def _sections(data: bytes) -> tuple[list[tuple[int, ...]], int]:
    """Section headers, and the number of the one with their names."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < _HEADER.size:
        raise ElfError("not a 64-bit little-endian ELF file")
    header = _HEADER.unpack_from(data)
    offset, entry, count, names = header[6], header[11], header[12], header[13]
    if not offset:
        raise ElfError("no sections")
    if entry != _SECTION.size or offset + entry > len(data):
        raise ElfError("unknown form of section table")
    first = _SECTION.unpack_from(data, offset)
    # more than 65,279 sections: the true numbers stand in the first, otherwise unused, entry
    count, names = count or first[5], first[6] if names == 0xFFFF else names
    if offset + count * entry > len(data) or names >= count:
        raise ElfError("section table cut off")
    return [_SECTION.unpack_from(data, offset + i * entry) for i in range(count)], names


def is_elf(data: bytes) -> bool:
    return data.startswith(b"\x7fELF")


def read_section(data: bytes, name: bytes = SECTION) -> list[bytes]:
    """The unpacked contents of our section: several where `ld -r` has linked objects, or none."""
    try:
        sections, names = _sections(data)
        table = data[sections[names][4] : sections[names][4] + sections[names][5]]
        at = table.find(b"\0" + name + b"\0")
        if at < 0:
            return []
        found = [section for section in sections if section[0] == at + 1]
        return [part for section in found for part in _unpacked(data[section[4] : section[4] + section[5]])]
    except (ElfError, struct.error, zlib.error):
        return []


def _unpacked(data: bytes) -> Iterator[bytes]:
    while data:
        stream = zlib.decompressobj()
        yield stream.decompress(data) + stream.flush()
        data = stream.unused_data


def add_section(data: bytes, content: bytes, name: bytes = SECTION) -> bytes:
    """The file with one more section, which the linker drops; everything that was there keeps its place."""
    sections, names = _sections(data)
    if len(sections) >= 0xFEFF:
        raise ElfError("too many sections")
    old = sections[names]
    table = data[old[4] : old[4] + old[5]]
    packed = zlib.compress(content, 1)
    out = bytearray(data)
    out += b"\0" * (-len(out) % 8)
    content_at = len(out)
    out += packed + b"\0" * (-len(packed) % 8)
    names_at = len(out)
    out += table + name + b"\0"
    out += b"\0" * (-len(out) % 8)
    table_at = len(out)
    for number, section in enumerate(sections):
        fields = list(section)
        if number == names:
            fields[4], fields[5] = names_at, len(table) + len(name) + 1
        out += _SECTION.pack(*fields)
    out += _SECTION.pack(len(table), _SHT_PROGBITS, _SHF_EXCLUDE, 0, content_at, len(packed), 0, 0, 1, 0)
    header = list(_HEADER.unpack_from(data))
    header[6], header[12] = table_at, len(sections) + 1
    out[: _HEADER.size] = _HEADER.pack(*header)
    return bytes(out)


# ---- archives

_AR = b"!<arch>\n"
_THIN = b"!<thin>\n"


def is_archive(data: bytes) -> bool:
    return data[:8] in (_AR, _THIN)


def members(path: Path, data: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the members of an archive, in order; a thin one's are read from their files."""
    thin = data[:8] == _THIN
    long_names = b""
    at = 8
    while at + 60 <= len(data):
        name = data[at : at + 16].rstrip(b" ")
        try:
            size = int(data[at + 48 : at + 58])
        except ValueError:
            return
        at += 60
        special = name in (b"/", b"//", b"/SYM64/", b"__.SYMDEF", b"ARFILENAMES/")
        content = b"" if thin and not special else data[at : at + size]
        if name == b"//":
            long_names = content
        elif not special:
            if name.startswith(b"/") and name[1:].isdigit():
                start = int(name[1:])
                ends = [e for e in (long_names.find(b"/\n", start), long_names.find(b"\n", start)) if e >= 0]
                name = long_names[start : min(ends, default=len(long_names))]
            elif name.startswith(b"#1/"):
                length = int(name[3:])
                name, content = content[:length].rstrip(b"\0"), content[length:]
            shown = name.rstrip(b"/").decode("utf-8", "surrogateescape")
            if thin:
                try:
                    content = (path.parent / shown).read_bytes()
                except OSError:
                    content = b""
            yield shown, content
        at += 0 if thin and not special else size + size % 2


def pack(files: list[tuple[str, bytes]]) -> bytes:
    """An archive without a table of symbols, for ourselves."""
    names = b"".join(name.encode("utf-8", "surrogateescape") + b"/\n" for name, _ in files)
    out = [_AR, _entry(b"//", names)]
    offset = 0
    for name, content in files:
        out.append(_entry(b"/%d" % offset, content))
        offset += len(name.encode("utf-8", "surrogateescape")) + 2
    return b"".join(out)


def _entry(name: bytes, content: bytes) -> bytes:
    head = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", len(content))
    return head + content + b"\n" * (len(content) % 2)
