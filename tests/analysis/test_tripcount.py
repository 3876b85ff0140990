"""Trip counts of loops with constant bounds."""

from __future__ import annotations

import pytest

from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.loops import find_loops
from anabranch.analysis.tripcount import trip_count
from anabranch.ir import read_module

WHILE = """
define void @f(i32 %n) {{
entry:
  %start = add i32 {start}, 0
  br label %head
head:
  %i = phi i32 [ %start, %entry ], [ %next, %body ]
  %j = sext i32 %i to i64
  %go = icmp {test}
  br i1 %go, label %{first}, label %{second}
body:
  %next = {step}
  br label %head
done:
  ret void
}}
"""
DO = """
define void @f(i32 %n) {{
entry:
  br label %body
body:
  %i = phi i8 [ {start}, %entry ], [ %next, %body ]
  %next = {step}
  %go = icmp {test}
  br i1 %go, label %body, label %done
done:
  ret void
}}
"""


def count(text: str, limit: int = 1024) -> int | None:
    function = read_module(text).functions["f"]
    cfg = build_cfg(function)
    (loop,) = find_loops(cfg).loops.values()
    return trip_count(function, cfg, loop, limit)


@pytest.mark.parametrize(
    ("start", "test", "step", "expected"),
    [
        ("0", "slt i32 %i, 10", "add i32 %i, 1", 10),
        ("0", "slt i64 %j, 10", "add i32 %i, 3", 4),
        ("10", "sgt i32 %i, 0", "sub i32 %i, 1", 10),
        ("-3", "slt i32 %i, 2", "add i32 %i, 1", 5),
        ("1", "ult i32 %i, 100", "shl i32 %i, 1", 7),
        ("5", "slt i32 %i, 5", "add i32 %i, 1", 0),
        ("0", "ne i32 %i, 6", "add i32 %i, 2", 3),
        ("0", "slt i32 %i, %n", "add i32 %i, 1", None),
        ("0", "slt i32 %i, 10", "add i32 %i, %n", None),
        ("%n", "slt i32 %i, 10", "add i32 %i, 1", None),
        ("0", "slt i32 %i, 10", "udiv i32 %i, 0", None),
    ],
)
def test_test_in_the_header(start: str, test: str, step: str, expected: int | None) -> None:
    text = WHILE.format(start=start, test=test, step=step, first="body", second="done")
    assert count(text) == expected


def test_test_that_leaves_if_true() -> None:
    text = WHILE.format(start="0", test="sge i32 %i, 7", step="add i32 %i, 1", first="done", second="body")
    assert count(text) == 7


@pytest.mark.parametrize(
    ("start", "test", "step", "expected"),
    [
        ("0", "ult i8 %next, 10", "add i8 %i, 1", 10),
        ("0", "ult i8 %i, 10", "add i8 %i, 1", 11),
        ("9", "ne i8 %next, 0", "add i8 %i, 1", 247),
        ("9", "ult i8 %next, 5", "add i8 %i, 1", 1),
    ],
)
def test_test_at_the_end(start: str, test: str, step: str, expected: int) -> None:
    assert count(DO.format(start=start, test=test, step=step)) == expected


def test_a_long_loop_runs_up_to_the_limit() -> None:
    text = WHILE.format(
        start="0", test="slt i32 %i, 1000000", step="add i32 %i, 1", first="body", second="done"
    )
    assert count(text, 50) == 50
