"""What the record of a function depends on, as a digest: its key in the cache.

The key covers the code of the function; the interfaces of the functions whose summaries it may use; types,
constants and facts about globals that this code mentions; whether the function has callers and is a root; the
settings, the contracts and the checker itself. Numbers that an edit elsewhere changes are not in it: places
in the source are relative to the function, strings and types are told by their content.

The interface of a function is what its callers can see of it (`interface`), what is known of the variables
that it mentions, and the interfaces of those that it uses itself. It is known when the function has been
checked, now or in an earlier run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import astuple
from functools import cache
from pathlib import Path

import bitwuzla

from anabranch.analysis.callgraph import mentioned
from anabranch.check.facts import Facts
from anabranch.check.interface import told_attributes
from anabranch.check.order import is_indirect
from anabranch.check.program import symbol_label
from anabranch.check.records import FunctionRecord
from anabranch.check.settings import CheckSettings
from anabranch.contracts import Externals
from anabranch.ir.debug import DebugLoc, Subprogram
from anabranch.ir.module import CallInfo, Function, Module

_PACKAGES = ("analysis", "check", "expr", "ir", "semantics", "solver")
"""Packages whose code decides about a record."""
_NUMBERED = re.compile(
    r"!dbg !(\d+)"  # a place
    r"|!(\d+)"  # other metadata: the name of a variable, or nothing of interest
    r"|@([-\w$.]+|\"[^\"]*\")"
    r"|%([A-Za-z_$.][-\w$.]*|\"[^\"]*\")"  # a type, or a local with a name
    r"|#\d+"  # attributes, which are taken from the calls
)
_NUMBER = re.compile(r"\bi\d+ (?:noundef )?\d+")
_VARIABLE = re.compile(r'!DILocalVariable\(name: "([^"]*)"(?:.*? line: (\d+))?')


@cache
def checker_digest() -> str:
    """Of the code of the checker and the versions of what it uses."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parent.parent
    own = [path for package in _PACKAGES for path in sorted((root / package).rglob("*.py"))]
    for path in (*own, root / "contracts.py"):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    digest.update(bitwuzla.version().encode())
    return digest.hexdigest()


def _digest(parts: Iterable[object]) -> str:
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _contracts(externals: Externals) -> str:
    return _digest(f"{name}: {externals.get(name)}" for name in sorted(externals.named()))


def _only_fails(module: Module, externals: Externals, name: str) -> bool:
    """Is a function one that a failed assertion calls, and of which numbers that are passed do not matter?"""
    contract = externals.get(name)
    return contract.fails and contract.noreturn and module.functions[name].is_declaration


def _calls_of(names: Iterable[str]) -> re.Pattern[str] | None:
    alternatives = "|".join(map(re.escape, names))
    return re.compile(rf"call void @(?:{alternatives})\(.*") if alternatives else None


def _relative(place: DebugLoc | None, start: Subprogram | None) -> str:
    """A place relative to the start of its function; what has no line has none however far it moves."""
    if place is None:
        return "?"
    if start is None or place.file != start.file or not place.line:
        return f"{place.file}:{place.line}:{place.column}"
    return f"{place.line - start.line}:{place.column}"


class Keys:
    """The keys of all functions of a program."""

    def __init__(self, module: Module, settings: CheckSettings, externals: Externals, facts: Facts) -> None:
        self.module = module
        self.facts = facts
        self._types: dict[str, str] = {}
        self._globals: dict[str, str] = {}
        self._mentions: dict[str, tuple[str, ...]] = {}
        self._assertions = _calls_of(
            name for name in module.functions if _only_fails(module, externals, name)
        )
        self._base = _digest(
            (checker_digest(), astuple(settings), _contracts(externals), repr(module.aliases))
        )
        self._codes: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        """Of each function, what is known of the variables that it mentions."""
        self._interfaces: dict[str, str] = {}

    def key(self, name: str) -> str:
        """The interfaces of those that the function uses are known."""
        used = (self._interfaces[callee] for callee in self.facts.order.callees[name])
        return _digest((self._base, self.code(name), *used))

    def found(self, record: FunctionRecord) -> None:
        """The record of a function is known."""
        used = (self._interfaces[callee] for callee in self.facts.order.callees[record.name])
        _ = self.code(record.name)
        seen = (record.name, record.form, self._variables[record.name])
        self._interfaces[record.name] = _digest((*seen, *used))

    def code(self, name: str) -> str:
        """A digest of the function alone, places in the source included."""
        known = self._codes.get(name)
        if known is None:
            function = self.module.functions.get(name)
            known = self._codes[name] = "" if function is None else self._own(function)
        return known

    # -- one function -----------------------------------------------------------------------------------

    def _own(self, function: Function) -> str:
        """Of the function alone, with what is known of the symbols that it mentions."""
        order, name = self.facts.order, function.name
        symbols: dict[str, None] = {}
        text = "\n".join(function.body_lines())
        if self._assertions is not None:
            # One of the numbers is the line: functions with assertions below an edit are as they were.
            text = self._assertions.sub(lambda call: _NUMBER.sub("", call[0]), text)
        text = self._plain(text, function, symbols)
        calls = [
            sorted(i.extra.attributes)
            for block in function.blocks
            for i in block.instructions
            if isinstance(i.extra, CallInfo)
        ]
        targets = [
            order.targets.get(i.extra.function_type)
            for block in function.blocks
            for i in block.instructions
            if isinstance(i.extra, CallInfo) and is_indirect(self.module, i)
        ]
        start = function.subprogram
        reached = self._reached(symbols)
        variables = [s for s in reached if s in self.module.globals and symbol_label(self.module, s) == s]
        self._variables[name] = _digest(map(self._symbol, variables))
        return _digest(
            (
                name,
                self._header(function),
                function.param_names,
                "" if start is None else (start.file, start.name),
                text,
                calls,
                bool(order.callers.get(name)),
                name in order.roots,
                order.callees[name],
                targets,
                *map(self._symbol, reached),
            )
        )

    def _header(self, function: Function) -> str:
        attributes = told_attributes(function)
        types = [str(parameter.type) for parameter in function.params]
        parts = (str(function.type), types, attributes, function.linkage, sorted(function.attributes))
        return self._plain(repr(parts), function, {})

    def _plain(self, text: str, function: Function | None, symbols: dict[str, None]) -> str:
        """A text without numbers that other code decides about; adds the symbols that it mentions."""

        start = None if function is None else function.subprogram

        def replaced(match: re.Match[str]) -> str:
            place, other, symbol, type_ = match.groups()
            if place is not None:
                return "" if function is None else _relative(self.module.debug.places[place], start)
            if other is not None:
                named = _VARIABLE.match(self.module.debug.node(other))
                if named is None:
                    return ""
                return f"!{named[1]}" + ("" if start is None else f":{int(named[2] or 0) - start.line}")
            if symbol is not None:
                symbol = symbol.strip('"')
                symbols[symbol] = None
                return f"@{symbol_label(self.module, symbol)}"
            if type_ is not None and type_.strip('"') in self.module.types:
                return self._type(type_.strip('"'))
            return "" if type_ is None else match[0]

        return _NUMBERED.sub(replaced, text)

    def _type(self, name: str) -> str:
        found = self._types.get(name)
        if found is None:
            type_ = self.module.types[name]
            fields = None if type_.fields is None else [str(part) for part in type_.fields]
            self._types[name] = "%recursive"
            found = self._types[name] = f"%{{{self._plain(str(fields), None, {})},{type_.packed}}}"
        return found

    # -- symbols ----------------------------------------------------------------------------------------

    def _reached(self, symbols: Iterable[str]) -> list[str]:
        """Symbols, and those that their initial values mention."""
        seen = dict.fromkeys(symbols)
        stack = list(seen)
        while stack:
            for name in self._mentioned_by(stack.pop()):
                if name not in seen:
                    seen[name] = None
                    stack.append(name)
        return sorted(seen)

    def _mentioned_by(self, symbol: str) -> tuple[str, ...]:
        found = self._mentions.get(symbol)
        if found is None:
            variable = self.module.globals.get(symbol)
            initializer = None if variable is None else variable.initializer
            names = () if initializer is None else tuple(dict.fromkeys(mentioned(initializer)))
            found = self._mentions[symbol] = names
        return found

    def _symbol(self, symbol: str) -> str:
        found = self._globals.get(symbol)
        if found is None:
            found = self._globals[symbol] = self._known_of(symbol)
        return found

    def _known_of(self, symbol: str) -> str:
        facts = self.facts
        label = symbol_label(self.module, symbol)
        function = self.module.functions.get(symbol)
        if function is not None:
            declared = (function.is_declaration, symbol in facts.never_return, self._header(function))
            return _digest((label, *declared))
        variable = self.module.globals.get(symbol)
        if variable is None:
            return _digest((label,))
        known = (variable.constant, symbol in facts.unwritten, symbol in facts.unwritten_here)
        value = self._plain(repr(variable.initializer), None, {})
        type_ = self._plain(str(variable.value_type), None, {})
        shown = "" if variable.linkage == "private" else variable.source_name
        return _digest((label, type_, known, variable.linkage, variable.declaration, shown, value))
