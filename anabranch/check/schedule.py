"""A whole program: functions whose records are known from an earlier run, and the others in order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from anabranch.check.cache import Answers, Cache
from anabranch.check.decide import Decider
from anabranch.check.driver import Checker, uncollected
from anabranch.check.facts import Facts, facts_of
from anabranch.check.keys import Keys
from anabranch.check.places_in_source import Anchors
from anabranch.check.records import CheckResult, FunctionRecord
from anabranch.check.recursion import tail_calls_as_loops
from anabranch.check.settings import CheckSettings
from anabranch.check.workers import MAX_BYTES, Done, Worker, Workers
from anabranch.contracts import Externals, load_externals
from anabranch.ir.module import Module
from anabranch.solver.corpus import SUFFIX, CorpusWriter

SAVE_SECONDS = 60.0
"""How often the cache is written during a long run: a process that is killed does not lose everything."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a check may use. None of it has a say in the result."""

    jobs: int = 1
    max_bytes: int = MAX_BYTES
    """Resident memory of a process beyond which gated forms are dropped."""
    cache: Cache | None = None
    queries: Path | None = None
    """A directory for the queries that are not answered by the cache, a file a process."""


class Progress:
    """Is told how far a check has come; the default does not care."""

    def checked(self, functions: int, total: int, conditions: int, share: float) -> None:
        """`share` of the work, by instructions, is done."""


def check_module(
    module: Module,
    settings: CheckSettings | None = None,
    externals: Externals | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Check all functions of a program."""
    settings, externals = settings or CheckSettings(), externals or load_externals()
    module = tail_calls_as_loops(module)
    facts = facts_of(module, settings, externals)
    run = _Run(module, settings, externals, facts, resources or Resources(), progress or Progress())
    with uncollected():
        return run.run()


class _Run:
    def __init__(
        self,
        module: Module,
        settings: CheckSettings,
        externals: Externals,
        facts: Facts,
        resources: Resources,
        progress: Progress,
    ) -> None:
        self.module = module
        self.settings = settings
        self.externals = externals
        self.facts = facts
        self.resources = resources
        self.progress = progress
        self.records: dict[str, FunctionRecord] = {}
        self.keys = Keys(module, settings, externals, facts)
        self.anchors = Anchors(module)

    def run(self) -> CheckResult:
        complete = False
        try:
            self._check(list(self.facts.order.names()))
            complete = True
        finally:
            if self.resources.cache is not None:
                self.resources.cache.save(complete)
        result = CheckResult(self.facts.order)
        for name in self.facts.order.names():
            result.add(self.records[name])
        return result

    def _check(self, names: list[str]) -> None:
        cache, saved, conditions, done = self.resources.cache, monotonic(), 0, 0
        sizes = {name: self._size_of(name) for name in names}
        total = sum(sizes.values()) or 1
        for record, asked in self._done(names, sizes):
            self.records[record.name] = record
            conditions += record.conditions
            done += sizes[record.name]
            if asked is not None:
                self.progress.checked(len(self.records), len(names), conditions, done / total)
            if cache is not None:
                if asked is not None:
                    cache.keep(self.keys.key(record.name), record, asked, self.keys.code, self.anchors)
                self.keys.found(record)
                if monotonic() - saved > SAVE_SECONDS:
                    cache.save(complete=False)
                    saved = monotonic()

    def _size_of(self, name: str) -> int:
        return sum(len(block.instructions) for block in self.module.functions[name].blocks)

    def _known(self, name: str) -> FunctionRecord | None:
        """The record of an earlier run, if it still holds. Those of the functions that it uses are known."""
        cache = self.resources.cache
        return None if cache is None else cache.record(self.keys.key(name), self.keys.code, self.anchors)

    def _done(self, names: list[str], sizes: dict[str, int]) -> Iterator[Done]:
        def answers(name: str) -> Answers:
            cache = self.resources.cache
            return {} if cache is None else cache.answers(name)

        jobs, max_bytes = self.resources.jobs, self.resources.max_bytes
        if min(jobs, len(names)) <= 1:
            worker = Worker(self._checker, max_bytes)
            worker.records = self.records
            for name in names:
                known = self._known(name)
                yield (known, None) if known is not None else worker.check(name, answers(name))
            return
        workers = Workers(self.facts.order, sizes.__getitem__, answers, self._checker, jobs, max_bytes)
        try:
            yield from workers.run(names, self.records, self._known)
        finally:
            workers.close()

    def _checker(self) -> Checker:
        return Checker(self.module, self.settings, self.externals, self.facts, self._decider())

    def _decider(self) -> Decider:
        """With a log where one is wanted, a file a process."""
        log = None
        if self.resources.queries is not None:
            path = self.resources.queries / f"queries-{os.getpid()}{SUFFIX}"
            log = CorpusWriter(path, "check", Path(self.module.source_filename).name, "", "bitwuzla")
        return Decider(self.settings.solver, log)
