"""Compares what the engine found in a generated program with what native runs of all its inputs say."""

from __future__ import annotations

from pathlib import Path

from bench.lib.engine import EngineRun, TestRecord
from bench.lib.generate import Program
from bench.lib.oracle import End, Truth

MARK = "COV "


def marked_lines(program: Program) -> set[int]:
    """Lines that start a statement: where native coverage can tell."""
    return {n for n, line in enumerate(program.text.split("\n"), 1) if line.lstrip().startswith(MARK)}


def predicted_end(test: TestRecord, error_lines: dict[int, int]) -> End:
    """The end that the engine predicts for a test, in the oracle's words."""
    if test.end == "exit":
        return End("exit", 0, (test.exit_code or 0) & 0xFF, test.output)
    line = test.line if test.line is not None else error_lines.get(test.number, 0)
    return End(test.kind or "?", line, 0, test.output)


def differences(program: Program, truth: Truth, run: EngineRun, source: Path) -> list[str]:
    """Everything on which engine and native runs disagree, one line each."""
    found: list[str] = []
    if not run.complete:
        found.append(f"the run is not complete: {run.run['losses'] or run.run.get('stopped')}")
    if len(run.tests) != run.paths:
        found.append(f"{len(run.tests)} tests for {run.paths} paths")
    error_lines = {int(e["test"]): int(e["line"]) for e in run.run["errors"] if e.get("test")}
    predicted = {t.number: predicted_end(t, error_lines) for t in run.tests}
    numbers = _inputs(program, truth, run, found)
    _ends(program, truth, run, predicted, numbers, found)
    _lines(program, truth, run, numbers, source, found)
    _paths(program, truth, run, numbers, found)
    return found


def differences_of_covering(program: Program, truth: Truth, run: EngineRun, source: Path) -> list[str]:
    """The same for a run that writes tests of new coverage and of errors only.

    Every test still ends as predicted, and errors and covered lines are those of all inputs.
    """
    found: list[str] = []
    if not run.complete:
        found.append(f"the run is not complete: {run.run['losses'] or run.run.get('stopped')}")
    if not run.tests:
        found.append("no test")
    error_lines = {int(e["test"]): int(e["line"]) for e in run.run["errors"] if e.get("test")}
    predicted = {t.number: predicted_end(t, error_lines) for t in run.tests}
    numbers = _inputs(program, truth, run, found)
    _tests(truth, predicted, numbers, found)
    _errors(truth, run, found)
    _lines(program, truth, run, numbers, source, found)
    return found


def _inputs(program: Program, truth: Truth, run: EngineRun, found: list[str]) -> dict[int, int]:
    """Test number -> input number, for tests whose input is one of the program's."""
    numbers: dict[int, int] = {}
    seen: dict[int, int] = {}
    for test in run.tests:
        objects = dict(test.objects)
        if set(objects) != {i.name for i in program.inputs}:
            found.append(f"test {test.number}: objects {sorted(objects)}")
            continue
        number = program.input_number(objects)
        if number < 0 or truth.excluded(number):
            found.append(f"test {test.number}: its input {_shown(objects)} is excluded by an assumption")
            continue
        if number in seen:
            found.append(f"tests {seen[number]} and {test.number} have the same input {_shown(objects)}")
        seen[number] = test.number
        numbers[test.number] = number
    return numbers


def _ends(
    program: Program,
    truth: Truth,
    run: EngineRun,
    predicted: dict[int, End],
    numbers: dict[int, int],
    found: list[str],
) -> None:
    _tests(truth, predicted, numbers, found)
    reached, claimed = truth.reached(), set(predicted.values())
    if program.exact:
        found += [f"end never found: {_end(e)}" for e in sorted(reached - claimed, key=_end)]
    _errors(truth, run, found)


def _tests(truth: Truth, predicted: dict[int, End], numbers: dict[int, int], found: list[str]) -> None:
    for test, number in numbers.items():
        native = truth.ends[truth.end_of[number]]
        if predicted[test] != native:
            found.append(
                f"test {test}, input {number}: predicted {_end(predicted[test])}, native {_end(native)}"
            )


def _errors(truth: Truth, run: EngineRun, found: list[str]) -> None:
    errors = run.errors()
    found += [f"error never found: {kind} at line {line}" for kind, line in sorted(truth.errors() - errors)]
    found += [
        f"error that no input shows: {kind} at line {line}" for kind, line in sorted(errors - truth.errors())
    ]


def _lines(
    program: Program, truth: Truth, run: EngineRun, numbers: dict[int, int], source: Path, found: list[str]
) -> None:
    covered, total = run.covered_lines(source)
    comparable = total & marked_lines(program)
    if not comparable:
        found.append("no line of the program can be compared")
    native = truth.lines() & comparable
    if native != covered & comparable:
        missed, extra = sorted(native - covered), sorted((covered & comparable) - native)
        found.append(f"covered lines: missed {missed}, not reachable {extra}")
    for test in run.tests:
        if test.lines is not None and test.number in numbers:
            expected = truth.covers[truth.cover_of[numbers[test.number]]] & comparable
            if expected != test.lines & comparable:
                difference = sorted(expected ^ (test.lines & comparable))
                found.append(f"test {test.number}: lines of the path differ: {difference}")


def _paths(program: Program, truth: Truth, run: EngineRun, numbers: dict[int, int], found: list[str]) -> None:
    """Every sequence of basic blocks has a test; without forks in library calls, exactly one."""
    native = {truth.path_of[n] for n in range(program.input_count) if not truth.excluded(n)}
    engine = {truth.path_of[n] for n in numbers.values()}
    if engine != native:
        found.append(f"{len(native - engine)} of {len(native)} native paths have no test")
    if not program.library_forks and run.paths != len(native):
        found.append(f"{run.paths} paths, natively {len(native)}")


def _shown(objects: dict[str, bytes]) -> str:
    return " ".join(f"{name}={data.hex()}" for name, data in objects.items())


def _end(end: End) -> str:
    if end.kind == "exit":
        return f"exit {end.code} output {end.output.hex() or '-'}"
    return f"{end.kind} at line {end.line} output {end.output.hex() or '-'}"
