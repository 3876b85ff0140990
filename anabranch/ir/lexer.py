"""Tokens of a line of LLVM text: one regular expression, every other character a token of its own."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""[%@$!\w][-+\w$.]*(?:"[^"]*")?  # names, words, numbers; %"odd name", c"bytes", !"text"
      | "[^"]*"
      | [-+.#][-+\w.]*                 # negative numbers, ..., attribute groups
      | \S""",
    re.VERBOSE | re.ASCII,
)

_ESCAPE = re.compile(r"\\(?:\\|([0-9A-Fa-f]{2}))")


def words(text: str) -> frozenset[str]:
    """A set of words given as one string."""
    return frozenset(text.split())


def string_bytes(text: str) -> bytes:
    """The bytes of a string constant's inside. Characters beyond ASCII stand for their UTF-8 bytes."""
    if "\\" not in text:
        return text.encode()
    parts = _ESCAPE.split(text)
    out = bytearray(parts[0].encode())
    for code, rest in zip(parts[1::2], parts[2::2], strict=True):
        out += bytes((int(code, 16),)) if code else b"\\"
        out += rest.encode()
    return bytes(out)


def name_of(token: str) -> str:
    """The name in a token like `%x`, `@x` or `@"x y"`."""
    if token[1:2] == '"':
        return string_bytes(token[2:-1]).decode(errors="surrogateescape")
    return token[1:]


def strip_comment(line: str) -> str:
    """Drop a `; comment`, minding semicolons inside strings."""
    position = line.find(";")
    while position >= 0:
        if line.count('"', 0, position) % 2 == 0:
            return line[:position].rstrip()
        position = line.find(";", position + 1)
    return line
