"""Making a program that is not in the cache: clang for the C files, a worker process for LLVM."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from anabranch.frontend.cache import Entry, default_directory
from anabranch.frontend.compile import compile_all
from anabranch.frontend.libc.build import ensure_library
from anabranch.frontend.libc.need import why_needed
from anabranch.frontend.options import AUTO, C_SUFFIXES, MUSL, NO_LIBC, FrontendError, FrontendOptions
from anabranch.frontend.process import run_worker
from anabranch.frontend.units import Unit, Units

WORKER_SECONDS = 900
"""Far more than a large program takes; damaged bitcode can keep LLVM busy for ever."""


def build_program(inputs: Sequence[Path], options: FrontendOptions) -> Entry:
    """The program's text, and all files that went into it."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as directory:
        if options.libc == AUTO:
            return _build_by_need(inputs, options, Path(directory))
        return _build(inputs, options, Path(directory))


def _build_by_need(inputs: Sequence[Path], options: FrontendOptions, directory: Path) -> Entry:
    """Without the library; with it if that shows that it is needed."""
    entry = _build(inputs, dataclasses.replace(options, libc=NO_LIBC), directory)
    cache = options.cache_dir or default_directory()
    why = why_needed(entry.ir_text, options.entry, options.models, options.library_for, cache)
    if not why:
        return entry
    entry = _build(inputs, dataclasses.replace(options, libc=MUSL), directory)
    return dataclasses.replace(entry, library_reason=why)


def _build(inputs: Sequence[Path], options: FrontendOptions, directory: Path) -> Entry:
    units = Units(options, directory)
    found = [units.known(path) if path.suffix in C_SUFFIXES else Unit(path, str(path)) for path in inputs]
    missing = [path for path, unit in zip(inputs, found, strict=True) if unit is None]
    compiled = map(units.compiled, missing, compile_all(missing, options, directory))
    modules = [next(compiled) if unit is None else unit for unit in found]
    library = None
    if options.libc == MUSL:
        library = ensure_library(options.cache_dir or default_directory())
    text = link_modules(modules, options.opt_level, directory / "linked.ll", library, options.entry)
    units.keep(modules)
    warnings = "\n".join(filter(None, (unit.warnings for unit in modules)))
    files = (*inputs, *(file for unit in modules for file in unit.files))
    return Entry(text, warnings, options.libc, files=files)


def link_modules(
    modules: Sequence[Unit],
    level: int,
    output: Path,
    library: Path | None = None,
    entry: str | None = None,
) -> str:
    """Read, link and simplify modules in a process of its own."""
    request = {
        "modules": [[str(m.path), m.shown, m.ready, m.kept and str(m.kept)] for m in modules],
        "level": level,
        "output": str(output),
        "library": str(library) if library is not None else None,
        "entry": entry,
    }
    try:
        result = run_worker("anabranch.frontend.worker", request, WORKER_SECONDS)
    except subprocess.TimeoutExpired:
        shown = ", ".join(module.shown for module in modules)
        raise FrontendError(f"{shown}: LLVM did not finish within {WORKER_SECONDS} seconds") from None
    if result.returncode == 0 and output.exists():
        return output.read_text(errors="surrogateescape")
    raise FrontendError(_explain(result))


def _explain(result: subprocess.CompletedProcess[str]) -> str:
    """One line for a worker that failed: its own word, or the file it was at and how it died."""
    reading = ""
    for line in result.stdout.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if "error" in event:
            return str(event["error"])
        reading = str(event.get("reading", reading))
    reason = [line for line in result.stderr.splitlines() if line.strip()]
    fatal = [line for line in reason if "LLVM ERROR" in line or "Assertion" in line] or reason[-1:]
    how = f"signal {-result.returncode}" if result.returncode < 0 else f"code {result.returncode}"
    detail = f": {fatal[0].strip()[:200]}" if fatal else ""
    return f"{reading or 'input'}: LLVM crashed on this input ({how}){detail}"
