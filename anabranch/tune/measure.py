"""A configuration on an instance: CPU seconds, up to a limit, and the log of all that was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time, thread_time
from typing import Any, Protocol, TextIO

from anabranch.expr import evaluate
from anabranch.solver.backend import UNKNOWN
from anabranch.solver.bitwuzla_terms import Terms
from anabranch.solver.config import SolverConfig
from anabranch.solver.configured import make_backend
from anabranch.solver.corpus import LoggedQuery
from anabranch.solver.decorators import SolverDisagreement, status
from anabranch.solver.limit import QueryLimits

from .instances import Instance


@dataclass(frozen=True, slots=True)
class Result:
    """What a run of a configuration on an instance gave."""

    seconds: float
    """CPU, at most about the limit."""
    solved: bool
    """All queries were answered."""
    limit: float
    """Seconds that it had; a run that was not solved may be with more."""


class Target(Protocol):
    """What is tuned."""

    def run(self, config: SolverConfig, instance: Instance, limit: float) -> Result:
        """One run, of at most so many CPU seconds."""
        ...


class Solver:
    """The decision procedure: the queries of an instance, one after the other, by a fresh solver."""

    def run(self, config: SolverConfig, instance: Instance, limit: float) -> Result:
        """See Target. SolverDisagreement if an answer contradicts the log, or a model is wrong."""
        limits = QueryLimits(clock=thread_time)
        terms = Terms()
        warm(terms, instance)
        backend = make_backend(config, limits, terms)
        used = 0.0
        solved = True
        try:
            for query in instance.queries:
                limits.seconds = max(limit - used, 1e-3)
                started = thread_time()
                answer = backend.solve(query.constraints, query.variables)
                used += thread_time() - started
                _check(config, query, answer)
                if answer is UNKNOWN:
                    solved = False
                    break
        finally:
            terms.release()
        return Result(used, solved, limit)


def warm(terms: Terms, instance: Instance) -> None:
    """Terms that an exploration has built before: those of the first query, but for its last constraint. The
    checker builds the terms of each condition anew."""
    if instance.kind != "check":
        for constraint in instance.queries[0].constraints[:-1]:
            terms.term(constraint)


def _check(config: SolverConfig, query: LoggedQuery, answer: Any) -> None:
    where = f"{query.program}, query {query.number}, with {config}"
    if isinstance(answer, dict) and not all(evaluate(c, answer) is True for c in query.constraints):
        raise SolverDisagreement(f"a model is wrong: {where}")
    known = {query.answer, status(answer)} - {"unknown"}
    if len(known) > 1:
        raise SolverDisagreement(f"{status(answer)}, but {query.solver} said {query.answer}: {where}")


class LogError(Exception):
    """A log belongs to another search; the message is one line."""


class Runs:
    """All runs so far, also of earlier sittings: a run that the log has is not made again.

    The search decides by results only, so that it goes the same way again up to where the log ends.
    """

    def __init__(self, target: Target, log: Path | None = None, about: dict[str, Any] | None = None) -> None:
        self._target = target
        self._known: dict[tuple[SolverConfig, str, int], Result] = {}
        self._log: TextIO | None = None
        self._before = 0.0
        self._started = process_time()
        self.made = 0
        """Runs of this sitting."""
        if log is not None:
            self._log = self._opened(log, about or {})

    @property
    def elapsed(self) -> float:
        """CPU seconds of all sittings."""
        return self._before + process_time() - self._started

    def run(self, config: SolverConfig, instance: Instance, limit: float, repetition: int = 0) -> Result:
        """A run with at least that limit."""
        key = (config.canonical(), instance.name, repetition)
        known = self._known.get(key)
        if known is None or (not known.solved and known.limit < limit):
            known = self._target.run(config, instance, limit)
            self.made += 1
            self._known[key] = known
            self._write(key, known)
        return known

    def _write(self, key: tuple[SolverConfig, str, int], result: Result) -> None:
        if self._log is None:
            return
        config, instance, repetition = key
        row = [dict(config.changed), instance, repetition, result.seconds, result.solved]
        self._log.write(json.dumps([*row, result.limit, round(self.elapsed, 2)]) + "\n")
        self._log.flush()

    def _opened(self, path: Path, about: dict[str, Any]) -> TextIO:
        if path.exists():
            lines = path.read_text("utf-8").splitlines()
            if not lines or json.loads(lines[0]) != about:
                raise LogError(f"{path} is the log of another search: name another directory, or delete it")
            for line in _whole(lines[1:]):
                changed, name, repetition, seconds, solved, limit, elapsed = json.loads(line)
                key = (SolverConfig.of(changed), name, repetition)
                self._known[key] = Result(seconds, solved, limit)
                self._before = elapsed
            path.write_text("".join(f"{line}\n" for line in [lines[0], *_whole(lines[1:])]), "utf-8")
            return path.open("a", encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="utf-8")
        file.write(json.dumps(about) + "\n")
        file.flush()
        return file


def _whole(lines: Sequence[str]) -> list[str]:
    """Lines without the last one if it was cut off."""
    if lines:
        try:
            json.loads(lines[-1])
        except json.JSONDecodeError:
            return list(lines[:-1])
    return list(lines)
