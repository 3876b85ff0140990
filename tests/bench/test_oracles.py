"""A sample of every oracle under bench/, by the same functions."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from bench import bad_input, csmith_run, exhaustive, opcodes, partition, reference, replay
from bench.lib import size_programs
from bench.lib.bad_cases import CASES
from bench.lib.opcode_cases import cases_of
from bench.lib.opcode_ir import Case
from bench.lib.subjects import SUBJECTS, Subject

SMALL = [s for s in SUBJECTS if s.paths <= 320]


def named(subject: Subject) -> str:
    return subject.name


@pytest.mark.parametrize("seed", [1, 3, 9, 11, 12, 266])
def test_exhaustive(seed: int) -> None:
    verdict = exhaustive.check_seed(seed)
    assert verdict.problems == [] and verdict.paths > 0 and verdict.lines > 0


@pytest.mark.parametrize("seed", [0, 6, 12, 15])
def test_exhaustive_with_objects_of_unknown_size(seed: int) -> None:
    verdict = exhaustive.check_seed(seed, extra=size_programs.FLAGS, kind="sizes")
    assert verdict.problems == [] and verdict.errors > 0


@pytest.mark.parametrize("seed", [3, 4, 9])
def test_partition_of_generated_programs(seed: int) -> None:
    row = partition.check_seed(seed)
    assert row.problems == [] and row.how == "all inputs"


@pytest.mark.parametrize("subject", SMALL, ids=named)
def test_partition_of_subjects(subject: Subject) -> None:
    row = partition.check_subject(subject)
    assert row.problems == [] and row.paths == subject.paths


@pytest.mark.parametrize("seed", [11, 12])
def test_replay_of_generated_programs(seed: int) -> None:
    row = replay.replay_seed(seed)
    assert row.tally.problems == [] and row.tally.tests > 0


@pytest.mark.parametrize("subject", SMALL, ids=named)
def test_replay_and_counts_of_subjects(subject: Subject) -> None:
    row = replay.replay_subject(subject, None)
    assert row.tally.problems == []
    assert (row.tally.tests, row.tally.errors) == (subject.paths, subject.errors)


@pytest.mark.parametrize("search", ["dfs", None])
def test_reference_counts(search: str | None) -> None:
    measure = reference.Measure(None, check_bars=False)
    subject = next(s for s in SMALL if s.file == "maze.c")
    row = measure.subject(subject, search, "all")
    assert row.problems == [] and row.tests == subject.paths


@pytest.mark.parametrize("group", ["binary", "float", "convert", "memory"])
def test_opcodes(group: str) -> None:
    for row in opcodes.check_group(group, 3, modes=("concrete",)):
        assert row.problems == []


@pytest.mark.parametrize("group", ["casts", "vectors"])
def test_opcodes_symbolically(group: str) -> None:
    for row in opcodes.check_group(group, 2, modes=("symbolic",)):
        assert row.problems == []


def test_a_wrong_result_of_an_opcode_is_seen(tmp_path: Path) -> None:
    cases = [c for c in cases_of("binary", 3) if c.name in ("add i13", "srem i33")]
    native = opcodes.native_results(cases, tmp_path)
    wrong = bytes([native[0] ^ 1]) + native[1:]
    row = opcodes.Row("binary", "concrete")
    opcodes.concrete(cases, wrong, tmp_path, row)
    assert len(row.problems) == 1 and row.problems[0].startswith(cases[0].name)
    row = opcodes.Row("binary", "symbolic")
    opcodes.symbolic(cases, wrong, tmp_path, row)
    assert len(row.problems) == 1 and row.problems[0].startswith(cases[0].name)


def test_differences_of_opcodes_are_named_once() -> None:
    case = Case("add i8", (8, 8), ("%r = add i8 %a, %b",), 8, ((1, 2), (3, 4)))
    right = (3).to_bytes(16, "little") + (7).to_bytes(16, "little")
    assert opcodes.first_differences([case], right, right) == []
    assert opcodes.first_differences([case], right, bytes(32)) == ["add i8: (0x1, 0x2) is 0x3, engine 0x0"]


@pytest.mark.parametrize(
    "name",
    ["absent file", "syntax error", "bitcode cut in half", "unknown opcode", "output directory exists"],
)
def test_bad_input(name: str) -> None:
    answer = bad_input.check_case(next(c for c in CASES if c.name == name))
    assert answer.problems == []


def test_there_are_enough_bad_inputs() -> None:
    assert len({c.name for c in CASES}) == len(CASES) >= 40


def test_killed_in_mid_run() -> None:
    assert bad_input.signalled(signal.SIGKILL, (-signal.SIGKILL,)).problems == []


@pytest.mark.skipif(csmith_run.missing() is not None, reason=csmith_run.missing() or "")
@pytest.mark.parametrize("seed", [5, 13])
def test_csmith(seed: int) -> None:
    assert csmith_run.check_seed(seed).outcome == "equal"
