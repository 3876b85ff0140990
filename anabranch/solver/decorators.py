"""Backends around a backend: cross-check, query log, validation of models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import thread_time

from anabranch.expr import Expr, evaluate, to_smtlib

from .backend import UNKNOWN, Answer, Backend, Verdict
from .corpus import CorpusWriter


class SolverDisagreement(Exception):
    """Two solvers gave different answers, or a model is wrong: one of the components has a defect."""


def status(answer: Answer) -> str:
    """sat, unsat or unknown."""
    return answer.value if isinstance(answer, Verdict) else "sat"


class CrossChecked:
    """Asks a second backend as well and raises SolverDisagreement on any difference."""

    def __init__(self, first: Backend, second: Backend, log_dir: Path | None = None) -> None:
        self.first = first
        self.second = second
        self.name = f"{first.name}+{second.name}"
        self.log_dir = log_dir
        self.compared = 0

    @property
    def effort(self) -> int:
        """See Backend."""
        return self.first.effort

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        answer = self.first.solve(constraints, variables)
        other = self.second.solve(constraints, variables)
        for backend, result in ((self.first, answer), (self.second, other)):
            if isinstance(result, dict) and not all(evaluate(c, result) is True for c in constraints):
                self._fail(constraints, f"{backend.name} gave a model that does not satisfy the query")
        if UNKNOWN not in (answer, other):
            self.compared += 1
            if status(answer) != status(other):
                self._fail(
                    constraints,
                    f"{self.first.name} says {status(answer)}, {self.second.name} says {status(other)}",
                )
        return answer

    def _fail(self, constraints: Sequence[Expr], what: str) -> None:
        text = to_smtlib(constraints, comment=what)
        if self.log_dir is not None:
            self.log_dir.mkdir(parents=True, exist_ok=True)
            path = self.log_dir / "disagreement.smt2"
            path.write_text(text)
            raise SolverDisagreement(f"{what}; the query is in {path}")
        raise SolverDisagreement(f"{what}:\n{text}")


class QueryLog:
    """Adds every query with its answer and CPU time to a corpus."""

    def __init__(self, inner: Backend, corpus: CorpusWriter, at_least: float = 0.0) -> None:
        self.inner = inner
        self.name = inner.name
        self.corpus = corpus
        self.at_least = at_least  # seconds: quicker queries are not written

    @property
    def effort(self) -> int:
        """See Backend."""
        return self.inner.effort

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        start = thread_time()
        answer = self.inner.solve(constraints, variables)
        seconds = thread_time() - start
        if seconds >= self.at_least:
            self.corpus.add(constraints, status(answer), seconds)
        return answer
