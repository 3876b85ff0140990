"""What Kuznetsov et al. (PLDI 2012), section 3.1, say of echo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.expr import Expr
from anabranch.machine import State
from anabranch.machine.joining import encoder
from tests.reduce.merging.harness import explore

ECHO = """
#include "klee/klee.h"
static volatile char sink;
static void put(int c) { sink = (char)c; }
int echo(int argc, char **argv) {
  int r = 1, arg = 1;
  if (arg < argc)
    if ((argv[arg][0] == '-') & (argv[arg][1] == 'n') & (argv[arg][2] == 0)) {
      r = 0; ++arg;
    }
  for (; arg < argc; ++arg)
    for (int i = 0; argv[arg][i] != 0; ++i)
      put(argv[arg][i]);
  if (r)
    put(10);
  return 0;
}
int main(void) {
  static char text[3][4];
  char *argv[5] = { "echo", text[0], text[1], text[2], 0 };
  klee_make_symbolic(text, sizeof text, "text");
  for (int i = 0; i < 3; i++) text[i][3] = 0;
  return echo(4, argv);
}
"""


def differing(a: State, b: State) -> dict[str, tuple[Any, Any]]:
    """Source variables of the innermost frame in which two states differ."""
    site: Any = a.entry
    function = site.unit.function
    pairs = zip(site.names, a.values, b.values, strict=True)
    names = function.variable_names
    return {names.get(int(name[1:]), name): (x, y) for name, x, y in pairs if x is not y}


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, tuple[Any, Any]]]]:
    """Every join in `echo`: what differed."""
    seen: list[tuple[str, dict[str, tuple[Any, Any]]]] = []
    original = encoder.join

    def recorded(a: State, b: State, *more: Any) -> State:
        joined = original(a, b, *more)
        site: Any = a.entry
        seen.append((site.unit.function.name, differing(a, b)))
        return joined

    monkeypatch.setattr(encoder, "join", recorded)
    return seen


def is_concrete(values: tuple[Any, Any]) -> bool:
    return not any(value.__class__ is Expr for value in values)


@pytest.mark.parametrize(
    ("kind", "order"), [("static", "dfs"), ("dynamic", "random-path"), ("dynamic", "dfs")]
)
def test_arg_keeps_states_apart_and_i_does_not(
    tmp_path: Path, joins: list[tuple[str, dict[str, tuple[Any, Any]]]], kind: str, order: str
) -> None:
    options = ("--merge", "qce", "--qce-alpha", "0.5", "--qce-beta", "0.6", "--merging", kind)
    found = explore(tmp_path, ECHO, *options, "--search", order, "--tests", "none")
    assert found.result.complete
    in_echo = [difference for function, difference in joins if function == "echo"]
    assert in_echo
    # no merge on arg, neither at line 6 nor anywhere else
    assert not any("arg" in difference and is_concrete(difference["arg"]) for difference in in_echo)
    # states that left the inner loop after different numbers of iterations do merge
    assert any(set(difference) <= {"i"} for difference in in_echo)


def test_r_is_merged_one_iteration_apart(
    tmp_path: Path, joins: list[tuple[str, dict[str, tuple[Any, Any]]]]
) -> None:
    """The path through the then-branch waits for the other to come to the same `arg`."""
    options = ("--merge", "qce", "--qce-alpha", "0.5", "--qce-beta", "0.6", "--merging", "dynamic")
    explore(tmp_path, ECHO, *options, "--search", "random-path", "--tests", "none")
    assert any(
        function == "echo" and "r" in difference and "arg" not in difference for function, difference in joins
    )
