"""`anabranch check --confirm`: hands each report to the engine, which looks for a path that fails there.

The function that a report was followed from is explored by itself (`unit`): allocations fail, functions
without a body do what their contracts say, and the search is steered to the line of the report. A path that
fails there becomes a C program, and the report is confirmed if that program, built and run natively, fails at
that line. If all paths that may lead to the line were followed and none fails, the report is impossible.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from anabranch.check.reports import Report
from anabranch.check.settings import CheckSettings
from anabranch.check.trace import COMPARED
from anabranch.cli.codes import CommandError
from anabranch.cli.settings import BuildSettings, RunSettings
from anabranch.cli.unit import included_file, load_files
from anabranch.explore.settings import (
    CONTRACTS,
    ErrorSettings,
    ExecutionSettings,
    LimitSettings,
    ReportSettings,
    SearchSettings,
)
from anabranch.report.events import Collector
from anabranch.report.rundir import RunDirectory

CONFIRMED, IMPOSSIBLE, OPEN = "confirmed", "impossible", "open"
BUFFERS = (16, 64)
"""Bytes behind pointers to characters, in turn; the first has most of the time."""
SHARES = (0.7, 1.0)
"""Of the time that is left, for each try."""
LEAST = 1.0
"""Seconds below which a try is not worth it."""
KINDS: dict[str, frozenset[str]] = {
    "assert": frozenset(("assert", "abort", "reach-error")),
    "use-after-free": frozenset(("use-after-free", "double-free", "invalid-free")),
}
"""What the engine calls an error of a property, where that is not the same name."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the engine made of one report."""

    verdict: str
    note: str
    """Why it is open; or what a confirmed report assumes."""
    function: str
    """The function that was explored."""
    seconds: float
    """CPU time, that of the native run included."""
    harness: str = ""
    build: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "note": self.note,
            "function": self.function,
            "seconds": round(self.seconds, 2),
            "harness": self.harness or None,
            "build": self.build or None,
        }


class Stopped(Exception):
    """Ctrl-C or a signal ended an exploration: the reports that are left stay open."""


@dataclass(slots=True)
class Confirmer:
    """Explores what reports are about, one after the other."""

    files: Sequence[Path]
    build: BuildSettings
    summaries: tuple[Path, ...]
    check: CheckSettings
    seconds: float
    directory: RunDirectory
    flags: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    """The C files that bitcode of compile commands is made of, with the flags of each."""
    _program: Any = field(default=None)

    def confirm(self, report: Report) -> Confirmation:
        """Try a report until it is decided, or its time is up."""
        before, ends, found = _cpu(), monotonic() + self.seconds, None
        for buffer_size, share in zip(BUFFERS, SHARES, strict=True):
            left = ends - monotonic()
            if found is not None and (found.verdict != OPEN or left < LEAST):
                break
            found = self._try(report, buffer_size, max(LEAST, left * share))
        assert found is not None
        return replace(found, seconds=_cpu() - before)

    def _try(self, report: Report, buffer_size: int, seconds: float) -> Confirmation:
        from anabranch.explore.target_lines import TargetError
        from anabranch.unit.aim import Aim
        from anabranch.unit.explore import explore_function
        from anabranch.unit.proof import why_no_proof

        settings = self._settings(report, buffer_size, seconds)
        if self._program is None:
            self._program = load_files(settings, self.files, "*")
        module, entry = self._program.module, report.checked_in
        if entry not in module.functions or module.functions[entry].is_declaration:
            return Confirmation(OPEN, "its function is not in the program that the engine has", entry, 0.0)
        culprit, included = _culprit(report), included_file(self._program, entry, self._c_files())
        aim = Aim(report.file, report.line, KINDS.get(report.kind, frozenset((report.kind,))), culprit)
        try:
            found = explore_function(
                module,
                entry,
                settings,
                Collector(),
                null_args=self.check.any_null or _is_tested(report),
                included=included,
                sources=self._sources(included),
                aim=aim,
            )
        except TargetError as error:
            return Confirmation(OPEN, str(error), entry, 0.0)
        if found.result is not None and found.result.stopped in ("interrupted", "terminated"):
            raise Stopped
        for item in found.errors:
            if (item.error.file, item.error.line) == (aim.file, aim.line):
                return self._shown(report, item, entry)
        reason = why_no_proof(found, module)
        if not reason:
            return Confirmation(IMPOSSIBLE, "every path to it was followed, and none fails", entry, 0.0)
        return Confirmation(OPEN, reason, entry, 0.0)

    def _shown(self, report: Report, item: Any, entry: str) -> Confirmation:
        """A path that fails there: it confirms the report if it also fails natively."""
        from anabranch.unit.reproduce import fails_at_line

        if item.invented_size:
            return Confirmation(OPEN, "it fails for a buffer of a size that the engine made up", entry, 0.0)
        if item.harness is None:
            return Confirmation(OPEN, f"a path fails there, but {item.no_harness}", entry, 0.0)
        name = f"{report.fingerprint}.c"
        self.directory.write_text(name, item.harness.replace(item.name, name))
        harness = self.directory.path / name
        sources = self._sources(item.included).failing(item.failing)
        problem = fails_at_line(harness.resolve(), item.error.kind, (report.file, report.line), sources)
        if problem is not None:
            return Confirmation(OPEN, f"a path fails there, but not natively: {problem}", entry, 0.0)
        build = item.build.replace(item.name, str(harness))
        return Confirmation(CONFIRMED, ", ".join(item.assumes), entry, 0.0, str(harness), build)

    def _settings(self, report: Report, buffer_size: int, seconds: float) -> RunSettings:
        return RunSettings(
            inputs=tuple(self.files),
            build=self.build,
            execution=ExecutionSettings(
                externals=CONTRACTS,
                failing_allocations=self.check.allocations_fail,
                summaries=self.summaries,
                buffer_size=buffer_size,
            ),
            search=SearchSettings(targets=((report.file, report.line),), goal="bugs"),
            limits=LimitSettings(time=seconds),
            errors=ErrorSettings(),
            report=ReportSettings(tests="none"),
        )

    def _c_files(self) -> Sequence[Path]:
        """What the program is made of; of compile commands only the files that were linked."""
        if not self.flags:
            return self.files
        defined = (function.subprogram for function in self._program.module.defined_functions())
        linked = {Path(where.file).resolve() for where in defined if where is not None}
        return [path for path in self.flags if path in linked]

    def _sources(self, included: str) -> Any:
        from anabranch.unit.reproduce import Sources

        others = tuple(path.resolve() for path in self._c_files() if str(path.resolve()) != included)
        includes = tuple(path.resolve() for path in self.build.include_dirs)
        return Sources(
            others,
            includes,
            self.build.defines,
            included=Path(included) if included else None,
            own_flags=self.flags,
        )


def _culprit(report: Report) -> str:
    """The function that has to return NULL on a path; one that the engine computes does so by itself."""
    from anabranch.environment import MODELS
    from anabranch.environment.failing import ALLOCATORS

    callee = report.origin.callee if report.origin is not None else ""
    return "" if callee in MODELS and callee not in ALLOCATORS else callee


def _is_tested(report: Report) -> bool:
    """Is a test in the source the reason to think that a pointer is NULL? Then a caller may pass NULL."""
    return report.origin is not None and report.origin.text == COMPARED


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


Say = Callable[[int, int, Report], None]
"""Is told which report comes next: its number, how many there are, the report."""


def confirm_reports(
    confirmer: Confirmer, reports: Sequence[Report], say: Say
) -> tuple[list[Report], list[Report]]:
    """Reports, confirmed ones first, and those that the engine proved impossible."""
    left: list[Report] = []
    dropped: list[Report] = []
    stopped = False
    for number, report in enumerate(reports, 1):
        found = Confirmation(OPEN, "not explored, stopped by a signal", report.checked_in, 0.0)
        if not stopped:
            say(number, len(reports), report)
            try:
                found = confirmer.confirm(report)
            except Stopped:
                stopped = True
            except Exception as error:  # one report must not cost the others
                why = f"internal problem: {type(error).__name__}: {error}"
                found = replace(found, note=str(error) if isinstance(error, CommandError) else why)
        report.confirmation = found.as_json()
        (dropped if found.verdict == IMPOSSIBLE else left).append(report)
    left.sort(key=lambda report: report.confirmation["verdict"] != CONFIRMED)
    return left, dropped
