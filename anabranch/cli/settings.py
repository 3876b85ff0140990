"""All settings of a run, declared once.

Every field of `RunSettings` carries an `Option`; flags, help, the TOML file and the settings in `run.json`
are made from these. Later sources win: defaults, `anabranch.toml` (or `--config FILE`), flags.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.cli.program_input import ProgramInput, parse_file, parse_variable, parse_words
from anabranch.explore.backends import BACKENDS
from anabranch.explore.checks import CHOICES, MEMTRACK, chosen, compiled_in, expanded, help_text
from anabranch.explore.search import ORDERS
from anabranch.values import (
    at_least,
    number_between,
    one_of,
    one_of_these,
    parse_define,
    parse_limit,
    parse_memory,
    parse_name,
    parse_time,
)

TEST_CHOICES = ("all", "covering", "errors", "none")
GROUPS = (
    "Program",
    "Input",
    "Search",
    "Merging",
    "Equivalence",
    "Limits",
    "Errors",
    "Solver",
    "Results",
    "Display",
)


class SettingsError(Exception):
    """A setting is wrong; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is written: its flag is `--name`, its key in TOML is `name`.

    `parse` is None for a switch, which is off unless given. `repeat` collects values in a tuple.
    """

    name: str
    group: str
    help: str | Callable[[], str]
    parse: Callable[[str], Any] | None
    short: str = ""
    metavar: str = ""
    repeat: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def is_path(self) -> bool:
        return self.parse is Path


def _option(
    default: Any,
    name: str,
    group: str,
    help: str | Callable[[], str],
    parse: Callable[[str], Any] | None,
    **more: Any,
) -> Any:
    return dataclasses.field(default=default, metadata={"option": Option(name, group, help, parse, **more)})


def _switch(name: str, group: str, help: str, **more: Any) -> Any:
    return _option(False, name, group, help, None, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of `anabranch run`. Times are seconds, memory is megabytes, None is no limit."""

    inputs: tuple[Path, ...] = ()

    include_dirs: tuple[Path, ...] = _option(
        (), "include-dir", "Program", "look for headers in DIR (repeatable)", Path,
        short="-I", metavar="DIR", repeat=True,
    )  # fmt: skip
    defines: tuple[str, ...] = _option(
        (), "define", "Program", "define a macro (repeatable)", parse_define,
        short="-D", metavar="NAME[=VALUE]", repeat=True,
    )  # fmt: skip
    compile_commands: Path | None = _option(  # noqa: RUF009
        None, "compile-commands", "Program",
        "compile as FILE (compile_commands.json) says, with those of its other files that are needed", Path,
        metavar="FILE",
    )  # fmt: skip
    opt_level: int = _option(
        1, "opt-level", "Program",
        "simplification before exploring: 0 none, 1 (and 2) keep scalar locals in registers; errors and "
        "paths are those of the source at every level",
        lambda text: int(one_of("0", "1", "2")(text)), short="-O", metavar="LEVEL",
    )  # fmt: skip
    entry: str | None = _option(
        None, "entry", "Program", "function to start in (default: main, or LLVMFuzzerTestOneInput)",
        parse_name, metavar="FUNCTION", aliases=("entry-point",),
    )  # fmt: skip
    libc: str = _option(
        "auto", "libc", "Program",
        "the C library: none (models of common functions only), musl (the real one), auto (musl if the "
        "program uses functions that have no model)", one_of("auto", "none", "musl"), metavar="WHICH",
    )  # fmt: skip
    externals: str = _option(
        "stop", "externals", "Program",
        "functions without a body or a model: stop (a call ends the path, counted as a loss), fresh (any "
        "answer of the function's type; calls are listed as assumptions)",
        one_of("stop", "fresh"), metavar="HOW",
    )  # fmt: skip
    uninitialised: str = _option(
        "error", "uninitialised", "Program",
        "what uninitialised memory and locals hold: error (deciding on it is an error), symbolic (any value;"
        " what was decided on is listed as an assumption), zero (zeros, assumed)",
        one_of("error", "symbolic", "zero"), metavar="WHAT",
    )  # fmt: skip
    summaries: Path | None = _option(  # noqa: RUF009
        None, "summaries", "Program", "with --externals fresh: what is known of those functions (TOML)", Path,
        metavar="FILE",
    )  # fmt: skip
    depth: int = _option(
        4, "depth", "Program", "unknown objects: follow at most N pointers from where they begin",
        at_least(0), metavar="N",
    )  # fmt: skip
    buffer_size: int = _option(
        16, "buffer-size", "Program",
        "unknown objects: bytes behind pointers to characters, numbers and things without a type",
        at_least(1), metavar="N",
    )  # fmt: skip
    alias: bool = _switch(
        "alias", "Program", "unknown objects: pointers of one type may lead to the same object"
    )
    max_len: int = _option(
        16,
        "max-len",
        "Program",
        "longest input, in bytes, for LLVMFuzzerTestOneInput",
        at_least(1),
        metavar="N",
    )
    emit_ir: Path | None = _option(  # noqa: RUF009
        None, "emit-ir", "Program", "write the linked, simplified program as LLVM text to FILE", Path,
        metavar="FILE",
    )  # fmt: skip
    interpret: bool = _switch(
        "interpret",
        "Program",
        "run by the reference interpreter, not by translated code (slow, for checks)",
    )
    no_cache: bool = _switch("no-cache", "Program", "compile anew, and do not keep the compiled program")

    program_args: tuple[str, ...] = _option(
        (), "program-args", "Input", "an argument of the program, as after -- (repeatable)", str,
        metavar="ARG", repeat=True,
    )  # fmt: skip
    program_name: str = _option(
        "program", "program-name", "Input", "what the program finds in argv[0]", str, metavar="NAME"
    )
    files: tuple[tuple[Path, bytes], ...] = _option(
        (), "file", "Input", "copy a file into the program's file system (repeatable)", parse_file,
        metavar="HOST[:GUEST]", repeat=True,
    )  # fmt: skip
    stdin: Path | None = _option(  # noqa: RUF009
        None, "stdin", "Input", "what is in FILE is the program's standard input", Path, metavar="FILE"
    )
    env: tuple[tuple[bytes, bytes], ...] = _option(
        (), "env", "Input", "set an environment variable (repeatable)", parse_variable,
        metavar="NAME=VALUE", repeat=True,
    )  # fmt: skip
    free_metadata: bool = _switch(
        "free-metadata", "Input", "metadata of symbolic files as free as KLEE's; such tests may not replay"
    )
    printable: bool = _switch(
        "printable", "Input", "prefer printable characters in symbolic arguments of tests",
        aliases=("readable-posix-inputs",),
    )  # fmt: skip

    search: tuple[str, ...] = _option(
        ("random-path", "places"), "search", "Search",
        lambda: f"order of exploration; several take turns (repeatable): {ORDERS.help()}",
        one_of_these(ORDERS.names), metavar="NAME", repeat=True,
    )  # fmt: skip
    batch_forks: int = _option(
        16, "batch-forks", "Search", "go on with a state for at most N forks before choosing anew",
        at_least(1), metavar="N",
    )  # fmt: skip
    batch_instructions: int = _option(
        20_000_000, "batch-instructions", "Search",
        "go on with a state for about N instructions before choosing anew", at_least(1), metavar="N",
    )  # fmt: skip
    strings: str = _option(
        "fork", "strings", "Search",
        "strlen, strcmp, strtol and so on of symbolic data: fork (at every byte, as their C code does), "
        "whole (one expression of all bytes; far fewer paths, harder queries)",
        one_of("fork", "whole"), metavar="HOW",
    )  # fmt: skip
    string_limit: int = _option(
        64, "string-limit", "Search", "with --strings whole: fork again after the first N bytes of a string",
        at_least(1), metavar="N",
    )  # fmt: skip
    seed: int = _option(
        0, "seed", "Search", "start of the random numbers; the same seed gives the same run", at_least(0),
        metavar="N",
    )  # fmt: skip

    goal: str = _option(
        "coverage", "goal", "Search",
        "what the run is for: coverage (tests that reach the code), bugs (errors), paths (all there is)",
        one_of("coverage", "bugs", "paths"), metavar="WHAT",
    )  # fmt: skip
    merge: str = _option(
        "default", "merge", "Merging",
        "join paths that meet again: none; all; qce: where estimates say that it pays; auto: plainly and"
        " with qce in turns, the first to finish counts; default: none for --goal coverage or --zeq, else"
        " auto",
        one_of("default", "none", "all", "qce", "auto"), metavar="WHICH",
    )  # fmt: skip
    merging: str = _option(
        "auto", "merging", "Merging",
        "static: in topological order; dynamic: around the search order; auto: dynamic for --goal"
        " coverage with --max-time, else static",
        one_of("static", "dynamic", "auto"), metavar="HOW",
    )  # fmt: skip
    qce_alpha: float = _option(
        0.35, "qce-alpha", "Merging", "share of the queries to come that a differing variable may affect",
        number_between(0.0, 1e9), metavar="A",
    )  # fmt: skip
    qce_beta: float = _option(
        0.8, "qce-beta", "Merging", "estimated probability that a side of a branch is feasible",
        number_between(0.01, 1.0), metavar="B",
    )  # fmt: skip
    qce_kappa: int = _option(
        10, "qce-kappa", "Merging", "estimated iterations of a loop, where unknown", at_least(1), metavar="K"
    )
    qce_zeta: float = _option(
        2.0, "qce-zeta", "Merging", "estimated cost of a query on a merged value, in queries",
        number_between(1.0, 1e9), metavar="Z",
    )  # fmt: skip
    merge_report: bool = _switch(
        "merge-report", "Merging", "show at the end what merging brought and cost at each place"
    )
    verify_reductions: bool = _switch(
        "verify-reductions", "Merging",
        "prove every merge against the states that it replaces; explore removed states, too (slow)",
    )  # fmt: skip
    count_paths: bool = _switch(
        "count-paths", "Merging", "count the paths that merged states stand for, one by one (slow)"
    )

    zeq: str = _option(
        "off", "zeq", "Equivalence",
        "of states that the callers of a function cannot tell apart, keep one: off; rules: found by form;"
        " exact: where many are left, also by the solver (not with --goal paths)",
        one_of("off", "rules", "exact"), metavar="HOW",
    )  # fmt: skip
    zeq_observe: str = _option(
        "live", "zeq-observe", "Equivalence",
        "what callers can tell apart: live (what they can still read), function (arguments as well, as in the"
        " paper)", one_of("live", "function"), metavar="WHAT",
    )  # fmt: skip
    zeq_wait: int = _option(
        0, "zeq-wait", "Equivalence",
        "callers wait for at most N turns of the paths inside a call (0: 4096, or none with --max-time)",
        at_least(0), metavar="N",
    )  # fmt: skip
    zeq_report: bool = _switch(
        "zeq-report", "Equivalence", "show at the end what was removed behind the calls of each function"
    )

    max_time: float | None = _option(
        None, "max-time", "Limits", "stop after this time: 10, 3.5 (seconds), 1h10min, 500ms", parse_time,
        metavar="TIME",
    )  # fmt: skip
    max_memory: int = _option(
        2000, "max-memory", "Limits", "end waiting states above this memory: 2000 (MB), 512MB, 2GB",
        parse_memory, metavar="SIZE",
    )  # fmt: skip
    max_instructions: int | None = _option(
        None, "max-instructions", "Limits", "stop after N instructions", parse_limit, metavar="N"
    )
    max_forks: int | None = _option(
        None, "max-forks", "Limits", "fork at most N times", parse_limit, metavar="N"
    )
    max_depth: int | None = _option(
        None, "max-depth", "Limits", "end a path at its N-th fork", parse_limit, metavar="N"
    )
    max_tests: int | None = _option(
        None, "max-tests", "Limits", "stop after N tests", parse_limit, metavar="N"
    )
    max_solver_time: float | None = _option(
        30.0,
        "max-solver-time",
        "Limits",
        "give up on a single query after this time",
        parse_time,
        metavar="TIME",
    )
    max_stack_frames: int = _option(
        8192, "max-stack-frames", "Limits", "calls nested deeper than N are a stack overflow", at_least(1),
        metavar="N",
    )  # fmt: skip

    checks: tuple[str, ...] = _option(
        (), "check", "Errors", help_text(), one_of(*CHOICES), metavar="WHAT", repeat=True,
    )  # fmt: skip
    no_checks: tuple[str, ...] = _option(
        (), "no-check", "Errors", "do not look for this, though it is a default (repeatable)",
        one_of(*CHOICES), metavar="WHAT", repeat=True,
    )  # fmt: skip
    all_errors: bool = _switch(
        "all-errors",
        "Errors",
        "report an error on every path, not once a place",
        aliases=("emit-all-errors",),
    )
    silent_assume: bool = _switch(
        "silent-assume", "Errors", "an assumption that cannot hold ends the path without an error",
        aliases=("silent-klee-assume",),
    )  # fmt: skip
    fail_on_error: bool = _switch("fail-on-error", "Errors", "exit with 1 if an error was found")

    solver: str = _option(
        "bitwuzla", "solver", "Solver",
        lambda: f"what decides the queries that simpler means leave open: {BACKENDS.help()}",
        one_of_these(BACKENDS.names), metavar="NAME",
    )  # fmt: skip
    check_solver: bool = _switch(
        "check-solver", "Solver", "check every answer of the solver with a second one"
    )
    log_queries: bool = _switch(
        "log-queries", "Solver", "write every query as SMT-LIB into the run directory"
    )

    tests: str = _option(
        "covering", "tests", "Results",
        "paths to write a test for: all; covering: new coverage and errors; errors; none",
        one_of(*TEST_CHOICES), metavar="WHICH",
    )  # fmt: skip
    output_dir: Path | None = _option(  # noqa: RUF009
        None, "output-dir", "Results", "write to DIR, which must not exist (default: anabranch-out-N)",
        Path, metavar="DIR",
    )  # fmt: skip
    write_conditions: bool = _switch(
        "write-conditions", "Results", "write the path condition of each test as SMT-LIB (.smt2)",
        aliases=("write-smt2s",),
    )  # fmt: skip
    replay: bool = _switch(
        "replay", "Results", "run the tests natively at the end; exit with 1 if one does not end as predicted"
    )
    json: bool = _switch("json", "Results", "print run.json on standard output at the end")

    quiet: bool = _switch("quiet", "Display", "print nothing but failures", short="-q")
    no_progress: bool = _switch("no-progress", "Display", "no lines while it runs; the summary stays")

    @property
    def program_input(self) -> ProgramInput:
        """What the program is given. Raises ValueError if the words for it are wrong."""
        words = parse_words(self.program_args)
        environment = (*self.env, *words.pop("environment"))  # type: ignore[misc]
        return ProgramInput(
            name=self.program_name.encode("utf-8", "surrogateescape"),
            environment=environment,
            files=self.files,
            stdin=self.stdin,
            free_metadata=self.free_metadata,
            printable=self.printable,
            **words,  # type: ignore[arg-type]
        )

    @property
    def simplification(self) -> int:
        """The level that the program is simplified at. Whether memory is lost is seen by who points to it:
        locals then stay in memory, where a call of `exit` finds those of all callers."""
        return 0 if MEMTRACK in expanded(self.checks) else self.opt_level

    @property
    def sanitizers(self) -> tuple[str, ...]:
        """The checks that C files are compiled with, as clang names them."""
        return compiled_in(chosen(self.checks, self.no_checks))

    def to_json(self) -> dict[str, Any]:
        """The settings as `run.json` keeps them."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value) if isinstance(value, Path) else value


def options() -> dict[str, Option]:
    """Field name -> how it is written, in order of declaration."""
    return {
        field.name: field.metadata["option"]
        for field in dataclasses.fields(RunSettings)
        if "option" in field.metadata
    }


def default_text(field_name: str) -> str:
    """The default as help shows it; empty if there is nothing to say."""
    field = next(field for field in dataclasses.fields(RunSettings) if field.name == field_name)
    value = field.default
    if value is None or value is False or value == ():
        return ""
    if isinstance(value, tuple):
        return " + ".join(str(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
