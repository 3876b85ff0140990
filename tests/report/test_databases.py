"""`run.stats` and `exec_tree.db` as readers of KLEE's files see them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from anabranch.report.rundir import RunDirError
from anabranch.report.stats import COLUMNS, StatsRow, StatsWriter
from anabranch.report.tree_db import TreeWriter
from bench.lib.run_directory import read_stats, read_tree

EXPECTED = [
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
    "BranchesConditional",
    "BranchesIndirect",
    "BranchesSwitch",
    "BranchesCall",
    "BranchesMemOp",
    "BranchesResolvePointer",
    "BranchesAlloc",
    "BranchesRealloc",
    "BranchesFree",
    "BranchesGetVal",
    "TerminationExit",
    "TerminationEarly",
    "TerminationSolverError",
    "TerminationProgramError",
    "TerminationUserError",
    "TerminationExecutionError",
    "TerminationEarlyAlgorithm",
    "TerminationEarlyUser",
    "ArrayHashTime",
]


def test_columns() -> None:
    assert list(COLUMNS) == EXPECTED


def test_figures_of_klee_stats(tmp_path: Path) -> None:
    writer = StatsWriter(tmp_path / "run.stats")
    writer.add(StatsRow(instructions=10, wall_time=0.5))
    writer.add(
        StatsRow(
            instructions=4000,
            full_branches=3,
            partial_branches=2,
            num_branches=8,
            user_time=1.25,
            wall_time=2.0,
            solver_time=0.5,
            malloc_usage=3 << 20,
            covered_instructions=75,
            uncovered_instructions=25,
            queries=4,
            num_query_constructs=40,
            allocations=6,
            branches={"Switch": 5},
            ends={"Exit": 7, "ProgramError": 1},
        )
    )
    # A reader that opens the file while its writer still has it, as klee-stats on a running directory.
    db = sqlite3.connect(tmp_path / "run.stats")
    columns = [row[1] for row in db.execute("PRAGMA table_info(stats)")]
    last = dict(
        zip(columns, db.execute("SELECT * FROM stats ORDER BY rowid DESC LIMIT 1").fetchone(), strict=True)
    )
    maximum = db.execute("SELECT MAX(MallocUsage), COUNT(*) FROM stats").fetchone()
    db.close()
    writer.close()
    assert columns == EXPECTED
    assert maximum == (3 << 20, 2)
    covered = last["CoveredInstructions"]
    assert 100 * covered / (covered + last["UncoveredInstructions"]) == 75
    assert 100 * (2 * last["FullBranches"] + last["PartialBranches"]) / (2 * last["NumBranches"]) == 50
    assert last["WallTime"] / 1_000_000 == 2.0
    assert 100 * last["SolverTime"] / last["WallTime"] == 25
    assert last["UserTime"] == 1_250_000
    assert (last["BranchesSwitch"], last["TerminationExit"], last["TerminationProgramError"]) == (5, 7, 1)
    assert (last["Allocations"], last["ArrayHashTime"]) == (6, 0)
    assert [row["Instructions"] for row in read_stats(tmp_path / "run.stats")] == [10, 4000]


def test_tree(tmp_path: Path) -> None:
    writer = TreeWriter(tmp_path / "exec_tree.db")
    writer.add([(1, 0, 2, 3, 40, 1)], [(1, "x.c:4 in main", "x < 3", None)])
    writer.add([(2, 0, 0, 0, 41, 1), (3, 1, 0, 0, 44, 31)], [(3, "x.c:9", None, "assert")])
    nodes, details = read_tree(tmp_path / "exec_tree.db")
    writer.close()
    assert nodes == [(1, 0, 2, 3, 40, 1), (2, 0, 0, 0, 41, 1), (3, 1, 0, 0, 44, 31)]
    assert details == [(1, "x.c:4 in main", "x < 3", None), (3, "x.c:9", None, "assert")]


def test_a_batch_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    writer = TreeWriter(tmp_path / "exec_tree.db")
    with pytest.raises(RunDirError, match=r"exec_tree\.db"):
        writer.add([(1, 0, 2, 3, 40, 1), ("x", 0)], [])  # type: ignore[list-item]
    writer.close()
    assert read_tree(tmp_path / "exec_tree.db") == ([], [])


def test_a_database_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(RunDirError, match="cannot write"):
        StatsWriter(tmp_path / "absent" / "run.stats")
