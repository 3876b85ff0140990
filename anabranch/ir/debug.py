"""Debug information: source places, subprograms, names. Metadata is indexed when first asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os.path import join

from anabranch.ir.lexer import string_bytes

_NODE = re.compile(r"^!(\d{1,9}) = (?:distinct )?(.*)$", re.MULTILINE)
_LOCATION = re.compile(
    r"!DILocation\(line: (\d{1,9})(?:, column: (\d{1,9}))?, scope: !(\d{1,9})"
    r"(?:, inlinedAt: (?:distinct )?!(\d{1,9}))?"
)
_PARAMETER = re.compile(
    r'^!\d+ = !DILocalVariable\(name: "([^"]*)", arg: (\d{1,9}), scope: !(\d{1,9})', re.MULTILINE
)
_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"')
_FILE_LINE = re.compile(r"^!(\d{1,9}) = (?:distinct )?!DIFile\(", re.MULTILINE)
_REFERENCE = {key: re.compile(rf"[(,] ?{key}: !(\d{{1,9}})") for key in ("scope", "file", "var")}
_NAME = re.compile(r'[(,] ?name: "([^"]*)"')
_LINE = re.compile(r"[(,] ?line: (\d{1,9})")

_MAX_DEPTH = 1000
"""Bound on chains of scopes, which malformed text can close into a ring."""


class DebugLoc:
    """A place in the source."""

    __slots__ = ("column", "file", "function", "inlined_at", "line")

    def __init__(
        self, file: str, line: int, column: int, function: str, inlined_at: DebugLoc | None = None
    ) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.function = function
        self.inlined_at = inlined_at

    def __repr__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Subprogram:
    name: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class SourceVariable:
    name: str
    file: str
    line: int


def _text(escaped: str) -> str:
    return string_bytes(escaped).decode(errors="surrogateescape")


class Places(dict[str, DebugLoc | None]):
    """Metadata number as it stands in the text -> place, worked out on the first lookup."""

    __slots__ = ("_info",)

    def __init__(self, info: DebugInfo) -> None:
        super().__init__()
        self._info = info

    def __missing__(self, number: str) -> DebugLoc | None:
        place = self[number] = self._info.location(int(number))
        return place


class DebugInfo:
    """The numbered metadata of one module, read as far as source places need it. Never raises on odd text."""

    __slots__ = ("_files", "_locations", "_metadata", "_nodes", "_parameters", "_scopes", "places")

    def __init__(self, metadata: str = "") -> None:
        self._metadata = metadata
        self.places = Places(self)
        self._nodes: dict[int, str] | None = None
        self._parameters: dict[int, dict[int, str]] | None = None
        self._locations: dict[int, DebugLoc | None] = {}
        self._scopes: dict[int, tuple[str, str]] = {}
        self._files: dict[int, str] = {}

    def node(self, number: int) -> str:
        """Text of a metadata node without `distinct`; "" if there is none."""
        if self._nodes is None:
            self._nodes = {int(m[1]): m[2] for m in _NODE.finditer(self._metadata)}
        return self._nodes.get(number, "")

    def location(self, number: int) -> DebugLoc | None:
        """The place that `!dbg !number` on an instruction means."""
        if number in self._locations:
            return self._locations[number]
        chain: list[tuple[int, re.Match[str]]] = []
        place: DebugLoc | None = None
        next_number: int | None = number
        while next_number is not None and len(chain) < _MAX_DEPTH:
            if next_number in self._locations:
                place = self._locations[next_number]
                break
            match = _LOCATION.match(self.node(next_number))
            if match is None:
                break
            chain.append((next_number, match))
            next_number = int(match[4]) if match[4] else None
        for known, match in reversed(chain):
            file, function = self._scope(int(match[3]))
            place = DebugLoc(file, int(match[1]), int(match[2] or 0), function, place)
            self._locations[known] = place
        return self._locations.setdefault(number, place)

    def _scope(self, number: int) -> tuple[str, str]:
        """(file, function) of a scope: the innermost file, the enclosing subprogram."""
        found = self._scopes.get(number)
        if found is not None:
            return found
        file, function, current = "", "", number
        for _ in range(_MAX_DEPTH):
            text = self.node(current)
            file = file or self._file_of(text)
            if text.startswith("!DISubprogram("):
                function = self._name_of(text)
                break
            parent = _REFERENCE["scope"].search(text)
            if parent is None:
                break
            current = int(parent[1])
        self._scopes[number] = file, function
        return file, function

    def subprogram(self, number: int) -> Subprogram | None:
        text = self.node(number)
        if not text.startswith("!DISubprogram("):
            return None
        return Subprogram(self._name_of(text), self._file_of(text), self._line_of(text))

    def parameter_names(self, subprogram: int) -> dict[int, str]:
        """Parameter number (from 1) -> source name."""
        if self._parameters is None:
            self._parameters = {}
            for name, number, scope in _PARAMETER.findall(self._metadata):
                self._parameters.setdefault(int(scope), {})[int(number)] = _text(name)
        return self._parameters.get(subprogram, {})

    def variable(self, number: int) -> SourceVariable | None:
        """The variable of a DIGlobalVariableExpression (or of a DIGlobalVariable itself)."""
        text = self.node(number)
        inner = _REFERENCE["var"].search(text)
        if inner is not None:
            text = self.node(int(inner[1]))
        if not text.startswith("!DIGlobalVariable("):
            return None
        return SourceVariable(self._name_of(text), self._file_of(text), self._line_of(text))

    def files(self) -> list[str]:
        return sorted({self._file(int(m[1])) for m in _FILE_LINE.finditer(self._metadata)} - {""})

    def _file_of(self, text: str) -> str:
        match = _REFERENCE["file"].search(text)
        return self._file(int(match[1])) if match else ""

    def _file(self, number: int) -> str:
        found = self._files.get(number)
        if found is None:
            match = _FILE.match(self.node(number))
            found = join(_text(match[2]), _text(match[1])) if match else ""
            self._files[number] = found
        return found

    @staticmethod
    def _name_of(text: str) -> str:
        match = _NAME.search(text)
        return _text(match[1]) if match else ""

    @staticmethod
    def _line_of(text: str) -> int:
        match = _LINE.search(text)
        return int(match[1]) if match else 0
