"""C types as the debug information tells them: sizes, members, what pointers point to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from anabranch.ir.debug import DebugInfo
from anabranch.ir.lexer import words
from anabranch.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type

_FIELD = {
    key: re.compile(rf"[(,] ?{key}: (?:!(\d+)|([\w| -]+))")
    for key in words("tag baseType size offset elements types count encoding flags type")
}
_NAME = re.compile(r'[(,] ?name: "([^"]*)"')
_ITEM = re.compile(r"!(\d+)|null")
_QUALIFIERS = ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type")
_MAX_CHAIN = 64
"""Bound on chains of typedefs, which malformed text can close into a ring."""


@dataclass(slots=True, eq=False)
class CType:
    """One type; what it is made of is read when asked for, since C types may contain pointers to themselves.

    `kind` is int, float, pointer, struct, union, array, function, void or opaque (known by name only).
    """

    reader: SourceTypes
    number: str
    kind: str
    size: int = 0
    name: str = ""
    parts: tuple[str, ...] = ()
    signed: bool = False
    const: bool = False
    # The members of a struct and the element of an array, where no debug information has them.
    fixed: tuple[Member, ...] | None = field(init=False, default=None)
    element: CType | None = field(init=False, default=None)

    @property
    def target(self) -> CType:
        """What a pointer points to, an array consists of, a function returns."""
        return self.element if self.element is not None else self.reader.read(self.parts[0])

    @property
    def count(self) -> int:
        """Elements of an array; 0 if the source does not tell."""
        element = self.target.size
        return self.size // element if element else 0

    @property
    def parameters(self) -> tuple[CType, ...]:
        """Of a function, without the dots of a variadic one."""
        return tuple(self.reader.read(part) for part in self.parts[1:] if part != "null")

    @property
    def members(self) -> tuple[Member, ...]:
        """Of a struct or a union, in order."""
        if self.fixed is not None:
            return self.fixed
        return tuple(filter(None, map(self.reader.member, self.parts)))

    def with_pointers(self, depth: int = 8) -> bool:
        """Is a pointer somewhere in a value of the type itself?"""
        if self.kind == "pointer":
            return True
        if self.kind == "array" and depth:
            return self.target.with_pointers(depth - 1)
        return depth > 0 and any(member.type.with_pointers(depth - 1) for member in self.members)

    def __repr__(self) -> str:
        return f"<{self.spell('')}>"

    def spell(self, declared: str) -> str:
        """A declaration in C; "" stands for parts that have no name to write."""
        const = "const " if self.const else ""
        if self.kind == "pointer" and not self.name:
            inner = self.target
            star = f"*{const}{declared}" if declared or const else "*"
            return inner.spell(
                f"({star})" if inner.kind in ("array", "function") and not inner.name else star
            )
        if self.kind == "array" and not self.name:
            return self.target.spell(f"{declared}[{self.count or ''}]")
        if self.kind == "function" and not self.name:
            listed = ", ".join(parameter.spell("") for parameter in self.parameters)
            dots = ("..." if not listed else ", ...") if "null" in self.parts[1:] else ""
            return self.target.spell(f"{declared}({listed + dots or 'void'})")
        return f"{const}{self.name or 'void'} {declared}".rstrip()


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a struct or union; `bits` is its width if it is a bit-field, else 0."""

    name: str
    offset: int
    type: CType
    bits: int = 0


class SourceTypes:
    """The types of one module, each read once. Never raises on odd text: what cannot be read is void."""

    def __init__(self, debug: DebugInfo) -> None:
        self._debug = debug
        self._known: dict[str, CType] = {}

    def function(self, subprogram: str | None) -> CType | None:
        """The type of a function (its result is the target) by the number of its subprogram."""
        if subprogram is None:
            return None
        number, _ = self._field(self._debug.node(subprogram), "type")
        found = self.read(number)
        return found if found.kind == "function" else None

    def variable(self, number: str | None) -> CType | None:
        """The type of a global variable by the number of its node."""
        if number is None:
            return None
        text = self._debug.node(number)
        inner = re.search(r"[(,] ?var: !(\d+)", text)
        text = self._debug.node(inner[1]) if inner else text
        found, _ = self._field(text, "type")
        return self.read(found) if found else None

    def local(self, number: str) -> CType | None:
        """The type of a local variable by the number of its node."""
        found, _ = self._field(self._debug.node(number), "type")
        return self.read(found) if found else None

    def by_layout(self, type: Type) -> CType | None:
        """The type of something that debug information does not tell, as far as LLVM's type says."""
        if isinstance(type, StructType) and type.fields is not None:
            members = [
                Member(f"f{number}", offset, known)
                for number, (offset, part) in enumerate(zip(type.offsets, type.fields, strict=True))
                if (known := self.by_layout(part)) is not None
            ]
            made = CType(self, f"layout {type}", "struct", type.size, type.name or "")
            made.fixed = tuple(members)
            return made
        if isinstance(type, ArrayType):
            element = self.by_layout(type.element)
            if element is None:
                return None
            made = CType(self, f"layout {type}", "array", type.size)
            made.element = element
            return made
        if isinstance(type, PointerType):
            return CType(self, "", "pointer", 8, parts=("null",))
        if isinstance(type, IntType | FloatType):
            return CType(self, "", "int" if isinstance(type, IntType) else "float", type.size, str(type))
        return None

    def read(self, number: str) -> CType:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._read(number)
        return found

    def member(self, number: str) -> Member | None:
        text = self._debug.node(number)
        if self._tag(text) != "DW_TAG_member" or "DIFlagStaticMember" in text:
            return None
        base, _ = self._field(text, "baseType")
        bits = self._number(text, "offset")
        width = self._number(text, "size") if "DIFlagBitField" in text else 0
        return Member(self._name(text), bits // 8, self.read(base), width)

    def _read(self, number: str) -> CType:
        """Follow typedefs and qualifiers to the type itself; the outermost typedef gives the name."""
        name, const = "", False
        current = number
        for _ in range(_MAX_CHAIN):
            text = self._debug.node(current)
            tag = self._tag(text)
            if tag == "DW_TAG_typedef":
                name = name or self._name(text)
            elif tag in _QUALIFIERS:
                const = const or (tag == "DW_TAG_const_type" and not name)
            else:
                break
            current, _ = self._field(text, "baseType")
            current = current or "null"
        made = self._plain(current, text)
        made.name, made.const = name or made.name, const
        return made

    def _plain(self, number: str, text: str) -> CType:
        tag, size = self._tag(text), self._number(text, "size") // 8
        if text.startswith("!DIBasicType("):
            _, encoding = self._field(text, "encoding")
            kind = "float" if "float" in encoding and "complex" not in encoding else "int"
            signed = encoding in ("DW_ATE_signed", "DW_ATE_signed_char", "DW_ATE_float")
            return CType(self, number, kind, size, self._name(text), signed=signed)
        base, _ = self._field(text, "baseType")
        if tag == "DW_TAG_pointer_type":
            return CType(self, number, "pointer", 8, parts=(base or "null",))
        if text.startswith("!DISubroutineType("):
            types, _ = self._field(text, "types")
            return CType(self, number, "function", 0, parts=self._items(types) or ("null",))
        elements, _ = self._field(text, "elements")
        if tag == "DW_TAG_array_type":
            return CType(self, number, "array", size, parts=(base or "null",))
        if tag == "DW_TAG_enumeration_type":
            return CType(self, number, "int", size, f"enum {self._name(text)}" if self._name(text) else "")
        if tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
            kind = "struct" if tag == "DW_TAG_structure_type" else "union"
            name = f"{kind} {self._name(text)}" if self._name(text) else ""
            if "DIFlagFwdDecl" in text:
                return CType(self, number, "opaque", 0, name)
            return CType(self, number, kind, size, name, self._items(elements))
        return CType(self, number, "void", 0, "void")

    def _items(self, number: str) -> tuple[str, ...]:
        text = self._debug.node(number)
        if not text.startswith("!{"):
            return ()
        return tuple(match[1] or "null" for match in _ITEM.finditer(text))

    @staticmethod
    def _field(text: str, key: str) -> tuple[str, str]:
        """(number of a node, plain text) of a field, "" where it is not of that form."""
        match = _FIELD[key].search(text)
        return (match[1] or "", match[2] or "") if match else ("", "")

    def _number(self, text: str, key: str) -> int:
        _, plain = self._field(text, key)
        return int(plain) if plain.isdigit() else 0

    def _tag(self, text: str) -> str:
        return self._field(text, "tag")[1]

    @staticmethod
    def _name(text: str) -> str:
        match = _NAME.search(text)
        return match[1] if match else ""
