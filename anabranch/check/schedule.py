"""A whole program: functions whose records are known from an earlier run, and the others in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

from anabranch.check.cache import Answers, Cache
from anabranch.check.driver import Checker, uncollected
from anabranch.check.externals import Externals, load_externals
from anabranch.check.facts import Facts, facts_of
from anabranch.check.keys import Keys
from anabranch.check.places_in_source import Anchors
from anabranch.check.records import CheckResult, FunctionRecord
from anabranch.check.settings import CheckSettings
from anabranch.check.workers import MAX_BYTES, Done, Worker, Workers
from anabranch.ir.module import Module

SAVE_SECONDS = 60.0
"""How often the cache is written during a long run: a process that is killed does not lose everything."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a check may use. None of it has a say in the result."""

    jobs: int = 1
    max_bytes: int = MAX_BYTES
    """Resident memory of a process beyond which gated forms are dropped."""
    cache: Cache | None = None


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
        self.conditions = 0

    def run(self) -> CheckResult:
        cache, names = self.resources.cache, list(self.facts.order.names())
        if cache is None:
            self._check(names)
        else:
            keys = Keys(self.module, self.settings, self.externals, self.facts)
            anchors = Anchors(self.module)
            self._from(cache, keys, anchors, names)
            complete = False
            try:
                self._check([n for n in names if n not in self.records], cache, keys, anchors)
                complete = True
            finally:
                cache.save(complete)
        result = CheckResult(self.facts.order)
        for name in names:
            result.add(self.records[name])
        return result

    def _from(self, cache: Cache, keys: Keys, anchors: Anchors, names: list[str]) -> None:
        for name in names:
            known = cache.record(keys[name], anchors)
            if known is not None:
                self.records[name] = known
                self.conditions += known.conditions

    def _check(
        self,
        names: list[str],
        cache: Cache | None = None,
        keys: Keys | None = None,
        anchors: Anchors | None = None,
    ) -> None:
        saved = monotonic()
        total = sum(map(self._size_of, names)) or 1
        done = 0
        for record, asked in self._done(names, cache):
            self.conditions += record.conditions
            done += self._size_of(record.name)
            count = len(self.facts.order.callees)
            self.progress.checked(len(self.records), count, self.conditions, done / total)
            if cache is not None and keys is not None and anchors is not None:
                cache.keep(keys[record.name], record, asked, anchors)
                if monotonic() - saved > SAVE_SECONDS:
                    cache.save(complete=False)
                    saved = monotonic()

    def _size_of(self, name: str) -> int:
        return sum(len(block.instructions) for block in self.module.functions[name].blocks)

    def _done(self, names: list[str], cache: Cache | None) -> Iterator[Done]:
        def answers(name: str) -> Answers:
            return {} if cache is None else cache.answers(name)

        jobs = min(self.resources.jobs, len(names))
        if jobs <= 1:
            worker = Worker(self._checker, self.resources.max_bytes)
            worker.records = self.records
            for name in names:
                yield worker.check(name, answers(name))
            return
        sizes = {name: self._size_of(name) for name in self.facts.order.names()}
        workers = Workers(
            self.facts.order, sizes.__getitem__, answers, self._checker, jobs, self.resources.max_bytes
        )
        try:
            yield from workers.run(names, self.records)
        finally:
            workers.close()

    def _checker(self) -> Checker:
        return Checker(self.module, self.settings, self.externals, self.facts)
