"""Explores programs in this process and tells what was covered, piece by piece: for reductions that promise
to keep coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

from anabranch.cli.flags import settings_from_args
from anabranch.environment import EXTERNAL_GLOBALS, MODELS
from anabranch.explore.coverage import BlockTable
from anabranch.explore.engine import TechniqueMaker, prepare
from anabranch.explore.settings import LoadedProgram
from anabranch.explore.technique import EXACT, Contract, Technique
from anabranch.frontend import FrontendOptions, load_program
from anabranch.reduce.setup import reductions
from anabranch.report.events import Collector


@dataclass
class Covered:
    """One exploration: what it covered of the user's code, and what it took."""

    pieces: frozenset[tuple[str, int, int]] = frozenset()
    """Function, block and first instruction of all straight code that was executed to its end."""
    errors: frozenset[tuple[str, str, int]] = frozenset()
    """Kind, file and line."""
    states: int = 0
    instructions: int = 0
    seconds: float = 0.0
    losses: dict[str, Any] = field(default_factory=dict)
    stopped: str | None = None
    defects: int = 0
    warnings: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Did it explore all there is?"""
        return not self.losses and self.stopped is None


class CountsCalls(Technique):
    """No technique, but has the code behind every call counted."""

    name: ClassVar[str] = "counts calls"
    contract: ClassVar[Contract] = EXACT

    def instrument(self, table: BlockTable) -> None:
        table.count_every_call()


def load(source: Path, flags: Sequence[str] = ()) -> LoadedProgram:
    settings = settings_from_args([str(source), *flags])
    build = settings.build
    options = FrontendOptions(
        defines=build.defines,
        include_dirs=build.include_dirs,
        opt_level=settings.simplification,
        entry=build.entry,
        libc=build.libc,
        models=frozenset((*MODELS, *EXTERNAL_GLOBALS)),
        library_for=settings.program_input.needs_library(),
    )
    return load_program(settings.inputs, options)


def explore_covering(program: LoadedProgram, source: Path, flags: Sequence[str]) -> Covered:
    """Explore a program that is loaded already."""
    settings = settings_from_args([str(source), "--tests", "none", *flags])
    collector = Collector()
    began = process_time()
    asked = reductions(settings)
    techniques = TechniqueMaker(lambda parts: [*asked.make(parts), CountsCalls(parts)], asked.machine)
    run = prepare(program, settings, collector, None, techniques)
    result = run.run()
    losses = {kind: places for kind, places in result.losses.items() if not kind.startswith("pruned")}
    return Covered(
        pieces=frozenset(run.table.finished_pieces(run.machine.counters.N)),
        errors=frozenset((e.kind, e.file, e.line) for e in collector.errors),
        states=result.states_explored,
        instructions=result.instructions,
        seconds=process_time() - began,
        losses=losses,
        stopped=result.stopped,
        defects=result.defects,
        warnings=tuple(collector.warnings),
        figures=result.reductions.get("redundancy", {}),
    )
