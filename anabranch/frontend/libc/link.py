"""The library joined to a program, in the process that runs LLVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from anabranch.frontend.libc.models import MODELLED, START
from anabranch.frontend.libc.select import select_members
from anabranch.frontend.libc.store import Library
from anabranch.frontend.libc.symbols import read_symbols


def needed_members(modules: list[Any], path: Path) -> list[Any]:
    """Modules of the library that a program needs, its start-up included."""
    library = Library(path)
    program = [read_symbols(str(module)) for module in modules]
    names = select_members(program, library.symbols, MODELLED, [START])
    return [llvm.parse_bitcode(data) for data in library.read(names)]
