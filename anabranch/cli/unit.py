"""The command `anabranch unit`: functions by themselves, without `main` and without a harness."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.cli.codes import ERRORS_FOUND, INTERNAL, INTERRUPTED, OK, TERMINATED, USAGE, CommandError
from anabranch.cli.flags import SettingsParser, build_parser, parse_settings
from anabranch.cli.plugins import load_plugins
from anabranch.cli.progress import make_display
from anabranch.cli.run import check_inputs, check_targets, saying, write_exports
from anabranch.cli.settings import RunSettings, SettingsError
from anabranch.cli.unit_summary import table, unit_summary
from anabranch.explore.settings import FRESH, STOP, ExecutionSettings
from anabranch.report.recorder import RunRecorder
from anabranch.report.rundir import RunDirectory, RunDirError, create_run_directory
from anabranch.unit.settings import ALL_SECONDS, UnitSettings

SUFFIXES = (".c", ".i", ".bc", ".ll")
_DESCRIPTION = """\
Explore functions by themselves: arguments and globals may hold anything, pointers lead to objects of their
type that are made when they are accessed, functions without a body answer anything. Each error is ranked by
what it assumes of the caller (none: every call fails; argument; size of a buffer; answer of an unknown
function), written as a C program that makes it happen, and run natively."""
_EPILOG = """\
Pointer arguments are not null and lead to distinct objects, unless --null-args and --alias. A pointer to a
struct leads to one struct, one to characters or numbers to as many bytes as the function accesses, at most
--buffer-size; strings end at the last.
Limits such as --max-time are for each function.

Exit codes: 0 it came to its end (see --fail-on-error), 2 wrong usage or input, 3 internal problem (also of a
single function with --all; the others are explored), 130 stopped by Ctrl-C (results are written)."""


def _parser() -> SettingsParser:
    words = "FILE... (FUNCTION... | --all)"
    return build_parser("anabranch unit", words, _DESCRIPTION, _EPILOG, (UnitSettings,))


def settings_of(argv: Sequence[str]) -> tuple[RunSettings, tuple[str, ...]]:
    """Settings with the files as inputs, and names of functions."""
    load_plugins(argv, Path())
    settings = parse_settings(_parser(), argv)
    unit = settings.group(UnitSettings)
    files = tuple(path for path in settings.inputs if path.suffix in SUFFIXES)
    functions = tuple(str(path) for path in settings.inputs if path.suffix not in SUFFIXES)
    if not files:
        raise SettingsError("no program given: name a C file, for example anabranch unit list.c insert")
    if unit.everything == bool(functions):
        raise SettingsError("name functions after the files, or give --all for every function of them")
    if unit.assume is not None and len(functions) != 1:
        raise SettingsError("--assume: name the one function whose parameters it speaks of")
    if settings.build.libc == "musl":
        raise SettingsError("--libc musl: functions are explored without a C library")
    if settings.input.program_args:
        raise SettingsError("functions are not given arguments after --")
    limits = settings.limits
    if unit.everything and limits.time is None:
        limits = dataclasses.replace(limits, time=ALL_SECONDS)
    changed = dataclasses.replace(
        settings,
        inputs=files,
        build=dataclasses.replace(settings.build, libc="none"),
        execution=_answering(settings.execution),
        limits=limits,
    )
    return changed, functions


def _answering(execution: ExecutionSettings) -> ExecutionSettings:
    """Functions without a body answer: nothing else makes sense for functions by themselves."""
    if execution.externals == STOP:
        return dataclasses.replace(execution, externals=FRESH)
    return execution


def load_files(settings: RunSettings, inputs: Sequence[Path], entry: str) -> Any:
    """The files as one program that starts in `entry`; "*" is anywhere."""
    from anabranch.frontend import FrontendError, FrontendOptions, load_program

    try:
        return load_program(
            inputs,
            FrontendOptions(
                include_dirs=settings.build.include_dirs,
                defines=settings.build.defines,
                opt_level=settings.simplification,
                entry=entry,
                use_cache=not settings.build.no_cache,
                sanitizers=settings.sanitizers,
            ),
        )
    except FrontendError as error:
        raise CommandError(str(error).rstrip("\n"), USAGE, prefix=False) from error


class _Quiet:
    """Passes progress on with the name of the function; errors are for the summary."""

    def __init__(self, display: Any) -> None:
        self.display = display

    def on_progress(self, progress: Any) -> None:
        if self.display is not None:
            self.display.on_progress(progress)

    def on_phase(self, what: str) -> None:
        if self.display is not None:
            self.display.on_phase(what)

    def on_error(self, error: Any) -> None: ...

    def on_warning(self, text: str) -> None: ...


class UnitRun:
    """All functions of one command."""

    def __init__(self, settings: RunSettings, directory: RunDirectory) -> None:
        self.settings = settings
        self.unit = settings.group(UnitSettings)
        self.directory = directory
        self.results: list[Any] = []
        self.stopped: str | None = None
        self.crashed = False

    def sources(self, included: str) -> Any:
        from anabranch.unit.reproduce import Sources

        others = tuple(path.resolve() for path in self.settings.inputs if str(path.resolve()) != included)
        build, errors = self.settings.build, self.settings.errors
        includes = tuple(path.resolve() for path in build.include_dirs)
        return Sources(others, includes, build.defines, errors.checks, errors.no_checks)

    def explore(self, program: Any, name: str, included: str, entry: str | None = None) -> None:
        """One function into a directory of its own."""
        from anabranch.reduce.setup import reductions
        from anabranch.unit.explore import UnitResult, explore_function

        settings = self.settings
        place = create_run_directory(self.directory.path / name)
        started = time.monotonic()
        display = make_display(settings.display.quiet, settings.display.no_progress)
        recorder = RunRecorder(
            place,
            ["anabranch", "unit", *map(str, settings.inputs), name],
            settings.to_json() | {"entry": name},
            searcher="\n".join(settings.search.orders),
            all_errors=settings.errors.all_errors,
            display=_Quiet(display),
        )
        try:
            found = explore_function(
                program.module,
                entry or name,
                settings,
                recorder,
                null_args=self.unit.null_args,
                included=included,
                target=name,
                sources=self.sources(included),
                log_dir=place.path,
                techniques=reductions(settings),
            )
        except Exception as error:
            if not self.unit.everything:
                raise
            recorder.on_defect("".join(traceback.format_exception(error)))
            found = UnitResult(name, None, unsupported=f"internal error: {type(error).__name__}: {error}")
            self.crashed = True
        finally:
            if display is not None:
                display.close()
        self._write(found, place)
        if found.result is None:
            recorder.close()
        else:
            found.result.timers.setdefault("total", time.monotonic() - started)
            recorder.finish(found.result)
            self.crashed = self.crashed or found.result.defects > 0
            if found.result.stopped in ("interrupted", "terminated"):
                self.stopped = found.result.stopped
        self.results.append(found)

    def _write(self, found: Any, place: RunDirectory) -> None:
        """Harnesses, and whether they fail natively."""
        from anabranch.unit.reproduce import reproduce

        for position, item in enumerate(found.errors):
            if item.harness is None:
                continue
            place.write_text(item.name, item.harness)
            if self.unit.reproduce:
                error, harness = item.error, place.path / item.name
                included = item.included
                sources = self.sources(included).failing(item.failing)
                problem = reproduce(harness, error.kind, (error.file, error.line), sources)
                found.errors[position] = dataclasses.replace(
                    item, reproduced=problem is None, problem=problem or ""
                )

    def document(self) -> dict[str, Any]:
        return {
            "settings": self.settings.to_json(),
            "stopped": self.stopped,
            "functions": [result.as_json() for result in self.results],
        }


def functions_of(program: Any, files: Sequence[Path]) -> list[str]:
    """The functions that the files define, in their order, those of included headers left out."""
    own = {os.path.realpath(path) for path in files}
    bitcode = any(path.suffix in (".bc", ".ll") for path in files)
    found = []
    for function in program.module.defined_functions():
        subprogram = function.subprogram
        if subprogram is not None and (bitcode or os.path.realpath(subprogram.file) in own):
            found.append((subprogram.file, subprogram.line, function.name))
    return [name for _, _, name in sorted(found)]


def included_file(program: Any, name: str, files: Sequence[Path]) -> str:
    """The C file that defines a function; "" if it is none of those given."""
    subprogram = program.module.functions[name].subprogram
    where = os.path.realpath(subprogram.file) if subprogram is not None else ""
    sources = {os.path.realpath(path): str(path.resolve()) for path in files if path.suffix in (".c", ".i")}
    if where in sources:
        return sources[where]
    return next(iter(sources.values())) if len(sources) == 1 and len(files) == 1 else ""


def _check_functions(program: Any, names: Sequence[str]) -> None:
    from anabranch.values import suggestion

    defined = [function.name for function in program.module.defined_functions()]
    for name in names:
        if name not in defined:
            raise CommandError(f"unit: no function {name!r} is defined{suggestion(name, defined)}")


def run_unit(settings: RunSettings, functions: tuple[str, ...]) -> int:
    """Explore the functions into a new run directory; returns the exit code."""
    check_inputs(settings)
    with saying("compiling, linking and simplifying", settings.display):
        program = load_files(settings, settings.inputs, "*")
    names = functions or tuple(functions_of(program, settings.inputs))
    if not names:
        raise CommandError("unit: the files define no function")
    _check_functions(program, names)
    check_targets(program, settings)
    directory = create_run_directory(settings.results.output_dir)
    directory.write_assembly(program.ir_text)
    run = UnitRun(settings, directory)
    try:
        for number, name in enumerate(names, 1):
            if len(names) > 1 and not settings.display.quiet and not settings.display.no_progress:
                print(f"anabranch: [{number}/{len(names)}] {name}", file=sys.stderr)
            included = included_file(program, name, settings.inputs)
            if run.unit.assume is not None:
                _with_assumption(run, program, name, included, run.unit.assume)
            else:
                run.explore(program, name, included)
            if run.stopped is not None:
                break
    finally:
        directory.write_text("unit.json", json.dumps(run.document(), indent=2, ensure_ascii=False) + "\n")
    _show(run, settings, directory)
    return _exit_code(run, settings)


def _with_assumption(run: UnitRun, program: Any, name: str, included: str, condition: str) -> None:
    """Explore a function from a wrapper that lets only certain arguments through."""
    from anabranch.ir.source_types import SourceTypes
    from anabranch.unit.precondition import ENTRY, PreconditionError, with_precondition

    function = program.module.functions[name]
    prototype = SourceTypes(program.module.debug).function(function.subprogram_id)
    try:
        text = with_precondition(included, function, prototype, condition)
    except PreconditionError as error:
        raise CommandError(f"unit: --assume: {error}") from None
    inputs = [path for path in run.settings.inputs if str(path.resolve()) != included]
    with tempfile.TemporaryDirectory(prefix="anabranch-") as place:
        wrapper = Path(place) / "assume.c"
        wrapper.write_text(text)
        wrapped = load_files(run.settings, [wrapper, *inputs], ENTRY)
        run.explore(wrapped, name, included, ENTRY)


def _show(run: UnitRun, settings: RunSettings, directory: RunDirectory) -> None:
    write_exports(settings, (error.error for result in run.results for error in result.errors))
    if settings.results.json:
        print(json.dumps(run.document(), indent=2, ensure_ascii=False))
    elif not settings.display.quiet:
        print(table(run.results) if len(run.results) > 1 else unit_summary(run.results, directory.path))
        if len(run.results) > 1:
            print(unit_summary(run.results, directory.path))


def _exit_code(run: UnitRun, settings: RunSettings) -> int:
    if run.stopped is not None:
        return INTERRUPTED if run.stopped == "interrupted" else TERMINATED
    if run.crashed:
        return INTERNAL
    failed = settings.errors.fail_on_error and any(result.errors for result in run.results)
    return ERRORS_FOUND if failed else OK


def main(argv: Sequence[str]) -> int:
    if "-h" in argv or "--help" in argv:
        _parser().print_help(sys.stdout)
        return OK
    try:
        return run_unit(*settings_of(argv))
    except SettingsError as error:
        raise CommandError(f"unit: {error} (see anabranch unit --help)") from None
    except RunDirError as error:
        raise CommandError(f"unit: {error}") from None
