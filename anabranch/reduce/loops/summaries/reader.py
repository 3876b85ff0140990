"""Reads memory for a round that is followed without running it; what may fail cannot be read."""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr, join_bytes
from anabranch.machine import Machine
from anabranch.machine.objects import OBJECT_SHIFT, OFFSET_MASK
from anabranch.machine.undefined import has_undefined
from anabranch.reduce.loops.summaries.affine import Affine, affine
from anabranch.reduce.loops.summaries.body import Body, Stuck, Way
from anabranch.semantics.addresses import MASK64
from anabranch.semantics.integers import narrow

Value = Any


class OtherOrigin(Exception):
    """The loop reads at a position that these terms are part of: its rounds are to be counted from there."""

    def __init__(self, terms: Affine) -> None:
        super().__init__()
        self.terms = terms


class Reader:
    """Reads the memory of the running path."""

    def __init__(self, machine: Machine) -> None:
        self._memory = machine.memory

    def load(self, address: Value, bits: int, way: Way, body: Body) -> Value:
        """The value there; Stuck if the machine would have more to do than to read it."""
        if address.__class__ is Expr:
            form = affine(address, body.range_of)
            if form is None:
                raise Stuck("an address that is no sum")
            if form.terms:
                raise OtherOrigin(form)
            address = form.constant & MASK64
        size = (bits + 7) // 8
        info, offset = self._memory.find(address >> OBJECT_SHIFT), address & OFFSET_MASK
        if self._memory.absent is not None:
            raise Stuck("objects that are made when they are read")
        if info is None or info.end or offset + size > info.size or info.blank is not None:
            raise Stuck("an access that is out of bounds")
        if info.extent is not None:
            for bad in info.extent.beyond(offset + size, info.extent.least):
                open_ = body.decide(bad, way)
                if open_ is not False and (open_ is True or not body.excluded(open_, way)):
                    raise Stuck("an access that may be out of bounds")
        data = self._memory.contents(address, size)
        try:
            value: Value = int.from_bytes(data, "little")
        except TypeError:
            value = join_bytes(data)
            if has_undefined(value):
                raise Stuck("uninitialised data") from None
        return value if bits == 8 * size else narrow(value, 8 * size, bits)
