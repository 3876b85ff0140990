"""LLVM types, interned (identity is equality), with their x86-64 layout.

`size` is the allocation size in bytes (tail padding included), `align` the ABI alignment, `bits` the width of
the value; the store size is `(bits + 7) // 8`. They are computed on first use, because a named struct may be
mentioned before its body is known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar


@dataclass(slots=True, eq=False, repr=False)
class Type:
    """Base of all types; the layout fields are filled by `_lay_out` when first read."""

    size: int = field(init=False)
    align: int = field(init=False)
    bits: int = field(init=False)
    constants: dict[str, Any] = field(init=False, default_factory=dict)
    """Simple constants of this type by their spelling; the reader fills it, to share equal ones."""

    def __getattr__(self, name: str) -> int:
        if name in ("size", "align", "bits"):
            self._lay_out()
            value: int = object.__getattribute__(self, name)
            return value
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _lay_out(self) -> None:
        self.size, self.align, self.bits = 0, 1, 0

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("types are interned and cannot be pickled")

    def __repr__(self) -> str:
        return f"<{self}>"


def _round_up(value: int, align: int) -> int:
    return (value + align - 1) // align * align


def _power_of_two_at_least(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()


@dataclass(slots=True, eq=False, repr=False)
class SimpleType(Type):
    """`void`, `label`, `metadata` and `token`: no values in memory."""

    name: str

    def __str__(self) -> str:
        return self.name


def to_signed(value: int, width: int) -> int:
    """The number that bits stand for in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


@dataclass(slots=True, eq=False, repr=False)
class IntType(Type):
    width: int
    mask: int = field(init=False)

    def __post_init__(self) -> None:
        self.mask = (1 << self.width) - 1

    def _lay_out(self) -> None:
        store = (self.width + 7) // 8
        self.bits = self.width
        self.align = min(_power_of_two_at_least(store), 16)
        self.size = _round_up(store, self.align)

    def __str__(self) -> str:
        return f"i{self.width}"


@dataclass(slots=True, eq=False, repr=False)
class PointerType(Type):
    address_space: int

    def _lay_out(self) -> None:
        # Address spaces 270 and 271 are the 32-bit pointers of the x86-64 data layout.
        self.size = self.align = 4 if self.address_space in (270, 271) else 8
        self.bits = self.size * 8

    def __str__(self) -> str:
        return f"ptr addrspace({self.address_space})" if self.address_space else "ptr"


@dataclass(slots=True, eq=False, repr=False)
class FloatType(Type):
    kind: str

    FORMATS: ClassVar[dict[str, tuple[int, int]]] = {
        "half": (16, 2),
        "bfloat": (16, 2),
        "float": (32, 4),
        "double": (64, 8),
        "x86_fp80": (80, 16),
        "fp128": (128, 16),
        "ppc_fp128": (128, 16),
    }
    """Kind -> (bits of the value, allocation size and alignment in bytes)."""

    def _lay_out(self) -> None:
        self.bits, self.size = self.FORMATS[self.kind]
        self.align = self.size

    def __str__(self) -> str:
        return self.kind


@dataclass(slots=True, eq=False, repr=False)
class ArrayType(Type):
    count: int
    element: Type

    def _lay_out(self) -> None:
        self.size = self.count * self.element.size
        self.align = self.element.align
        self.bits = self.size * 8

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


@dataclass(slots=True, eq=False, repr=False)
class VectorType(Type):
    """A vector of fixed length; elements are packed without padding (`<8 x i1>` is one byte)."""

    count: int
    element: Type

    def _lay_out(self) -> None:
        self.bits = self.count * self.element.bits
        store = (self.bits + 7) // 8
        self.align = _power_of_two_at_least(store)
        self.size = _round_up(store, self.align)

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(slots=True, eq=False, repr=False)
class StructType(Type):
    """A literal struct (interned by its fields) or a named one (one a module; `fields` None: opaque)."""

    name: str | None
    fields: tuple[Type, ...] | None
    packed: bool
    _offsets: tuple[int, ...] | None = field(init=False, default=None)

    def define(self, fields: tuple[Type, ...], packed: bool) -> None:
        """Give a named struct its body, once."""
        self.fields = fields
        self.packed = packed

    @property
    def offsets(self) -> tuple[int, ...]:
        """Byte offset of each field."""
        if self._offsets is None:
            self._lay_out()
        assert self._offsets is not None
        return self._offsets

    def _lay_out(self) -> None:
        offsets = []
        position, largest = 0, 1
        for part in self.fields or ():
            align = 1 if self.packed else part.align
            position = _round_up(position, align)
            offsets.append(position)
            position += part.size
            largest = max(largest, align)
        self._offsets = tuple(offsets)
        self.align = largest
        self.size = _round_up(position, largest)
        self.bits = self.size * 8

    def body(self) -> str:
        if self.fields is None:
            return "opaque"
        inner = "{ " + ", ".join(map(str, self.fields)) + " }" if self.fields else "{}"
        return f"<{inner}>" if self.packed else inner

    def __str__(self) -> str:
        return f"%{self.name}" if self.name is not None else self.body()


@dataclass(slots=True, eq=False, repr=False)
class FunctionType(Type):
    ret: Type
    params: tuple[Type, ...]
    vararg: bool

    def __str__(self) -> str:
        params = [*map(str, self.params), *(["..."] if self.vararg else [])]
        return f"{self.ret} ({', '.join(params)})"


T = TypeVar("T", bound=Type)
_interned: dict[tuple[Hashable, ...], Any] = {}


def _intern(make: Callable[..., T], *parts: Hashable) -> T:
    """The one type of a kind that is made of these parts."""
    key = (make, *parts)
    found: T | None = _interned.get(key)
    if found is None:
        found = _interned[key] = make(*parts)
    return found


def int_type(width: int) -> IntType:
    return _intern(IntType, width)


def pointer_type(address_space: int) -> PointerType:
    return _intern(PointerType, address_space)


def float_type(kind: str) -> FloatType:
    """KeyError if there is no such kind."""
    _ = FloatType.FORMATS[kind]
    return _intern(FloatType, kind)


def array_type(count: int, element: Type) -> ArrayType:
    return _intern(ArrayType, count, element)


def vector_type(count: int, element: Type) -> VectorType:
    return _intern(VectorType, count, element)


def struct_type(fields: tuple[Type, ...], packed: bool = False) -> StructType:
    """The literal struct with these fields."""
    return _intern(StructType, None, fields, packed)


def function_type(ret: Type, params: tuple[Type, ...], vararg: bool = False) -> FunctionType:
    return _intern(FunctionType, ret, params, vararg)


VOID = SimpleType("void")
LABEL = SimpleType("label")
METADATA = SimpleType("metadata")
TOKEN = SimpleType("token")
PTR = pointer_type(0)
I1 = int_type(1)
I8 = int_type(8)
I32 = int_type(32)
I64 = int_type(64)
