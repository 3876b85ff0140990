"""The indices of a getelementptr as bytes."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.ir.types import ArrayType, StructType, Type, VectorType
from anabranch.ir.values import ConstInt, Operand


def index_terms(source: Type, indices: Sequence[Operand]) -> tuple[int, list[tuple[int, int]]]:
    """What indices into `source` add to an address: constant bytes, and the position of each index that is
    no number with the size of what it counts."""
    offset, current = 0, source
    terms: list[tuple[int, int]] = []
    for position, index in enumerate(indices):
        if position and isinstance(current, StructType):
            assert isinstance(index, ConstInt) and current.fields is not None
            offset += current.offsets[index.value]
            current = current.fields[index.value]
            continue
        if position:
            assert isinstance(current, ArrayType | VectorType)
            current = current.element
        if isinstance(index, ConstInt):
            offset += index.signed * current.size
        else:
            terms.append((position, current.size))
    return offset, terms


def constant_offset(source: Type, indices: Sequence[Operand]) -> int | None:
    """The bytes that indices add; None if one of them is not a number."""
    if not all(isinstance(index, ConstInt) for index in indices):
        return None
    return index_terms(source, indices)[0]
