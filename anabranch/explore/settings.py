"""The settings that exploration reads, each with its flag, and the program that the front end gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from anabranch.explore.backends import BACKENDS
from anabranch.explore.checks import CHOICES, Check, chosen, help_text
from anabranch.explore.search import ORDERS
from anabranch.explore.search.registry import DEFAULT
from anabranch.explore.target_lines import parse_target
from anabranch.options import SettingsGroup, option, switch
from anabranch.values import at_least, between, one_of, one_of_these, parse_limit, parse_memory, parse_time

MOST_CAPACITY = 1 << 14
"""Beyond this, objects have pages only where they were written, which ones with an extent cannot."""

if TYPE_CHECKING:
    from anabranch.environment import ProgramInput
    from anabranch.ir.module import Module

G = TypeVar("G", bound=SettingsGroup)
STOP, FRESH, CONTRACTS = "stop", "fresh", "contracts"
"""What calls of functions without a body do."""


class ExecutionSettings(SettingsGroup, heading="Program"):
    """What the text of a program leaves open, and how its code is run."""

    externals: str = option(
        "stop", "externals",
        "functions without a body or a model: stop (a call ends the path, counted as a loss), fresh (any "
        "answer of the function's type; calls are listed as assumptions), contracts (as fresh, by the "
        "contracts of libc and POSIX; one without a contract may write what its arguments point to)",
        one_of(STOP, FRESH, CONTRACTS), metavar="HOW",
    )  # fmt: skip
    uninitialised: str = option(
        "error", "uninitialised",
        "what uninitialised memory and locals hold: error (deciding on it is an error), symbolic (any value;"
        " what was decided on is listed as an assumption), zero (zeros, assumed)",
        one_of("error", "symbolic", "zero"), metavar="WHAT",
    )  # fmt: skip
    summaries: tuple[Path, ...] = option(
        (), "summaries", "contracts of functions without a body: what they return, write (TOML; repeatable)",
        Path, metavar="FILE", repeat=True,
    )  # fmt: skip
    failing_allocations: bool = switch(
        "failing-allocations", "malloc, calloc, realloc, strdup and their like may return NULL on every call"
    )
    depth: int = option(
        4, "depth", "unknown objects: follow at most N pointers from where they begin", at_least(0),
        metavar="N",
    )  # fmt: skip
    buffer_size: int = option(
        16, "buffer-size",
        "unknown objects: bytes at most behind pointers to characters, numbers and things without a type",
        at_least(1), metavar="N",
    )  # fmt: skip
    capacity: int = option(
        64, "capacity",
        "objects whose size depends on the input: explore all sizes up to N bytes at once, a few larger ones",
        between(1, MOST_CAPACITY), metavar="N",
    )  # fmt: skip
    alias: bool = switch("alias", "unknown objects: pointers of one type may lead to the same object")
    max_len: int = option(
        16, "max-len", "longest input, in bytes, for LLVMFuzzerTestOneInput", at_least(1), metavar="N"
    )
    interpret: bool = switch(
        "interpret", "run by the reference interpreter, not by translated code (slow, for checks)"
    )
    strings: str = option(
        "fork", "strings",
        "strlen, strcmp, strtol and so on of symbolic data: fork (at every byte, as their C code does), "
        "whole (one expression of all bytes; far fewer paths, harder queries)",
        one_of("fork", "whole"), metavar="HOW", heading="Search",
    )  # fmt: skip
    string_limit: int = option(
        64, "string-limit", "with --strings whole: fork again after the first N bytes of a string",
        at_least(1), metavar="N", heading="Search",
    )  # fmt: skip


class SearchSettings(SettingsGroup, heading="Search"):
    """Which states go on, for how long, and what for."""

    orders: tuple[str, ...] = option(
        DEFAULT, "search",
        lambda: f"order of exploration; several take turns (repeatable): {ORDERS.help()}",
        one_of_these(ORDERS.names), metavar="NAME", repeat=True,
    )  # fmt: skip
    targets: tuple[tuple[str, int], ...] = option(
        (), "target",
        "steer to this line, and stop when an error there was found, or when no path can get there any more"
        " (repeatable: an error at each)", parse_target, key="targets", metavar="FILE:LINE", repeat=True,
    )  # fmt: skip
    batch_forks: int = option(
        16, "batch-forks", "go on with a state for at most N forks before choosing anew", at_least(1),
        metavar="N",
    )  # fmt: skip
    batch_instructions: int = option(
        20_000_000, "batch-instructions", "go on with a state for about N instructions before choosing anew",
        at_least(1), metavar="N",
    )  # fmt: skip
    seed: int = option(
        0, "seed",
        "start of the random numbers; the same seed gives the same run, unless the clock has a say "
        "(--max-time, --merge auto)",
        at_least(0), metavar="N",
    )  # fmt: skip
    goal: str = option(
        "coverage", "goal",
        "what the run is for: coverage (tests that reach the code), bugs (errors), paths (all there is)",
        one_of("coverage", "bugs", "paths"), metavar="WHAT",
    )  # fmt: skip
    verify_reductions: bool = switch(
        "verify-reductions",
        "prove every merge against the states that it replaces; explore removed states, too (slow)",
        heading="Merging",
    )


class LimitSettings(SettingsGroup, heading="Limits"):
    """When to stop. Times are seconds, memory is megabytes, None is no limit."""

    time: float | None = option(
        None, "max-time",
        "be done after this time, compiling and writing included: 10, 3.5 (seconds), 1h10min, 500ms",
        parse_time, metavar="TIME",
    )  # fmt: skip
    memory: int = option(
        2000, "max-memory", "end waiting states above this memory: 2000 (MB), 512MB, 2GB", parse_memory,
        metavar="SIZE",
    )  # fmt: skip
    instructions: int | None = option(
        None, "max-instructions", "stop after N instructions", parse_limit, metavar="N"
    )
    forks: int | None = option(None, "max-forks", "fork at most N times", parse_limit, metavar="N")
    depth: int | None = option(None, "max-depth", "end a path at its N-th fork", parse_limit, metavar="N")
    tests: int | None = option(None, "max-tests", "stop after N tests", parse_limit, metavar="N")
    solver_time: float | None = option(
        30.0, "max-solver-time", "give up on a single query after this time", parse_time, metavar="TIME"
    )
    stack_frames: int = option(
        8192, "max-stack-frames", "calls nested deeper than N are a stack overflow", at_least(1), metavar="N"
    )


class ErrorSettings(SettingsGroup, heading="Errors"):
    """Which errors are looked for, and how they are reported."""

    checks: tuple[str, ...] = option(
        (), "check", help_text, one_of(*CHOICES), key="checks", metavar="WHAT", repeat=True
    )
    no_checks: tuple[str, ...] = option(
        (), "no-check", "do not look for this, though it is a default (repeatable)", one_of(*CHOICES),
        key="no_checks", metavar="WHAT", repeat=True,
    )  # fmt: skip
    all_errors: bool = switch(
        "all-errors", "report an error on every path, not once a location", aliases=("emit-all-errors",)
    )
    silent_assume: bool = switch(
        "silent-assume", "an assumption that cannot hold ends the path without an error",
        aliases=("silent-klee-assume",),
    )  # fmt: skip
    stop_on_error: bool = switch("stop-on-error", "stop at the first error that is reported")
    fail_on_error: bool = switch("fail-on-error", "exit with 1 if an error was found")

    @property
    def chosen(self) -> tuple[Check, ...]:
        """The checks of the run."""
        return chosen(self.checks, self.no_checks)


def parse_solver_config(text: str) -> str:
    """A name or a file, if there is a configuration behind it."""
    from anabranch.solver.config import ConfigError, read_config  # takes long, and is rarely given

    try:
        read_config(text)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return text


class SolverSettings(SettingsGroup, heading="Solver"):
    """What decides queries."""

    name: str = option(
        "bitwuzla", "solver",
        lambda: f"what decides the queries that simpler means leave open: {BACKENDS.help()}",
        one_of_these(BACKENDS.names), metavar="NAME",
    )  # fmt: skip
    config: str = option(
        "", "solver-config",
        "how queries are decided: a file of anabranch tune, or auto, default, spear, thesis; for --solver",
        parse_solver_config, metavar="FILE", key="solver_config",
    )  # fmt: skip
    race: int = option(
        0, "race",
        "ask a query that takes more than a second in N processes by different solvers (up to 5); the same "
        "seed may then give another run",
        between(0, 5), metavar="N",
    )  # fmt: skip
    check: bool = switch("check-solver", "check every answer of the solver with a second one")
    log_queries: bool = switch(
        "log-queries", "write every query with its answer and time to queries.corpus (see anabranch tune)"
    )


class ReportSettings(SettingsGroup, heading="Results"):
    """What is written about the paths."""

    tests: str = option(
        "covering", "tests",
        "paths to write a test for: all; covering: new coverage and errors; errors; none",
        one_of("all", "covering", "errors", "none"), metavar="WHICH",
    )  # fmt: skip
    write_conditions: bool = switch(
        "write-conditions", "write the path condition of each test as SMT-LIB (.smt2)",
        aliases=("write-smt2s",),
    )  # fmt: skip
    exec_tree: bool = switch(
        "write-exec-tree", "write where paths forked and ended (exec_tree.db, SQLite)", key="write_exec_tree",
    )  # fmt: skip
    count_paths: bool = switch(
        "count-paths", "count the paths that merged states stand for, one by one (slow)", heading="Merging"
    )


class ExploreSettings(Protocol):
    """The settings of an exploration; `RunSettings` of the command line has them all."""

    @property
    def execution(self) -> ExecutionSettings: ...
    @property
    def search(self) -> SearchSettings: ...
    @property
    def limits(self) -> LimitSettings: ...
    @property
    def errors(self) -> ErrorSettings: ...
    @property
    def solver(self) -> SolverSettings: ...
    @property
    def report(self) -> ReportSettings: ...
    @property
    def program_input(self) -> ProgramInput: ...

    def group(self, kind: type[G]) -> G:
        """The settings of a technique."""
        ...


class LoadedProgram(Protocol):
    """What the front end gives."""

    @property
    def module(self) -> Module: ...
    @property
    def entry(self) -> str: ...
