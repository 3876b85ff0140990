"""Writes everything that an exploration tells into the directory of the run."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from anabranch import __version__
from anabranch.report.errors import ErrorRecord, error_text
from anabranch.report.events import Display, Progress, TestCase
from anabranch.report.info import info_end, info_start
from anabranch.report.ktest import encode
from anabranch.report.messages import Messages
from anabranch.report.result import Coverage, RunResult
from anabranch.report.run_json import listing_line, run_json, to_text
from anabranch.report.rundir import CRASH_LOG, RunDirectory
from anabranch.report.stats import StatsRow, StatsWriter
from anabranch.report.tree_db import DetailRow, NodeRow, TreeWriter

#: seconds between two writes of `run.json` while the run goes on.
REFRESH_SECONDS = 2.0
#: tracebacks of lost paths that are kept; how many paths were lost is counted in any case.
DEFECTS_KEPT = 20


class RunRecorder:
    """The listener that keeps the results; passes progress, errors and warnings on to a display."""

    def __init__(
        self,
        directory: RunDirectory,
        command: Sequence[str],
        settings: dict[str, Any],
        searcher: str = "",
        all_errors: bool = False,
        display: Display | None = None,
        refresh: float = REFRESH_SECONDS,
    ) -> None:
        self.directory = directory
        self._refresh = refresh
        self.errors: list[ErrorRecord] = []
        self._settings = settings
        self._args = tuple(settings.get("inputs", ()))
        self._all_errors = all_errors
        self._display = display
        self._number = 0
        self._tests = 0
        self._waiting_max = 0
        self._last: Progress | None = None
        self._written_at = 0.0
        self._started = datetime.now()
        self._defects: set[str] = set()
        self._command = list(command)
        self._info = info_start(command, os.getpid(), self._started, searcher)
        directory.write_text("info", self._info)
        self._messages = Messages(directory)
        self._stats = StatsWriter(directory.path / "run.stats")
        self._listing = directory.open_log("tests.jsonl")
        self._tree: TreeWriter | None = None
        self._write_partial()

    def on_test(self, test: TestCase) -> int:
        self._number += 1
        self._tests += 1
        name = f"test{self._number:06d}"
        condition = None
        if test.condition is not None:
            condition = f"{name}.smt2"
            self.directory.write_text(condition, test.condition)
        self.directory.write_bytes(f"{name}.ktest", encode(test.objects, self._args))
        self._listing.add(listing_line(self._number, test, condition))
        return self._number

    def on_error(self, error: ErrorRecord) -> None:
        number = error.test
        if number is None:
            self._number += 1
            number = self._number
        self.directory.write_text(f"test{number:06d}.{error.file_suffix}.err", error_text(error))
        self._messages.error(error, self._all_errors)
        self.errors.append(error)
        if self._display is not None:
            self._display.on_error(error)

    def on_warning(self, text: str) -> None:
        self._messages.warning(text)
        if self._display is not None:
            first, *more = text.splitlines()
            self._display.on_warning(f"{first} (more in warnings.txt)" if more else first)

    def on_defect(self, details: str) -> None:
        """Keep the traceback, unless the same one or many others are kept already."""
        if not self._defects:
            self.on_warning(f"a path was lost to a failure of the engine itself (details in {CRASH_LOG})")
        if details not in self._defects and len(self._defects) < DEFECTS_KEPT:
            log = self.directory.open_log(CRASH_LOG)
            if not self._defects:
                log.add(f"anabranch {__version__}, Python {sys.version}\n{self._command}\n")
            self._defects.add(details)
            log.add(details)
            log.close()

    def on_stats(self, row: StatsRow) -> None:
        self._stats.add(row)

    def on_tree(self, nodes: list[NodeRow], details: list[DetailRow]) -> None:
        if self._tree is None:
            self._tree = TreeWriter(self.directory.path / "exec_tree.db")
        self._tree.add(nodes, details)

    def on_progress(self, progress: Progress) -> None:
        self._last = progress
        self._waiting_max = max(self._waiting_max, progress.states_waiting)
        if time.monotonic() - self._written_at >= self._refresh:
            self._write_partial()
        if self._display is not None:
            self._display.on_progress(progress)

    def on_phase(self, what: str) -> None:
        if self._display is not None:
            self._display.on_phase(what)

    def known_so_far(self) -> RunResult:
        """The outcome as far as the last report of progress and the files written tell it."""
        result = RunResult(tests=self._tests, errors=list(self.errors), settings=self._settings)
        last = self._last
        result.states_waiting_max = self._waiting_max
        result.cpu_seconds = time.process_time()
        if last is not None:
            result.paths_exit = last.paths_exit
            result.paths_error = last.paths_error
            result.paths_total = last.paths_total
            result.paths_left = last.states_waiting
            result.states_explored = last.states_explored
            result.instructions = last.instructions
            result.coverage = Coverage(last.lines, last.branches)
            result.timers = {"explore": last.cpu_seconds, "solver": last.cpu_seconds * last.solver_share}
        return result

    def _write_partial(self) -> None:
        self._written_at = time.monotonic()
        self.directory.write_text("run.json", to_text(run_json(self.known_so_far(), False, __version__)))

    def finish(self, result: RunResult) -> dict[str, Any]:
        """Write what closes a run; returns the content of `run.json`."""
        if not result.settings:
            result = dataclasses.replace(result, settings=self._settings)
        now = datetime.now()
        ending = info_end(result, now, now - self._started)
        self.directory.write_text("info", self._info + ending)
        for line in ending.splitlines():
            if line.startswith("KLEE: "):
                self._messages.message(line.removeprefix("KLEE: "))
        document = run_json(result, True, __version__)
        self.directory.write_text("run.json", to_text(document))
        self.close()
        return document

    def close(self) -> None:
        """Let go of the databases; what was written stays."""
        self._stats.close()
        self._listing.close()
        self._messages.close()
        if self._tree is not None:
            self._tree.close()
