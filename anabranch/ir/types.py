"""LLVM types, interned (identity is equality), with their x86-64 layout.

`size` is the allocation size in bytes (tail padding included), `align` the ABI alignment, `bits` the width of
the value; the store size is `(bits + 7) // 8`. They are computed on first use, because a named struct may be
mentioned before its body is known.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Type:
    """Base of all types; the layout slots are filled by `_lay_out` when first read."""

    __slots__ = ("align", "bits", "constants", "size")

    size: int
    align: int
    bits: int
    constants: dict[str, Any]
    """Simple constants of this type by their spelling; the reader fills it, to share equal ones."""

    def __init__(self) -> None:
        self.constants = {}

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


class SimpleType(Type):
    """`void`, `label`, `metadata` and `token`: no values in memory."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __str__(self) -> str:
        return self.name


def to_signed(value: int, width: int) -> int:
    """The number that bits stand for in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


class IntType(Type):
    __slots__ = ("mask", "width")

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.mask = (1 << width) - 1

    def _lay_out(self) -> None:
        store = (self.width + 7) // 8
        self.bits = self.width
        self.align = min(_power_of_two_at_least(store), 16)
        self.size = _round_up(store, self.align)

    def __str__(self) -> str:
        return f"i{self.width}"


class PointerType(Type):
    __slots__ = ("address_space",)

    def __init__(self, address_space: int) -> None:
        super().__init__()
        self.address_space = address_space

    def _lay_out(self) -> None:
        # Address spaces 270 and 271 are the 32-bit pointers of the x86-64 data layout.
        self.size = self.align = 4 if self.address_space in (270, 271) else 8
        self.bits = self.size * 8

    def __str__(self) -> str:
        return f"ptr addrspace({self.address_space})" if self.address_space else "ptr"


class FloatType(Type):
    __slots__ = ("kind",)

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

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def _lay_out(self) -> None:
        self.bits, self.size = self.FORMATS[self.kind]
        self.align = self.size

    def __str__(self) -> str:
        return self.kind


class ArrayType(Type):
    __slots__ = ("count", "element")

    def __init__(self, count: int, element: Type) -> None:
        super().__init__()
        self.count = count
        self.element = element

    def _lay_out(self) -> None:
        self.size = self.count * self.element.size
        self.align = self.element.align
        self.bits = self.size * 8

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


class VectorType(Type):
    """A vector of fixed length; elements are packed without padding (`<8 x i1>` is one byte)."""

    __slots__ = ("count", "element")

    def __init__(self, count: int, element: Type) -> None:
        super().__init__()
        self.count = count
        self.element = element

    def _lay_out(self) -> None:
        self.bits = self.count * self.element.bits
        store = (self.bits + 7) // 8
        self.align = _power_of_two_at_least(store)
        self.size = _round_up(store, self.align)

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


class StructType(Type):
    """A literal struct (interned by its fields) or a named one (one a module; `fields` None: opaque)."""

    __slots__ = ("_offsets", "fields", "name", "packed")

    _offsets: tuple[int, ...] | None

    def __init__(self, name: str | None, fields: tuple[Type, ...] | None, packed: bool) -> None:
        super().__init__()
        self.name = name
        self.fields = fields
        self.packed = packed
        self._offsets = None

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
        for field in self.fields or ():
            align = 1 if self.packed else field.align
            position = _round_up(position, align)
            offsets.append(position)
            position += field.size
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


class FunctionType(Type):
    __slots__ = ("params", "ret", "vararg")

    def __init__(self, ret: Type, params: tuple[Type, ...], vararg: bool) -> None:
        super().__init__()
        self.ret = ret
        self.params = params
        self.vararg = vararg

    def __str__(self) -> str:
        params = [*map(str, self.params), *(["..."] if self.vararg else [])]
        return f"{self.ret} ({', '.join(params)})"


VOID = SimpleType("void")
LABEL = SimpleType("label")
METADATA = SimpleType("metadata")
TOKEN = SimpleType("token")
PTR = PointerType(0)

_ints: dict[int, IntType] = {}
_pointers: dict[int, PointerType] = {0: PTR}
_floats: dict[str, FloatType] = {kind: FloatType(kind) for kind in FloatType.FORMATS}
_arrays: dict[tuple[int, Type], ArrayType] = {}
_vectors: dict[tuple[int, Type], VectorType] = {}
_structs: dict[tuple[tuple[Type, ...], bool], StructType] = {}
_functions: dict[tuple[Type, tuple[Type, ...], bool], FunctionType] = {}


def int_type(width: int) -> IntType:
    found = _ints.get(width)
    if found is None:
        found = _ints[width] = IntType(width)
    return found


def pointer_type(address_space: int) -> PointerType:
    found = _pointers.get(address_space)
    if found is None:
        found = _pointers[address_space] = PointerType(address_space)
    return found


def float_type(kind: str) -> FloatType:
    """KeyError if there is no such kind."""
    return _floats[kind]


def array_type(count: int, element: Type) -> ArrayType:
    found = _arrays.get((count, element))
    if found is None:
        found = _arrays[count, element] = ArrayType(count, element)
    return found


def vector_type(count: int, element: Type) -> VectorType:
    found = _vectors.get((count, element))
    if found is None:
        found = _vectors[count, element] = VectorType(count, element)
    return found


def struct_type(fields: tuple[Type, ...], packed: bool = False) -> StructType:
    """The literal struct with these fields."""
    found = _structs.get((fields, packed))
    if found is None:
        found = _structs[fields, packed] = StructType(None, fields, packed)
    return found


def function_type(ret: Type, params: tuple[Type, ...], vararg: bool = False) -> FunctionType:
    found = _functions.get((ret, params, vararg))
    if found is None:
        found = _functions[ret, params, vararg] = FunctionType(ret, params, vararg)
    return found


I1 = int_type(1)
I8 = int_type(8)
I32 = int_type(32)
I64 = int_type(64)
