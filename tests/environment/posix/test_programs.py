"""The same C programs natively and in the engine: structures, results of calls, contents."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.environment.libc_oracle import compile_native
from tests.machine.harness import Outcome, run_files

PROGRAMS = Path(__file__).parent / "programs"


def run_native(program: str, directory: Path) -> tuple[int, str]:
    binary = directory / "program"
    compile_native([PROGRAMS / program, PROGRAMS / "native.c"], binary, "-fno-sanitize=all")
    work = directory / "work"
    work.mkdir()
    done = subprocess.run(
        [binary], cwd=work, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, umask=0o022, timeout=300
    )
    return done.returncode, done.stdout.decode()


def only_test(outcome: Outcome) -> tuple[int | None, str]:
    assert not outcome.losses() and not outcome.errors()
    (test,) = outcome.collector.tests
    return test.exit_code, (test.output or b"").decode()


@pytest.mark.parametrize("program", ["layouts.c", "input_output.c"])
def test_a_program_does_in_the_model_what_it_does_natively(program: str, tmp_path: Path) -> None:
    code, text = run_native(program, tmp_path)
    modelled_code, modelled_text = only_test(run_files([PROGRAMS / program]))
    assert modelled_text.split("\n") == text.split("\n")
    assert modelled_code == code
