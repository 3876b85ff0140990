"""Observes the machine: counts each end of a path, closes it in the tree, has tests and errors written."""

from __future__ import annotations

from anabranch.explore.behind_errors import CutPaths
from anabranch.explore.budget import Budget
from anabranch.explore.coverage import BlockTable
from anabranch.explore.error_writer import ErrorWriter
from anabranch.explore.kinds import EXIT, PRUNED, SILENT
from anabranch.explore.leaks import LeakCheck, watches_heap
from anabranch.explore.library import users_location
from anabranch.explore.limits import Losses
from anabranch.explore.new_coverage import NewCoverage
from anabranch.explore.observers import PathEvents
from anabranch.explore.settings import ExploreSettings
from anabranch.explore.tally import Tally, TallyOwner
from anabranch.explore.test_writer import Answers, Ending, TestWriter
from anabranch.explore.tree import ExecutionTree
from anabranch.machine import Exit, Fault, Loss, Machine, PathEnd, ProgramError, Silent, State, Where
from anabranch.machine.translator.sites import PointSite
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import Listener
from anabranch.report.result import FixedAnswer

MAX_ANSWERS = 1000  # that are kept


class Reporter:
    """The machine's observer that makes the results of a run."""

    def __init__(
        self,
        machine: Machine,
        table: BlockTable,
        tree: ExecutionTree,
        settings: ExploreSettings,
        listener: Listener,
        events: PathEvents,
        new_coverage: NewCoverage,
        budget: Budget,
        answers: Answers | None = None,
    ) -> None:
        self.machine = machine
        self.path = machine.path
        self.tree = tree
        self._silent_assume = settings.errors.silent_assume
        self.listener = listener
        self.events = events
        self.new_coverage = new_coverage
        self.owner = TallyOwner()
        self.test_writer = TestWriter(machine, settings.report, listener, events, self.owner, budget, answers)
        self.error_writer = ErrorWriter(
            machine, table, settings.errors.all_errors, listener, events, self.test_writer
        )
        self.covers = settings.report.tests == "covering"
        """Is there to be a test for whatever is covered?"""
        self.fixed_answers: dict[str, FixedAnswer] = {}
        self.cut = CutPaths()
        self.defects = 0  # paths lost to failures of the engine itself
        self.removed = 0  # states that went no further because others show the same
        self._leaks = LeakCheck(checks) if watches_heap(checks := settings.errors.checks) else None
        self._tests_of_all = settings.report.tests == "all"

    @property
    def tally(self) -> Tally:
        return self.owner.tally

    @property
    def losses(self) -> Losses:
        return self.owner.tally.losses

    @property
    def tests(self) -> int:
        """How many were written."""
        return self.test_writer.count

    @property
    def errors(self) -> list[ErrorRecord]:
        return self.error_writer.errors

    @property
    def counts_exactly(self) -> bool:
        """Are the single paths of merged states told apart?"""
        return self.test_writer.counts_exactly

    @property
    def exact_paths(self) -> int | None:
        """How many paths there were, if all were told apart."""
        return self.tally.exact_paths if self.counts_exactly and not self.removed else None

    # ---- what the machine tells ----------------------------------------------------------------------

    def warned(self, text: str) -> None:
        self.listener.on_warning(text)

    def defect(self, details: str) -> None:
        self.defects += 1
        self.listener.on_defect(details)

    def assumed(self, asked: str, answer: str, where: Where | None) -> None:
        if len(self.fixed_answers) < MAX_ANSWERS:
            self.fixed_answers.setdefault(asked, FixedAnswer(answer, users_location(where)))

    def lost(self, kind: str, where: Where | None) -> None:
        self.losses.add(kind, users_location(where))

    def path_ended(self, end: PathEnd, where: Where | None) -> None:
        path = self.path
        if self.new_coverage.check():
            path.covered_new = self.covers
        if end.__class__ is Exit:
            leak = None if self._leaks is None else self._leaks.fault(self.machine)
            if leak is not None:
                self._failed(leak, where)
                return
            tally = self.owner.tally
            tally.exits += 1
            self._close(EXIT, where)
            if path.multiplicity == 1 and not (path.covered_new or path.pending_tests or self._tests_of_all):
                tally.exact_paths += 1  # most paths end here, with nothing to write
            else:
                self.test_writer.write_tests(Ending(EXIT, where, end.status), path.covered_new)
        elif isinstance(end, ProgramError):
            if self._is_silent(end.fault):
                self._dropped(where)
            else:
                self._failed(end.fault, where)
        elif isinstance(end, Silent):
            self._dropped(where)
        else:
            assert isinstance(end, Loss)
            self.losses.add(str(end), users_location(where))
            self.tally.early += 1
            self._close(end.kind, where)
            self.test_writer.write_tests(Ending("early", where, kind=str(end)), path.covered_new)

    def error_branch(self, fault: Fault, where: Where | None) -> None:
        self._failed(fault, where)

    def _is_silent(self, fault: Fault) -> bool:
        return self._silent_assume and fault.kind == "user" and "klee_assume" in fault.message

    def _dropped(self, where: Where | None) -> None:
        self.tally.silent += 1
        self._close(SILENT, where)

    def _failed(self, fault: Fault, where: Where | None) -> None:
        self.tally.failures += 1
        if where is not None:
            self.cut.add(where)
        covering = self.path.covered_new
        self._close(fault.kind, where)
        self.error_writer.write(fault, where, covering)

    def _close(self, reason: str, where: Where | None) -> None:
        path = self.path
        self.owner.tally.multiplicity += path.multiplicity
        self.tree.end(path.node, where.place if where is not None else 0, reason)
        for hear in self.events.ended:
            hear(path, reason, where)

    # ---- states that go no further -------------------------------------------------------------------

    def given_up(self, state: State, why: str) -> None:
        """A waiting state will not be explored further; what it alone has covered still gets a test, and so
        do its pending tests while the budget allows it."""
        tally = self.owner.tally
        tally.losses.add(why)
        tally.left += 1
        if self._has_tests(state):
            self.path.restore(state)
            self.test_writer.write_tests(Ending("early", None, kind=why), state.covered_new)
        self.goes_no_further(state, why)

    def goes_no_further(self, state: State, why: str) -> None:
        """A waiting state ends: the rest of its block, which was counted with it, was not executed."""
        entry = state.entry
        if isinstance(entry, PointSite):
            self.machine.counters.cut(entry.unit.function, entry.block, entry.position)
        self.tree.end(state.node, state.place, why)

    def pruned(self, state: State, paths: int) -> None:
        """A state goes no further, for another shows all that it could; what it alone has covered still gets
        a test. `paths`: how many of its paths the other does not stand for in counts."""
        self.removed += 1
        self.owner.tally.multiplicity += paths
        if self._has_tests(state):
            self.path.restore(state)
            self.test_writer.write_tests(Ending("early", None, kind=PRUNED), state.covered_new)
        self.tree.end(state.node, state.place, PRUNED)

    def _has_tests(self, state: State) -> bool:
        """Is there a test to write of what a state has covered?"""
        return state.covered_new or any(not test.written for test in state.pending_tests)
