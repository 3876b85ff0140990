"""Verdicts on generated programs against exhaustive exploration by the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.check.settings import CheckSettings
from anabranch.cli.main import main
from tests.check import pointer_oracle
from tests.check.generate import program
from tests.check.support import checked

SETTINGS = CheckSettings(properties=("assert",), polls=200_000, condition_polls=400_000, function_polls=10**9)


def explored(source: Path, out: Path) -> set[int]:
    """Lines of the assertions that fail on some path."""
    flags = ["--all-errors", "--no-progress", "-q", "--output-dir", str(out)]
    assert main(["run", str(source), *flags]) == 0
    document = json.loads((out / "run.json").read_text())
    assert document["complete"]
    return {error["line"] for error in document["errors"]}


def compare(seed: int, loops: bool, directory: Path, limits: bool = False) -> None:
    source = directory / "program.c"
    source.write_text(program(seed, loops, limits))
    _, result = checked(source, SETTINGS)
    assert not result.losses
    refuted = {f.condition.loc.line for f in result.findings if f.condition.loc is not None}
    certain = {
        f.condition.loc.line for f in result.findings if f.condition.loc is not None and not f.approximate
    }
    failing = explored(source, directory / "out")
    assert certain <= failing
    if not result.verdicts["undecided"]:
        assert failing <= refuted


@pytest.mark.parametrize("seed", range(15))
def test_without_loops(seed: int, tmp_path: Path) -> None:
    compare(seed, False, tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_pointers(seed: int, tmp_path: Path) -> None:
    comparison = pointer_oracle.compare(seed, tmp_path)
    assert not comparison.missed and not comparison.false


@pytest.mark.parametrize("seed", [*range(500, 508), 10_059])
def test_with_loops(seed: int, tmp_path: Path) -> None:
    compare(seed, True, tmp_path)


@pytest.mark.parametrize("seed", range(700, 706))
def test_with_unknown_limits(seed: int, tmp_path: Path) -> None:
    compare(seed, True, tmp_path, limits=True)
