"""Tail recursion as a loop, and contracts of functions in cycles of calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.check.order import order_functions
from anabranch.check.recursion import tail_calls_as_loops
from anabranch.check.settings import CheckSettings
from anabranch.cli.main import main
from tests.check.support import SUBJECTS, checked, module_of

SWAP = """#include <assert.h>
static int swap(int a, int b, int n) {
    if (n <= 0)
        return a - b;
    return swap(b, a, n - 1);
}
void right(void) { assert(swap(5, 3, 1) == -2); }
void wrong(void) { assert(swap(5, 3, 1) == 2); }
"""


def test_arguments_are_passed_all_at_once(tmp_path: Path) -> None:
    source = tmp_path / "swap.c"
    source.write_text(SWAP)
    _, result = checked(source, CheckSettings(properties=("assert",), unroll=3))
    assert [report.line for report in result.reports] == [8]


def test_which_functions_become_loops() -> None:
    module = module_of(SUBJECTS / "recursion.c")
    looping = tail_calls_as_loops(module)
    changed = {n for n, f in looping.functions.items() if f is not module.functions[n]}
    assert changed == {"find", "counted", "mark"}
    assert tail_calls_as_loops(looping) is looping


def test_a_call_out_of_a_scope_is_a_jump_too(tmp_path: Path) -> None:
    source = tmp_path / "scopes.c"
    source.write_text(
        "int f(int a, int b) {\n"
        "    for (int i = 0; i < a; i++)\n"
        "        if (i == b)\n"
        "            return f(b, i);\n"
        "    if (a > b)\n"
        "        return f(b, a);\n"
        "    return a;\n"
        "}\n"
    )
    module = module_of(source)
    assert tail_calls_as_loops(module) is not module
    _, result = checked(source)
    assert not result.losses


def test_a_call_that_does_more_than_return_stays(tmp_path: Path) -> None:
    source = tmp_path / "more.c"
    source.write_text(
        "int g;\n"
        "int plus(int n) { return n ? plus(n - 1) + 1 : 0; }\n"
        "int after(int n) { if (!n) return 0; int r = after(n - 1); g = n; return r; }\n"
        "int other(int n) { if (!n) return 0; other(n - 1); return n; }\n"
    )
    module = module_of(source)
    assert tail_calls_as_loops(module) is module


def test_a_contract_says_what_a_recursive_call_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, contracts = tmp_path / "cycle.c", tmp_path / "cycle.toml"
    source.write_text(
        "struct t { struct t *left; int depth; };\n"
        "int depth(struct t *t) {\n"
        "    int before = t->depth;\n"
        "    int below = t->left ? depth(t->left) : 1;\n"
        "    if (before == 7 && t->depth != 7)\n"
        "        return 1 / (below - below);\n"
        "    return 10 / below + 1;\n"
        "}\n"
    )
    contracts.write_text('[depth]\nreturns = "1..20"\nwrites = []\n')
    assert main(["check", str(source), "--json", "--all-ranks", "--no-cache"]) == 0
    assert {r["line"] for r in json.loads(capsys.readouterr().out)["reports"]} == {6, 7}
    words = ["check", str(source), "--summaries", str(contracts), "--json", "--all-ranks", "--no-cache"]
    assert main(words) == 0
    assert not json.loads(capsys.readouterr().out)["reports"]


def test_indirect_calls_make_no_cycle(tmp_path: Path) -> None:
    """`walk` calls `visit` by a pointer, which calls `walk`: only the direct call counts. `leaf` is called
    by a pointer too, and comes before."""
    source = tmp_path / "order.c"
    source.write_text(
        "static int (*visitor)(int), (*last)(int, int);\n"
        "int walk(int n) { return n ? visitor(n - 1) : last(n, n); }\n"
        "static int visit(int n) { return walk(n); }\n"
        "static int leaf(int a, int b) { return a + b; }\n"
        "int main(void) { visitor = visit; last = leaf; return walk(3); }\n"
    )
    order = order_functions(module_of(source), False, max_targets=2)
    assert all(len(component) == 1 for component in order.components)
    names = list(order.names())
    assert names.index("leaf") < names.index("walk") < names.index("visit")
    assert order.callees["walk"] == ("leaf",) and order.callers["leaf"] == {"walk"}
    assert order_functions(module_of(source), False, max_targets=0).callees["walk"] == ()
