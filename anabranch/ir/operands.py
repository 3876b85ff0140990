"""The cursor over the tokens of one line: types, values, attributes."""

from __future__ import annotations

from anabranch.ir import types as ty
from anabranch.ir.constants import read_constant
from anabranch.ir.debug import DebugInfo
from anabranch.ir.lexer import name_of
from anabranch.ir.module import ArgAttrs
from anabranch.ir.types import PTR, FloatType, PointerType, Type
from anabranch.ir.values import GlobalRef, Local, Operand
from anabranch.ir.vocabulary import TYPE_ATTRIBUTES, VALUE_WORDS

SIMPLE_TYPES: dict[str, Type] = {
    "void": ty.VOID,
    "label": ty.LABEL,
    "metadata": ty.METADATA,
    "token": ty.TOKEN,
    "ptr": PTR,
    **{kind: ty.float_type(kind) for kind in FloatType.FORMATS},
    **{f"i{width}": ty.int_type(width) for width in (1, 8, 16, 32, 64, 128)},
}
MAX_INT_WIDTH = 1 << 23


class Names:
    """What names mean in one module: types, global symbols, attribute groups."""

    __slots__ = ("attrs", "debug", "fold_checks", "globals", "groups", "symbols", "types")

    def __init__(self, debug: DebugInfo) -> None:
        self.debug = debug
        self.types: dict[str, Type] = dict(SIMPLE_TYPES)
        self.globals: dict[str, GlobalRef] = {}
        self.symbols: set[str] = set()
        self.groups: dict[str, frozenset[str]] = {}
        self.attrs: dict[tuple[str, ...], ArgAttrs] = {}
        self.fold_checks = False
        """Make the branches of a sanitizer's checks instructions?"""

    def reference(self, token: str) -> GlobalRef:
        name = name_of(token)
        if name not in self.symbols:
            raise ValueError(f"use of undefined symbol {token}")
        ref = self.globals[token] = GlobalRef(name)
        return ref


class Cursor:
    """Position in the tokens of one logical line. Running off the end raises IndexError."""

    __slots__ = ("blocks", "locals", "names", "pos", "tokens", "types")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.types = names.types
        self.tokens: list[str] = []
        self.pos = 0
        self.locals: dict[str, Local] = {}
        self.blocks: dict[str, int] = {}

    def load(self, tokens: list[str], pos: int = 0) -> None:
        self.tokens = tokens
        self.pos = pos

    def peek(self) -> str:
        return self.tokens[self.pos] if self.pos < len(self.tokens) else ""

    def next(self) -> str:
        token = self.tokens[self.pos]
        self.pos += 1
        return token

    def expect(self, token: str) -> None:
        pos = self.pos
        if self.tokens[pos] != token:
            raise ValueError(f"expected '{token}', found '{self.tokens[pos]}'")
        self.pos = pos + 1

    def accept(self, token: str) -> bool:
        if self.pos < len(self.tokens) and self.tokens[self.pos] == token:
            self.pos += 1
            return True
        return False

    def skip_group(self) -> None:
        """Step over a bracketed group that starts here."""
        depth = 0
        while True:
            token = self.next()
            if token in "([{":
                depth += 1
            elif token in ")]}":
                depth -= 1
                if depth == 0:
                    return

    # Types

    def at_type(self) -> bool:
        token = self.peek()
        return token in self.types or token[:1] in ("%", "[", "{", "<") or _is_int_type(token)

    def type(self) -> Type:
        """A type without the suffix that makes it a function type."""
        token = self.tokens[self.pos]
        self.pos += 1
        found = self.types.get(token)
        if found is None:
            return self._other_type(token)
        if found is PTR and self.pos < len(self.tokens) and self.tokens[self.pos] == "addrspace":
            return ty.pointer_type(self._address_space())
        return found

    def full_type(self) -> Type:
        """A type, function types included."""
        result = self.type()
        while self.peek() == "(":
            result = self.function_type(result)
        return result

    def _address_space(self) -> int:
        self.expect("addrspace")
        self.expect("(")
        number = _small_int(self.next())
        self.expect(")")
        return number

    def _other_type(self, token: str) -> Type:
        if token == "[":
            count = _small_int(self.next())
            self.expect("x")
            element = self.type()
            self.expect("]")
            return ty.array_type(count, element)
        if token == "{":
            return ty.struct_type(self._fields())
        if token == "<":
            if self.accept("{"):
                fields = self._fields()
                self.expect(">")
                return ty.struct_type(fields, packed=True)
            if self.peek() == "vscale":
                raise ValueError("scalable vectors are not supported")
            count = _small_int(self.next())
            self.expect("x")
            element = self.type()
            self.expect(">")
            return ty.vector_type(count, element)
        if _is_int_type(token):
            width = _small_int(token[1:])
            if not 0 < width <= MAX_INT_WIDTH:
                raise ValueError(f"integer type {token} has no valid width")
            found = self.names.types[token] = ty.int_type(width)
            return found
        raise ValueError(f"expected a type, found '{token}'")

    def _fields(self) -> tuple[Type, ...]:
        fields: list[Type] = []
        if self.accept("}"):
            return ()
        while True:
            fields.append(self.type())
            if self.accept("}"):
                return tuple(fields)
            self.expect(",")

    def function_type(self, ret: Type) -> Type:
        self.expect("(")
        params: list[Type] = []
        vararg = False
        while not self.accept(")"):
            if params or vararg:
                self.expect(",")
            if self.accept("..."):
                vararg = True
            else:
                params.append(self.type())
                self.attributes()
        return ty.function_type(ret, tuple(params), vararg)

    # Attributes

    def attributes(self) -> ArgAttrs | None:
        """Attributes up to a value, a name or a separator."""
        tokens, start, end = self.tokens, self.pos, len(self.tokens)
        while self.pos < end:
            token = tokens[self.pos]
            first = token[0]
            if not (first.isalpha() or first == '"') or token in VALUE_WORDS or token[:2] in ('c"', "f0"):
                break
            self.pos += 1
            if token == "align" and self.pos < end and tokens[self.pos].isdigit():
                self.pos += 1
            elif self.pos < end and tokens[self.pos] == "(":
                self.skip_group()
            elif first == '"' and self.accept("="):
                self.next()
        if self.pos == start:
            return None
        key = tuple(tokens[start : self.pos])
        found = self.names.attrs.get(key)
        if found is None:
            found = self._make_attrs(start)
            if not any(token[0] == "%" for token in key):
                self.names.attrs[key] = found
        return found

    def _make_attrs(self, start: int) -> ArgAttrs:
        end, self.pos = self.pos, start
        names: set[str] = set()
        types: dict[str, Type] = {}
        align: int | None = None
        while self.pos < end:
            token = self.next()
            names.add(token)
            if token == "align":
                bracket = self.accept("(")
                align = _small_int(self.next())
                if bracket:
                    self.expect(")")
            elif token in TYPE_ATTRIBUTES and self.accept("("):
                types[token] = self.full_type()
                self.expect(")")
            elif self.peek() == "(" and self.pos < end:
                self.skip_group()
            elif token[0] == '"' and self.accept("="):
                self.next()
        return ArgAttrs(frozenset(names), types.get("byval"), types.get("sret"), align)

    # Values

    def value(self, type: Type) -> Operand:
        """A value of this type: a name or a constant."""
        token = self.tokens[self.pos]
        self.pos += 1
        local = self.locals.get(token)
        if local is not None:
            if local.type is not type:
                raise ValueError(f"{token} has type {local.type}, used as {type}")
            return local
        constant = type.constants.get(token)
        if constant is not None:
            return constant  # type: ignore[no-any-return]
        return self._other_value(token, type)

    def typed_value(self) -> Operand:
        """A type and a value of it; the common cases in one step."""
        tokens, pos = self.tokens, self.pos
        type = self.types.get(tokens[pos])
        if type is not None:
            token = tokens[pos + 1]
            local = self.locals.get(token)
            if local is not None and local.type is type:
                self.pos = pos + 2
                return local
            constant = type.constants.get(token)
            if constant is not None:
                self.pos = pos + 2
                return constant  # type: ignore[no-any-return]
        return self.value(self.type())

    def _other_value(self, token: str, type: Type) -> Operand:
        first = token[0]
        if first == "%":
            # Defined further down (phis, blocks out of order); the index comes with the definition.
            local = self.locals[token] = Local(name_of(token), type, -1)
            return local
        if first == "@":
            ref = self.names.globals.get(token) or self.names.reference(token)
            if type is not PTR:
                if not isinstance(type, PointerType):
                    raise ValueError(f"{token} used as {type}")
                return GlobalRef(ref.name, type)
            return ref
        return read_constant(self, token, type)


def _is_int_type(token: str) -> bool:
    return token[:1] == "i" and token[1:].isdigit() and token.isascii()


def _small_int(token: str) -> int:
    if not token.isdigit() or len(token) > 20:
        raise ValueError(f"expected a number, found '{token}'")
    return int(token)
