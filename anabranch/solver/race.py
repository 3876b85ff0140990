"""A hard query is asked in several processes by different configurations; the first answer counts.

Bitwuzla and the SAT solver hold the interpreter's lock, so that threads would take turns. A process that is
forked has all expressions already; only the answer is sent.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf
from select import select
from time import monotonic

from anabranch.expr import Expr

from .backend import QUERY_EFFORT, UNKNOWN, Answer, Backend
from .config import SolverConfig
from .configured import make_backend
from .limit import QueryLimits
from .z3_backend import Z3Backend

PATIENCE = 1.0
"""Seconds that a query is asked alone."""


def _configured(**values: bool | int | str) -> Callable[[QueryLimits], Backend]:
    named = {name.replace("__", ".").replace("_", "-"): value for name, value in values.items()}
    config = SolverConfig.of({"bitwuzla.prefix": "assert", **named})
    return lambda limits: make_backend(config, limits)


RACERS: tuple[tuple[str, Callable[[QueryLimits], Backend]], ...] = (
    ("bitwuzla", _configured()),
    ("spear", _configured(solver="spear")),
    ("z3", lambda limits: Z3Backend(limits=limits)),
    (
        "bitwuzla, terms as they are",
        _configured(bitwuzla__rewrite_level=0, bitwuzla__preprocess=False),
    ),
    ("bitwuzla, local search first", _configured(bitwuzla__bv_solver="preprop")),
)
"""Who takes part, the most different first."""


class Racing:
    """A back end around another: what that one does not answer soon is the subject of a race.

    Which answer is the first depends on the machine, and so does the model: two runs with the same seed can
    differ.
    """

    def __init__(self, inner: Backend, limits: QueryLimits, count: int, patience: float = PATIENCE) -> None:
        self.inner = inner
        self.name = inner.name
        self.won: dict[str, int] = {}
        """Races by the name of who won them; "" for those that nobody won."""
        self._limits = limits
        self._racers = RACERS[:count]
        self._patience = patience
        self._effort = 0

    @property
    def effort(self) -> int:
        """See Backend. A race counts as one query."""
        return self.inner.effort + self._effort

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        limits = self._limits
        started = limits.clock()
        deadline = limits.deadline()
        limits.alone = self._patience
        try:
            answer = self.inner.solve(constraints, variables)
        finally:
            limits.alone = inf
        began = limits.clock()
        if answer is not UNKNOWN or began >= deadline or began - started < self._patience:
            return answer
        self._effort += QUERY_EFFORT
        name, answer = race(dict(self._racers), constraints, variables, deadline - began)
        self.won[name] = self.won.get(name, 0) + 1
        limits.charge(limits.clock() - began, limits.part)
        return answer


def race(
    racers: Mapping[str, Callable[[QueryLimits], Backend]],
    constraints: Sequence[Expr],
    variables: Sequence[int],
    seconds: float,
) -> tuple[str, Answer]:
    """The first answer within so many seconds, and who gave it; UNKNOWN by nobody if all give up."""
    running: dict[int, tuple[str, int]] = {}
    """The end of the pipe to read -> name and process."""
    end = monotonic() + seconds
    try:
        for name, make in racers.items():
            reader, process = _started(make, constraints, variables, seconds)
            running[reader] = (name, process)
        while running:
            ready, _, _ = select(list(running), [], [], None if end == inf else max(0.0, end - monotonic()))
            if not ready:
                break
            for reader in ready:
                answer = _read(reader)
                if answer is not UNKNOWN:
                    return running[reader][0], answer
                _end(reader, running.pop(reader)[1])
        return "", UNKNOWN
    finally:
        for reader, (_, process) in running.items():
            _end(reader, process)


def _started(
    make: Callable[[QueryLimits], Backend],
    constraints: Sequence[Expr],
    variables: Sequence[int],
    seconds: float,
) -> tuple[int, int]:
    """A process that answers the query: where to read the answer, and its number."""
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return reader, process
    try:  # nothing of the run may happen here: no handler, no clean-up, no output
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        answer = make(QueryLimits(None if seconds == inf else seconds)).solve(constraints, variables)
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def _read(reader: int) -> Answer:
    """The answer of a process; UNKNOWN if it ended without one."""
    with os.fdopen(os.dup(reader), "rb") as pipe, suppress(EOFError, pickle.UnpicklingError):
        answer: Answer = pickle.load(pipe)
        return answer
    return UNKNOWN


def _end(reader: int, process: int) -> None:
    os.close(reader)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process, 0)
