"""The library linked to a program, in the process that runs LLVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from anabranch.frontend.libc.giving_way import give_way
from anabranch.frontend.libc.mathematics import call_library
from anabranch.frontend.libc.models import MODELLED, STARTS
from anabranch.frontend.libc.select import select_members
from anabranch.frontend.libc.store import Library
from anabranch.frontend.libc.symbols import read_symbols


def add_library(modules: list[Any], path: Path) -> list[Any]:
    """A program's modules, and those of the library that they need, its start-up included."""
    program, symbols = [], []
    for module in modules:
        text = str(module)
        changed = call_library(text)
        program.append(llvm.parse_assembly(changed) if changed != text else module)
        symbols.append(read_symbols(changed))
    library = Library(path)
    defined = {name for module_symbols in symbols for name in module_symbols.offered}
    roots = [start for entry, start in STARTS.items() if entry in defined]
    names = select_members(symbols, library.symbols, MODELLED, roots)
    return program + [
        _member(data, library.symbols[name].defined & defined)
        for name, data in zip(names, library.read(names), strict=True)
    ]


def _member(data: bytes, taken: set[str]) -> Any:
    """A member of the library, its definitions of what the program defines itself given up.

    A member may be needed for another symbol that it defines: for `optind`, where the program has a `getopt`
    of its own. A static linker refuses that, but programs are mostly linked with a shared library, where the
    program's definition is everybody's.
    """
    module = llvm.parse_bitcode(data)
    return llvm.parse_assembly(give_way(str(module), taken)) if taken else module
