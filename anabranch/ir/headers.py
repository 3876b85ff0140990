"""Headers of functions, and the lines of variables, aliases and ifuncs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from anabranch.ir import types as ty
from anabranch.ir.body import BodyReader
from anabranch.ir.errors import MALFORMED, located
from anabranch.ir.lexer import TOKEN, name_of, string_bytes, strip_comment, words
from anabranch.ir.module import ArgAttrs, Block, Function, GlobalVariable, Module
from anabranch.ir.operands import Cursor, Names
from anabranch.ir.types import PTR, Type
from anabranch.ir.values import Local, Operand

LINKAGES = words(
    "private internal available_externally linkonce weak common appending extern_weak linkonce_odr weak_odr"
    " external"
)
_PREFIX = 2048
"""Characters of a variable's line that nearly always hold everything before its initialiser."""
_TAIL_LENGTH = 1000
_TAIL = re.compile(
    r'(?:, (?:section "[^"]*"|partition "[^"]*"|code_model "[^"]*"|comdat(?:\(\$(?:[-\w$.]+|"[^"]*")\))?'
    r"|align \d+|![\w.]+ !\d+|[a-z_]+))+\s*$"
)
_ALIGN = re.compile(r", align (\d{1,9})")
_SECTION = re.compile(r', section "([^"]*)"')
_DBG = re.compile(r"!dbg !(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the module's text."""

    text: str
    start: int
    end: int

    def lines(self) -> list[str]:
        return self.text[self.start : self.end].split("\n")


def read_function(module: Module, names: Names, number: int, line: str, body: Span | None) -> None:
    """A `define` or `declare` line."""
    cursor = Cursor(names)
    cursor.load(TOKEN.findall(strip_comment(line)))
    defined = body is not None
    linkage, subprogram = "external", _DBG.search(line)
    start = cursor.pos
    while not cursor.at_type():
        token = cursor.next()
        if token in LINKAGES:
            linkage = token
        elif token in ("cc", "!dbg") or (token == "align" and cursor.peek().isdigit()):
            cursor.next()
        elif cursor.peek() == "(":
            cursor.skip_group()
    return_attrs = _return_attrs(cursor, start)
    ret = cursor.type()
    token = cursor.next()
    if token[0] != "@":
        raise ValueError(f"expected the name of a function, found '{token}'")
    params, attrs, vararg = _params(cursor, defined)
    type = ty.function_type(ret, tuple(param.type for param in params), vararg)
    name = name_of(token)
    if name in module.functions:
        raise ValueError(f"function {token} is defined twice")
    section = re.search(r' section "([^"]*)"', line)
    module.functions[name] = Function(
        name,
        type,
        params,
        attrs,
        linkage,
        _function_attributes(cursor),
        module.debug,
        subprogram[1] if subprogram else None,
        _body_reader(names, body, number + 1) if body is not None else None,
        return_attrs,
        section[1] if section else None,
        body.lines if body is not None else list,
    )


def _body_reader(names: Names, body: Span, first_line: int) -> Callable[[Function], list[Block]]:
    def read(function: Function) -> list[Block]:
        return BodyReader(function, names, body.lines(), first_line).read()

    return read


def _return_attrs(cursor: Cursor, start: int) -> ArgAttrs | None:
    """Words between the linkage and the result's type that are attributes of the result."""
    end = cursor.pos
    words = [
        token
        for token in cursor.tokens[start:end]
        if token in ("zeroext", "signext", "noundef", "nonnull", "noalias", "inreg")
    ]
    return ArgAttrs(frozenset(words)) if words else None


def _params(cursor: Cursor, defined: bool) -> tuple[tuple[Local, ...], tuple[ArgAttrs | None, ...], bool]:
    cursor.expect("(")
    params: list[Local] = []
    attrs: list[ArgAttrs | None] = []
    unnamed = 0
    seen: set[str] = set()
    while not cursor.accept(")"):
        if params:
            cursor.expect(",")
        if cursor.accept("..."):
            cursor.expect(")")
            return tuple(params), tuple(attrs), True
        type = cursor.type()
        attrs.append(cursor.attributes())
        if cursor.peek()[:1] == "%":
            name = name_of(cursor.next())
            unnamed += name.isdigit()
        else:
            name = str(unnamed)
            unnamed += 1
        if name in seen:
            raise ValueError(f"parameter %{name} is given twice")
        seen.add(name)
        params.append(Local(name, type, len(params)))
    return tuple(params), tuple(attrs), False


def _function_attributes(cursor: Cursor) -> frozenset[str]:
    """Attribute groups and words after the parameters."""
    found: set[str] = set()
    while token := cursor.peek():
        cursor.pos += 1
        if token[0] == "#":
            found |= cursor.names.groups.get(token, frozenset())
        elif token in ("prefix", "prologue", "personality", "{"):
            break
        elif token[0].isalpha():
            found.add(token)
            if cursor.peek() == "(":
                cursor.skip_group()
    return frozenset(found)


def read_symbol(module: Module, names: Names, number: int, line: str) -> None:
    """A line `@name = ...`: variable, alias or ifunc."""
    cursor = Cursor(names)
    cursor.load(TOKEN.findall(line[:_PREFIX]))
    linkage, thread_local = "", False
    token = cursor.next()
    name = name_of(token)
    if name in module.globals or name in module.aliases or name in module.functions or name in module.ifuncs:
        raise ValueError(f"symbol {token} is defined twice")
    cursor.expect("=")
    while (word := cursor.next()) not in ("global", "constant", "alias", "ifunc"):
        if word in LINKAGES:
            linkage = word
        elif word == "thread_local":
            thread_local = True
        if not word[0].isalpha():
            raise ValueError(f"unexpected '{word}'")
        if cursor.peek() == "(":
            cursor.skip_group()
    if word in ("alias", "ifunc"):
        target = _alias_target(cursor, line)
        (module.aliases if word == "alias" else module.ifuncs)[name] = target
        return
    value_type = _value_type(cursor, line)
    initializer = None
    if linkage not in ("external", "extern_weak"):
        initializer = _initializer_reader(names, number, line, value_type)
    variable = GlobalVariable(
        name, value_type, word == "constant", linkage or "external", module.debug, initializer, thread_local
    )
    _read_tail(variable, line)
    module.globals[name] = variable


def _value_type(cursor: Cursor, line: str) -> Type:
    start = cursor.pos
    try:
        value_type = cursor.type()
        if cursor.pos < len(cursor.tokens) - 1 or len(line) <= _PREFIX:
            return value_type
    except MALFORMED:
        if len(line) <= _PREFIX:
            raise
    cursor.load(TOKEN.findall(line), start)
    return cursor.type()


def _initializer_reader(names: Names, number: int, line: str, value_type: Type) -> Callable[[], Operand]:
    def read() -> Operand:
        cursor = Cursor(names)
        try:
            cursor.load(TOKEN.findall(line))
            while cursor.next() not in ("global", "constant"):
                pass
            cursor.type()
            value = cursor.value(value_type)
            if cursor.locals:
                raise ValueError("a local value in an initialiser")
            if cursor.peek() not in ("", ","):
                raise ValueError(f"unexpected '{cursor.peek()}'")
        except MALFORMED as error:
            raise located(number, error, line) from error
        return value

    return read


def _read_tail(variable: GlobalVariable, line: str) -> None:
    match = _TAIL.search(line[-_TAIL_LENGTH:])
    if match is None:
        return
    tail = match[0]
    if align := _ALIGN.search(tail):
        variable.align = int(align[1])
    if section := _SECTION.search(tail):
        variable.section = string_bytes(section[1]).decode(errors="surrogateescape")
    if debug := _DBG.search(tail):
        variable.variable_id = debug[1]


def _alias_target(cursor: Cursor, line: str) -> Operand:
    cursor.load(TOKEN.findall(line), cursor.pos)
    cursor.full_type()
    cursor.expect(",")
    # A constant expression stands without its type.
    return cursor.typed_value() if cursor.at_type() else cursor.value(PTR)
