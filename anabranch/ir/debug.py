"""Debug information: source places, subprograms, names. Metadata is indexed when first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from os.path import join

from anabranch.ir.lexer import name_of, string_bytes
from anabranch.ir.values import Local

_NODE = re.compile(r"^!(\d+) = (?:distinct )?(.*)$", re.MULTILINE)
_LOCATION = re.compile(
    r"!DILocation\(line: (\d{1,9})(?:, column: (\d{1,9}))?, scope: !(\d+)"
    r"(?:, inlinedAt: (?:distinct )?!(\d+))?"
)
_PARAMETER = re.compile(
    r'^!\d+ = !DILocalVariable\(name: "([^"]*)", arg: (\d{1,9}), scope: !(\d+)', re.MULTILINE
)
_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"')
_REFERENCE = {key: re.compile(rf"[(,] ?{key}: !(\d+)") for key in ("scope", "file", "var", "type", "types")}
_NAME = re.compile(r'[(,] ?name: "([^"]*)"')
_LINE = re.compile(r"[(,] ?line: (\d{1,9})")

_RECORD = re.compile(r'\s+#dbg_(?:value|declare)\([^%(]*(%(?:[-\w$.]+|"[^"]*")), !(\d+), ')

_MAX_DEPTH = 1000
"""Bound on chains of scopes, which malformed text can close into a ring."""


@dataclass(slots=True, eq=False)
class DebugLoc:
    """A place in the source."""

    file: str
    line: int
    column: int
    function: str
    inlined_at: DebugLoc | None = None

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
    """Metadata number -> place, worked out on the first lookup."""

    __slots__ = ("_info",)

    def __init__(self, info: DebugInfo) -> None:
        super().__init__()
        self._info = info

    def __missing__(self, number: str) -> DebugLoc | None:
        match = _LOCATION.match(self._info.node(number))
        if match is None:
            if not number.isdigit():
                raise ValueError(f"'!dbg !{number}' names no metadata")
            place = None
        else:
            line, column, scope, inlined_at = match.groups()
            file, function = self._info.scope(scope)
            outer = self._outer(inlined_at) if inlined_at else None
            place = DebugLoc(file, int(line), int(column or 0), function, outer)
        self[number] = place
        return place

    def _outer(self, number: str) -> DebugLoc | None:
        """The place of an inlined call; the chain is walked from its outer end, because it can be long."""
        chain: list[str] = []
        next_number: str | None = number
        while next_number is not None and next_number not in self and len(chain) < _MAX_DEPTH:
            chain.append(next_number)
            match = _LOCATION.match(self._info.node(next_number))
            next_number = match[4] if match else None
        if next_number in chain:
            return None
        for link in reversed(chain):
            _ = self[link]
        return self[number]


class DebugInfo:
    """The numbered metadata of one module, read as far as source places need it. Never raises on odd text."""

    __slots__ = ("_files", "_metadata", "_nodes", "_parameters", "_scopes", "places")

    def __init__(self, metadata: str = "") -> None:
        self._metadata = metadata
        self.places = Places(self)
        self._nodes: dict[str, str] | None = None
        self._parameters: dict[str, dict[int, str]] | None = None
        self._scopes: dict[str, tuple[str, str]] = {}
        self._files: dict[str, str] = {}

    def node(self, number: str) -> str:
        """Text of a metadata node without `distinct`; "" if there is none."""
        if self._nodes is None:
            self._nodes = dict(_NODE.findall(self._metadata))
        return self._nodes.get(number, "")

    def scope(self, number: str) -> tuple[str, str]:
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
            current = parent[1]
        self._scopes[number] = file, function
        return file, function

    def subprogram(self, number: str) -> Subprogram | None:
        text = self.node(number)
        if not text.startswith("!DISubprogram("):
            return None
        return Subprogram(self._name_of(text), self._file_of(text), self._line_of(text))

    def parameter_names(self, subprogram: str) -> dict[int, str]:
        """Parameter number (from 1) -> source name."""
        if self._parameters is None:
            self._parameters = {}
            for name, number, scope in _PARAMETER.findall(self._metadata):
                self._parameters.setdefault(scope, {})[int(number)] = _text(name)
        return self._parameters.get(subprogram, {})

    def parameter_count(self, subprogram: str) -> int:
        """Number of parameters in the source's type of the function; -1 if unknown."""
        type_ = _REFERENCE["type"].search(self.node(subprogram))
        types = _REFERENCE["types"].search(self.node(type_[1])) if type_ else None
        listed = self.node(types[1]) if types else ""
        if not listed.startswith("!{"):
            return -1
        items = listed.removesuffix("}")[2:].split(", ")
        # The first is the result; a last `null` stands for "...".
        return len(items) - 1 - (len(items) > 1 and items[-1] == "null")

    def variable(self, number: str) -> SourceVariable | None:
        """The variable of a DIGlobalVariableExpression (or of a DIGlobalVariable itself)."""
        text = self.node(number)
        inner = _REFERENCE["var"].search(text)
        if inner is not None:
            text = self.node(inner[1])
        if not text.startswith("!DIGlobalVariable("):
            return None
        return SourceVariable(self._name_of(text), self._file_of(text), self._line_of(text))

    def local_variables(self, lines: list[str], locals_: Iterable[Local]) -> dict[int, SourceVariable]:
        """Index of a local -> the variable that the debug records of a body give it."""
        indices = {local.name: local.index for local in locals_}
        found: dict[int, SourceVariable] = {}
        for line in lines:
            record = _RECORD.match(line)
            if record is None:
                continue
            text = self.node(record[2])
            index = indices.get(name_of(record[1]))
            if index is not None and text.startswith("!DILocalVariable("):
                found[index] = SourceVariable(self._name_of(text), self._file_of(text), self._line_of(text))
        return found

    def _file_of(self, text: str) -> str:
        match = _REFERENCE["file"].search(text)
        return self._file(match[1]) if match else ""

    def _file(self, number: str) -> str:
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
