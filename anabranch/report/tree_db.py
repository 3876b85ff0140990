"""`exec_tree.db`: the execution tree of a run in SQLite.

Table `nodes` is the one that KLEE's readers know; `details` adds the place of the fork or end, the condition
of the fork and the reason of the end. Rows are plain tuples: a run may have hundreds of thousands.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from anabranch.report.rundir import database_errors

#: (ID, stateID, leftID, rightID, asmLine, kind); children are 0 at an end. `kind` is the kind of fork (1
#: conditional, 2 indirect, 3 switch, 4 call, 5 memory operation, 6 pointer, 7 to 9 allocation, 10 value) or
#: of end (1 exit, 10 to 13 early, 20 solver, 30 to 46 program error, 50 user, 60 and 61 execution, ...).
NodeRow: TypeAlias = tuple[int, int, int, int, int, int]
#: (ID, place, condition, end); None where a node has none.
DetailRow: TypeAlias = tuple[int, str | None, str | None, str | None]

_SCHEMA = """
CREATE TABLE nodes (ID INTEGER PRIMARY KEY, stateID INT, leftID INT, rightID INT, asmLine INT, kind INT);
CREATE TABLE details (ID INTEGER PRIMARY KEY, place TEXT, condition TEXT, end TEXT);
"""


class TreeWriter:
    """Writes batches of nodes; a batch is there whole or not at all. A node given again is replaced."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with database_errors(path):
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.executescript(_SCHEMA)

    def add(self, nodes: Iterable[NodeRow], details: Iterable[DetailRow]) -> None:
        db = self._db
        with database_errors(self._path):
            db.execute("BEGIN")
            db.executemany("INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?)", nodes)
            db.executemany("INSERT OR REPLACE INTO details VALUES (?, ?, ?, ?)", details)
            db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()
