"""Proof that a native program ends at a line: before every access, call and division it notes whether it is.

A function of the C library, or one that stands for a function without a body, notes nothing: it fails at the
line of its call.
"""

from __future__ import annotations

from anabranch.ir import read_module
from anabranch.ir.module import Function
from anabranch.replay.instrument import Insertion
from anabranch.replay.witness import Line

VARIABLE = b"ANABRANCH_LAST_LINE"
"""The environment variable that names the file which keeps the last note: one byte."""
_DIVISIONS = ("sdiv", "udiv", "srem", "urem")
_MAY_FAIL = frozenset(("load", "store", "call", "invoke", "atomicrmw", "cmpxchg", *_DIVISIONS))
_DECLARED = "\ndeclare void @anabranch_at(i8)\n"


def with_last_line(text: str, wanted: Line, without: str) -> str:
    """A module that notes whether it is at a line; functions of the file `without` note nothing."""
    writer = Insertion(text)
    for function in read_module(text).defined_functions():
        if function.subprogram is not None and function.subprogram.file != without:
            _function(writer, function, wanted)
    return "\n".join(writer.inserted()) + _DECLARED


def _function(writer: Insertion, function: Function, wanted: Line) -> None:
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode not in _MAY_FAIL or instruction.loc is None:
                continue
            text = writer.lines[instruction.text_line - 1]
            if "@llvm.dbg." in text or "@llvm.lifetime." in text:
                continue
            there = (instruction.loc.file, instruction.loc.line) == wanted
            writer.add(instruction.text_line, f"  call void @anabranch_at(i8 {int(there)})")
