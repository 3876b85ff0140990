"""The command `anabranch check`: the static checker."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anabranch.check.baseline import BaselineError, read_baseline, split_known, write_baseline
from anabranch.check.cache import Cache
from anabranch.check.reports import Report, group_reports, shown
from anabranch.check.schedule import Progress, Resources, check_module
from anabranch.check.settings import PRESETS, PROPERTIES, CheckSettings
from anabranch.check.workers import WorkersError
from anabranch.cli.check_input import CheckInput, read_input
from anabranch.cli.check_summary import (
    confirmed_summary,
    document,
    issue_of_report,
    print_report,
    print_warning,
    summary,
)
from anabranch.cli.codes import ERRORS_FOUND, INTERNAL, OK, USAGE, CommandError
from anabranch.cli.progress import LiveDisplay, PlainDisplay, make_display
from anabranch.cli.settings import BuildSettings
from anabranch.cli.wording import clock, count
from anabranch.contracts import ExternalsError, load_externals
from anabranch.report.exporters import ExportError, export
from anabranch.report.rundir import RunDirectory, RunDirError, create_run_directory
from anabranch.solver.config import ConfigError, SolverConfig, read_config
from anabranch.values import parse_memory, parse_time

SECONDS = 20.0
"""What a report may take with `--confirm`."""
_DESCRIPTION = """\
Check every function of a program without running it: dereferences of NULL, assertions, divisions by zero,
uses of values that were never written, of freed memory, and accesses beyond objects of constant size. There
need not be a main; calls are followed by summaries of the functions, which are opened only as far as a
verdict needs."""
_EPILOG = """\
A report is likely, possible (something that it depends on was taken as unknown), or only a matter of callers
that are not there (hidden unless --all-ranks). A comment "anabranch: ignore" or "anabranch: ignore[null]" on
a line, or on the one before, suppresses its reports.

Exit codes: 0 it came to its end, 1 with --fail-on-error if there are reports that the baseline does not have,
2 wrong usage or input, 3 internal problem, 130 stopped by Ctrl-C."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise CommandError(f"check: {message} (see anabranch check --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="anabranch check",
        usage="anabranch check [FLAGS] FILE...\n"
        "       anabranch check [FLAGS] compile_commands.json [FILE...]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="C files, bitcode (of anabranch cc) or LLVM text: one program; or compile_commands.json, or a "
        "directory that has one: all files of a project, or those of the program that the other FILEs are",
    )
    build = parser.add_argument_group("building")
    build.add_argument("-I", "--include-dir", action="append", default=[], metavar="DIR")
    build.add_argument("-D", "--define", action="append", default=[], metavar="NAME[=VALUE]")
    build.add_argument("--compile-commands", type=Path, metavar="FILE", help="as FILE among the files")
    build.add_argument(
        "--no-cache", action="store_true", help="compile and check everything again, and keep nothing"
    )
    what = parser.add_argument_group("what is checked")
    what.add_argument(
        "--preset",
        choices=tuple(PRESETS),
        default="default",
        help="thesis: as in the thesis' experiments: NULL dereferences with --null any, --unroll 1, about "
        "10 s a condition, 500 conditions a function; other flags change it",
    )
    what.add_argument(
        "--property",
        action="append",
        choices=PROPERTIES,
        metavar="NAME",
        help=f"only this property (repeatable): {', '.join(PROPERTIES)}",
    )
    what.add_argument(
        "--null",
        choices=("explicit", "any"),
        help="explicit (default): a NULL that flows; any: parameters and memory of unknown callers may be "
        "NULL too",
    )
    what.add_argument(
        "--no-failing-allocations", action="store_true", help="malloc and calloc always succeed"
    )
    what.add_argument("--all", action="store_true", help="also functions that nobody can call")
    what.add_argument(
        "--summaries",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="what functions without a body do (TOML, as of run, with more keys: anabranch/check/README.md)",
    )
    how = parser.add_argument_group("how")
    how.add_argument(
        "--unroll",
        type=_positive,
        metavar="K",
        help="K iterations of each loop, and then it has ended (default: one exact, one unknown iteration)",
    )
    how.add_argument(
        "--max-targets",
        type=_natural,
        metavar="N",
        help="in a program with a main, follow an indirect call to at most N functions of its type whose "
        "address is taken (default: 3); where there are more, nothing is known of the call",
    )
    how.add_argument("--max-expansions", type=_positive, metavar="N", help="summaries opened for a condition")
    how.add_argument("--effort", type=_positive, default=1, metavar="N", help="N times the usual limits")
    how.add_argument(
        "--solver-config",
        default="check",
        metavar="FILE",
        help="how queries are decided: a file of anabranch tune (its parameters of Bitwuzla), or auto",
    )
    how.add_argument(
        "--jobs", type=_positive, default=1, metavar="N", help="N processes; the result is the same"
    )
    how.add_argument(
        "--max-memory",
        type=_memory,
        default=2000,
        metavar="SIZE",
        help="drop what can be made again above this memory of a process: 2000 (MB), 512MB, 2GB",
    )
    engine = parser.add_argument_group("confirmation")
    engine.add_argument(
        "--confirm",
        action="store_true",
        help="explore what each report is about: confirmed ones come first, with a C program that fails "
        "there natively; those that are proved impossible are dropped and counted",
    )
    engine.add_argument(
        "--confirm-time", type=_time, default=SECONDS, metavar="TIME", help="for each report (default: 20s)"
    )
    out = parser.add_argument_group("results")
    out.add_argument("--all-ranks", action="store_true", help="also what depends on unknown callers")
    out.add_argument(
        "--baseline", type=Path, metavar="FILE", help="reports in FILE are known: not shown again"
    )
    out.add_argument("--write-baseline", type=Path, metavar="FILE", help="write all reports to FILE")
    out.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="write check.json to DIR, a new directory"
    )
    out.add_argument(
        "--log-queries",
        type=Path,
        metavar="DIR",
        help="add the queries that no earlier run has answered to a corpus in DIR (see anabranch tune)",
    )
    out.add_argument("--json", action="store_true", help="print check.json instead of text")
    out.add_argument("--sarif", type=Path, metavar="FILE", help="write the reports that are shown to FILE")
    out.add_argument(
        "--format",
        choices=("text", "gcc"),
        default="text",
        help="gcc: reports like warnings of a compiler, on standard error (as anabranch cc --check)",
    )
    out.add_argument("--fail-on-error", action="store_true", help="exit code 1 if there are new reports")
    out.add_argument("-q", "--quiet", action="store_true", help="only reports")
    out.add_argument("--no-progress", action="store_true", help="no progress line")
    return parser


def _time(text: str) -> float:
    try:
        return parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _natural(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _memory(text: str) -> int:
    try:
        return parse_memory(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _cache(arguments: argparse.Namespace, given: CheckInput) -> Cache | None:
    """What was found out about these files in earlier runs with these settings."""
    from anabranch.frontend.cache import default_directory

    if arguments.no_cache:
        return None
    chosen = repr((settings_of(arguments), arguments.summaries, arguments.define))
    return Cache(default_directory() / "checks", [chosen, *given.identity])


def settings_of(arguments: argparse.Namespace) -> CheckSettings:
    usual = PRESETS[arguments.preset]
    names = tuple(name for name in PROPERTIES if name in (arguments.property or usual.properties))
    effort = arguments.effort
    return replace(
        usual,
        properties=names,
        any_null=arguments.null == "any" if arguments.null else usual.any_null,
        allocations_fail=not arguments.no_failing_allocations,
        unroll=arguments.unroll or usual.unroll,
        solver=_solver(arguments.solver_config),
        all_functions=arguments.all,
        max_targets=usual.max_targets if arguments.max_targets is None else arguments.max_targets,
        max_expansions=arguments.max_expansions or usual.max_expansions,
        polls=usual.polls * effort,
        condition_polls=usual.condition_polls * effort,
        function_polls=usual.function_polls * effort,
        max_nodes=usual.max_nodes * effort,
    )


def _solver(place: str) -> SolverConfig:
    config = read_config(place, "check")
    if config["solver"] != "bitwuzla":
        raise ConfigError(
            f"--solver-config {place}: check decides by Bitwuzla only, not by {config['solver']}"
        )
    return config


class _ProgressLine(Progress):
    """How far the check has come, on the display that runs have too."""

    def __init__(self, display: PlainDisplay | LiveDisplay) -> None:
        self._display = display
        self._started = time.monotonic()

    def checked(self, functions: int, total: int, conditions: int, share: float) -> None:
        def line() -> str:
            spent = time.monotonic() - self._started
            left = clock(spent / share - spent) if share > 0.01 else "?"
            parts = (f"{functions:,} of {total:,} functions", count(conditions, "condition"), f"{left} left")
            return " | ".join((clock(spent), *parts))

        self._display.on_line(line)


def run_check(arguments: argparse.Namespace) -> int:
    from anabranch.frontend import FrontendError, FrontendOptions, load_program

    settings = settings_of(arguments)
    given = read_input(arguments.files, arguments.compile_commands, not arguments.no_cache)
    externals = load_externals(tuple(arguments.summaries))
    known_before = read_baseline(arguments.baseline) if arguments.baseline is not None else None
    directory = create_run_directory(arguments.output_dir) if arguments.output_dir is not None else None
    try:
        program = load_program(
            given.files,
            FrontendOptions(
                include_dirs=tuple(map(Path, arguments.include_dir)),
                defines=tuple(arguments.define),
                entry="*",
                use_cache=not arguments.no_cache,
            ),
        )
    except FrontendError as error:
        raise CommandError(str(error).rstrip("\n"), USAGE, prefix=False) from error
    cache = _cache(arguments, given)
    resources = Resources(arguments.jobs, arguments.max_memory * 1_000_000, cache, arguments.log_queries)
    display = make_display(arguments.quiet or arguments.json, arguments.no_progress)
    started = time.monotonic()
    try:
        if display is not None:
            for warning in given.warnings:
                display.on_warning(warning)
        line = None if display is None else _ProgressLine(display)
        result = check_module(program.module, settings, externals, resources, line)
        if cache is not None and cache.problem and display is not None:
            display.on_warning(f"what was found out is not kept for the next run: {cache.problem}")
    finally:
        if display is not None:
            display.close()
    reports, suppressed = group_reports(result.reports)
    if arguments.write_baseline is not None:
        write_baseline(arguments.write_baseline, reports)
    new, known = (reports, []) if known_before is None else split_known(reports, known_before)
    visible = shown(new, arguments.all_ranks)
    impossible: list[Report] = []
    if arguments.confirm:
        directory = directory or create_run_directory(None)
        visible, impossible = _confirm(arguments, given, settings, directory, visible, display is None)
        new = [*visible, *(report for report in new if not report.confirmation)]
    about = document(result, new, known, suppressed, time.monotonic() - started)
    if arguments.confirm:
        about["impossible"] = [report.as_json() for report in impossible]
    if directory is not None:
        directory.write_text("check.json", json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    if arguments.sarif is not None:
        export("sarif", arguments.sarif, map(issue_of_report, visible))
    if arguments.json:
        print(json.dumps(about, indent=2, ensure_ascii=False))
    else:
        for report in visible:
            if arguments.format == "gcc":
                print_warning(report, sys.stderr)
            else:
                print_report(report)
        if not arguments.quiet:
            print(summary(result, new, visible, known, suppressed))
            if arguments.confirm and directory is not None:
                print(confirmed_summary(visible, impossible, directory.path))
    return ERRORS_FOUND if arguments.fail_on_error and visible else OK


def _confirm(
    arguments: argparse.Namespace,
    given: CheckInput,
    settings: CheckSettings,
    directory: RunDirectory,
    reports: Sequence[Report],
    quiet: bool,
) -> tuple[list[Report], list[Report]]:
    """Reports that are left, confirmed ones first, and those that are impossible."""
    from anabranch.cli.confirm import Confirmer, confirm_reports

    build = BuildSettings(
        include_dirs=tuple(map(Path, arguments.include_dir)),
        defines=tuple(arguments.define),
        no_cache=arguments.no_cache,
        libc="none",
    )

    def say(number: int, total: int, report: Report) -> None:
        if not quiet:
            place = f"{Path(report.file).name}:{report.line}"
            print(f"anabranch: [{number}/{total}] confirming {place}", file=sys.stderr)

    confirmer = Confirmer(
        given.files,
        build,
        tuple(arguments.summaries),
        settings,
        arguments.confirm_time,
        directory,
        given.flags,
    )
    return confirm_reports(confirmer, reports, say)


def main(argv: Sequence[str]) -> int:
    parser = _parser()
    if "-h" in argv or "--help" in argv:
        parser.print_help(sys.stdout)
        return OK
    try:
        return run_check(parser.parse_args(list(argv)))
    except (ExternalsError, BaselineError, RunDirError, ExportError, ConfigError) as error:
        raise CommandError(f"check: {error}") from None
    except WorkersError as error:
        raise CommandError(f"check: {error}", INTERNAL) from None
