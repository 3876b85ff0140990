"""The global names of generated code: run-time functions, tables, and constants that have no literal."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import Type
from anabranch.machine.ends import SLOW
from anabranch.machine.layout import Layout
from anabranch.machine.objects import AllocationSite, ObjectNumbers
from anabranch.semantics.casts import cast_function
from anabranch.semantics.floats import FLOATING
from anabranch.semantics.integers import SHIFTS, BinaryOperation, narrow
from anabranch.semantics.operations import at_width, binary_operation


class Widening(dict[Any, Any]):
    """Extensions of bytes: known ones are in the table, symbolic ones are made once."""

    __slots__ = ("extend", "width")

    def __init__(self, name: str, width: int) -> None:
        self.extend: Callable[[Any, int, int], Any] = getattr(expr, name)
        self.width = width
        self.reset()

    def __missing__(self, byte: Expr) -> Any:
        wide = self[byte] = self.extend(byte, 8, self.width)
        return wide

    def reset(self) -> None:
        """Forget symbolic entries, so that their nodes can go."""
        self.clear()
        for byte in range(256):
            self[byte] = self.extend(byte, 8, self.width)


class Namespace:
    """The dictionary that all translated functions run in."""

    def __init__(
        self, layout: Layout, numbers: ObjectNumbers, arithmetic: Mapping[str, BinaryOperation]
    ) -> None:
        """`arithmetic` has the operations that can fail, with their checks."""
        self.layout = layout
        self.numbers = numbers
        self._arithmetic = arithmetic
        self.names: dict[str, Any] = {
            "SLOW": SLOW,
            "Expr": Expr,
            "ite": expr.ite,
            "zext": expr.zext,
            "sext": expr.sext,
            "extract": expr.extract,
            "not_": expr.not_,
            "narrow": narrow,
            "fcmp": expr.fcmp,
            **FLOATING,
            **{f"expr_{opcode}": binary_operation(opcode) for opcode in SHIFTS},
            **arithmetic,
        }
        for size, code in ((2, "<H"), (4, "<I"), (8, "<Q")):
            self.names[f"U{size}"] = struct.Struct(code).unpack_from
            self.names[f"P{size}"] = struct.Struct(code).pack_into
        self._constants: dict[int, str] = {}
        self._keep: list[Any] = []
        self._widenings: dict[str, Widening] = {}
        self._sites: dict[int, str] = {}

    def constant(self, value: Any) -> str:
        """A name for an object; the same object gets the same name."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = f"C{len(self._keep)}"
            self._keep.append(value)
            self.names[name] = value
        return name

    def widening(self, name: str, width: int) -> str:
        key = f"{'S' if name == 'sext' else 'Z'}X{width}"
        if key not in self._widenings:
            self.names[key] = self._widenings[key] = Widening(name, width)
        return key

    def forget_symbolic(self) -> None:
        """Drop what the tables hold of dead paths."""
        for table in self._widenings.values():
            table.reset()

    def scalar_operation(self, name: str, width: int) -> str:
        """A function of two lanes (or narrow Booleans): `(a, b) -> value`."""
        key = f"op_{name}_{width}"
        if key not in self.names:
            operation = self._arithmetic.get(name) or binary_operation(name)
            self.names[key] = at_width(operation, width)
        return key

    def scalar_cast(self, opcode: str, source: Type, wanted: Type) -> str:
        key = re.sub(r"\W", "_", f"cast_{opcode}_{source}_{wanted}")
        if key not in self.names:
            self.names[key] = cast_function(opcode, source, wanted)
        return key

    def allocation(self, instruction: Instruction, function: Function) -> str:
        """The allocation site of an alloca."""
        name = self._sites.get(id(instruction))
        if name is None:
            assert instruction.result is not None
            site: AllocationSite = self.numbers.new_site(
                "stack",
                local_name(function, instruction),
                instruction.extra,
                instruction.loc or function_loc(function),
                ("local", function.name, instruction.result.index),
            )
            self.numbers.add_local(site, function.name, instruction.result.index)
            name = self._sites[id(instruction)] = self.constant(site)
        return name


def local_name(function: Function, instruction: Instruction) -> str:
    """What to call a local of the analysed program in a message."""
    source = function.subprogram.name if function.subprogram is not None else function.name
    return f"a local of {source}"


def function_loc(function: Function) -> str:
    subprogram = function.subprogram
    return f"{subprogram.file}:{subprogram.line}" if subprogram is not None else ""
