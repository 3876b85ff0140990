"""The reader: a module's text -> Module. Bodies and initialisers are left in the text until asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from anabranch.ir.checks import is_handler
from anabranch.ir.debug import DebugInfo
from anabranch.ir.errors import MALFORMED, IRError, located
from anabranch.ir.headers import Span, read_function, read_symbol
from anabranch.ir.lexer import TOKEN, name_of, string_bytes, strip_comment
from anabranch.ir.module import Module
from anabranch.ir.operands import Cursor, Names
from anabranch.ir.types import StructType

_NUMBERED = re.compile(r"^!\d+ = ", re.MULTILINE)
_METADATA_LINES = re.compile(r"(?:![^\n]*(?:\n|$))+")
_ATTRIBUTE = re.compile(r'"[^"]*"(?:\s*=\s*"[^"]*")?|\([^()]*\)|([a-z_]+)')
_GROUP = re.compile(r"attributes (#\d+) = \{(.*)\}\s*$")
_STRING = re.compile(r'"([^"]*)"')
_IGNORED = (";", "$", "^", "uselistorder")
"""Starts of top-level lines without meaning here: comments, comdats, summaries, hints."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    body: Span | None = None


def read_module(text: str, fold_checks: bool = False) -> Module:
    """Read the canonical text of a module (opaque pointers, LLVM 15 to 22); IRError if it is not that.

    With `fold_checks`, checks that a sanitizer compiled in are instructions (see `checks`) and not branches.
    """
    debug = DebugInfo(_numbered_metadata(text))
    module, names = Module(debug), Names(debug)
    kinds: dict[str, list[_Line]] = {"%": [], "@": [], "d": []}
    for line in _top_level(text):
        if line.text.startswith(_IGNORED) or line.text.isspace() or not line.text:
            continue
        with _errors_at(line):
            if line.text[0] in kinds:
                kinds[line.text[0]].append(line)
            else:
                _read_property(module, names, line.text)
    _define_types(module, names, kinds["%"])
    for line in kinds["d"]:
        with _errors_at(line):
            read_function(module, names, line.number, line.text, line.body)
    # Aliases mention symbols of any kind, so that all names must be known first.
    names.symbols.update(module.functions)
    names.symbols.update(name_of(line.text.partition(" ")[0]) for line in kinds["@"])
    names.fold_checks = fold_checks and any(
        f.is_declaration and is_handler(f.name) for f in module.functions.values()
    )
    for line in kinds["@"]:
        with _errors_at(line):
            read_symbol(module, names, line.number, line.text)
    return module


def _numbered_metadata(text: str) -> str:
    """The part of the text from the first numbered metadata node on."""
    start = text.find("\n!0 = ")
    if start >= 0:
        return text[start + 1 :]
    match = _NUMBERED.search(text)
    return text[match.start() :] if match else ""


@contextmanager
def _errors_at(line: _Line) -> Iterator[None]:
    try:
        yield
    except MALFORMED as error:
        raise located(line.number, error, line.text) from error


def _top_level(text: str) -> Iterator[_Line]:
    """The lines of the top level; bodies are stepped over in one search each, metadata in one match."""
    position, number, length = 0, 1, len(text)
    while position < length:
        if text[position] == "!":
            match = _METADATA_LINES.match(text, position)
            assert match is not None
            number += text.count("\n", position, match.end())
            position = match.end()
            continue
        end = text.find("\n", position)
        end = length if end < 0 else end
        line = text[position:end]
        if not line.startswith("define"):
            yield _Line(number, line)
            number += 1
            position = end + 1
            continue
        stop = text.find("\n}", end)
        if stop < 0 or not strip_comment(line).endswith("{"):
            raise IRError.at(number, "this function definition does not end")
        yield _Line(number, line, Span(text, end + 1, max(stop, end + 1)))
        after = text.find("\n", stop + 1)
        after = length if after < 0 else after + 1
        number += text.count("\n", position, after)
        position = after


def _read_property(module: Module, names: Names, line: str) -> None:
    """Lines that describe the module as a whole."""
    group = _GROUP.match(line)
    if group is not None:
        names.groups[group[1]] = frozenset(word for word in _ATTRIBUTE.findall(group[2]) if word)
        return
    value = _STRING.search(line)
    text = string_bytes(value[1]).decode(errors="surrogateescape") if value else ""
    if line.startswith("target triple"):
        module.triple = text
    elif line.startswith("target datalayout"):
        module.data_layout = text
    elif line.startswith("source_filename"):
        module.source_filename = text
    elif line.startswith("module asm"):
        module.assembly.append(text)
    else:
        raise ValueError("unknown kind of line")


def _define_types(module: Module, names: Names, lines: list[_Line]) -> None:
    """Named types: all names first, since bodies mention types further down."""
    bodies: list[tuple[_Line, str, list[str]]] = []
    for line in lines:
        tokens = TOKEN.findall(strip_comment(line.text))
        with _errors_at(line):
            if tokens[1:3] != ["=", "type"]:
                raise ValueError("expected the definition of a type")
            name = name_of(tokens[0])
            if name in module.types:
                raise ValueError(f"type {tokens[0]} is defined twice")
            module.types[name] = struct = StructType(name, None, False)
            names.types[tokens[0]] = struct
            bodies.append((line, name, tokens))
    cursor = Cursor(names)
    for line, name, tokens in bodies:
        if tokens[3:] == ["opaque"]:
            continue
        with _errors_at(line):
            cursor.load(tokens, 3)
            body = cursor.full_type()
            if not isinstance(body, StructType) or body.fields is None or cursor.peek():
                raise ValueError("a named type must be a struct")
            module.types[name].define(body.fields, body.packed)
    for line, name, _ in bodies:
        with _errors_at(line):
            try:
                _ = module.types[name].size
            except RecursionError:
                raise ValueError(f"type %{name} contains itself") from None
