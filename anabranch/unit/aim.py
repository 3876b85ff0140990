"""The failure that an exploration of a function is to show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anabranch.environment.failing import Attempt
from anabranch.environment.unknown.results import Answer
from anabranch.explore.library import error_place
from anabranch.machine import Fault, Path, Where
from anabranch.machine.path import Input, sample


@dataclass(frozen=True, slots=True)
class Aim:
    """A failure at a line of one of these kinds; on a path on which the function `culprit`, if there is one,
    has returned NULL."""

    file: str
    line: int
    kinds: frozenset[str]
    culprit: str = ""

    def meets(self, path: Path, fault: Fault, where: Where | None) -> bool:
        """Is this failing path one of those?"""
        return error_place(fault, where) == (self.file, self.line) and self.accepts(path, fault)

    def accepts(self, path: Path, fault: Fault) -> bool:
        """The same of a path that fails at the line."""
        if fault.kind not in self.kinds:
            return False
        return not self.culprit or any(self._returned_null(path, item) for item in _inputs(path))

    def _returned_null(self, path: Path, item: Input) -> bool:
        about = item.about
        if isinstance(about, Attempt):
            return about.function == self.culprit and sample(path.slices, about.fails) != 0
        if isinstance(about, Answer):
            return about.function == self.culprit and sample(path.slices, about.value) == 0
        return False


def _inputs(path: Path) -> Iterator[Input]:
    at = path.inputs
    while at is not None:
        yield at[0]
        at = at[1]
