"""Random programs: translated and interpreted agree, and every test ends as its path predicted."""

from __future__ import annotations

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.frontend import Program
from anabranch.ir import read_module
from tests.machine.harness import Outcome, run_program
from tests.machine.random_ir import Generator

Ends = list[tuple[str, str, int]]


def run_text(text: str, *options: str) -> Outcome:
    program = Program(read_module(text), text, "main", ())
    return run_program(program, settings_from_args(["program.ll", "--tests", "all", *options]))


def ends(outcome: Outcome) -> Ends:
    """How the paths of a run end, whatever values their tests have."""
    return [
        (t.end, t.kind or "", -1 if t.exit_code is None else t.exit_code) for t in outcome.collector.tests
    ]


@pytest.mark.parametrize("seed", range(12))
def test_random_program(seed: int) -> None:
    program = Generator(seed)
    symbolic = program.text(None)
    translated = run_text(symbolic, "--search", "dfs")
    interpreted = run_text(symbolic, "--interpret")
    assert translated.result.complete and interpreted.result.complete
    kinds = [sorted(end[:2] for end in ends(outcome)) for outcome in (translated, interpreted)]
    assert kinds[0] == kinds[1]
    for outcome in (translated, interpreted):
        for test, end in list(zip(outcome.collector.tests, ends(outcome), strict=True))[:6]:
            inputs = dict(test.objects)
            a, b = (int.from_bytes(inputs.get(name, bytes(4)), "little") for name in "ab")
            for how in ((), ("--interpret",)):
                concrete = run_text(program.text((a, b)), *how)
                assert ends(concrete) == [end], (a, b)
