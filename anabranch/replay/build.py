"""The native program of a run: checks of addresses and undefined behaviour, counters of coverage.

C files are compiled to bitcode with clang's checks in it, bitcode is taken as it is; lld links the modules to
one, whose text gets the counters; clang makes it native, adding the checks of addresses.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.contracts import read_contracts, shipped_contracts
from anabranch.environment import OVERRIDES
from anabranch.environment.failing import ALLOCATORS
from anabranch.explore.checks import chosen
from anabranch.explore.settings import CONTRACTS, FRESH
from anabranch.native.flags import ADDRESS_FLAGS, MODULE_FLAGS, sanitizer_flags
from anabranch.native.long_double import long_double_objects
from anabranch.native.tools import (
    ANSWERS_RUNTIME,
    CHECKS_RUNTIMES,
    COVERAGE_RUNTIME,
    FRESH_RUNTIME,
    INCLUDE,
    KLEE_RUNTIME,
    MODEL_RUNTIME,
    checked_library,
    clang_command,
    compiler,
    fence,
    link,
    linker,
    run_tool,
    runtime_object,
)
from anabranch.replay.answers import with_stubs
from anabranch.replay.instrument import CoverageMap, instrument
from anabranch.replay.model import model_flags
from anabranch.replay.record import ProgramRecord, ReplayError
from anabranch.replay.witness import Line, with_witnesses

_TO_IR = ("-Wno-override-module", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes")
ZEROED_LOCALS = "-ftrivial-auto-var-init=zero"
FUZZ_TARGET = "LLVMFuzzerTestOneInput"
_DEFINED = re.compile(r"^define .*?(void|i\d+|ptr|float|double|\{.*?\}|\S+) @([\w.$]+)\(", re.MULTILINE)
_DEFINE = re.compile(r"^define .*?\)[^{]*? #(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Built:
    """A native program and what its counters mean."""

    program: Path
    coverage: CoverageMap


def undefined_flags(checks: Sequence[str], no_checks: Sequence[str] = ()) -> list[str]:
    """clang's checks of undefined behaviour that tell natively what a run has looked for."""
    return sanitizer_flags([name for check in chosen(checks, no_checks) for name in check.sanitizers])


def build_native(record: ProgramRecord, directory: Path, *, checks: bool = True) -> Built:
    """Build the program of a run into `directory`; NativeError with the tool's words if that fails."""
    text, entry = _whole(record, directory, checks)
    if checks:
        text = with_address_checks(text)
    instrumented, coverage = instrument(text)
    own = [*(CHECKS_RUNTIMES if checks else ()), COVERAGE_RUNTIME]
    flags = ADDRESS_FLAGS if checks else ()
    return Built(_program(instrumented, directory / "program", entry, own, flags), coverage)


def build_witness(record: ProgramRecord, directory: Path, lines: Collection[Line]) -> Path:
    """The program of a run, built so that values at lines are recorded."""
    text, entry = _whole(record, directory, checks=False)
    return _program(with_witnesses(text, lines), directory / "witness", entry, [FRESH_RUNTIME])


def _whole(record: ProgramRecord, directory: Path, checks: bool) -> tuple[str, str]:
    """The linked program as text, with a `main`; and the function in which it starts."""
    modules = [
        _module(record, record.directory / path, directory / f"{number}.bc", checks)
        for number, (path, _) in enumerate(record.inputs)
    ]
    if not modules:
        raise ReplayError("the run does not tell which program it explored; name one with --program")
    text, entry = with_main(_linked_text(modules, directory), record.settings.get("entry"))
    text = without_overridden(text)
    if record.settings.get("failing_allocations"):
        text = with_failing_allocations(text)
    return with_answers(record, text), entry


def with_answers(record: ProgramRecord, text: str) -> str:
    """The module with stubs for functions without a body, if the run answered for them."""
    externals, summaries = record.settings.get("externals"), record.settings.get("summaries")
    if externals not in (FRESH, CONTRACTS):
        return text
    known = shipped_contracts() if externals == CONTRACTS else {}
    for path in summaries or ():
        known |= read_contracts(record.directory / str(path))
    return with_stubs(text, record.unknown, record.libc == "none", known)


def with_failing_allocations(text: str) -> str:
    """The module whose calls of allocators come to the run-time file, which lets some of them fail."""
    names = "|".join(ALLOCATORS)
    return re.sub(rf"@({names})\b(?!\.)", r"@anabranch_\1", text)


def _program(text: str, output: Path, entry: str, own: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """A module and its run-time files, as a static program."""
    source, program_object = output.with_suffix(".ll"), output.with_suffix(".o")
    source.write_text(text, errors="surrogateescape")
    command = [*clang_command(), "-O0", "-Wno-override-module", *flags, "-c", str(source)]
    run_tool([*command, "-o", str(program_object)])
    runtimes = [
        *map(runtime_object, own),
        runtime_object(KLEE_RUNTIME, _runtime_flags(entry)),
        runtime_object(MODEL_RUNTIME, model_flags()),
        runtime_object(ANSWERS_RUNTIME),
    ]
    lazily = [*long_double_objects()] if "x86_fp80" in text else []
    first = [fence()] if flags else []
    wrapped = []
    if flags:
        lazily.append(checked_library())
        wrapped.append("main")  # checks.c starts the program with arguments that have red zones
    return link([*first, program_object, *runtimes], output, lazily, wrapped)


def _runtime_flags(entry: str) -> tuple[str, ...]:
    return ("-O1", "-DANABRANCH_FUZZER") if entry == FUZZ_TARGET else ("-O1",)


def with_main(text: str, wanted: str | None) -> tuple[str, str]:
    """The module with a `main` that starts where the run started, and the name of that function.

    A fuzz target gets its `main` from the run-time file; a `main` that was not started makes way.
    """
    defined = dict((name, kind) for kind, name in _DEFINED.findall(text))
    entry = wanted or ("main" if "main" in defined or FUZZ_TARGET not in defined else FUZZ_TARGET)
    if entry == "main":
        return text, entry
    if entry not in defined:
        raise ReplayError(f"the program does not define {entry}, in which the run started")
    text = re.sub(r"@main\b", "@anabranch.other.main", text)
    if entry == FUZZ_TARGET:
        return text, entry
    kind = defined[entry]
    call = f"call {kind} @{entry}()"
    body = f"  %r = {call}\n  ret i32 %r" if kind == "i32" else f"  {call}\n  ret i32 0"
    return f"{text}\ndefine i32 @main() {{\n{body}\n}}\n", entry


def without_overridden(text: str) -> str:
    """The module in which functions that the engine models even if they have a body have none either.

    The run-time file of `klee.h` then defines them.
    """
    for name in sorted(OVERRIDES):
        text, found = re.subn(
            rf"^(define .*?)@{name}(\(.*)$", rf"\1@anabranch.own.{name}\2", text, flags=re.MULTILINE
        )
        if found:
            text += f"\ndeclare void @{name}(...)\n"
    return text


def _module(record: ProgramRecord, path: Path, output: Path, checks: bool) -> Path:
    if not path.exists():
        raise ReplayError(f"{path}: no such file: the program cannot be built again; name one with --program")
    if path.suffix == ".bc":
        return path
    if path.suffix == ".ll":
        run_tool([*compiler(), *_TO_IR, "-c", str(path), "-o", str(output)])
        return output
    settings = record.settings
    command = [*compiler(), "-w", *MODULE_FLAGS]
    for include in settings.get("include_dirs") or ():
        command += ["-I", str(record.directory / include)]
    command += [f"-D{define}" for define in settings.get("defines") or ()]
    if settings.get("uninitialised") == "zero":
        command.append(ZEROED_LOCALS)  # fresh heap blocks are zero where addresses are checked
    if checks:
        command += undefined_flags(settings.get("checks") or (), settings.get("no_checks") or ())
    command += ["-idirafter", str(INCLUDE), "-o", str(output), "--", str(path)]
    run_tool(command, record.directory if record.directory.is_dir() else None)
    return output


def _linked_text(modules: Sequence[Path], directory: Path) -> str:
    whole, text = directory / "whole.bc", directory / "whole.ll"
    run_tool([*linker(), "-r", "--plugin-opt=emit-llvm", "-o", str(whole), *map(str, modules)])
    run_tool([*compiler(), *_TO_IR, "-S", str(whole), "-o", str(text)])
    return text.read_text(errors="surrogateescape")


def with_address_checks(text: str) -> str:
    """Mark every function for the checks of addresses, as bitcode made without them is not."""
    groups = set(_DEFINE.findall(text))

    def mark(found: re.Match[str]) -> str:
        if found[1] not in groups or "sanitize_address" in found[0]:
            return found[0]
        return f"attributes #{found[1]} = {{ sanitize_address "

    return re.sub(r"^attributes #(\d+) = \{ ", mark, text, flags=re.MULTILINE)
