"""Tests of the paths that end: inputs that take them, and what the program does on these inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple

from anabranch.environment import render
from anabranch.explore.budget import Budget
from anabranch.explore.library import user_frame
from anabranch.explore.observers import PathEvents
from anabranch.explore.settings import ReportSettings
from anabranch.explore.tally import TallyOwner
from anabranch.expr import Expr, evaluate, to_smtlib
from anabranch.machine import Machine, Where, assume, conditions, record, single_paths
from anabranch.machine.joining.pending_tests import PendingTest
from anabranch.machine.path import Input
from anabranch.report.events import InputRecord, Listener, TestCase
from anabranch.solver import SolverUnknown

Answers = Callable[[Sequence[tuple[str, Input]], dict[int, int]], dict[str, Any] | None]
"""Tells what unknown functions answered on the path of a test."""


class Ending(NamedTuple):
    """How a path ends, for its tests: by `exit` with a status, in an `error` of a kind, or `early`."""

    end: str
    where: Where | None
    status: Any = None
    kind: str | None = None


class TestWriter:
    """Writes the tests that the settings want of the running path."""

    __test__ = False

    def __init__(
        self,
        machine: Machine,
        settings: ReportSettings,
        listener: Listener,
        events: PathEvents,
        owner: TallyOwner,
        budget: Budget,
        answers: Answers | None = None,
    ) -> None:
        self.path = machine.path
        self.unknowns = machine.unknowns
        self.settings = settings
        self.listener = listener
        self.events = events
        self.owner = owner
        self.budget = budget
        self.answers = answers
        self.wanted = settings.tests
        """Of which paths tests are written: `all`, those `covering` something new, in `errors`, or `none`."""
        self.counts_exactly = settings.tests == "all" or settings.count_paths
        """Are the single paths of merged states told apart?"""
        self.count = 0
        # If tests are written for what is covered: their numbers, by inputs and end.
        self._written: dict[Hashable, int | None] = {}

    def write_tests(self, ending: Ending, covering: bool, always: bool = False) -> int | None:
        """Write the tests of the path that ends, if any are wanted; the number of the first.

        `covering`: has it covered something new? `always`: is a test wanted if any are?
        """
        path, tests, tally = self.path, self.wanted, self.owner.tally
        wanted = tests == "all" or (tests != "none" and always) or (tests == "covering" and covering)
        if path.multiplicity == 1 or not self.counts_exactly:
            tally.exact_paths += 1
            first = self._write_pending(ending) if path.pending_tests and tests == "covering" else None
            return self.write(ending) if wanted and first is None else first
        first = None
        before = tally.exact_paths
        for _ in self._single_paths():
            tally.exact_paths += 1
            if tests == "all" or (wanted and first is None):
                number = self.write(ending)
                first = number if first is None else first
        if tally.exact_paths > before:
            tally.counted.append((tally.multiplicity, tally.exact_paths))
        return first

    # ---- which inputs --------------------------------------------------------------------------------

    def _write_pending(self, ending: Ending) -> int | None:
        """Tests for what parts of the path covered before they were merged; the number of the first.

        Each test has an input that covers as much of it as one input can.
        """
        path, first = self.path, None
        slices = path.slices.copy()
        left = [test for test in path.pending_tests if not test.written]
        self.listener.on_phase("writing pending tests of merged paths")
        while left:
            before = len(left)
            left = [test for test in left if not self._restrict_to(test)]
            if len(left) == before:
                if monotonic() > self.budget.tests_until:
                    self.owner.tally.losses.add("no time for a test")
                break  # this path cannot show any that is left
            number = self.write(ending)
            first = number if first is None else first
            path.slices.clear()
            path.slices.update(slices)
        self.listener.on_phase("")
        return first

    def _restrict_to(self, pending: PendingTest) -> bool:
        """Restrict the running path to inputs of a pending test, if it has any."""
        path = self.path
        if monotonic() > self.budget.tests_until:
            return False
        try:
            feasible = pending.condition is True or assume(path.slices, pending.condition, path.space)
        except SolverUnknown:
            return False  # another path may write it
        if feasible:
            pending.mark_written()
        return feasible

    def _single_paths(self) -> Iterator[None]:
        """Make each path that the running one stands for the running one in turn."""
        path = self.path
        condition, slices = path.condition, path.slices.copy()
        try:
            for single, taken in single_paths(condition, slices, path.space):
                path.slices.clear()
                path.slices.update(single)
                path.condition = taken
                yield
        except SolverUnknown:
            self.owner.tally.losses.add("solver gave up")
        finally:
            path.slices.clear()
            path.slices.update(slices)
            path.condition = condition

    def model(self) -> dict[int, int]:
        """Readable values for all inputs of the running path."""
        path = self.path
        slices = list(dict.fromkeys(path.slices.values()))
        wishes = path.notes.get("prefer") if path.notes else None
        model: dict[int, int] = {}
        for part in slices:
            model.update(path.space.readable(part))
        if wishes:
            model.update(path.space.prefer(slices, list(wishes)))
        return model

    # ---- one test ------------------------------------------------------------------------------------

    def write(self, ending: Ending) -> int | None:
        """Write one test of the running path, unless there is the same one already; its number."""
        path = self.path
        model = self.model()
        path.covered_new = False
        holds = _Holds(model)
        inputs = record(path.inputs, holds)
        names = unique_names([item.stem for item in inputs])
        values = [_input_record(name, item, model) for name, item in zip(names, inputs, strict=True)]
        answers = None
        if self.answers is not None:
            answers = self.answers(list(zip(names, inputs, strict=True)), model)
        if self.wanted != "covering":
            return self._tell(self._test(values, answers, holds, ending))
        # Merged paths, and paths that are explored twice, may have the same input.
        loc = ending.where.loc if ending.where is not None else None
        key = (ending.end, ending.kind, loc, *[(item.name, item.data) for item in values])
        if key not in self._written:
            self._written[key] = self._tell(self._test(values, answers, holds, ending))
        return self._written[key]

    def _test(
        self, inputs: Sequence[InputRecord], answers: dict[str, Any] | None, holds: _Holds, ending: Ending
    ) -> TestCase:
        path, where, status, unknowns = self.path, ending.where, ending.status, self.unknowns
        output = record(path.output, holds)
        told_at = (user_frame(where) or where.loc) if where is not None and ending.end == "error" else None
        return TestCase(
            inputs=tuple(inputs),
            end=ending.end,
            kind=ending.kind,
            file=told_at.file if told_at is not None else None,
            line=told_at.line if told_at is not None else None,
            exit_code=_exit_code(status, holds.model) if status is not None else None,
            output=render([item for stream, item in output if stream == 1], holds.value),
            condition=to_smtlib(conditions(path.condition)) if self.settings.write_conditions else None,
            answers=answers,
            uninitialised=unknowns is not None
            and (unknowns.constrained() or any(map(unknowns.occur_in, (status, *holds.asked)))),
        )

    def _tell(self, test: TestCase) -> int:
        self.count += 1
        number = self.listener.on_test(test)
        for hear in self.events.tested:
            hear(number, test)
        return number


class _Holds:
    """Whether conditions hold on the input of a test; keeps what it was asked."""

    def __init__(self, model: dict[int, int]) -> None:
        self.model = model
        self.asked: list[Expr] = []

    def value(self, value: Expr) -> int | bool:
        self.asked.append(value)
        found: int | bool = evaluate(value, self.model)
        return found

    def __call__(self, condition: Expr) -> bool:
        return self.value(condition) is True


def _input_record(name: str, item: Input, model: dict[int, int]) -> InputRecord:
    data = b"".join([model[v.a].to_bytes(v.w // 8, "little") for v in item.variables])
    if item.size.__class__ is Expr:
        data = data[: evaluate(item.size, model)]
    return InputRecord(name, data) if item.type is None else InputRecord(name, data, *item.type)


def unique_names(stems: Sequence[str]) -> list[str]:
    """The names of a path's inputs in their order, those that come again with a number.

    An input that was made after a merge has one name for all paths, but not the same position on all of them.
    """
    counts: dict[str, int] = {}

    def unique(name: str) -> str:
        count = counts.get(name, 0)
        counts[name] = count + 1
        return unique(f"{name}_{count}") if count else name

    return [unique(stem) for stem in stems]


def _exit_code(status: Any, model: dict[int, int]) -> int:
    value = evaluate(status, model) if status.__class__ is Expr else status
    return int(value) & 0xFF
