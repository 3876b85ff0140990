"""The thesis' examples of structure-preserving symbolic execution: equivalent to what is printed, no
larger."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.check.decide import Decider
from anabranch.check.driver import Checker
from anabranch.check.gate import Gated
from anabranch.check.settings import CheckSettings
from anabranch.check.summaries import RETURNED
from anabranch.expr import Expr, Value, add, expr_vars, ite, ne, postorder, slt
from anabranch.expr.node import NOT
from anabranch.ir.reader import read_module
from anabranch.solver.backend import UNSAT
from tests.check.support import SUBJECTS, checked


@pytest.fixture
def functions() -> dict[str, Gated]:
    checker, _ = checked(SUBJECTS / "chapter3.c", CheckSettings(properties=()))
    return checker.program.functions


Printed = tuple[Any, Any, Any] | Value
"""An expression as the thesis prints it: a gamma function is a tuple, and nothing is simplified."""


def choice(condition: Value, yes: Value, no: Value) -> Value:
    return ite(condition, yes, no, 32)


def folded(printed: Printed) -> Value:
    if not isinstance(printed, tuple):
        return printed
    condition, yes, no = printed
    return choice(condition, folded(yes), folded(no))


def same(actual: Value, printed: Printed, width: int = 32, sums: int = 0, negations: int = 0) -> None:
    """Equal for all values, and not larger; `sums` of zero are printed too, which fold here.

    A negation is no node: a printed choice has it in the order of its sides, and it is an edge of the graph
    that a solver works on. Where negations count on both sides, what is printed is compared in the form that
    `ite` gives it, and `negations` are more.
    """
    different = ne(actual, folded(printed), width)
    if different.__class__ is Expr:
        assert Decider().solve([different], 1_000_000) is UNSAT
    else:
        assert different is False
    assert len(nodes(actual)) <= len(nodes(printed)) + sums
    assert len(nodes(actual, NOT)) <= len(nodes(folded(printed), NOT)) + negations


def nodes(printed: Printed, *negation: int) -> set[object]:
    if isinstance(printed, tuple):
        return {printed}.union(*map(nodes, printed))
    if printed.__class__ is not Expr:
        return set()
    return {n for n in postorder([printed]) if n.op != NOT or NOT in negation}


def parameters(gated: Gated) -> list[Expr]:
    return [gated.parameter_value(p.index) for p in gated.function.params]


def test_example1(functions: dict[str, Gated]) -> None:
    gated = functions["example1"]
    a, b, y0 = parameters(gated)
    total = add(a, b, 32)
    printed = (slt(total, 0, 32), y0, add(add(y0, a, 32), b, 32))
    same(gated.effects.value(RETURNED), printed)


def test_example2(functions: dict[str, Gated]) -> None:
    """B7 sees the definition of B3, whichever way leads there from B3."""
    gated = functions["example2"]
    _, c1, _ = parameters(gated)
    same(gated.effects.value(RETURNED), (c1, 2, 3))


def test_example3(functions: dict[str, Gated]) -> None:
    """A write through one of three pointers: the second restriction operator (Definition 7)."""
    gated = functions["example3"]
    u, v, z, w, c1, c2, c3 = parameters(gated)
    at_u, at_v, at_z = (gated.program.leaves.memory(base, 0, 32) for base in (u, v, z))

    def memory(base: Expr) -> Value:
        return gated.effects.value(("memory", base, 0, 32))

    same(memory(u), (c1, w, (c2, at_u, (c3, at_u, w))), negations=1)
    same(memory(v), (c1, at_v, (c2, w, at_v)))
    same(memory(z), (c1, at_z, (c2, at_z, (c3, w, at_z))))


def test_example4(functions: dict[str, Gated]) -> None:
    """Equations 3.1 to 3.3, and the returned value."""
    gated = functions["example4"]
    leaves = gated.program.leaves
    p0, c1, c2, c3, c6, c7 = parameters(gated)
    g1, g2 = leaves.global_object("g1"), leaves.global_object("g2")
    at_p0, at_g1, at_g2 = (leaves.memory(base, 0, 32) for base in (p0, g1, g2))

    def memory(base: Expr) -> Value:
        return gated.effects.value(("memory", base, 0, 32))

    same(memory(p0), (c1, at_p0, 7))
    same(memory(g1), (c1, at_g1, (c2, at_g1, (c6, 0, at_g1))))
    same(memory(g2), (c1, at_g2, (c2, at_g2, (c6, at_g2, (c7, 0, at_g2)))))
    step = choice(c3, 0, 1)
    same(gated.effects.value(RETURNED), (c1, step, (c2, add(at_p0, step, 32), 0)), sums=1)


def test_example5() -> None:
    """The graph of Figure 3.6: a path leads from the condition to `a`, and none to `x1`, which is sliced
    away."""
    checker, _ = checked(SUBJECTS / "chapter3.c", CheckSettings(properties=("assert",)))
    gated = checker.program.functions["example5"]
    (condition,) = gated.conditions
    a, b, y0, c = parameters(gated)
    bad = slt(choice(slt(add(a, b, 32), 0, 32), y0, add(add(y0, a, 32), b, 32)), 0, 32)
    same(ite(condition.bad, 1, 0, 8), ite(bad, 1, 0, 8), 8)
    assert condition.path() is True
    mentioned = expr_vars(condition.bad)
    assert a.a in mentioned and c.a not in mentioned


def test_figure25() -> None:
    """The gating path expressions that are printed, with the number of a block for the block."""
    checker = Checker(read_module((SUBJECTS / "figure25.ll").read_text()))
    checker.run()
    gated = checker.program.functions["figure25"]
    names = {b.index: b.name for b in gated.function.blocks}
    node = {names[n.block]: number for number, n in enumerate(gated.graph.nodes) if n.block in names}

    def number(source: int) -> int:
        return int(names[gated.graph.nodes[source].block][1:])

    def gating_path(name: str) -> Value:
        join = gated.memory.joins[node[name]]
        assert join is not None
        return join.choose(number, choice)

    entry, c1, c6, c7 = parameters(gated)
    same(gating_path("B6"), (c1, 5, 4))
    same(gating_path("B8"), (entry, 6, 7))
    same(gating_path("Exit"), (entry, (c6, 9, 8), (c7, 8, 7)))
    assert gated.memory.joins[node["B1"]] is None
    assert gated.graph.predecessors(node["B1"]) == (node["entry"],)


def test_figure32(functions: dict[str, Gated]) -> None:
    """32 paths and six definitions that reach the end: one choice a branch."""
    gated = functions["figure32"]
    p, *conditions = parameters(gated)
    printed: Any = gated.program.leaves.memory(p, 0, 32)
    for number, condition in enumerate(conditions, 1):
        printed = (condition, number, printed)
    same(gated.effects.value(RETURNED), printed)
    assert len(nodes(printed)) == 11
