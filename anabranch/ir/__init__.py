"""LLVM IR as plain Python objects, read from canonical text."""

from anabranch.ir.debug import DebugInfo, DebugLoc, SourceVariable, Subprogram
from anabranch.ir.errors import IRError
from anabranch.ir.module import (
    ArgAttrs,
    Block,
    CallInfo,
    Function,
    GlobalVariable,
    Instruction,
    Module,
)
from anabranch.ir.reader import read_module

__all__ = [
    "ArgAttrs",
    "Block",
    "CallInfo",
    "DebugInfo",
    "DebugLoc",
    "Function",
    "GlobalVariable",
    "IRError",
    "Instruction",
    "Module",
    "SourceVariable",
    "Subprogram",
    "read_module",
]
