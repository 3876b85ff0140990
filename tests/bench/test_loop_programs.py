"""Programs of loops over data of unknown size: drawn by seed, explored as they run natively."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import exhaustive, merging_oracle
from bench.lib.loop_modes import modes_in
from bench.lib.loop_programs import draw_loops, generate_loops
from bench.lib.program_kinds import KINDS

FLAGS = (*exhaustive.FLAGS, *KINDS["loops"].flags)
HELP = """\
Merging:
  --merge WHICH              merge paths that meet again: none; auto
  --loops HOW                loops as one state: auto, rounds, off (default:
                             auto)
  --merging HOW              static, dynamic; quantified is no mode of this one
"""


def test_a_program_is_a_function_of_its_seed() -> None:
    assert generate_loops(3).text == generate_loops(3).text
    assert generate_loops(3).text != generate_loops(4).text


def test_every_kind_of_statement_is_drawn() -> None:
    text = "".join(generate_loops(seed).text for seed in range(60))
    for part in (
        "klee_open_merge();", "abort();", "break;", "assert(", "LOCAL_OF(u8, s,", "= span", "MEMCPY(s",
    ):  # fmt: skip
        assert part in text


def test_some_programs_fail_and_some_end(tmp_path: Path) -> None:
    truths = [draw_loops(seed, tmp_path / str(seed))[1] for seed in range(8)]
    assert any(truth.errors() for truth in truths)
    assert all(any(end.kind == "exit" for end in truth.ends) for truth in truths)


@pytest.mark.parametrize("seed", range(4))
def test_path_by_path(seed: int) -> None:
    assert exhaustive.check_seed(seed, extra=FLAGS, kind="loops").problems == []


@pytest.mark.parametrize("seed", (5, 8))
def test_merged(seed: int) -> None:
    every = merging_oracle.combinations(("all", "qce"), ("static",), ("dfs",))
    results = merging_oracle.check_seed(seed, every, extra=KINDS["loops"].flags, kind="loops")
    assert [problem for result in results for problem in result.problems] == []
    assert sum(result.merges for result in results) > 0


def test_modes_are_those_of_the_help() -> None:
    assert modes_in(HELP) == ("auto", "rounds", "off")
    assert modes_in(HELP.replace("--loops", "--lops")) == ()


def test_no_merging_is_one_combination_whatever_the_mode() -> None:
    every = merging_oracle.combinations(("none", "qce"), ("static",), ("dfs",), ("all",), ("rounds", "off"))
    assert [str(c) for c in every] == [
        "none-static-dfs-all", "qce-static-dfs-all-rounds", "qce-static-dfs-all-off",
    ]  # fmt: skip
