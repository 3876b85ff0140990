"""The failing paths of a function, kept as far as ranks and harnesses need them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from anabranch.environment.unknown.callee import LEAVES
from anabranch.explore.kinds import SILENT
from anabranch.explore.observers import PathEvents
from anabranch.expr import Expr, evaluate, sub, ult
from anabranch.machine import Fault, Path, Where, conditions, record
from anabranch.machine.bases import nearest
from anabranch.machine.path import NAMES, Input
from anabranch.report.errors import ErrorRecord
from anabranch.solver import Slice, SliceSpace, SolverUnknown
from anabranch.unit.aim import Aim

KEPT = 64
"""Paths kept of an error: a rank is proved by them together."""
DROPPED = 256
NEAR = (8, 64)
"""Bytes beyond an object: less is tried first."""


@dataclass(slots=True, eq=False)
class Failure:
    """One path that fails: its condition, and what is needed for values of its inputs."""

    conditions: list[Any]
    slices: list[Slice]
    inputs: Any
    fault: Fault
    where: Where | None
    find: Callable[[int], Any]
    """Objects by number, as they were at the start or when they were made."""
    leaves: tuple[str, ...] = ()
    """Assumptions that unknown functions do not write to what they are given."""

    def model(self, space: SliceSpace) -> dict[int, int]:
        """Readable values of its variables; an access out of bounds is close to the object, where a native
        check sees it."""
        values: dict[int, int] = {}
        for part in self.slices:
            values.update(space.readable(part))
        address = self.fault.info.get("address")
        if self.fault.kind != "out-of-bounds" or not isinstance(address, Expr):
            return values
        beyond = nearest(int(evaluate(address, values))) << 32
        info = self.find(beyond >> 32)
        if info is None:
            return values
        wishes = [ult(sub(address, beyond + info.size, 64), room, 64) for room in NEAR]
        wishes += [ult(sub(beyond - 1, address, 64), room, 64) for room in NEAR]
        try:
            return space.prefer(self.slices, wishes)
        except SolverUnknown:
            return values

    def record(self, model: dict[int, int]) -> list[Input]:
        """The inputs of the path, in order."""

        def holds(condition: Expr) -> bool:
            return evaluate(condition, model) is True

        return record(self.inputs, holds)


@dataclass(slots=True)
class Failures:
    """Collects the failing paths of an exploration by error; with an aim, those only that it is for."""

    aim: Aim | None = None
    by_key: dict[Hashable, list[Failure]] = field(default_factory=dict)
    errors: dict[Hashable, ErrorRecord] = field(default_factory=dict)
    rejected: list[list[Any]] = field(default_factory=list)
    """Conditions of paths that the precondition ended."""

    def listen(self, events: PathEvents) -> None:
        events.failed.append(self.failed)
        events.reported.append(self.reported)
        events.ended.append(self.ended)

    def failed(self, path: Path, key: Hashable, fault: Fault, where: Where | None) -> None:
        if self.aim is not None and not self.aim.meets(path, fault, where):
            return
        kept = self.by_key.setdefault(key, [])
        if len(kept) >= KEPT:
            return
        parts = list(dict.fromkeys(path.slices.values()))
        objects = path.memory.objects.update(path.memory.fresh)
        leaves = [name for name in path.notes.get(NAMES, ()) if name.endswith(LEAVES)]
        found = Failure(conditions(path.condition), parts, path.inputs, fault, where, objects.get)
        found.leaves = tuple(sorted(leaves))
        kept.append(found)

    def reported(self, key: Hashable, error: ErrorRecord) -> None:
        self.errors.setdefault(key, error)

    def ended(self, path: Path, reason: str, where: Where | None) -> None:
        if reason == SILENT and len(self.rejected) < DROPPED:
            self.rejected.append(conditions(path.condition))
