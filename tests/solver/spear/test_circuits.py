"""Circuits against the evaluator: all values of small widths, random ones of large widths."""

from __future__ import annotations

import itertools
import random

import pytest

from anabranch.expr import node
from anabranch.expr.registry import OPERATORS
from anabranch.solver.spear.circuits import digits
from anabranch.solver.spear.encoder import ENCODERS
from anabranch.solver.spear.gates import FALSE, TRUE, Clause, Gates
from anabranch.solver.spear.options import Encoding
from bench.lib.circuits import ENCODINGS, exhaustive, sampled, wrong_cases
from bench.lib.cnf import NotDefining, simulate


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda e: e.divider)
@pytest.mark.parametrize("w", range(1, 5))
def test_all_values_of_small_widths(w: int, encoding: Encoding) -> None:
    for name, e, cases in exhaustive(w):
        assert not wrong_cases(e, encoding, cases), (name, w)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda e: e.divider)
@pytest.mark.parametrize("w", [8, 13, 32, 64])
def test_random_values_of_large_widths(w: int, encoding: Encoding) -> None:
    for name, e, cases in sampled(w, 100, random.Random(w), (10, 13) if w > 16 else (3, 7, 10, 13, 100)):
        assert not wrong_cases(e, encoding, cases), (name, w)


def test_every_operator_on_bits_has_a_circuit() -> None:
    assert set(ENCODERS) == {node.VAR} | {name for name, o in OPERATORS.items() if o.lower is None}


def gates() -> tuple[Gates, list[Clause]]:
    clauses: list[Clause] = []
    return Gates(clauses.append), clauses


def test_one_gate_for_one_function() -> None:
    g, clauses = gates()
    a, b, c = g.new(), g.new(), g.new()
    made = [g.and_(a, b), g.xor(a, b), g.xor3(a, b, c), g.maj(a, b, c), g.mux(a, b, c), g.all_([a, b, c])]
    count = len(clauses)
    assert made == [
        -g.or_(-b, -a),
        -g.xor(-b, a),
        -g.xor3(c, -a, b),
        -g.maj(-c, -b, -a),
        -g.mux(-a, -c, -b),
        -g.any_([-c, -a, -b, FALSE]),
    ]
    assert len(clauses) == count


def test_what_constants_and_equal_inputs_decide_has_no_gate() -> None:
    g, clauses = gates()
    a, b = g.new(), g.new()
    assert [g.and_(a, TRUE), g.and_(a, -a), g.xor(a, a), g.xor(a, TRUE)] == [a, FALSE, FALSE, -a]
    assert [g.xor3(a, b, -b), g.xor3(a, a, b), g.maj(a, -a, b), g.maj(a, b, a)] == [-a, b, b, a]
    assert [g.mux(TRUE, a, b), g.mux(b, a, a), g.all_([]), g.all_([a, TRUE])] == [a, a, TRUE, a]
    assert len(clauses) == 1


def test_clauses_of_a_full_adder() -> None:
    g, clauses = gates()
    a, b, c = g.new(), g.new(), g.new()
    g.xor3(a, b, c), g.maj(a, b, c)
    assert (len(clauses) - 1, g.variables - 4) == (14, 2)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 7, 10, 100, 0xDEADBEEF, (1 << 64) - 1])
def test_digits_add_up(number: int) -> None:
    found = digits(number)
    assert sum(sign << k for k, sign in found) == number
    assert all(second[0] - first[0] > 1 for first, second in itertools.pairwise(found))


def test_the_simulation_sees_what_is_not_defined() -> None:
    with pytest.raises(NotDefining):
        simulate([[1], [-3, 2]], {2: 0b01}, 2, 3)
    with pytest.raises(NotDefining):
        simulate([[1], [-3, 2], [3, -2], [3, 2]], {2: 0b01}, 2, 3)
    assert simulate([[1], [-3, 2], [3, -2]], {2: 0b01}, 2, 3)[3] == 0b01
