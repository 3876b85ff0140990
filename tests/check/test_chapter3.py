"""The thesis' examples of structure-preserving symbolic execution: equivalent to what is printed, no
larger."""

from __future__ import annotations

import pytest

from anabranch.check.decide import Decider
from anabranch.check.gate import Gated
from anabranch.check.settings import CheckSettings
from anabranch.check.summaries import RETURNED
from anabranch.expr import Expr, Value, add, ite, ne, postorder, slt
from anabranch.solver.backend import UNSAT
from tests.check.support import SUBJECTS, checked


@pytest.fixture
def functions() -> dict[str, Gated]:
    checker, _ = checked(SUBJECTS / "chapter3.c", CheckSettings(properties=()))
    return checker.program.functions


def gamma(condition: Value, yes: Value, no: Value) -> Value:
    return ite(condition, yes, no, 32)


def same(actual: Value, printed: Value) -> None:
    """Equal for all values, and not larger."""
    different = ne(actual, printed, 32)
    if different.__class__ is Expr:
        assert Decider().solve([different], 1_000_000) is UNSAT
    else:
        assert different is False
    assert size(actual) <= size(printed)


def size(value: Value) -> int:
    return len(postorder([value])) if value.__class__ is Expr else 0


def parameters(gated: Gated) -> list[Expr]:
    return [gated.parameter_value(p.index) for p in gated.function.params]


def test_example1(functions: dict[str, Gated]) -> None:
    gated = functions["example1"]
    a, b, y0 = parameters(gated)
    total = add(a, b, 32)
    printed = gamma(slt(total, 0, 32), y0, add(add(y0, a, 32), b, 32))
    same(gated.effects.value(RETURNED), printed)


def test_example2(functions: dict[str, Gated]) -> None:
    """B7 sees the definition of B3, whichever way leads there from B3."""
    gated = functions["example2"]
    _, c1, _ = parameters(gated)
    same(gated.effects.value(RETURNED), gamma(c1, 2, 3))


def test_example4(functions: dict[str, Gated]) -> None:
    """Equations 3.1 to 3.3, and the returned value."""
    gated = functions["example4"]
    leaves = gated.program.leaves
    p0, c1, c2, c3, c6, c7 = parameters(gated)
    g1, g2 = leaves.global_object("g1"), leaves.global_object("g2")
    at_p0, at_g1, at_g2 = (leaves.memory(base, 0, 32) for base in (p0, g1, g2))

    def memory(base: Expr) -> Value:
        return gated.effects.value(("memory", base, 0, 32))

    same(memory(p0), gamma(c1, at_p0, 7))
    same(memory(g1), gamma(c1, at_g1, gamma(c2, at_g1, gamma(c6, 0, at_g1))))
    same(memory(g2), gamma(c1, at_g2, gamma(c2, at_g2, gamma(c6, at_g2, gamma(c7, 0, at_g2)))))
    step = gamma(c3, 0, 1)
    same(gated.effects.value(RETURNED), gamma(c1, step, gamma(c2, add(at_p0, step, 32), 0)))


def test_figure32(functions: dict[str, Gated]) -> None:
    """32 paths and six definitions that reach the end: one choice a branch."""
    gated = functions["figure32"]
    p, *conditions = parameters(gated)
    printed: Value = gated.program.leaves.memory(p, 0, 32)
    for number, condition in enumerate(conditions, 1):
        printed = gamma(condition, number, printed)
    same(gated.effects.value(RETURNED), printed)
    assert size(printed) == 11
