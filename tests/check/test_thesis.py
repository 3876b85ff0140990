"""The thesis' examples of structural abstraction, with the exact number of expansions."""

from __future__ import annotations

import pytest

from anabranch.check.leaves import Memory
from anabranch.check.refine import PROVED, REFUTED
from anabranch.check.settings import CheckSettings
from anabranch.expr import evaluate
from tests.check.support import SUBJECTS, answers, checked, opened

ASSERTIONS = CheckSettings(properties=("assert",))

CASES = {
    "example6": (PROVED, ["flip:memory", "flip:ret"]),
    "example6_wrong": (REFUTED, ["flip:memory", "flip:ret", "init:ret"]),
    "step": (REFUTED, ["rd:ret", "rd:ret"]),
    "dice": (REFUTED, ["rd:ret", "rd:ret"]),
}


@pytest.mark.parametrize("name", CASES)
def test_expansions(name: str) -> None:
    verdict, expansions = CASES[name]
    ((_, answer),) = answers(SUBJECTS / f"{name}.c", ASSERTIONS)
    assert answer.verdict == verdict
    assert opened(answer) == expansions


def test_equal_calls_are_one_operator() -> None:
    """The comparison of the two results folds: there is not even a condition."""
    _, result = checked(SUBJECTS / "same.c", ASSERTIONS)
    assert result.conditions == 0 and result.queries == 0 and not result.findings


def test_the_input_of_the_refutation_is_zero() -> None:
    checker, result = checked(SUBJECTS / "example6_wrong.c", ASSERTIONS)
    (finding,) = result.findings
    (memory,) = [
        leaf for index in finding.answer.model if isinstance(leaf := checker.program.leaves.at(index), Memory)
    ]
    assert memory.base is checker.program.leaves.global_object("global1")
    assert finding.answer.model[memory.var.a] == 0
    assert evaluate(finding.bad, finding.answer.model)
