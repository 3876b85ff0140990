"""A sample of the oracle of z-equivalence, and whether it would find a mistake."""

from __future__ import annotations

import pytest

from anabranch.reduce.zequivalence import parts
from bench import zequivalence_oracle as oracle
from bench.lib.unknown import unknown_program

EVERY = oracle.every_combination()


@pytest.mark.parametrize("seed", [1, 6, 8, 9, 24, 42])
def test_the_same_is_found(seed: int) -> None:
    outcome = oracle.check_seed(seed, EVERY, number=4)
    assert outcome.problems == [] and outcome.usable and outcome.runs == 4 and outcome.paths > 1


def test_states_are_removed() -> None:
    plain = [c for c in EVERY if c.merge == "none" and c.zeq == "rules" and c.observe == "live"]
    assert oracle.check_seed(42, plain, number=2).removed > 20


def test_a_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts.PartForms, "form", lambda forms, state: frozenset())
    plain = [c for c in EVERY if c.merge == "none" and c.zeq == "rules"]
    assert any(oracle.check_seed(seed, plain, number=1).problems for seed in (45, 66, 83, 101))


def test_combinations_come_in_turn() -> None:
    picked = {c for seed in range(48) for c in oracle.chosen(EVERY, seed, 4)}
    assert picked == set(EVERY)


def test_programs_depend_on_the_seed_only() -> None:
    assert unknown_program(5) == unknown_program(5) != unknown_program(6)
