"""LLVM IR as plain Python objects, read from canonical text."""

from anabranch.ir.errors import IRError
from anabranch.ir.module import CallInfo, Function, Instruction, Module
from anabranch.ir.reader import read_module
