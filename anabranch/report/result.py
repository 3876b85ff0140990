"""What a run found, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.report.errors import ErrorRecord


@dataclass(slots=True)
class Loss:
    """How often something was left unexplored for one reason, and where."""

    count: int = 0
    places: dict[str, int] = field(default_factory=dict)

    def add(self, place: str, count: int = 1) -> None:
        self.count += count
        self.places[place] = self.places.get(place, 0) + count


@dataclass(frozen=True, slots=True)
class Ratio:
    """So many covered of so many there are."""

    covered: int = 0
    total: int = 0

    @property
    def percent(self) -> float:
        return 100.0 * self.covered / self.total if self.total else 100.0


NOTHING = Ratio()


@dataclass(frozen=True, slots=True)
class FixedAnswer:
    """The one answer of the model to a question, and where the program first asked it."""

    answer: str
    place: str


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """Coverage of one source file: the lines that hold code with how often each was run, and branches."""

    hits: Mapping[int, int] = field(default_factory=dict)
    branches: Ratio = NOTHING
    branch_hits: Mapping[int, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """By line: how often each side of each of its branches was taken."""

    @property
    def lines_total(self) -> tuple[int, ...]:
        return tuple(self.hits)

    @property
    def lines_covered(self) -> tuple[int, ...]:
        return tuple(line for line, count in self.hits.items() if count)

    @property
    def lines(self) -> Ratio:
        return Ratio(len(self.lines_covered), len(self.lines_total))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of the user's source."""

    lines: Ratio = NOTHING
    branches: Ratio = NOTHING
    files: Mapping[str, FileCoverage] = field(default_factory=dict)

    @staticmethod
    def of(files: Mapping[str, FileCoverage]) -> Coverage:
        """Of all files together."""

        def total(ratios: list[Ratio]) -> Ratio:
            return Ratio(sum(ratio.covered for ratio in ratios), sum(ratio.total for ratio in ratios))

        lines, branches = [f.lines for f in files.values()], [f.branches for f in files.values()]
        return Coverage(total(lines), total(branches), files)


@dataclass(frozen=True, slots=True)
class Unexplored:
    """Lines of a function, by file, that no path ran and that lie behind an error; `whole`: all it has."""

    function: str
    lines: Mapping[str, tuple[int, ...]]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class CheckSites:
    """A check that was made: the kinds of errors it reports, and the places in the program it watches."""

    name: str
    kinds: tuple[str, ...]
    reached: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class TargetResult:
    """What came of a line that a run aimed at.

    `status`: "error" (found there, of this kind); "reached", without one so far; "not reached" so far. If all
    paths that can lead there were followed, nothing lost: "no error", on none of them; "unreachable".
    """

    file: str
    line: int
    status: str
    kind: str | None = None


@dataclass(slots=True)
class RunResult:
    """The outcome of an exploration.

    `complete` holds only if every path was explored and nothing was lost. `stopped` says why the
    exploration ended before its worklist was empty: the name of a limit (`max-time`, ...), `interrupted`
    or `terminated` for a signal, or None.
    """

    complete: bool = False
    losses: dict[str, Loss] = field(default_factory=dict)
    paths_exit: int = 0
    paths_error: int = 0
    paths_total: int = 0
    """Paths that ended: by themselves, in an error, or where the engine could not follow them."""
    paths_left: int = 0
    """States that still waited at a limit, or ended for the sake of memory; each may lead to many paths."""
    paths_multiplicity: int = 0
    paths_exact: int | None = None
    tests: int = 0
    errors: list[ErrorRecord] = field(default_factory=list)
    reductions: dict[str, Any] = field(default_factory=dict)
    unknown_calls: dict[str, Any] = field(default_factory=dict)
    """Calls of functions without a body that answered anything: `name -> {count, places}`. Assumptions."""
    fixed_answers: dict[str, FixedAnswer] = field(default_factory=dict)
    """What the program asked for and the model has one answer to. Assumptions."""
    uninitialised: dict[str, Any] = field(default_factory=dict)
    """What uninitialised memory and locals were assumed to hold, if not an error: `values` is `symbolic` or
    `zero`; of the former, `decided_on` is `local or block -> conditions on it that were asked`."""
    targets: list[TargetResult] = field(default_factory=list)
    states_explored: int = 0
    states_waiting_max: int = 0
    instructions: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    queries: dict[str, Any] = field(default_factory=dict)
    timers: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    main_entered: float | None = None
    """When the program's `main` was first called, by `time.monotonic`."""
    settings: dict[str, Any] = field(default_factory=dict)
    unexplored: list[Unexplored] = field(default_factory=list)
    """What no path has run because paths ended in errors before they got there."""
    checks: list[CheckSites] = field(default_factory=list)
    """The checks made."""
    defects: int = 0
    """Paths lost to failures of the engine itself; each is among the losses as well."""
    stopped: str | None = None
    searcher: str = ""

    def lose(self, kind: str, place: str, count: int = 1) -> None:
        """Count something that was not explored; the run is then not complete."""
        self.losses.setdefault(kind, Loss()).add(place, count)
        self.complete = False
