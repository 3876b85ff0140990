"""Translates every function of the C library: `python bench/libc_translates.py`.

Links all members of the library (built first if need be), reads every function and translates it without
running it. Prints counts, the functions in which 128-bit numbers or assembly are left, and whatever the
machine would give a path up for, with the functions that contain it. Exit code 1 if a function does not
read or translate.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

import llvmlite.binding as llvm

from anabranch.cli.flags import settings_from_args
from anabranch.environment import MODELS, Model
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.frontend.cache import default_directory
from anabranch.frontend.constructors import call_constructors
from anabranch.frontend.libc.build import ensure_library
from anabranch.frontend.libc.models import KERNEL, MODELLED, STARTS
from anabranch.frontend.libc.store import Library
from anabranch.frontend.link import link
from anabranch.frontend.options import Program
from anabranch.frontend.promote import without_marks
from anabranch.ir import IRError, Module, read_module
from anabranch.ir.values import InlineAsm
from anabranch.report.events import Collector

_LOSS = re.compile(r"raise Loss\('unsupported', (.*?)\)$", re.MULTILINE)
_PROGRAM = """define i32 @main(i32 %0, ptr %1, ptr %2) {
  ret i32 0
}
define i32 @LLVMFuzzerTestOneInput(ptr %0, i64 %1) {
  ret i32 0
}
"""


def whole_library(directory: Path) -> str:
    """All members of the library as one module, with an empty program."""
    library = Library(ensure_library(directory))
    modules = [llvm.parse_bitcode(data) for data in library.read(library.symbols)]
    return call_constructors(without_marks(str(link([*modules, llvm.parse_assembly(_PROGRAM)]))))


def oddities(module: Module) -> dict[str, list[str]]:
    """What the library is not to contain -> the functions that do."""
    found: dict[str, list[str]] = defaultdict(list)
    for function in module.defined_functions():
        if function.name in MODELLED:
            continue
        kinds = set()
        for block in function.blocks:
            for instruction in block.instructions:
                values = (instruction, *instruction.operands)
                kinds.update(str(v.type) for v in values if str(v.type) == "fp128")
                if instruction.operands and isinstance(callee := instruction.operands[0], InlineAsm):
                    kinds.add(f"assembly {callee.text.strip()!r}")
        for kind in kinds:
            found[kind].append(function.name)
    return found


def translate_all(text: str, module: Module) -> tuple[int, dict[str, list[str]]]:
    """Functions translated, and reasons to give a path up -> the functions that have them."""
    for name in KERNEL - MODELS.keys():
        MODELS[name] = Model(name, lambda m, *_: 0, False, 0, None)
    settings = settings_from_args(["library.ll"])
    exploration = prepare_exploration(Program(module, text, STARTS["main"], ()), settings, Collector())
    program = exploration.machine.program
    program.keep_source = True
    reasons: dict[str, list[str]] = defaultdict(list)
    count = 0
    for function in module.defined_functions():
        unit = program.unit(function)
        try:
            program.ensure(unit)
            count += 1
        except Exception as error:
            reasons[f"translator failed: {type(error).__name__}: {error}"].append(function.name)
        for reason in sorted(set(_LOSS.findall(unit.source))):
            reasons[reason].append(function.name)
        unit.source = ""
    return count, reasons


def main() -> int:
    gc.disable()
    started = time.monotonic()
    text = whole_library(default_directory())
    linked = time.monotonic()
    try:
        module = read_module(text)
        module.read_all()
    except IRError as error:
        print(f"does not read: {error}")
        return 1
    functions = list(module.defined_functions())
    size = sum(len(block.instructions) for f in functions for block in f.blocks)
    read = time.monotonic()
    strange = oddities(module)
    before = time.monotonic()
    count, reasons = translate_all(text, module)
    print(f"{len(functions)} functions, {size} instructions; linked in {linked - started:.1f} s,", end=" ")
    print(f"read in {read - linked:.1f} s, {count} translated in {time.monotonic() - before:.1f} s")
    for what, where in sorted(strange.items()):
        print(f"{what}: {len(where)}: {', '.join(where[:12])}")
    print(f"{len(reasons)} reasons to give a path up")
    for reason, where in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(where):>5}  {reason}: {', '.join(where[:8])}{' ...' if len(where) > 8 else ''}")
    return 1 if reasons or strange or count < len(functions) else 0


if __name__ == "__main__":
    sys.exit(main())
