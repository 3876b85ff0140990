"""What Bitwuzla's time goes to: building terms, asserting, preprocessing, circuits, search, models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import thread_time
from typing import Any, TypeVar

from anabranch.expr import Expr
from anabranch.solver import BitwuzlaBackend

Found = TypeVar("Found")

STATISTICS = {
    "preprocessing": ("preprocessor::time_preprocess",),
    "circuits": ("solver::bv::bitblast::aig::time_bitblast", "solver::bv::bitblast::cnf::time_encode"),
    "search": ("solver::bv::bitblast::sat::time_solve",),
}
"""Phases inside of a check, by Bitwuzla's own clocks (milliseconds that pass)."""
WHOLE = "solving_context::time_solve"


class _Timed:
    """A solver whose calls are timed."""

    def __init__(self, solver: Any, spent: Counter[str], inside: Counter[str]) -> None:
        self._solver = solver
        self._spent = spent
        self._inside = inside

    def _call(self, phase: str, function: Callable[..., Found], *words: Any) -> Found:
        started = thread_time()
        found = function(*words)
        self._spent[phase] += thread_time() - started
        return found

    def push(self, count: int) -> None:
        self._call("asserting", self._solver.push, count)

    def pop(self, count: int) -> None:
        self._call("asserting", self._solver.pop, count)

    def assert_formula(self, *terms: Any) -> None:
        self._call("asserting", self._solver.assert_formula, *terms)

    def check_sat(self, *terms: Any) -> Any:
        before = self._clocks()
        result = self._call("check", self._solver.check_sat, *terms)
        for name, value in self._clocks().items():
            self._inside[name] += value - before[name]
        return result

    def get_value(self, term: Any) -> Any:
        return self._call("model", self._solver.get_value, term)

    def _clocks(self) -> dict[str, int]:
        told = self._solver.statistics()
        found = {phase: sum(_milliseconds(told[n]) for n in names) for phase, names in STATISTICS.items()}
        return found | {"whole": _milliseconds(told[WHOLE])}


def _milliseconds(text: str) -> int:
    return int(text.removesuffix("ms"))


class ProfiledBitwuzla(BitwuzlaBackend):
    """Bitwuzla with clocks."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self.spent: Counter[str] = Counter()
        """Seconds of CPU, by phase."""
        self.inside: Counter[str] = Counter()
        """Milliseconds inside of checks, and of whole checks, by Bitwuzla's clocks."""

    def _fresh(self) -> Any:
        started = thread_time()
        solver = super()._fresh()
        self.spent["new solver"] += thread_time() - started
        return _Timed(solver, self.spent, self.inside)

    def _formulas(self, constraint: Expr) -> tuple[Any, ...]:
        started = thread_time()
        found = super()._formulas(constraint)
        self.spent["terms"] += thread_time() - started
        return found

    def phases(self) -> dict[str, float]:
        """Seconds by phase. Those inside of checks are shares of the CPU time of the checks."""
        found = dict(self.spent)
        check, whole = found.pop("check", 0.0), self.inside["whole"] or 1
        for phase in STATISTICS:
            found[phase] = check * min(1.0, self.inside[phase] / whole)
        found["rest of checks"] = check - sum(found[phase] for phase in STATISTICS)
        return found
