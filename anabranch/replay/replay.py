"""All tests of a run, natively: built, started with their inputs, compared, covered."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.native.run import NativeRun, Streams, run_native
from anabranch.replay import model
from anabranch.replay.answers import answers_text
from anabranch.replay.build import Built, build_native, build_witness
from anabranch.replay.coverage import Gathered
from anabranch.replay.inputs import Inputs, Objects, inputs_of, write_files
from anabranch.replay.outcome import difference, ended, is_prediction
from anabranch.replay.place import Place, can_have_root, make_place
from anabranch.replay.record import ProgramRecord, ReplayError, read_record
from anabranch.replay.witness import KIND, SIZE, Line, depends_on_fresh_memory, lines_of_errors
from anabranch.report.ktest import KTestError, encode, read_ktest
from anabranch.report.result import Coverage
from anabranch.report.run_json import coverage_json

RESULT = "replay.json"
_TEST = re.compile(r"test(\d+)\.ktest")


@dataclass(frozen=True, slots=True)
class Predicted:
    """The line of `tests.jsonl` about a test."""

    number: int
    end: str
    kind: str | None = None
    exit_code: int | None = None
    output: bytes | None = None
    answers: Mapping[str, Any] | None = None
    """What functions without a body answered."""
    uninitialised: bool = False
    """Does that hold only for some contents of uninitialised memory, which the test does not have?"""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One test: how it was to end, how it ended, and what differs (None: nothing)."""

    predicted: Predicted
    native: NativeRun
    problem: str | None
    compared: bool
    shown: bool = False
    """Runs that differ in the contents of fresh memory only have shown the use of it that was predicted."""


@dataclass
class Replay:
    """The outcome of a replay."""

    tests: list[Replayed] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    coverage: Coverage | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[Replayed]:
        return [test for test in self.tests if test.problem is not None]

    @property
    def agrees(self) -> bool:
        return not self.problems and not self.unreadable


def predictions(run_directory: Path) -> dict[int, Predicted]:
    """What `tests.jsonl` says, by number of the test."""
    found: dict[int, Predicted] = {}
    listing = run_directory / "tests.jsonl"
    if not listing.exists():
        return found
    for line in listing.read_text("utf-8").splitlines():
        try:
            entry: dict[str, Any] = json.loads(line)
            output = entry.get("output")
            number = int(entry["test"])
            found[number] = Predicted(
                number,
                str(entry["end"]),
                entry.get("kind"),
                entry.get("exit_code"),
                None if output is None else bytes.fromhex(output),
                entry.get("answers"),
                bool(entry.get("uninitialised")),
            )
        except (ValueError, KeyError, TypeError):
            continue  # the last line of a run that was killed
    return found


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How to replay: a program of the user's own, or a build with or without checks."""

    program: Path | None = None
    checks: bool = True
    time_limit: float = 10.0


class Replayer:
    """Runs tests of one run directory, each in a fresh directory."""

    def __init__(
        self, record: ProgramRecord, options: ReplayOptions, built: Built | None, scratch: Path
    ) -> None:
        self.record = record
        self.options = options
        self.scratch = scratch
        self.built = built
        self.gathered = Gathered(built.coverage) if built is not None else None

    def run(self, test: Path, predicted: Predicted) -> Replayed:
        """One test; KTestError if its file is broken."""
        objects = own_objects(test, predicted)
        inputs = inputs_of(self.record.arguments, objects)
        program = self.built.program if self.built is not None else self.options.program
        assert program is not None
        with self._place(program, objects, predicted) as place:
            native = self._run(place, inputs)
            if self.gathered is not None:
                self.gathered.add_file(place.counters)
        answered = predicted.answers is None or "unsupported" not in predicted.answers
        told = answered and not predicted.uninitialised
        compared = is_prediction(predicted) and not inputs.failing and told
        return Replayed(predicted, native, difference(predicted, native) if compared else None, compared)

    def depends_on_fresh_memory(self, test: Path, predicted: Predicted, line: Line) -> bool:
        """Whether what a test does natively depends on memory that the program never wrote."""
        program = build_witness(self.record, self.scratch, (line,))

        def run(filling: int) -> tuple[NativeRun, bytes]:
            objects = own_objects(test, predicted)
            inputs = inputs_of(self.record.arguments, objects)
            with self._place(program, objects, predicted) as place:
                place.counters.write_bytes(bytes(SIZE))
                native = self._run(place, inputs, filling)
                return native, place.counters.read_bytes()

        return depends_on_fresh_memory(run)

    @contextlib.contextmanager
    def _place(self, program: Path, objects: Objects, predicted: Predicted) -> Iterator[Place]:
        test = self.scratch / "test.ktest"
        test.write_bytes(encode(objects))
        try:
            place = make_place(self.scratch, program, test, can_have_root(self.built is not None))
            if predicted.answers is not None and "calls" in predicted.answers:
                place.answers.write_text(answers_text(predicted.answers))
            yield place
        finally:
            shutil.rmtree(self.scratch / "place", ignore_errors=True)

    def _run(self, place: Place, inputs: Inputs, filling: int | None = None) -> NativeRun:
        """Start the program with files, arguments, input and environment of a test.

        `filling` says what fresh memory holds in a program built to show that.
        """
        settings = self.record.settings
        for host, guest in settings.get("files") or ():
            target = place.guest(str(guest))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.record.directory / host, target)
        write_files(inputs.files, place.files)
        if settings.get("stdin") and inputs.stdin is None:
            inputs.stdin = (self.record.directory / str(settings["stdin"])).read_bytes()
            inputs.stdin_regular = True
        given = settings.get("env") or ()
        environment = {str(name).encode(): str(value).encode() for name, value in given} | inputs.environment
        if inputs.own_objects or not self.record.arguments:
            environment[b"KTEST_FILE"] = os.fsencode(place.seen(place.test))
        if self.built is not None:
            record = b"ANABRANCH_COVERAGE" if filling is None else b"ANABRANCH_WITNESS"
            environment[record] = os.fsencode(place.seen(place.counters))
            if place.answers.exists():
                environment[b"ANABRANCH_ANSWERS"] = os.fsencode(place.seen(place.answers))
            environment[b"ANABRANCH_NODES"] = os.fsencode(place.seen(place.nodes))
            place.nodes.write_text(model.prepare(place, inputs, settings))
        if filling is not None:
            environment[b"ANABRANCH_FRESH"] = b"%d" % filling
        return run_native(
            place.seen(place.program),
            arguments=inputs.arguments,
            environment=environment,
            time_limit=self.options.time_limit,
            cwd=place.seen(place.files),
            stdin=inputs.stdin,
            streams=Streams(
                self.scratch / "stdin" if inputs.stdin_regular else None,
                self.scratch / "stdout" if inputs.stdout_regular else None,
            ),
            name=str(settings.get("program_name") or "program"),
            root=place.root,
            prepare=model.as_modelled if self.built is not None else None,
        )


def own_objects(test: Path, predicted: Predicted) -> Objects:
    """The objects of a test without the answers of unknown functions, which nobody asks for by name."""
    answers = frozenset(predicted.answers["names"]) if predicted.answers is not None else frozenset()
    return [(name, data) for name, data in read_ktest(test).objects if name not in answers]


def replay(
    run_directory: Path, options: ReplayOptions, progress: Callable[[int, int], None] | None = None
) -> Replay:
    """Replay a run and write `replay.json`; ReplayError or NativeError if there is nothing to replay with."""
    record = read_record(run_directory)
    result = Replay()
    predicted = predictions(run_directory)
    tests = sorted((int(m[1]), p) for p in run_directory.iterdir() if (m := _TEST.fullmatch(p.name)))
    if options.program is None:
        result.warnings += [f"{path} has changed since the run" for path in record.changed() if record.inputs]
    elif not options.program.is_file():
        raise ReplayError(f"{options.program}: no such program")
    with tempfile.TemporaryDirectory(prefix="anabranch-replay-") as name:
        scratch = Path(name)
        built = build_native(record, scratch, checks=options.checks) if options.program is None else None
        replayer = Replayer(record, options, built, scratch)
        for position, (number, path) in enumerate(tests):
            try:
                result.tests.append(replayer.run(path, predicted.get(number, Predicted(number, "unknown"))))
            except (KTestError, OSError) as error:
                result.unreadable.append(f"{path.name}: {error}")
            if progress is not None:
                progress(position + 1, len(tests))
        if built is not None:
            _show_uninitialised(replayer, result, run_directory, dict(tests))
        if replayer.gathered is not None:
            result.coverage = replayer.gathered.coverage()
    (run_directory / RESULT).write_text(json.dumps(to_json(result), indent=2) + "\n", "utf-8")
    return result


def _show_uninitialised(
    replayer: Replayer, result: Replay, run_directory: Path, tests: Mapping[int, Path]
) -> None:
    """Settle tests that predict a use of uninitialised memory, which a run alone does not show."""
    lines = lines_of_errors(run_directory)
    for position, test in enumerate(result.tests):
        number = test.predicted.number
        if test.problem is None or test.predicted.kind != KIND or number not in lines:
            continue
        if replayer.depends_on_fresh_memory(tests[number], test.predicted, lines[number]):
            result.tests[position] = dataclasses.replace(test, problem=None, shown=True)


def to_json(result: Replay) -> dict[str, Any]:
    """The content of `replay.json`."""
    document: dict[str, Any] = {
        "agrees": result.agrees,
        "tests": len(result.tests),
        "compared": sum(test.compared for test in result.tests),
        "depend_on_uninitialised": [
            test.predicted.number for test in result.tests if test.predicted.uninitialised
        ],
        "shown_by_fresh_memory": [test.predicted.number for test in result.tests if test.shown],
        "differ": [
            {
                "test": test.predicted.number,
                "problem": test.problem,
                "predicted": test.predicted.kind or test.predicted.end,
                "native": ended(test.native),
                "stdout": test.native.stdout[:4096].hex(),
                "stderr": test.native.stderr[-4096:].decode("utf-8", "replace"),
            }
            for test in result.problems
        ],
        "unreadable": result.unreadable,
        "warnings": result.warnings,
    }
    if result.coverage is not None:
        document["coverage"] = coverage_json(result.coverage)
    return document
