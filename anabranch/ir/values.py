"""Operands: what an instruction or an initialiser can mention. All have a `type`."""

from __future__ import annotations

from anabranch.ir.types import METADATA, PTR, IntType, Type, to_signed


class Local:
    """A parameter or the result of an instruction; `index` is dense in its function, parameters first."""

    __slots__ = ("index", "name", "type")

    def __init__(self, name: str, type: Type, index: int) -> None:
        self.name = name
        self.type = type
        self.index = index

    def __repr__(self) -> str:
        return f"%{self.name}"


class ConstInt:
    """`value` is masked to the width, never negative."""

    __slots__ = ("type", "value")

    def __init__(self, type: IntType, value: int) -> None:
        self.type: IntType = type
        self.value = value

    @property
    def signed(self) -> int:
        return to_signed(self.value, self.type.width)

    def __repr__(self) -> str:
        return f"{self.type} {self.value}"


class ConstFloat:
    """`bits` is the IEEE (or x87) bit pattern in the type's own format."""

    __slots__ = ("bits", "type")

    def __init__(self, type: Type, bits: int) -> None:
        self.type = type
        self.bits = bits

    def __repr__(self) -> str:
        return f"{self.type} {self.bits:#x}"


class _Typed:
    """A constant that its type says everything about."""

    __slots__ = ("type",)
    word = ""

    def __init__(self, type: Type) -> None:
        self.type = type

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


class ConstBytes:
    """An array of i8 given as a string."""

    __slots__ = ("data", "type")

    def __init__(self, type: Type, data: bytes) -> None:
        self.type = type
        self.data = data

    def __repr__(self) -> str:
        return f"{self.type} {self.data!r}"


class ConstAggregate:
    """An array, vector or struct, element by element."""

    __slots__ = ("elements", "type")

    def __init__(self, type: Type, elements: tuple[Operand, ...]) -> None:
        self.type = type
        self.elements = elements

    def __repr__(self) -> str:
        return f"{self.type} {list(self.elements)}"


class GlobalRef:
    """The address of a function, variable, alias or ifunc."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: Type = PTR) -> None:
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return f"@{self.name}"


class ConstExpr:
    """A constant expression; `extra`: source element type of a getelementptr, predicate of a compare."""

    __slots__ = ("extra", "op", "operands", "type")

    def __init__(self, type: Type, op: str, operands: tuple[Operand, ...], extra: object = None) -> None:
        self.type = type
        self.op = op
        self.operands = operands
        self.extra = extra

    def __repr__(self) -> str:
        return f"{self.op} {list(self.operands)}"


class InlineAsm:
    __slots__ = ("constraints", "flags", "text", "type")

    def __init__(self, text: str, constraints: str, flags: frozenset[str] = frozenset()) -> None:
        self.type: Type = PTR
        self.text = text
        self.constraints = constraints
        self.flags = flags

    def __repr__(self) -> str:
        return f"asm {self.text!r}, {self.constraints!r}"


class BlockAddress:
    """The address of a block, by the names of its function and label."""

    __slots__ = ("block", "function", "type")

    def __init__(self, function: str, block: str) -> None:
        self.type: Type = PTR
        self.function = function
        self.block = block

    def __repr__(self) -> str:
        return f"blockaddress(@{self.function}, %{self.block})"


class MetadataOperand:
    __slots__ = ("text", "type")

    def __init__(self, text: str) -> None:
        self.type: Type = METADATA
        self.text = text

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
