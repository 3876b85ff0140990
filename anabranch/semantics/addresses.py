"""Address arithmetic."""

from __future__ import annotations

from anabranch import expr
from anabranch.ir.indexing import index_terms
from anabranch.ir.types import Type, VectorType
from anabranch.ir.values import Operand
from anabranch.semantics.elements import Value
from anabranch.semantics.faults import Unsupported

MASK64 = (1 << 64) - 1


def add_offset(address: Value, offset: int) -> Value:
    return expr.add(address, offset & MASK64, 64) if offset else address


def overlap(to: Value, written: Value, source: Value, read: Value) -> Value:
    """Do two blocks, given by address and size, overlap without having the same address?"""
    if to.__class__ is int and source.__class__ is int:
        if to == source:
            return False
        return expr.ult(to - source, read, 64) if to > source else expr.ult(source - to, written, 64)
    ahead, behind = expr.sub(to, source, 64), expr.sub(source, to, 64)
    near = expr.bool_or(expr.ult(ahead, read, 64), expr.ult(behind, written, 64))
    return expr.bool_and(expr.ne(ahead, 0, 64), near)


def element_address(
    result: Type, source: Type, base: Value, operands: tuple[Operand, ...], indices: tuple[Value, ...]
) -> Value:
    """A getelementptr: `base` and the indices into `source`, as operands and as values."""
    if isinstance(result, VectorType):
        raise Unsupported("getelementptr of vectors")
    offset, terms = index_terms(source, operands)
    address = add_offset(base, offset)
    for position, size in terms:
        index, bits = indices[position], operands[position].type.bits
        if index.__class__ is int:
            # Registers may hold a signed offset as a negative int; the sum is masked either way.
            signed = index - (1 << bits) if index >> (bits - 1) == 1 else index
            address = add_offset(address, signed * size)
        else:
            address = expr.add(address, expr.mul(expr.sext(index, bits, 64), size, 64), 64)
    return address & MASK64 if address.__class__ is int else address
