"""Simplification of a linked module by LLVM's passes."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

LEVELS: dict[int, tuple[str, ...]] = {
    0: (),
    1: ("sroa", "strip_dead_prototype"),
    2: ("sroa", "strip_dead_prototype"),
}
"""Level -> passes. From level 1 on, locals that `promote` has not marked become registers. No level folds or
removes anything else: LLVM's passes take it that a program does nothing wrong, and drop what would show it.
Level 2 once folded branches; it is accepted and means level 1."""


def run_passes(module: Any, level: int) -> None:
    """Run the passes of a level over an llvmlite module, in place."""
    names = LEVELS[level]
    if not names:
        return
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    manager = llvm.create_new_module_pass_manager()
    for name in names:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
