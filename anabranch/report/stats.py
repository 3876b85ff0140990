"""`run.stats`: figures of the run over time, in SQLite with the columns that KLEE's readers know."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from anabranch.report.rundir import database_errors

BRANCH_KINDS = (
    "Conditional",
    "Indirect",
    "Switch",
    "Call",
    "MemOp",
    "ResolvePointer",
    "Alloc",
    "Realloc",
    "Free",
    "GetVal",
)
END_CLASSES = (
    "Exit",
    "Early",
    "SolverError",
    "ProgramError",
    "UserError",
    "ExecutionError",
    "EarlyAlgorithm",
    "EarlyUser",
)


@dataclass(slots=True)
class StatsRow:
    """One row; the fields are the columns in their order. Times are in seconds here, in microseconds in the
    file. `branches` and `ends` by BRANCH_KINDS and END_CLASSES; kinds not given count as 0."""

    instructions: int = 0
    full_branches: int = 0
    partial_branches: int = 0
    num_branches: int = 0
    user_time: float = 0.0
    num_states: int = 0
    malloc_usage: int = 0
    queries: int = 0
    solver_queries: int = 0
    num_query_constructs: int = 0
    wall_time: float = 0.0
    covered_instructions: int = 0
    uncovered_instructions: int = 0
    query_time: float = 0.0
    solver_time: float = 0.0
    cex_cache_time: float = 0.0
    fork_time: float = 0.0
    resolve_time: float = 0.0
    query_cache_misses: int = 0
    query_cache_hits: int = 0
    query_cex_cache_misses: int = 0
    query_cex_cache_hits: int = 0
    inhibited_forks: int = 0
    external_calls: int = 0
    allocations: int = 0
    states: int = 0
    branches: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)

    def values(self) -> Sequence[int]:
        """The row in the order of COLUMNS."""
        return (
            *(round(getattr(self, name) * (1_000_000 if name in _TIMES else 1)) for name in _COUNTERS),
            *(self.branches.get(kind, 0) for kind in BRANCH_KINDS),
            *(self.ends.get(name, 0) for name in END_CLASSES),
            0,
        )


_COUNTERS = tuple(part.name for part in fields(StatsRow) if part.name not in ("branches", "ends"))
_TIMES = frozenset(name for name in _COUNTERS if name.endswith("_time"))
COLUMNS = (
    *("".join(word.capitalize() for word in name.split("_")) for name in _COUNTERS),
    *(f"Branches{kind}" for kind in BRANCH_KINDS),
    *(f"Termination{name}" for name in END_CLASSES),
    "ArrayHashTime",
)
_REAL = frozenset({"UserTime", "WallTime"})


class StatsWriter:
    """Appends rows to `run.stats`; each is committed at once, so that a killed run keeps all of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        declared = ", ".join(f"{name} {'REAL' if name in _REAL else 'INTEGER'}" for name in COLUMNS)
        with database_errors(path):
            self._db = sqlite3.connect(path, isolation_level=None)
            # A killed process loses nothing that was handed to the system: no need to wait for the disk.
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.execute(f"CREATE TABLE stats ({declared})")
        self._insert = f"INSERT INTO stats VALUES ({', '.join('?' * len(COLUMNS))})"

    def add(self, row: StatsRow) -> None:
        with database_errors(self._path):
            self._db.execute(self._insert, row.values())

    def close(self) -> None:
        self._db.close()
