"""Explores one function by itself: from any state, with any arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.environment.unknown import UnknownObjects
from anabranch.environment.unknown.contents import UnknownObject
from anabranch.environment.unknown.results import Answer
from anabranch.explore.build import Parts, build_parts, chosen_solver
from anabranch.explore.engine import NO_TECHNIQUES, Exploration, TechniqueMaker
from anabranch.explore.observers import PathEvents
from anabranch.explore.settings import ExploreSettings
from anabranch.expr import expr_vars, variable
from anabranch.ir.module import Module
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import Listener
from anabranch.report.result import Ratio, RunResult
from anabranch.solver import SliceSpace
from anabranch.unit.aim import Aim
from anabranch.unit.arguments import UnitInput, Unsupported
from anabranch.unit.failures import Failures
from anabranch.unit.harness import HarnessWriter, NoHarness
from anabranch.unit.ranks import RANKS, Ranked, rank
from anabranch.unit.reproduce import Sources, build_command

RANK_SECONDS = 2.0
"""What a proof for a rank may take."""
SHOWN = 12
"""Values shown of what an error assumes."""


@dataclass(frozen=True, slots=True)
class UnitProgram:
    """A loaded program that starts in the function to explore."""

    module: Module
    entry: str


@dataclass(frozen=True, slots=True)
class UnitError:
    """An error, what it assumes, and the harness that shows it (or why there is none)."""

    error: ErrorRecord
    rank: str
    assumes: tuple[str, ...]
    harness: str | None = None
    name: str = ""  # of the file that the harness is written to
    included: str = ""  # the source that it includes
    failing: tuple[str, ...] = ()
    """The allocators that fail, which sources have to be compiled with other names for."""
    invented_size: bool = False
    """Does it depend on the size of an object that the engine made up?"""
    build: str = ""
    """How a person builds and runs the harness."""
    no_harness: str = ""
    reproduced: bool | None = None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        error = self.error
        return {
            "kind": error.kind,
            "message": error.message,
            "file": error.file,
            "line": error.line,
            "function": error.function,
            "rank": self.rank,
            "assumes": list(self.assumes),
            "harness": self.name if self.harness is not None else None,
            "reproduced": self.reproduced,
            "problem": self.problem or self.no_harness,
        }


@dataclass(slots=True)
class UnitResult:
    """What was found out about one function."""

    function: str
    result: RunResult | None
    blocks: Ratio = field(default_factory=Ratio)
    errors: list[UnitError] = field(default_factory=list)
    unsupported: str = ""
    invented: list[str] = field(default_factory=list)
    """Pointers to objects that were accessed and whose size the engine made up."""

    def as_json(self) -> dict[str, Any]:
        result = self.result
        known: dict[str, Any] = {"function": self.function, "unsupported": self.unsupported}
        known["blocks"] = {"covered": self.blocks.covered, "total": self.blocks.total}
        known["errors"] = [error.as_json() for error in self.errors]
        if result is not None:
            known |= {
                "complete": result.complete,
                "stopped": result.stopped,
                "paths": result.paths_total,
                "cpu_seconds": round(result.timers.get("explore", 0.0), 3),
                "losses": {kind: loss.count for kind, loss in sorted(result.losses.items())},
                "unknown_functions": result.unknown_calls,
                "reductions": result.reductions,
                "targets": [dataclasses.asdict(target) for target in result.targets],
            }
        return known


def explore_function(
    module: Module,
    name: str,
    settings: ExploreSettings,
    listener: Listener,
    *,
    null_args: bool = False,
    included: str = "",
    target: str | None = None,
    sources: Sources | None = None,
    log_dir: Path | None = None,
    techniques: TechniqueMaker = NO_TECHNIQUES,
    aim: Aim | None = None,
) -> UnitResult:
    """Explore the function `name`; harnesses include the file `included` and call the function.

    `target` is the function that `name`, made for a precondition, calls. `aim`: the one failure that is to be
    shown, at a line that the settings name.
    """
    failures, events = Failures(aim), PathEvents()
    failures.listen(events)
    parts = build_parts(
        UnitProgram(module, name), settings, listener, log_dir, events, kind=techniques.machine
    )
    unknown = parts.unknown
    assert unknown is not None, "functions by themselves need --externals fresh"
    if aim is not None and parts.targets is not None:
        parts.targets.accepts = aim.accepts
    called = module.functions[target or name]
    call = UnitInput(parts.entry, module, unknown.objects, null_args)
    exploration = Exploration(parts, techniques.make(parts), call)
    try:
        result = exploration.run()
    except Unsupported as reason:
        parts.machine.deactivate()
        return UnitResult(called.name, None, unsupported=str(reason))
    found = UnitResult(called.name, result, blocks=_blocks(parts, called.name))
    limits = parts.budget.proofs(RANK_SECONDS)
    solver, config = chosen_solver(settings, limits)
    space = SliceSpace(solver, limits=limits, config=config)
    call.function = called
    found.invented = [made.pointer for made in _accessed(unknown.objects) if made.invented]
    for number, (key, error) in enumerate(failures.errors.items(), 1):
        if key not in failures.by_key:
            continue
        ranked = rank(failures.by_key[key], failures.rejected, unknown, space)
        writer = HarnessWriter(module, call, unknown, ranked, included)
        name = f"harness{error.test or number:06d}.c"
        found.errors.append(_error(error, ranked, writer, sources or Sources(), name))
    found.errors.sort(key=lambda item: (RANKS.index(item.rank), item.error.file, item.error.line))
    return found


def _error(
    error: ErrorRecord, ranked: Ranked, writer: HarnessWriter, sources: Sources, name: str
) -> UnitError:
    assumes = tuple(assumptions(ranked))
    heading = [f"{writer.call.function.name} fails: {error.message} [{error.kind}] at {error.location}"]
    heading.append(f"Assumes of the caller: {RANK_TEXT[ranked.rank]}")
    heading += [f"  {text}" for text in assumes]
    invented = ranked.size is not None and ranked.size.invented
    found = UnitError(error, ranked.rank, assumes, invented_size=invented)
    failing = tuple(writer.failing)
    command = build_command(name, sources.failing(failing))
    try:
        text = writer.text([line.replace("*/", "") for line in heading], command)
    except NoHarness as reason:
        return dataclasses.replace(found, no_harness=f"no harness: {reason}")
    return dataclasses.replace(
        found, harness=text, name=name, included=writer.included, failing=failing, build=command
    )


RANK_TEXT = {
    "none": "nothing, every call fails",
    "argument": "certain values",
    "size": "a buffer that begins at the pointer, or a string with nothing behind its NUL",
    "answer": "certain answers of unknown functions",
}


def assumptions(ranked: Ranked) -> Sequence[str]:
    """The values that the failing path depends on, as the source would write them."""
    lines: dict[str, None] = {}
    if ranked.size is not None:
        lines[f"{ranked.size.made.pointer} points to {ranked.size.size} bytes"] = None
    lines |= dict.fromkeys(ranked.failure.leaves)
    if ranked.rank != "none":
        indices = sorted({i for c in ranked.failure.conditions for i in expr_vars(c) if i >= 0})
        answers = _answer_names(ranked)
        for index in indices:
            name = answers.get(index) or str(variable(index).b)
            lines[_shown(name, variable(index).w, ranked.model.get(index, 0))] = None
    shown = list(lines)
    if len(shown) > SHOWN:
        shown = [*shown[:SHOWN], f"and {len(shown) - SHOWN} more values"]
    return shown


def _answer_names(ranked: Ranked) -> dict[int, str]:
    """The results of unknown functions on the failing path: `f()`, `f()_1`, ... in the order of the calls."""
    found: dict[int, str] = {}
    for item in ranked.failure.record(ranked.model):
        if isinstance(item.about, Answer):
            found |= {v.a: item.name for v in item.variables if v.b == item.about.symbol}
    return found


def _shown(name: str, width: int, value: int) -> str:
    if name.endswith(" (which)"):
        return f"{name.removesuffix(' (which)')} {'==' if value == 0 else '!='} NULL"
    if " fails #" in name:
        allocator, _, number = name.partition(" fails #")
        return f"{allocator} {'fails' if value else 'succeeds'} (allocation {int(number) + 1})"
    if value >> (width - 1) and width > 8:
        value -= 1 << width
    return f"{name} == {value}"


def _accessed(objects: UnknownObjects) -> list[UnknownObject]:
    """The unknown objects that some path has accessed."""
    return [objects.by_number[number] for number in objects.contents]


def _blocks(parts: Parts, name: str) -> Ratio:
    """Blocks of the function itself that were reached."""
    total = len(parts.program.module.functions[name].blocks)
    left = parts.table.uncovered_blocks(parts.machine.counters.N).get(name, [])
    return Ratio(total - len(left), total)
