"""`load_program`: from the files a user names to one program, ready to run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from anabranch.frontend.cache import ProgramCache, default_directory
from anabranch.frontend.libc.models import OTHER_START, STARTS
from anabranch.frontend.options import (
    ANY_ENTRY,
    C_SUFFIXES,
    ENTRY_POINTS,
    LLVM_SUFFIXES,
    MUSL,
    FrontendError,
    FrontendOptions,
    Program,
)
from anabranch.ir import IRError, Module, read_module

ADDRESS_SANITIZER = "__asan_init"
"""What every module calls that AddressSanitizer instrumented."""


def load_program(inputs: Sequence[Path], options: FrontendOptions) -> Program:
    """Compile, link, simplify and read, or take it from the cache if nothing has changed."""
    if not inputs:
        raise FrontendError("no input files")
    for path in inputs:
        _check_input(path)
    cache = ProgramCache(options.cache_dir or default_directory()) if options.use_cache else None
    entry = cache.load(inputs, options) if cache else None
    from_cache = entry is not None
    if entry is None:
        # Imported on a miss only: a start from the cache is to be quick.
        from anabranch.frontend.build import build_program

        entry = build_program(inputs, options)
        if cache:
            cache.store(inputs, options, entry)
    try:
        module = read_module(entry.ir_text, fold_checks=True)
    except IRError as error:
        raise FrontendError(f"cannot read the linked program: {error}") from error
    _refuse_red_zones(module, inputs)
    sources = tuple(path for path in inputs if path.suffix in C_SUFFIXES)
    start = find_entry(module, options.entry, inputs)
    if entry.libc == MUSL:
        start = _library_start(start, inputs)
    elif options.entry != ANY_ENTRY:
        before = STARTS.get(start, OTHER_START)
        start = before if before in module.functions else start
    return Program(
        module, entry.ir_text, start, sources, entry.warnings, from_cache, entry.libc, entry.library_reason
    )


def _refuse_red_zones(module: Module, inputs: Sequence[Path]) -> None:
    """AddressSanitizer puts locals and globals into larger objects, and tells wrong accesses by its own table
    in memory: to the engine, an access between two locals would be right and one to the table wrong."""
    started = module.functions.get(ADDRESS_SANITIZER)
    if started is not None and started.is_declaration:
        shown = ", ".join(str(path) for path in inputs if path.suffix in LLVM_SUFFIXES)
        raise FrontendError(
            f"{shown}: was built with AddressSanitizer, which changes all objects in memory; "
            "build it without -fsanitize=address (accesses are checked anyway)"
        )


def _library_start(entry: str, inputs: Sequence[Path]) -> str:
    """The function of the library that gets it ready and then runs the entry."""
    if entry not in STARTS:
        shown = ", ".join(map(str, inputs))
        raise FrontendError(
            f"{shown}: with --libc musl a program starts in {' or '.join(STARTS)}, not '{entry}'"
        )
    return STARTS[entry]


def _check_input(path: Path) -> None:
    if path.is_dir():
        raise FrontendError(f"{path}: is a directory, not a file")
    if not path.exists():
        raise FrontendError(f"{path}: no such file")
    if not os.access(path, os.R_OK):
        raise FrontendError(f"{path}: cannot be read (permission denied)")
    if path.suffix in (".cc", ".cpp", ".cxx", ".C", ".c++"):
        raise FrontendError(f"{path}: C++ is not supported")
    if path.suffix not in C_SUFFIXES + LLVM_SUFFIXES:
        raise FrontendError(f"{path}: unknown kind of file (expected .c, .i, .bc or .ll)")


def find_entry(module: Module, wanted: str | None, inputs: Sequence[Path]) -> str:
    """Name of the function to start in."""
    for name in (wanted,) if wanted is not None else ENTRY_POINTS:
        function = module.functions.get(name)
        if function is not None and not function.is_declaration:
            return name
    if wanted == ANY_ENTRY and module.defined_functions():
        return module.defined_functions()[0].name
    shown = ", ".join(map(str, inputs))
    defined = [f.name for f in module.defined_functions() if f.linkage in ("external", "weak")]
    if not defined:
        raise FrontendError(f"{shown}: defines no function")
    offer = ", ".join(defined[:8]) + (", ..." if len(defined) > 8 else "")
    missing = f"no function '{wanted or ENTRY_POINTS[0]}'"
    raise FrontendError(f"{shown}: {missing}; --entry can name one of: {offer}")
