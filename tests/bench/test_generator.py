"""The generator: programs depend on the seed alone, and err only where they mean to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.lib.engine import TestRecord
from bench.lib.generate import Program, generate
from bench.lib.ktest import write_ktest
from bench.lib.native import run_native
from bench.lib.oracle import Truth, draw, native_truth
from bench.lib.replay import build_for_replay, difference

SEEDS = range(1000, 1012)


def test_same_seed_same_program() -> None:
    for seed in range(40):
        assert generate(seed) == generate(seed)
    assert len({generate(seed).text for seed in range(40)}) == 40


def test_inputs_are_numbered_both_ways() -> None:
    for seed in range(20):
        program = generate(seed)
        assert program.input_count <= 65536
        for number in {0, 1, program.input_count // 2, program.input_count - 1}:
            assert program.input_number(dict(program.input_bytes(number))) == number


def _samples(program: Program, truth: Truth, seed: int) -> Iterator[int]:
    """An input for each of some ends."""
    rng = random.Random(seed)
    chosen: dict[int, int] = {}
    for number in rng.sample(range(program.input_count), min(2000, program.input_count)):
        if not truth.excluded(number):
            chosen.setdefault(truth.end_of[number], number)
    yield from list(chosen.values())[:12]


@pytest.mark.parametrize("seed", SEEDS)
def test_oracle_and_checked_build_agree(seed: int, tmp_path: Path) -> None:
    """Two native builds, one with checks in the program's text, one with the compiler's, end alike."""
    program, truth = draw(seed, tmp_path)
    replay = build_for_replay(tmp_path / "program.c", tmp_path, bounds=True)
    for number in _samples(program, truth, seed):
        end = truth.ends[truth.end_of[number]]
        objects = program.input_bytes(number)
        write_ktest(tmp_path / "input.ktest", objects)
        native = run_native(replay, environment={"KTEST_FILE": str(tmp_path / "input.ktest")})
        kind = None if end.kind == "exit" else end.kind
        expected = TestRecord(
            1,
            "exit" if kind is None else "error",
            kind,
            end.line,
            end.code,
            end.output,
            tuple(objects),
            None,
            None,
        )
        assert difference(expected, native) is None, (seed, number)


def test_the_oracle_tells_ends_lines_and_paths(tmp_path: Path) -> None:
    base = generate(0)
    head = base.text.split("STATE static u64 sink")[0]
    lines = [
        "int main(void) {",
        "  u8 x;",
        '  COV klee_make_symbolic(&x, sizeof x, "x");',
        "  COV if (x > 9) {",
        "    COV putchar('a'); return 3;",
        "  }",
        "  COV u8 table[4] = {0};",
        "  COV return table[AT(x, 4)];",
        "}",
        "#ifdef ORACLE",
        "const unsigned oracle_objects = 1, oracle_sizes[] = {1}, oracle_counts[] = {256};",
        "STATE unsigned char unused;",
        "#endif",
    ]
    program = Program(0, head + "\n".join(lines) + "\n", base.inputs[:1], True, False, False)
    truth = native_truth(program, tmp_path)
    first = head.count("\n") + 1
    assert {(e.kind, e.code, e.output) for e in truth.ends} == {
        ("exit", 3, b"a"),
        ("exit", 0, b""),
        ("out-of-bounds", 0, b""),
    }
    assert truth.errors() == {("out-of-bounds", first + 7)}
    assert truth.lines() == {first + k for k in (2, 3, 4, 6, 7)}
    assert truth.path_count() == 3
