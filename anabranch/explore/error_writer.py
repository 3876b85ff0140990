"""Errors of the program under test: each is told once, with a test, the call stack and the trail."""

from __future__ import annotations

from collections.abc import Hashable

from anabranch.explore import shown_values
from anabranch.explore.coverage import BlockTable
from anabranch.explore.library import error_place, user_frame
from anabranch.explore.observers import PathEvents
from anabranch.explore.test_writer import Ending, TestWriter
from anabranch.explore.trail import trail
from anabranch.machine import Fault, Machine, Where, stack
from anabranch.machine.location import StackFrame
from anabranch.report.errors import ErrorRecord, StackEntry
from anabranch.report.events import Listener


class ErrorWriter:
    """Writes the errors in which paths end."""

    def __init__(
        self,
        machine: Machine,
        table: BlockTable,
        all_errors: bool,
        listener: Listener,
        events: PathEvents,
        tests: TestWriter,
    ) -> None:
        """`all_errors`: is an error told on every path that ends in it, or only once?"""
        self.path = machine.path
        self.table = table
        self.all_errors = all_errors
        self.listener = listener
        self.events = events
        self.tests = tests
        self.errors: list[ErrorRecord] = []
        self._reported: set[Hashable] = set()

    def write(self, fault: Fault, where: Where | None, covering: bool) -> None:
        """The running path ends in an error: write its tests, and the error if it is to be told.

        `covering`: has the path covered something new?
        """
        # An error in the library is told at the user's call that led there, once for each such call.
        caller = user_frame(where) if where is not None else None
        called_at = (caller.file, caller.text_line) if caller is not None else None
        key = (where.key if where is not None else None, called_at, fault.kind, fault.message)
        for hear in self.events.failed:
            hear(self.path, key, fault, where)
        first = key not in self._reported
        self._reported.add(key)
        told = first or self.all_errors
        wanted = covering or (told and self.tests.wanted != "none")
        test = self.tests.write_tests(Ending("error", where, kind=fault.kind), wanted, always=told)
        if not told:
            return
        error = self._record(fault, where, caller, test)
        self.errors.append(error)
        for report in self.events.reported:
            report(key, error)
        self.listener.on_error(error)

    def _record(
        self, fault: Fault, where: Where | None, caller: StackFrame | None, test: int | None
    ) -> ErrorRecord:
        model = self.tests.model() if test is not None or fault.info or fault.figures else {}
        loc = where.loc if where is not None else None
        told_at = caller or loc
        file, line = error_place(fault, where)
        steps, untold = trail(self.path.node, self.table)
        return ErrorRecord(
            kind=fault.kind,
            message=shown_values.message(fault, model),
            file=file,
            line=line,
            column=loc.column if loc is not None and caller is None else 0,
            function=(told_at.function or where.function.name)
            if told_at is not None and where is not None
            else "",
            stack=_stack(where, model),
            info=tuple(shown_values.detail(name, value, model) for name, value in fault.info.items()),
            test=test,
            assembly_line=where.text_line if where is not None else 0,
            state=self.path.number,
            suffix=str(fault.info.get("suffix", "")),
            trail=steps,
            untold=untold,
        )


def _stack(where: Where | None, model: dict[int, int]) -> tuple[StackEntry, ...]:
    if where is None:
        return ()
    return tuple(
        StackEntry(
            frame.function,
            frame.file,
            frame.line,
            tuple((name, shown_values.argument(value, model)) for name, value in frame.arguments),
            frame.text_line,
        )
        for frame in stack(where)
    )
