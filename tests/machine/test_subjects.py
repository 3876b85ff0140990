"""Every subject, translated and interpreted, in two orders: the same results, and the expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from tests.machine.harness import (
    SUBJECTS,
    Expectations,
    Outcome,
    error_text,
    load,
    read_expectations,
    run_program,
)

FILES = sorted([*SUBJECTS.glob("*.c"), *SUBJECTS.glob("*.ll")])
VARIANTS: Sequence[tuple[str, ...]] = (
    ("--search", "dfs"),
    (),
    ("--search", "dfs", "--interpret"),
    ("--interpret", "--batch-forks", "1"),
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_subject(path: Path) -> None:
    wanted = read_expectations(path.read_text())
    arguments = [str(path), "--tests", "all", *wanted.options]
    program = load(settings_from_args(arguments))
    first = run_program(program, settings_from_args([*arguments, *VARIANTS[0]]))
    check(first, wanted)
    expected = first.summary()
    instructions = {False: first.result.instructions}
    for variant in VARIANTS[1:]:
        other = run_program(program, settings_from_args([*arguments, *variant]))
        found = other.summary()
        how = " ".join(variant) or "the default search"
        for key, value in expected.items():
            assert found[key] == value, f"{key} with {how}"
        # An instruction that the interpreter forks in counts on both sides.
        counted = instructions.setdefault("--interpret" in variant, other.result.instructions)
        assert counted == other.result.instructions, f"instructions with {how}"


def check(outcome: Outcome, wanted: Expectations) -> None:
    result, collector = outcome.result, outcome.collector
    errors = outcome.errors()
    shown = [(e.kind, e.line, e.message) for e in collector.errors]
    assert errors == sorted(wanted.errors), shown
    losses = outcome.losses()
    for start in wanted.losses:
        assert any(kind.startswith(start) for kind in losses), losses
    for kind in losses:
        assert any(kind.startswith(start) for start in wanted.losses), losses
    assert result.complete == (not wanted.losses)
    if wanted.paths is not None:
        assert (result.paths_exit, result.paths_error) == wanted.paths
    ended = [test for test in collector.tests if test.end == "exit"]
    if wanted.exit_codes is not None:
        assert {test.exit_code for test in ended} == wanted.exit_codes
    if wanted.outputs is not None:
        assert {test.output for test in collector.tests} == wanted.outputs
    for text in wanted.warnings:
        assert any(text in warning for warning in collector.warnings), collector.warnings
    for line, text in wanted.messages:
        texts = [error_text(error) for error in collector.errors if error.line == line]
        assert any(text in one for one in texts), texts
    for inputs in wanted.tests:
        assert any(inputs.items() <= dict(test.objects).items() for test in collector.tests), collector.tests
    assert_tests_reproduce(outcome)


def assert_tests_reproduce(outcome: Outcome) -> None:
    """Every path has its test, and every error names one that ends as it says."""
    collector = outcome.collector
    assert len(collector.tests) == outcome.result.paths_total
    for error in collector.errors:
        assert error.test is not None
        test = collector.tests[error.test - 1]
        assert (test.end, test.kind) == ("error", error.kind)


@pytest.mark.parametrize("level", ["0", "2"])
@pytest.mark.parametrize("name", ["unused_faults.c", "memory_errors.c", "other_errors.c", "uninitialised.c"])
def test_errors_are_the_same_at_every_level(name: str, level: str) -> None:
    path = SUBJECTS / name
    wanted = read_expectations(path.read_text())
    settings = settings_from_args([str(path), "-O", level, *wanted.options])
    assert run_program(load(settings), settings).errors() == sorted(wanted.errors)
