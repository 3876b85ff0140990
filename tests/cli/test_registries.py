"""Search orders and solvers are chosen by name; whatever is registered before parsing can be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.flags import build_parser, settings_from_args
from anabranch.cli.settings import SettingsError
from anabranch.explore.backends import BACKENDS, backend
from anabranch.explore.search import ORDERS, SearchContext, search_order, weight
from anabranch.explore.search.plain import Dfs
from anabranch.registry import Registry
from anabranch.solver import BitwuzlaBackend, QueryLimits
from tests.machine.harness import Outcome, run_source

BRANCHES = """
#include <klee/klee.h>
int main(void) {
  unsigned words[3];
  int sum = 0;
  klee_make_symbolic(words, sizeof words, "words");
  for (int i = 0; i < 3; i++)
    if ((words[i] ^ words[(i + 1) % 3]) * 5 > words[0] + 77) sum += i + 1;
  return 10 / (sum - 4);
}
"""


def found(outcome: Outcome) -> tuple[object, ...]:
    result = outcome.result
    return result.complete, result.paths_exit, result.paths_error, outcome.errors()


@pytest.fixture
def plugin() -> Iterator[dict[str, int]]:
    """What a plugin file would register, and how often each was made."""
    made = {"order": 0, "weight": 0, "solver": 0}

    @search_order("mine", help="an order of mine")
    class Mine(Dfs[Any]):
        description = "mine"

        def __init__(self, context: SearchContext[Any]) -> None:
            super().__init__()
            made["order"] += 1

    @weight("even", help="a weight of mine")
    def even(context: SearchContext[Any]) -> Any:
        made["weight"] += 1
        return lambda state: 1.0

    @backend("own", help="a solver of mine")
    def own(limits: QueryLimits) -> BitwuzlaBackend:
        made["solver"] += 1
        return BitwuzlaBackend(limits=limits)

    yield made
    for registry, name in ((ORDERS, "mine"), (ORDERS, "nurs:even"), (BACKENDS, "own")):
        registry.remove(name)


def test_every_order_can_be_asked_for() -> None:
    for name in ORDERS.names():
        assert settings_from_args(["a.c", "--search", name]).search.orders == (name,)
    assert {"nurs:depth", "nurs:rp", "nurs:icnt"} <= set(ORDERS.names())


@pytest.mark.parametrize("name", ["nurs:depth", "nurs:rp", "nurs:icnt"])
def test_orders_by_weight_find_the_same(tmp_path: Path, name: str) -> None:
    assert found(run_source(tmp_path, BRANCHES, "--search", name)) == found(run_source(tmp_path, BRANCHES))


def test_z3_finds_the_same_as_bitwuzla(tmp_path: Path) -> None:
    by_z3 = run_source(tmp_path, BRANCHES, "--solver", "z3")
    assert found(by_z3) == found(run_source(tmp_path, BRANCHES, "--solver", "bitwuzla"))
    assert by_z3.exploration.space.backend.name == "z3"
    assert by_z3.exploration.space.backend.effort > 0


@pytest.mark.parametrize(("solver", "names"), [("z3", "z3+bitwuzla"), ("bitwuzla", "bitwuzla+z3")])
def test_the_second_opinion_is_of_another_solver(tmp_path: Path, solver: str, names: str) -> None:
    outcome = run_source(tmp_path, BRANCHES, "--solver", solver, "--check-solver", "--max-time", "60")
    assert outcome.exploration.space.backend.name == names
    assert outcome.result.complete


def test_what_is_registered_can_be_asked_for(tmp_path: Path, plugin: dict[str, int]) -> None:
    text = " ".join(build_parser().format_help().split())
    assert "mine (an order of mine)" in text
    assert "nurs:even (a weight of mine)" in text
    assert "own (a solver of mine)" in text
    flags = ["--search", "mine", "--search", "nurs:even", "--solver", "own"]
    outcome = run_source(tmp_path, BRANCHES, *flags)
    assert plugin == {"order": 1, "weight": 1, "solver": 1}
    assert outcome.result.searcher == "interleave(mine, nurs:even)"
    assert found(outcome) == found(run_source(tmp_path, BRANCHES))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--search", "mine"], "--search: 'mine' is unknown; choose from bfs, dfs, nurs:covnew"),
        (["--search", "nurs:deep"], "did you mean nurs:depth?"),
        (["--solver", "own"], "--solver: 'own' is unknown; choose from bitwuzla, spear, z3"),
    ],
)
def test_a_wrong_name_is_told_what_there_is(flags: list[str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from_args(["a.c", *flags])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_stands_for_one_thing() -> None:
    registry: Registry[int] = Registry("number")
    registry.add("one", 1, "the first")
    with pytest.raises(ValueError, match="two numbers are called one"):
        registry.add("one", 2, "another")
    assert registry.find("one") == 1
    with pytest.raises(ValueError, match="number 'two' is unknown; choose from one"):
        registry.find("two")
