"""Operands: what an instruction or an initialiser can mention. All have a `type`."""

from __future__ import annotations

from dataclasses import dataclass, field

from anabranch.ir.types import METADATA, PTR, IntType, Type, to_signed


@dataclass(slots=True, eq=False)
class Local:
    """A parameter or the result of an instruction; `index` is dense in its function, parameters first."""

    name: str
    type: Type
    index: int

    def __repr__(self) -> str:
        return f"%{self.name}"


@dataclass(slots=True, eq=False)
class ConstInt:
    """`value` is masked to the width, never negative."""

    type: IntType
    value: int

    @property
    def signed(self) -> int:
        return to_signed(self.value, self.type.width)

    def __repr__(self) -> str:
        return f"{self.type} {self.value}"


@dataclass(slots=True, eq=False)
class ConstFloat:
    """`bits` is the IEEE (or x87) bit pattern in the type's own format."""

    type: Type
    bits: int

    def __repr__(self) -> str:
        return f"{self.type} {self.bits:#x}"


@dataclass(slots=True, eq=False)
class _Typed:
    """A constant that its type says everything about."""

    type: Type
    word = ""

    def __repr__(self) -> str:
        return f"{self.type} {self.word}"


class Null(_Typed):
    __slots__ = ()
    word = "null"


class Undef(_Typed):
    __slots__ = ()
    word = "undef"


class Poison(_Typed):
    __slots__ = ()
    word = "poison"


class Zero(_Typed):
    """`zeroinitializer`, of an aggregate or a vector."""

    __slots__ = ()
    word = "zeroinitializer"


@dataclass(slots=True, eq=False)
class ConstBytes:
    """An array of i8 given as a string."""

    type: Type
    data: bytes

    def __repr__(self) -> str:
        return f"{self.type} {self.data!r}"


@dataclass(slots=True, eq=False)
class ConstAggregate:
    """An array, vector or struct, element by element."""

    type: Type
    elements: tuple[Operand, ...]

    def __repr__(self) -> str:
        return f"{self.type} {list(self.elements)}"


@dataclass(slots=True, eq=False)
class GlobalRef:
    """The address of a function, variable, alias or ifunc."""

    name: str
    type: Type = PTR

    def __repr__(self) -> str:
        return f"@{self.name}"


@dataclass(slots=True, eq=False)
class ConstExpr:
    """A constant expression; `extra`: source element type of a getelementptr, predicate of a compare."""

    type: Type
    op: str
    operands: tuple[Operand, ...]
    extra: object = None

    def __repr__(self) -> str:
        return f"{self.op} {list(self.operands)}"


@dataclass(slots=True, eq=False)
class InlineAsm:
    text: str
    constraints: str
    flags: frozenset[str] = frozenset()
    type: Type = field(init=False, default=PTR)

    def __repr__(self) -> str:
        return f"asm {self.text!r}, {self.constraints!r}"


@dataclass(slots=True, eq=False)
class BlockAddress:
    """The address of a block, by the names of its function and label."""

    function: str
    block: str
    type: Type = field(init=False, default=PTR)

    def __repr__(self) -> str:
        return f"blockaddress(@{self.function}, %{self.block})"


@dataclass(slots=True, eq=False)
class MetadataOperand:
    text: str
    type: Type = field(init=False, default=METADATA)

    def __repr__(self) -> str:
        return f"metadata {self.text}"


Operand = (
    Local
    | ConstInt
    | ConstFloat
    | Null
    | Undef
    | Poison
    | Zero
    | ConstBytes
    | ConstAggregate
    | GlobalRef
    | ConstExpr
    | InlineAsm
    | BlockAddress
    | MetadataOperand
)
