"""What happens to paths, turned into tests, errors and counts the moment it happens."""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from time import monotonic
from typing import Any, Protocol

from anabranch.environment import render
from anabranch.explore.behind_errors import CutPaths
from anabranch.explore.budget import Budget
from anabranch.explore.kinds import PRUNED
from anabranch.explore.leaks import LeakCheck
from anabranch.explore.library import user_frame, users_place
from anabranch.explore.limits import Losses
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.settings import ExploreSettings
from anabranch.explore.tally import Tally
from anabranch.explore.tree import ExecutionTree
from anabranch.expr import Expr, evaluate, expr_vars, short_text, to_smtlib
from anabranch.machine import (
    Exit,
    Fault,
    Figure,
    Loss,
    Machine,
    PathEnd,
    ProgramError,
    Silent,
    State,
    Where,
    assume,
    conditions,
    record,
    single_paths,
    stack,
)
from anabranch.machine.path import Input
from anabranch.report.errors import ErrorRecord, StackEntry
from anabranch.report.events import Listener, TestCase
from anabranch.report.result import FixedAnswer
from anabranch.solver import SolverUnknown

FLOAT_CODES = {32: "<f", 64: "<d"}

MAX_ANSWERS = 1000  # that are kept


Answers = Callable[[Sequence[tuple[str, Input]], dict[int, int]], dict[str, Any] | None]


class Watch(Protocol):
    """Is told of every failing path, while the machine still holds it."""

    def failed(self, key: Hashable, fault: Fault, where: Where | None) -> None: ...

    def reported(self, key: Hashable, error: ErrorRecord) -> None:
        """The error with this key goes to the listener, once or for each path."""

    def dropped(self) -> None:
        """The path ended on the program's own request, as by a false assumption."""


class Reporter:
    """Observes the machine; writes tests and errors, counts ends and losses."""

    machine: Machine
    new_coverage: NewCoverage
    budget: Budget

    def __init__(self, settings: ExploreSettings, listener: Listener, tree: ExecutionTree) -> None:
        self.settings = settings
        self.listener = listener
        self.tree = tree
        self.tally = Tally()
        self.fixed_answers: dict[str, FixedAnswer] = {}
        self.cut = CutPaths()
        self.defects = 0  # paths lost to failures of the engine itself
        self.removed = 0  # states that went no further because others show the same
        self.tests = 0
        # Where there is a test for what is covered: those made.
        self._written: dict[Hashable, int | None] = {}
        self.errors: list[ErrorRecord] = []
        self.covers = settings.report.tests == "covering"  # is there to be a test for whatever is covered?
        self.watch: Watch | None = None
        self.answers: Answers | None = None
        """Tells what unknown functions answered on the path of a test."""
        self._leaks = LeakCheck(settings.errors.checks)
        self._reported: set[tuple[Any, ...]] = set()

    @property
    def losses(self) -> Losses:
        return self.tally.losses

    # ---- observing -----------------------------------------------------------------------------------

    def warned(self, text: str) -> None:
        self.listener.on_warning(text)

    def defect(self, details: str) -> None:
        self.defects += 1
        self.listener.on_defect(details)

    def assumed(self, asked: str, answer: str, where: Where | None) -> None:
        if len(self.fixed_answers) < MAX_ANSWERS:
            self.fixed_answers.setdefault(asked, FixedAnswer(answer, users_place(where)))

    def lost(self, kind: str, where: Where | None) -> None:
        self.losses.add(kind, users_place(where))

    def path_ended(self, end: PathEnd, where: Where | None) -> None:
        path = self.machine.path
        if self.new_coverage.check():
            path.covered_new = self.covers
        if isinstance(end, Exit):
            leak = self._leaks.fault(self.machine)
            if leak is not None:
                self._failed(leak, where, leak.kind)
                return
            self.tally.exits += 1
            self._close("exit", where)
            self._tests(path.covered_new, "exit", where, status=end.status)
        elif isinstance(end, ProgramError):
            if (
                end.fault.kind == "user"
                and "klee_assume" in end.fault.message
                and self.settings.errors.silent_assume
            ):
                self._dropped(where)
            else:
                self._failed(end.fault, where, end.fault.kind)
        elif isinstance(end, Silent):
            self._dropped(where)
        else:
            assert isinstance(end, Loss)
            self.losses.add(str(end), users_place(where))
            self.tally.early += 1
            self._close(end.kind, where)
            self._tests(path.covered_new, "early", where, kind=str(end))

    def error_branch(self, fault: Fault, where: Where | None) -> None:
        self._failed(fault, where, fault.kind)

    def given_up(self, state: State, why: str) -> None:
        """A waiting state will not be explored further; what it alone has covered still gets a test."""
        self.losses.add(why)
        self.tally.early += 1
        if (state.covered_new or state.owed) and self._wanted(True):
            self.machine.path.restore(state)
            self._tests(state.covered_new, "early", None, kind=why)
        self.tree.end(state.node, state.place, why)

    def _dropped(self, where: Where | None) -> None:
        self.tally.silent += 1
        if self.watch is not None:
            self.watch.dropped()
        self._close("silent", where)

    def pruned(self, state: State, paths: int) -> None:
        """A state goes on no further, for another shows all that it could; what it alone has covered still
        gets a test. `paths`: how many of its paths the other does not stand for in counts."""
        self.removed += 1
        self.tally.multiplicity += paths
        if (state.covered_new or any(not debt.paid for debt in state.owed)) and self._wanted(True):
            self.machine.path.restore(state)
            self._tests(state.covered_new, "early", None, kind=PRUNED)
        self.tree.end(state.node, state.place, PRUNED)

    def _close(self, reason: str, where: Where | None) -> None:
        self.tally.multiplicity += self.machine.path.multiplicity
        self.tally.ends[reason] = self.tally.ends.get(reason, 0) + 1
        self.tree.end(self.machine.path.node, where.place if where is not None else 0, reason)

    @property
    def counts_exactly(self) -> bool:
        """Are the single paths of joined states told apart?"""
        return self.settings.report.tests == "all" or self.settings.report.count_paths

    @property
    def exact_paths(self) -> int | None:
        """How many paths there were, if all were told apart."""
        return self.tally.exact_paths if self.counts_exactly and not self.removed else None

    def _wanted(self, covering: bool) -> bool:
        tests = self.settings.report.tests
        return tests == "all" or (tests == "covering" and covering)

    # ---- errors --------------------------------------------------------------------------------------

    def _failed(self, fault: Fault, where: Where | None, reason: str) -> None:
        self.tally.failures += 1
        if where is not None:
            self.cut.add(where)
        covering = self.machine.path.covered_new
        self._close(reason, where)
        loc = where.loc if where is not None else None
        # What goes wrong in the library is told at the call that led there, and once for each such call.
        caller = user_frame(where) if where is not None else None
        called_at = (caller.file, caller.text_line) if caller is not None else None
        key = (where.key if where is not None else None, called_at, fault.kind, fault.message)
        if self.watch is not None:
            self.watch.failed(key, fault, where)
        first = key not in self._reported
        self._reported.add(key)
        reported = first or self.settings.errors.all_errors
        wanted = covering or (reported and self.settings.report.tests != "none")
        test = self._tests(wanted, "error", where, kind=fault.kind, always=reported)
        if not reported:
            return
        model = self._model() if test is not None or fault.info or fault.figures else {}
        shown = caller or loc
        record = ErrorRecord(
            kind=fault.kind,
            message=_message(fault, model),
            file=str(fault.info.get("file", shown.file if shown is not None else "")),
            line=int(str(fault.info.get("line", shown.line if shown is not None else 0))),
            column=loc.column if loc is not None and caller is None else 0,
            function=(shown.function or where.function.name)
            if shown is not None and where is not None
            else "",
            stack=self._stack(where, model),
            info=tuple(self._info(name, value, model) for name, value in fault.info.items()),
            test=test,
            assembly_line=where.text_line if where is not None else 0,
            state=self.machine.path.number,
            suffix=str(fault.info.get("suffix", "")),
        )
        self.errors.append(record)
        if self.watch is not None:
            self.watch.reported(key, record)
        self.listener.on_error(record)

    def _stack(self, where: Where | None, model: dict[int, int]) -> tuple[StackEntry, ...]:
        if where is None:
            return ()
        return tuple(
            StackEntry(
                frame.function,
                frame.file,
                frame.line,
                tuple((name, self._show(value, model)) for name, value in frame.arguments),
                frame.text_line,
            )
            for frame in stack(where)
        )

    def _show(self, value: Any, model: dict[int, int]) -> str:
        """An argument of a frame: its value, and under which input if it is symbolic."""
        if value is None:
            return "?"
        if value.__class__ is Expr:
            if expr_vars(value)[0] < 0:
                return "uninitialised"
            return f"symbolic, here {_number(int(evaluate(value, model)), value.w)}"
        return _number(value, 64) if value.__class__ is int else str(value)

    def _info(self, name: str, value: Any, model: dict[int, int]) -> str:
        if value.__class__ is Expr:
            shown = short_text(value)
            if name == "address":
                return f"address: {int(evaluate(value, model)):#x} = {shown}"
            if value.w > 1 and expr_vars(value)[0] >= 0:
                return f"{name}: {_number(int(evaluate(value, model)), value.w)} = {shown}"
            return f"{name}: {shown}"
        return f"{name}: {value:#x}" if name == "address" and isinstance(value, int) else f"{name}: {value}"

    # ---- tests ---------------------------------------------------------------------------------------

    def _model(self) -> dict[int, int]:
        """Readable values for all inputs of the running path."""
        path = self.machine.path
        slices = list(dict.fromkeys(path.slices.values()))
        wishes = path.notes.get("prefer") if path.notes else None
        model: dict[int, int] = {}
        for part in slices:
            model.update(path.space.readable(part))
        if wishes:
            model.update(path.space.prefer(slices, list(wishes)))
        return model

    def _tests(
        self,
        covering: bool,
        end: str,
        where: Where | None,
        status: Any = None,
        kind: str | None = None,
        always: bool = False,
    ) -> int | None:
        """The tests of the path that ends, if any are wanted; the number of the first."""
        path = self.machine.path
        tests = self.settings.report.tests
        wanted = tests == "all" or (tests != "none" and always) or (tests == "covering" and covering)
        if path.multiplicity == 1 or not self.counts_exactly:
            self.tally.exact_paths += 1
            number = self._pay(end, where, status, kind) if path.owed and tests == "covering" else None
            return self._write(end, where, status, kind) if wanted and number is None else number
        first: int | None = None
        before = self.tally.exact_paths
        for _ in self._single_paths():
            self.tally.exact_paths += 1
            if tests == "all" or (wanted and first is None):
                number = self._write(end, where, status, kind)
                first = number if first is None else first
        if self.tally.exact_paths > before:
            self.tally.counted.append((self.tally.multiplicity, self.tally.exact_paths))
        return first

    def _pay(self, end: str, where: Where | None, status: Any, kind: str | None) -> int | None:
        """Tests for what parts of the path covered before they were joined; the number of the first.

        Each test is of an input that pays as many debts as go together.
        """
        path, first = self.machine.path, None
        slices = path.slices.copy()
        left = [debt for debt in path.owed if not debt.paid]
        while left:
            before = len(left)
            left = [debt for debt in left if not self._add_debt(debt)]
            if len(left) == before:
                if monotonic() > self.budget.deadline:
                    self.losses.add("no time for a test")
                break  # nobody left that this path could pay
            number = self._write(end, where, status, kind)
            first = number if first is None else first
            path.slices.clear()
            path.slices.update(slices)
        return first

    def _add_debt(self, debt: Any) -> bool:
        """Make the running path one that pays a debt, if it can be."""
        path = self.machine.path
        if monotonic() > self.budget.deadline:
            return False
        try:
            feasible = debt.condition is True or assume(path.slices, debt.condition, path.space)
        except SolverUnknown:
            return False  # somebody else may pay
        if feasible:
            debt.pay()
        return feasible

    def _single_paths(self) -> Iterator[None]:
        """Make each path that the running one stands for the running one in turn."""
        path = self.machine.path
        condition, slices = path.condition, path.slices.copy()
        try:
            for single, taken in single_paths(condition, slices, path.space):
                path.slices.clear()
                path.slices.update(single)
                path.condition = taken
                yield
        except SolverUnknown:
            self.losses.add("solver gave up")
        finally:
            path.slices.clear()
            path.slices.update(slices)
            path.condition = condition

    def _write(
        self, end: str, where: Where | None, status: Any = None, kind: str | None = None
    ) -> int | None:
        path = self.machine.path
        model = self._model()
        path.covered_new = False
        objects = []
        holds = _Holds(model)
        inputs = record(path.inputs, holds)
        names = unique_names([item.stem for item in inputs])
        for item, name in zip(inputs, names, strict=True):
            data = b"".join(model[v.a].to_bytes(v.w // 8, "little") for v in item.variables)
            objects.append((name, data))
        answers = None
        if self.answers is not None:
            answers = self.answers(list(zip(names, inputs, strict=True)), model)
        if self.covers:
            # Paths that were joined, or explored twice, may owe what one input shows.
            key = (end, kind, where.loc if where is not None else None, *objects)
            if key not in self._written:
                self._written[key] = self._report(objects, answers, holds, model, end, where, status, kind)
            return self._written[key]
        return self._report(objects, answers, holds, model, end, where, status, kind)

    def _report(
        self,
        objects: Sequence[tuple[str, bytes]],
        answers: dict[str, Any] | None,
        holds: _Holds,
        model: dict[int, int],
        end: str,
        where: Where | None,
        status: Any,
        kind: str | None,
    ) -> int | None:
        path = self.machine.path
        output = record(path.output, holds)
        shown = (user_frame(where) or where.loc) if where is not None and end == "error" else None
        condition, unknowns = None, self.machine.unknowns
        if self.settings.report.write_conditions:
            condition = to_smtlib(conditions(path.condition))
        self.tests += 1
        return self.listener.on_test(
            TestCase(
                objects=tuple(objects),
                end=end,
                kind=kind,
                file=shown.file if shown is not None else None,
                line=shown.line if shown is not None else None,
                exit_code=_exit_code(status, model) if status is not None else None,
                output=render([item for stream, item in output if stream == 1], holds.value),
                condition=condition,
                answers=answers,
                uninitialised=unknowns is not None
                and (unknowns.constrained() or any(map(unknowns.occur_in, (status, *holds.asked)))),
            )
        )


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


def unique_names(stems: Sequence[str]) -> list[str]:
    """The names of a path's inputs in their order, those that come again with a number.

    An input that was made after a join has one name for all paths, but not the same place on all of them.
    """
    counts: dict[str, int] = {}

    def unique(name: str) -> str:
        count = counts.get(name, 0)
        counts[name] = count + 1
        return unique(f"{name}_{count}") if count else name

    return [unique(stem) for stem in stems]


def _message(fault: Fault, model: dict[int, int]) -> str:
    """The message with the values that it shows, under the inputs of the test."""
    return (
        fault.message.format(*(_figure(f, model) for f in fault.figures)) if fault.figures else fault.message
    )


def _figure(figure: Figure, model: dict[int, int]) -> str:
    value = figure.value
    if value.__class__ is Expr:
        if expr_vars(value)[0] < 0:
            return "an uninitialised value"
        value = evaluate(value, model)
    number = int(value) & ((1 << figure.width) - 1)
    if figure.form == "float" and figure.width in FLOAT_CODES:
        return repr(struct.unpack(FLOAT_CODES[figure.width], number.to_bytes(figure.width // 8, "little"))[0])
    if figure.form == "signed" and number >> (figure.width - 1):
        return str(number - (1 << figure.width))
    return f"{number:#x}" if figure.form in ("address", "float") else str(number)


def _exit_code(status: Any, model: dict[int, int]) -> int:
    value = evaluate(status, model) if status.__class__ is Expr else status
    return int(value) & 0xFF


def _number(value: int, width: int) -> str:
    """Small numbers in decimal, signed ones too; addresses and the like in hexadecimal."""
    if value < 1 << 16:
        return str(value)
    for bits in (32, 64):
        if width >= bits and (1 << bits) - (1 << 15) <= value < 1 << bits:
            return str(value - (1 << bits))
    return f"{value:#x}"
