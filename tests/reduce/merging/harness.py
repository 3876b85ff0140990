"""Runs programs with and without merging and compares what they found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.cli.flags import settings_from_args
from anabranch.explore.engine import Exploration
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.frontend import FrontendOptions, load_program
from anabranch.reduce.merging.tuning import MergeTuning
from anabranch.reduce.setup import reductions
from anabranch.report.events import Collector
from anabranch.report.result import RunResult


@dataclass
class Found:
    """A run and what it told."""

    run: Exploration
    result: RunResult
    collector: Collector

    @property
    def merging(self) -> dict[str, Any]:
        """The figures of merging."""
        figures: dict[str, Any] = self.result.reductions.get("merging", {})
        return figures

    @property
    def merges(self) -> int:
        return int(self.merging.get("merges", 0))

    def ends(self) -> Counter[tuple[object, ...]]:
        """How the single paths end."""
        return Counter((t.end, t.kind, t.line, t.exit_code, t.output) for t in self.collector.tests)

    def errors(self) -> set[tuple[str, int]]:
        return {(error.kind, error.line) for error in self.collector.errors}

    def lines(self) -> list[object]:
        return sorted(self.run.table.lines_covered(self.run.machine.counters.N))


def explore(directory: Path, source: str, *options: str, tuning: MergeTuning | None = None) -> Found:
    """Explore a program given as text, with a test for every path unless the options say otherwise."""
    run, collector = prepare(directory, source, *options, tuning=tuning)
    return Found(run, run.run(), collector)


def prepare(
    directory: Path, source: str, *options: str, tuning: MergeTuning | None = None
) -> tuple[Exploration, Collector]:
    """The same, not yet run."""
    path = directory / "subject.c"
    path.write_text(source)
    order = () if "--search" in options else ("--search", "dfs")
    settings = settings_from_args([str(path), "--tests", "all", "--all-errors", *order, *options])
    program = load_program(
        settings.inputs,
        FrontendOptions(
            defines=settings.build.defines, opt_level=settings.build.opt_level, entry=settings.build.entry
        ),
    )
    collector = Collector()
    return prepare_exploration(program, settings, collector, None, reductions(settings, tuning)), collector


KINDS = (
    ("all", "static", "dfs"),
    ("qce", "static", "dfs"),
    ("all", "dynamic", "dfs"),
    ("qce", "dynamic", "random-path"),
    ("all", "dynamic", "nurs:covnew"),
)


def flags(policy: str, kind: str, order: str) -> tuple[str, ...]:
    """The options for one way to merge."""
    return ("--merge", policy, "--merging", kind, "--search", order)
