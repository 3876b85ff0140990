"""What steers a loop: its addresses and exits, and the branches that choose among what these depend on."""

from __future__ import annotations

import pytest

from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.loops import find_loops
from anabranch.analysis.steering import Steering
from anabranch.ir import read_module

LINES = """
define i32 @f(ptr %s, i32 %n) {
entry:
  br label %head
head:
  %p = phi ptr [ %s, %entry ], [ %next, %last ]
  %length = phi i32 [ 0, %entry ], [ %longer, %last ]
  %best = phi i32 [ 0, %entry ], [ %kept, %last ]
  %step = phi i64 [ 1, %entry ], [ %wide, %last ]
  %c = load i8, ptr %p
  %more = icmp ne i8 %c, 0
  br i1 %more, label %body, label %done
body:
  %longer = add i32 %length, 1
  %better = icmp sgt i32 %longer, %best
  br i1 %better, label %then, label %join
then:
  br label %join
join:
  %kept = phi i32 [ %best, %body ], [ %longer, %then ]
  %far = icmp sgt i32 %n, 3
  br i1 %far, label %two, label %last
two:
  br label %last
last:
  %wide = phi i64 [ 1, %join ], [ 2, %two ]
  %next = getelementptr i8, ptr %p, i64 %step
  br label %head
done:
  ret i32 %best
}
"""


def steering(exits: bool, within_loop: bool) -> set[str]:
    (function,) = read_module(LINES).functions.values()
    cfg = build_cfg(function)
    (loop,) = find_loops(cfg).loops.values()
    within = loop.blocks if within_loop else frozenset(range(len(function.blocks)))
    found = Steering(function).of((loop,), within, exits=exits)
    names = {
        local.index: local.name
        for block in function.blocks
        for i in block.instructions
        if (local := i.result)
    }
    names |= {p.index: p.name for p in function.params}
    return {names[index] for index in found}


POSITION = {"p", "next", "step", "wide", "far", "n"}


@pytest.mark.parametrize(
    ("exits", "within_loop", "expected"),
    [
        (True, True, {*POSITION, "more", "c"}),  # `best` and `length` are only data
        (False, True, POSITION),
        (False, False, {*POSITION, "s"}),
    ],
)
def test_data_does_not_steer(exits: bool, within_loop: bool, expected: set[str]) -> None:
    assert steering(exits, within_loop) == expected
