"""Checks static may-write sets against every write that a program makes when it is run by the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.may_write import MayWrite
from anabranch.analysis.points_to import PointsTo
from anabranch.cli.flags import settings_from_args
from anabranch.environment import OVERRIDES
from anabranch.environment.effects import CallEffects
from anabranch.explore.engine import Exploration
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.frontend import FrontendOptions, Program, load_program
from anabranch.ir.module import Function
from anabranch.machine.interpreter import Interpreter
from anabranch.machine.memory import Memory
from anabranch.machine.static_objects import StaticObjects
from anabranch.report.events import Collector


class WriteCheck:
    """An exploration of which every write is checked."""

    def __init__(self, program: Program, arguments: Sequence[str]) -> None:
        settings = settings_from_args([*map(str, arguments), "--interpret"])
        self.exploration: Exploration = prepare_exploration(program, settings, Collector())
        graph = build_call_graph(program.module, [program.entry])
        effects = CallEffects(graph)
        self.points_to = PointsTo(graph, [program.entry], effects, OVERRIDES)
        self.may_write = MayWrite(self.points_to, effects)
        self.objects = StaticObjects(self.exploration.machine.memory, self.points_to.objects)
        self.frames: list[tuple[Function, int, int]] = []
        self.writes = 0
        self.symbolic = 0
        self.failures: list[str] = []

    def wrote(self, number: int) -> None:
        """The running path writes an object: all that is running must have said so."""
        if not self.frames:
            return
        self.writes += 1
        mask = self.objects.mask(number)
        for function, block, index in self.frames:
            sets = {
                "instruction": self.may_write.instruction(function, block, index),
                "block": self.may_write.block(function, block),
                "function": self.may_write.function(function.name),
            }
            for what, found in sets.items():
                if not found & mask:
                    info = self.exploration.machine.memory.find(number)
                    wanted = list(self.points_to.objects.of(mask))
                    self.failures.append(
                        f"{what} of {function.name} {block}:{index} "
                        f"{function.blocks[block].instructions[index]} writes {wanted}"
                        f" {info.describe() if info is not None else number}"
                    )

    def run(self, monkeypatch: Any) -> None:
        self._watch_instructions(monkeypatch)
        self._watch_memory(monkeypatch)
        self.exploration.run()
        assert not self.failures, "\n".join(sorted(set(self.failures))[:10])

    def _watch_instructions(self, monkeypatch: Any) -> None:
        step = Interpreter.step

        def watched(interpreter: Interpreter, frame: Any, instruction: Any) -> Any:
            self.frames.append((frame.unit.function, frame.block, frame.position))
            try:
                return step(interpreter, frame, instruction)
            finally:
                self.frames.pop()

        monkeypatch.setattr(Interpreter, "step", watched)

    def _watch_memory(self, monkeypatch: Any) -> None:
        store, overwrite, copied = Memory.store, Memory.overwrite, Memory.copied

        def watched_store(self_: Memory, address: Any, size: int, value: Any) -> None:
            store(self_, address, size, value)
            if address.__class__ is int:
                self.wrote(address >> 32)

        def watched_overwrite(self_: Memory, address: int, data: Any) -> None:
            overwrite(self_, address, data)
            if len(data):
                self.wrote(address >> 32)

        def watched_copied(self_: Memory, to: Any, source: Any, size: int) -> bool:
            done = copied(self_, to, source, size)
            if done and size:
                self.wrote(to >> 32)
            return done

        monkeypatch.setattr(Memory, "store", watched_store)
        monkeypatch.setattr(Memory, "overwrite", watched_overwrite)
        monkeypatch.setattr(Memory, "copied", watched_copied)
        resolver = self.exploration.machine.addresses
        resolve = resolver.resolve

        def watched_resolve(address: Any, size: int, write: bool) -> Any:
            info, offset = resolve(address, size, write)
            if write:
                self.symbolic += 1
                self.wrote(info.id)
            return info, offset

        monkeypatch.setattr(resolver, "resolve", watched_resolve)


def check_writes(path: Path, monkeypatch: Any, *options: str, libc: str | None = None) -> WriteCheck:
    """Explore a C file with every write checked."""
    settings = settings_from_args([str(path), *options])
    extra = {} if libc is None else {"libc": libc}
    program = load_program([path], FrontendOptions(include_dirs=settings.build.include_dirs, **extra))
    check = WriteCheck(program, [str(path), *options])
    check.run(monkeypatch)
    return check
