"""Figures of a run: totals, progress, rows of statistics."""

from __future__ import annotations

import time
from typing import Any

from anabranch.explore.coverage import BlockTable
from anabranch.explore.reporter import Reporter
from anabranch.explore.tree import ExecutionTree
from anabranch.explore.worklist import Worklist
from anabranch.machine import Machine
from anabranch.process_memory import resident_bytes
from anabranch.report.events import Progress
from anabranch.report.result import Ratio
from anabranch.report.stats import StatsRow
from anabranch.solver import SliceSpace


class Figures:
    """Reads the parts of a running exploration."""

    def __init__(
        self,
        machine: Machine,
        table: BlockTable,
        tree: ExecutionTree,
        worklist: Worklist,
        reporter: Reporter,
        space: SliceSpace,
    ) -> None:
        self.machine = machine
        self.table = table
        self.tree = tree
        self.worklist = worklist
        self.reporter = reporter
        self.space = space
        self.restart()

    def restart(self) -> None:
        """Time counts from now."""
        self._started = time.monotonic()
        self._cpu_started = time.process_time()

    @property
    def cpu_seconds(self) -> float:
        return time.process_time() - self._cpu_started

    def queries(self) -> dict[str, Any]:
        """Conditions decided, by outcome and by who decided them."""
        stats = self.space.stats
        asked = [stats.timers[name].count for name in ("backend", "check") if name in stats.timers]
        return {
            "total": stats.forced + stats.split,
            "valid": stats.forced,
            "invalid": stats.split,
            "cex": sum(asked),
            "by": stats.as_dict(),
        }

    @property
    def waiting(self) -> int:
        return len(self.worklist)

    @property
    def instructions(self) -> int:
        return self.machine.counters.instructions()

    @property
    def forks(self) -> int:
        return self.machine.decider.forks

    @property
    def tests(self) -> int:
        return self.reporter.tests

    @property
    def solver_seconds(self) -> float:
        return sum(timer.seconds for timer in self.space.stats.timers.values())

    def progress(self) -> Progress:
        seconds, used = time.monotonic() - self._started, self.cpu_seconds
        counters = self.machine.counters.N
        branches = self.table.branches(counters)
        reporter = self.reporter
        instructions = self.instructions
        covered = len(self.table.lines_covered(counters))
        return Progress(
            seconds=seconds,
            paths_exit=reporter.tally.exits,
            paths_error=reporter.tally.failures,
            paths_total=reporter.tally.total,
            tests=reporter.tests,
            states_explored=self.tree.states,
            states_waiting=self.waiting,
            instructions=instructions,
            instructions_per_second=instructions / seconds if seconds else 0.0,
            lines=Ratio(covered, self.table.lines_total()),
            branches=Ratio(branches.sides_covered, branches.sides_total),
            solver_share=min(1.0, self.solver_seconds / used) if used else 0.0,
            errors=len(reporter.errors),
            memory_bytes=resident_bytes(),
            losses=reporter.tally.losses.total,
            cpu_seconds=used,
        )

    def stats_row(self) -> StatsRow:
        counters = self.machine.counters.N
        branches = self.table.branches(counters)
        covered, total = self.table.instruction_coverage(counters)
        timers = self.space.stats.timers
        asked = [timers[name] for name in ("backend", "check") if name in timers]
        ends = self.reporter.tally
        return StatsRow(
            instructions=self.instructions,
            full_branches=branches.full,
            partial_branches=branches.partial,
            num_branches=branches.total,
            user_time=self.cpu_seconds,
            num_states=self.waiting,
            malloc_usage=resident_bytes(),
            queries=sum(timer.count for timer in timers.values()),
            solver_queries=sum(timer.count for timer in asked),
            wall_time=time.monotonic() - self._started,
            covered_instructions=covered,
            uncovered_instructions=total - covered,
            query_time=self.solver_seconds,
            solver_time=sum(timer.seconds for timer in asked),
            states=self.tree.states,
            branches={"Conditional": self.forks},
            ends={"Exit": ends.exits, "ProgramError": ends.failures, "Early": ends.early + ends.left},
        )
