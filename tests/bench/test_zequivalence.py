"""The measurements of z-equivalence: their arithmetic, their subjects, and small runs."""

from __future__ import annotations

import re

import pytest

from anabranch.expr import eq
from anabranch.reduce.zequivalence.constraint import StateConstraint
from bench import zequivalence
from bench.zequivalence import DRIVERS, SHAPES, Explored, main
from bench.zequivalence_pairs import Count, judge, world, z_equivalent

SUBJECTS = sorted(DRIVERS.glob("*.c"))


def test_orders_of_magnitude() -> None:
    assert Explored(paths=10**12, ends=100).orders == pytest.approx(10)
    assert Explored(paths=0, ends=0).orders == 0


def test_what_is_compared() -> None:
    fine = Explored(complete=True, lines=10, sides=5, errors=frozenset([("memory", 3)]))
    assert zequivalence._compared("x", fine, fine) == []
    assert zequivalence._compared("x", Explored(lines=9, sides=5), Explored(lines=10, sides=5))
    missed = Explored(complete=True, lines=10, sides=5)
    assert zequivalence._compared("x", missed, fine)


def test_there_are_ten_drivers_over_unknown_functions() -> None:
    assert len(SUBJECTS) == 10
    for path in SUBJECTS:
        text = path.read_text()
        assert 200 <= len(text.splitlines()) <= 1000, path.name
        unknown = re.findall(r"^extern [\w ]+?[ *](\w+)\(", text, re.MULTILINE)
        assert len(unknown) >= 7, path.name
        for name in unknown:
            assert not re.search(rf"^(?!extern)[\w ]+[ *]{name}\([^;]*\)\s*\{{", text, re.MULTILINE), name
            assert text.count(f"{name}(") > 1, (path.name, name)
        assert "assert(" in text


def test_shapes_have_the_size_that_is_asked_for() -> None:
    for name, make in SHAPES.items():
        small, large = len(make(600).clauses), len(make(6000).clauses)
        assert 8 * small < large < 12 * small, name


def test_wrong_opinions_are_seen() -> None:
    counts = judge(9, 30, lambda a, b: True)
    assert counts["independent"].wrong
    assert zequivalence._judged("all the same", counts)
    nothing = judge(9, 30, lambda a, b: False)
    assert zequivalence._judged("never", nothing)
    good = {"independent": Count(10, 2, 2)}
    assert zequivalence._judged("good", good) == []


def test_brute_force_knows_definition_1() -> None:
    of = world(2)
    a, b = of.alpha[:2]
    p = of.beta[0]

    def constraint(*clauses: object, ret: object = 0) -> StateConstraint:
        return StateConstraint(clauses, (("RET", ret, 2),), of.observable)  # type: ignore[arg-type]

    assert z_equivalent(constraint(eq(a, 1, 2)), constraint(eq(b, 2, 2)), of)
    assert not z_equivalent(constraint(eq(a, 1, 2)), constraint(), of)  # which cannot be false
    assert not z_equivalent(constraint(eq(p, 1, 2)), constraint(eq(p, 2, 2)), of)
    assert z_equivalent(constraint(ret=a), constraint(ret=a + b), of)
    assert not z_equivalent(constraint(ret=a), constraint(ret=p), of)


def test_the_command_on_a_few_pairs() -> None:
    assert main(["pairs", "--pairs", "60", "--seed", "3"]) == 0
