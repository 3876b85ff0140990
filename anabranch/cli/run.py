"""The command `anabranch run`."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from anabranch.cli.codes import ERRORS_FOUND, INTERNAL, INTERRUPTED, OK, TERMINATED, USAGE, CommandError
from anabranch.cli.flags import print_help, settings_from_args
from anabranch.cli.settings import DisplaySettings, RunSettings, SettingsError
from anabranch.reduce.merging.settings import MergingSettings
from anabranch.reduce.zequivalence.settings import ZSettings
from anabranch.report.rundir import RunDirectory, RunDirError, create_run_directory

if TYPE_CHECKING:  # what help and a wrong flag do not need is imported by those who do
    from anabranch.report.errors import ErrorRecord
    from anabranch.report.recorder import RunRecorder
    from anabranch.report.result import RunResult


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM."""


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


@contextlib.contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Let SIGTERM unwind as Ctrl-C does, so that results are written."""
    try:
        before = signal.signal(signal.SIGTERM, _raise_terminated)
    except ValueError:
        # Not in the main thread, where signals do not arrive anyway.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_inputs(settings: RunSettings) -> None:
    for path in settings.execution.summaries:
        from anabranch.contracts import ExternalsError, read_contracts

        try:
            read_contracts(path)
        except ExternalsError as error:
            raise CommandError(f"--summaries: {error}") from None
    for path in (*settings.inputs, *(host for host, _ in settings.input.files)):
        if path.is_dir():
            what = "C, .bc or .ll files" if path in settings.inputs else "files"
            raise CommandError(f"{path} is a directory: name the {what} in it")
        if not path.exists():
            raise CommandError(f"{path}: no such file")
        if not os.access(path, os.R_OK):
            raise CommandError(f"{path}: permission denied")


def load(settings: RunSettings) -> Any:
    """The program, compiled, linked and simplified; the front end's own message if that fails."""
    from anabranch.environment import EXTERNAL_GLOBALS, MODELS
    from anabranch.frontend import FrontendError, FrontendOptions, load_program

    try:
        return load_program(
            settings.inputs,
            FrontendOptions(
                include_dirs=settings.build.include_dirs,
                defines=settings.build.defines,
                opt_level=settings.simplification,
                entry=settings.build.entry,
                use_cache=not settings.build.no_cache,
                libc=settings.build.libc,
                sanitizers=settings.sanitizers,
                models=frozenset((*MODELS, *EXTERNAL_GLOBALS)),
                library_for=settings.program_input.needs_library(),
            ),
        )
    except FrontendError as error:
        raise CommandError(str(error).rstrip("\n"), USAGE, prefix=False) from error


def check_targets(program: Any, settings: RunSettings) -> None:
    """Are there the lines that the run is to aim at?"""
    if not settings.search.targets:
        return
    from anabranch.explore.target_lines import TargetError, find_lines

    try:
        find_lines(program.module, settings.search.targets)
    except TargetError as error:
        raise CommandError(f"--target: {error}") from None


@contextlib.contextmanager
def saying(what: str, settings: DisplaySettings) -> Iterator[None]:
    """If what is done inside takes long, a line on standard error says what it is."""
    from anabranch.cli.progress import PlainDisplay

    display = PlainDisplay(sys.stderr, progress=not (settings.quiet or settings.no_progress))
    display.on_phase(what)
    try:
        yield
    finally:
        display.close()


def _explore(program: Any, settings: RunSettings, recorder: RunRecorder, started: float) -> RunResult:
    """The exploration; one that a signal breaks off gives what is known so far."""
    from anabranch.explore.engine import explore
    from anabranch.reduce.setup import reductions

    try:
        with _ending_cleanly():
            result: RunResult = explore(
                program, settings, recorder, recorder.directory.path, reductions(settings), started
            )
            return result
    except KeyboardInterrupt as stop:
        result = recorder.known_so_far()
        result.stopped = "terminated" if isinstance(stop, Terminated) else "interrupted"
        result.lose("interrupted", "the run")
        return result


def _exit_code(result: RunResult, settings: RunSettings) -> int:
    if result.stopped == "interrupted":
        return INTERRUPTED
    if result.stopped == "terminated":
        return TERMINATED
    if result.defects:
        return INTERNAL
    return ERRORS_FOUND if settings.errors.fail_on_error and result.errors else OK


def write_exports(settings: RunSettings, errors: Iterable[ErrorRecord]) -> None:
    """The errors in the formats of other tools that the settings ask for."""
    if settings.results.sarif is None:
        return
    from anabranch.report.exporters import ExportError, export, issue_of

    try:
        export("sarif", settings.results.sarif, map(issue_of, errors))
    except ExportError as error:
        raise CommandError(f"--sarif: {error}") from None


def _finish(recorder: RunRecorder, result: RunResult, settings: RunSettings, directory: RunDirectory) -> None:
    document = recorder.finish(result)
    write_exports(settings, result.errors)
    if settings.results.json:
        from anabranch.report.run_json import to_text

        sys.stdout.write(to_text(document))
    elif not settings.display.quiet:
        from anabranch.cli.merge_report import merge_report
        from anabranch.cli.summary import summary
        from anabranch.cli.zeq_report import zeq_report

        print(summary(result, directory.path))
        if settings.group(MergingSettings).report:
            print(merge_report(result.reductions))
        if settings.group(ZSettings).report:
            print(zeq_report(result.reductions))


def _run_project(settings: RunSettings, command: Sequence[str]) -> int:
    """Make one bitcode file as the compile commands of a project say, and run that."""
    from anabranch.wrapper.database import DatabaseError, link_database

    assert settings.build.compile_commands is not None
    with tempfile.TemporaryDirectory(prefix="anabranch-") as place:
        try:
            whole, warnings = link_database(settings.build.compile_commands, settings.inputs, Path(place))
        except DatabaseError as error:
            raise CommandError(str(error), USAGE) from error
        for warning in warnings:
            print(f"anabranch: {warning}", file=sys.stderr)
        cached = _kept_bitcode(whole)
    build = dataclasses.replace(settings.build, compile_commands=None)
    return run(dataclasses.replace(settings, inputs=(cached,), build=build), command)


def _kept_bitcode(whole: Path) -> Path:
    """The file under a name made from its content, so that the run can be replayed and found in the cache."""
    from anabranch.native.tools import place_for

    target = place_for(f"project-{hashlib.sha256(whole.read_bytes()).hexdigest()[:32]}.bc")
    if not target.exists():
        shutil.copy(whole, target.with_suffix(f".{os.getpid()}"))
        os.replace(target.with_suffix(f".{os.getpid()}"), target)
    return target


def _process_age() -> float:
    """Seconds since the process began, starting Python included; 0 where the system does not tell."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def run(settings: RunSettings, command: Sequence[str]) -> int:
    """Explore the program of the settings into a new run directory; returns the exit code."""
    from anabranch.cli.progress import make_display
    from anabranch.replay.record import NAME as PROGRAM_RECORD
    from anabranch.replay.record import record_text
    from anabranch.report.recorder import RunRecorder

    started, before = time.monotonic(), _process_age()
    cpu_before = time.process_time()
    check_inputs(settings)
    if settings.build.compile_commands is not None:
        return _run_project(settings, command)
    with saying("compiling, linking and simplifying", settings.display):
        program = load(settings)
    check_targets(program, settings)
    frontend_seconds = time.monotonic() - started
    emit_ir = settings.build.emit_ir
    if emit_ir is not None:
        try:
            emit_ir.write_text(program.ir_text, "utf-8")
        except OSError as error:
            raise CommandError(f"--emit-ir: cannot write {emit_ir}: {error.strerror}") from None
    if program.libc != "none" and not settings.display.quiet:
        print(
            f"anabranch: linked with {program.libc}, for {program.library_reason or '--libc'}",
            file=sys.stderr,
        )
    display = make_display(settings.display.quiet, settings.display.no_progress)
    directory = create_run_directory(settings.results.output_dir)
    try:
        directory.write_assembly(program.ir_text)
        record = record_text(settings.inputs, Path.cwd(), program.libc, program.library_reason)
        directory.write_text(PROGRAM_RECORD, record)
        recorder = RunRecorder(
            directory,
            command,
            settings.to_json(),
            searcher="\n".join(settings.search.orders),
            all_errors=settings.errors.all_errors,
            display=display,
        )
        try:
            result = _explore(program, settings, recorder, started - before)
        finally:
            if display is not None:
                display.close()
        result.timers.setdefault("frontend", frontend_seconds)
        result.timers.setdefault("total", time.monotonic() - started)
        if result.main_entered is not None:
            result.timers["main"] = result.main_entered - started + before
        result.cpu_seconds = time.process_time() - cpu_before
        _finish(recorder, result, settings, directory)
    except Exception as error:
        # The top level writes the traceback of an unexpected failure beside the results.
        error.run_directory = directory.path  # type: ignore[attr-defined]
        raise
    code = _exit_code(result, settings)
    if settings.results.replay and code in (OK, INTERNAL):
        from anabranch.cli.replay import run_replay
        from anabranch.replay.replay import ReplayOptions

        return run_replay(directory.path, ReplayOptions(), settings.display.quiet) or code
    return code


def main(argv: Sequence[str]) -> int:
    own = argv[: argv.index("--")] if "--" in argv else argv
    if "-h" in own or "--help" in own:
        print_help(own)
        return OK
    gc.disable()  # until the exploration is over: what is made before it, modules and the program, stays
    try:
        return run(settings_from_args(argv), ["anabranch", "run", *argv])
    except SettingsError as error:
        raise CommandError(f"run: {error} (see anabranch run --help)") from None
    except RunDirError as error:
        raise CommandError(f"run: {error}") from None
    finally:
        gc.enable()
