"""The thesis' examples of structural abstraction, with the exact number of expansions."""

from __future__ import annotations

import pytest

from anabranch.check.leaves import Memory, Operator
from anabranch.check.refine import PROVED, REFUTED
from anabranch.check.settings import CheckSettings
from anabranch.check.summaries import RETURNED
from anabranch.expr import Expr, eq, evaluate, ite, neg, slt
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


def test_figure41() -> None:
    """The graphs of Example 6: (a) all closed, (b) with `flip:ret` opened, (c) with `flip:global2` too.
    `init:ret` is one operator in all of them."""
    checker, _ = checked(SUBJECTS / "example6.c", ASSERTIONS)
    leaves, summaries = checker.program.leaves, checker.program.summaries
    (condition,) = checker.program.functions["scale"].conditions
    (global2,) = leaves.support(condition.bad)
    returned = next(leaf for a in condition.antecedents for leaf in leaves.support(a))
    assert isinstance(global2, Operator) and isinstance(returned, Operator)
    assert condition.bad is eq(global2.var, 0, 32) and condition.antecedents == (returned.var,)
    (init,) = returned.operands or ()
    assert init.__class__ is Expr and global2.operands == (init,)
    inner = leaves.of(init)
    assert isinstance(inner, Operator) and (inner.function, inner.effect) == ("init", RETURNED)
    assert inner.operands == (leaves.memory(leaves.global_object("global1"), 0, 32),)
    assert summaries.expanded(returned) is slt(init, 0, 32)
    assert summaries.expanded(global2) is ite(slt(init, 0, 32), neg(init, 32), init, 32)


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
