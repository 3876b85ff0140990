"""What an exploration tells while it runs."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from anabranch.report.errors import ErrorRecord
from anabranch.report.result import NOTHING, Ratio
from anabranch.report.stats import StatsRow
from anabranch.report.tree_db import DetailRow, NodeRow


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of the run; seconds are wall time since the exploration began, shares are 0 to 1."""

    seconds: float
    paths_exit: int = 0
    paths_error: int = 0
    paths_total: int = 0
    tests: int = 0
    states_explored: int = 0
    states_waiting: int = 0
    instructions: int = 0
    instructions_per_second: float = 0.0
    lines: Ratio = NOTHING
    branches: Ratio = NOTHING
    solver_share: float = 0.0
    errors: int = 0
    memory_bytes: int = 0
    losses: int = 0
    cpu_seconds: float = 0.0


class InputRecord(NamedTuple):
    """One symbolic object: its name and the bytes chosen for it.

    `type` is its C type if it was made as a value (`__VERIFIER_nondet_int`, `klee_int`); `form` then says how
    to read the bytes: `signed`, `unsigned`, `bool`, `float` or `pointer`. Other objects are arrays of bytes.
    """

    name: str
    data: bytes
    type: str = ""
    form: str = ""

    @property
    def value(self) -> int | float | None:
        """What a typed input is, None of an array of bytes."""
        if not self.type:
            return None
        if self.form == "float":
            value: float = struct.unpack("<f" if len(self.data) == 4 else "<d", self.data)[0]
            return value
        return int.from_bytes(self.data, "little", signed=self.form == "signed")


@dataclass(frozen=True, slots=True)
class TestCase:
    """The inputs of one path: symbolic objects in order of creation, with the bytes chosen for them.

    The rest tells how the path ends on these inputs, for replay: `end` is `exit`, `error` or another reason,
    `kind`, `file` and `line` those of the error, `output` what the program printed, `lines` the (file, line)
    pairs run, `condition` the path condition as SMT-LIB text. None is not known. `uninitialised`: all that
    holds only for some contents of uninitialised memory, which are no input.
    """

    __test__ = False

    inputs: tuple[InputRecord, ...]
    end: str = "exit"
    kind: str | None = None
    file: str | None = None
    line: int | None = None
    exit_code: int | None = None
    output: bytes | None = None
    lines: tuple[tuple[str, int], ...] | None = None
    condition: str | None = None
    answers: dict[str, Any] | None = None
    """What functions without a body answered: their calls in order, and the objects that answers lead to."""
    uninitialised: bool = False

    @property
    def objects(self) -> tuple[tuple[str, bytes], ...]:
        """Names and bytes, as a `.ktest` file has them."""
        return tuple((item.name, item.data) for item in self.inputs)


class Display(Protocol):
    """Shows what happens while an exploration runs."""

    def on_progress(self, progress: Progress) -> None: ...

    def on_phase(self, what: str) -> None:
        """What is being done from now on, while no progress is reported; "" if that is over."""
        ...

    def on_error(self, error: ErrorRecord) -> None: ...

    def on_warning(self, text: str) -> None: ...


class Listener(Display, Protocol):
    """Receives everything that an exploration finds, the moment it is found."""

    def on_test(self, test: TestCase) -> int:
        """Keep a test; returns its number, counted from 1, for the error that it shows."""
        ...

    def on_defect(self, details: str) -> None:
        """A path was lost to a failure of the engine itself, with this traceback."""
        ...

    def on_stats(self, row: StatsRow) -> None: ...

    def on_tree(self, nodes: list[NodeRow], details: list[DetailRow]) -> None:
        """Nodes of the execution tree; a node given again replaces the earlier one."""
        ...


class Collector:
    """A listener that keeps everything in memory, for tests and oracles."""

    def __init__(self) -> None:
        self.tests: list[TestCase] = []
        self.errors: list[ErrorRecord] = []
        self.warnings: list[str] = []
        self.defects: list[str] = []
        self.stats: list[StatsRow] = []
        self.nodes: list[NodeRow] = []
        self.details: list[DetailRow] = []
        self.progress: Progress | None = None
        self.phases: list[str] = []

    def on_progress(self, progress: Progress) -> None:
        self.progress = progress

    def on_phase(self, what: str) -> None:
        self.phases.append(what)

    def on_test(self, test: TestCase) -> int:
        self.tests.append(test)
        return len(self.tests)

    def on_error(self, error: ErrorRecord) -> None:
        self.errors.append(error)

    def on_warning(self, text: str) -> None:
        self.warnings.append(text)

    def on_defect(self, details: str) -> None:
        self.defects.append(details)

    def on_stats(self, row: StatsRow) -> None:
        self.stats.append(row)

    def on_tree(self, nodes: list[NodeRow], details: list[DetailRow]) -> None:
        self.nodes += nodes
        self.details += details
