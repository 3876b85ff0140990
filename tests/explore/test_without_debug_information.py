"""Bitcode compiled without -g: its tests and its coverage go by blocks."""

from __future__ import annotations

from pathlib import Path

from anabranch.cli.summary import _coverage
from anabranch.explore.library import is_user_function
from anabranch.ir import read_module
from anabranch.report.result import Ratio
from tests.machine.harness import run_source

PROGRAM = """
declare i32 @klee_int(ptr)
@name = private constant [2 x i8] c"x\\00"
define i32 @main() {
  %x = call i32 @klee_int(ptr @name)
  %large = icmp sgt i32 %x, 3
  br i1 %large, label %a, label %b
a:
  ret i32 1
b:
  %small = icmp slt i32 %x, -7
  br i1 %small, label %c, label %d
c:
  ret i32 2
d:
  %even = and i32 %x, 1
  ret i32 %even
}
"""


def test_every_block_gets_a_test(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, PROGRAM, "--tests", "covering", suffix=".ll")
    codes = sorted(test.exit_code or 0 for test in outcome.collector.tests)
    assert len(codes) == 3 and codes[1:] == [1, 2]
    assert outcome.result.coverage.lines == Ratio(0, 0)
    assert outcome.result.coverage.branches == Ratio(4, 4)
    assert not outcome.result.coverage.files
    assert list(_coverage(outcome.result)) == [
        "Covered 4 of 4 branch directions (100%); compile with -g for lines."
    ]


def test_what_the_front_end_adds_is_not_the_users() -> None:
    module = read_module(PROGRAM + "define void @__anabranch_constructors() {\n  ret void\n}\n")
    assert is_user_function(module.functions["main"])
    assert not is_user_function(module.functions["__anabranch_constructors"])
