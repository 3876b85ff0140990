"""`run.stats`: figures of the run over time, in SQLite with the columns that KLEE's readers know."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.report.rundir import database_errors

COUNTERS: tuple[str, ...] = (
    "Instructions",
    "FullBranches",
    "PartialBranches",
    "NumBranches",
    "UserTime",
    "NumStates",
    "MallocUsage",
    "Queries",
    "SolverQueries",
    "NumQueryConstructs",
    "WallTime",
    "CoveredInstructions",
    "UncoveredInstructions",
    "QueryTime",
    "SolverTime",
    "CexCacheTime",
    "ForkTime",
    "ResolveTime",
    "QueryCacheMisses",
    "QueryCacheHits",
    "QueryCexCacheMisses",
    "QueryCexCacheHits",
    "InhibitedForks",
    "ExternalCalls",
    "Allocations",
    "States",
)
BRANCH_KINDS: tuple[str, ...] = (
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
END_CLASSES: tuple[str, ...] = (
    "Exit",
    "Early",
    "SolverError",
    "ProgramError",
    "UserError",
    "ExecutionError",
    "EarlyAlgorithm",
    "EarlyUser",
)
COLUMNS: tuple[str, ...] = (
    *COUNTERS,
    *(f"Branches{kind}" for kind in BRANCH_KINDS),
    *(f"Termination{name}" for name in END_CLASSES),
    "ArrayHashTime",
)
_REAL = frozenset({"UserTime", "WallTime"})


@dataclass(slots=True)
class StatsRow:
    """One row; times in seconds here, microseconds in the file. `branches` and `ends` by BRANCH_KINDS and
    END_CLASSES; kinds not given count as 0."""

    instructions: int = 0
    full_branches: int = 0
    partial_branches: int = 0
    num_branches: int = 0
    user_time: float = 0.0
    num_states: int = 0
    malloc_usage: int = 0
    queries: int = 0
    solver_queries: int = 0
    query_constructs: int = 0
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
            self.instructions,
            self.full_branches,
            self.partial_branches,
            self.num_branches,
            _micro(self.user_time),
            self.num_states,
            self.malloc_usage,
            self.queries,
            self.solver_queries,
            self.query_constructs,
            _micro(self.wall_time),
            self.covered_instructions,
            self.uncovered_instructions,
            _micro(self.query_time),
            _micro(self.solver_time),
            _micro(self.cex_cache_time),
            _micro(self.fork_time),
            _micro(self.resolve_time),
            self.query_cache_misses,
            self.query_cache_hits,
            self.query_cex_cache_misses,
            self.query_cex_cache_hits,
            self.inhibited_forks,
            self.external_calls,
            self.allocations,
            self.states,
            *(self.branches.get(kind, 0) for kind in BRANCH_KINDS),
            *(self.ends.get(name, 0) for name in END_CLASSES),
            0,
        )


def _micro(seconds: float) -> int:
    return round(seconds * 1_000_000)


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


def read_stats(path: Path) -> list[dict[str, float]]:
    """All rows of a `run.stats`, in order; also of one whose writer was killed."""
    db = sqlite3.connect(path)
    try:
        rows = db.execute("SELECT * FROM stats ORDER BY rowid")
        names = [column[0] for column in rows.description]
        return [dict(zip(names, row, strict=True)) for row in rows]
    finally:
        db.close()
