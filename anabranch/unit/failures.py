"""The failing paths of a function, kept as far as ranks and harnesses need them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from anabranch.expr import Expr, evaluate
from anabranch.machine import Fault, Machine, Where, conditions, record
from anabranch.machine.path import Input
from anabranch.report.errors import ErrorRecord
from anabranch.solver import Slice, SliceSpace

KEPT = 64
"""Paths kept of an error: a rank is proved by them together."""
DROPPED = 256


@dataclass(slots=True, eq=False)
class Failure:
    """One path that fails: its condition, and what is needed for values of its inputs."""

    conditions: list[Any]
    slices: list[Slice]
    inputs: Any
    fault: Fault
    where: Where | None

    def model(self, space: SliceSpace) -> dict[int, int]:
        """Readable values of its variables."""
        values: dict[int, int] = {}
        for part in self.slices:
            values.update(space.readable(part))
        return values

    def record(self, model: dict[int, int]) -> list[Input]:
        """The inputs of the path, in order."""

        def holds(condition: Expr) -> bool:
            return evaluate(condition, model) is True

        return record(self.inputs, holds)


@dataclass(slots=True)
class Failures:
    """Collects failing paths by error; watches an exploration."""

    machine: Machine
    by_key: dict[Hashable, list[Failure]] = field(default_factory=dict)
    errors: dict[Hashable, ErrorRecord] = field(default_factory=dict)
    rejected: list[list[Any]] = field(default_factory=list)
    """Conditions of paths that the precondition ended."""

    def failed(self, key: Hashable, fault: Fault, where: Where | None) -> None:
        kept = self.by_key.setdefault(key, [])
        if len(kept) >= KEPT:
            return
        path = self.machine.path
        parts = list(dict.fromkeys(path.slices.values()))
        kept.append(Failure(conditions(path.condition), parts, path.inputs, fault, where))

    def reported(self, key: Hashable, error: ErrorRecord) -> None:
        self.errors.setdefault(key, error)

    def dropped(self) -> None:
        if len(self.rejected) < DROPPED:
            self.rejected.append(conditions(self.machine.path.condition))
