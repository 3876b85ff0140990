"""Counters of loops: phis that every round changes in one direction."""

from __future__ import annotations

import pytest

from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.induction import independent, loop_counters
from anabranch.analysis.loops import find_loops
from anabranch.ir import read_module

LOOP = """
define void @f(i32 %n, ptr %s, i1 %c) {{
entry:
  br label %head
head:
  %x = phi {type} [ {start}, %entry ], [ {again}, %last ]
  br i1 %c, label %body, label %done
body:
  {body}
  br i1 %c, label %side, label %last
side:
  {side}
  br label %last
last:
  {last}
  br label %head
done:
  ret void
}}
"""
CASES: dict[str, tuple[dict[str, str], list[int]]] = {
    "up": ({"body": "%y = add i32 %x, 1", "again": "%y"}, [1]),
    "down by adding": ({"body": "%y = add i32 %x, -3", "again": "%y"}, [-1]),
    "down by subtracting": ({"body": "%y = sub i32 %x, 3", "again": "%y"}, [-1]),
    "a pointer": (
        {"type": "ptr", "start": "%s", "body": "%y = getelementptr i8, ptr %x, i64 1", "again": "%y"},
        [1],
    ),
    "in some rounds": (
        {"side": "%y = add i32 %x, 1", "last": "%z = phi i32 [ %x, %body ], [ %y, %side ]", "again": "%z"},
        [1],
    ),
    "chosen": ({"body": "%y = add i32 %x, 2\n%z = select i1 %c, i32 %x, i32 %y", "again": "%z"}, [1]),
    "up and down": (
        {
            "body": "%y = add i32 %x, 1",
            "side": "%w = add i32 %x, -1",
            "last": "%z = phi i32 [ %y, %body ], [ %w, %side ]",
            "again": "%z",
        },
        [],
    ),
    "never changed": ({"again": "%x"}, []),
    "set anew": ({"again": "7"}, []),
    "from outside": ({"body": "%y = add i32 %n, 1", "again": "%y"}, []),
    "doubled": ({"body": "%y = add i32 %x, %x", "again": "%y"}, []),
}


@pytest.mark.parametrize("name", CASES)
def test_counters(name: str) -> None:
    parts, signs = CASES[name]
    text = LOOP.format(**({"type": "i32", "start": "0", "body": "", "side": "", "last": ""} | parts))
    function = read_module(text).functions["f"]
    (loop,) = find_loops(build_cfg(function)).loops.values()
    assert [counter.sign for counter in loop_counters(function, loop)] == signs


TWO = """
define void @f(i32 %n, ptr %s, i1 %c) {{
entry:
  br label %head
head:
  %x = phi i32 [ 0, %entry ], [ {x}, %last ]
  %y = phi i32 [ %n, %entry ], [ {y}, %last ]
  br i1 %c, label %body, label %done
body:
  %more = add i32 %x, 1
  %other = add i32 %y, 2
  br i1 %c, label %side, label %last
side:
  %far = add i32 %x, 3
  br label %last
last:
  %some = phi i32 [ %more, %body ], [ %far, %side ]
  %same = phi i32 [ %other, %body ], [ %y, %side ]
  %back = phi i32 [ %other, %body ], [ %n, %side ]
  br label %head
done:
  ret void
}}
"""
INDEPENDENT: dict[str, tuple[str, str, int]] = {
    "in step": ("%more", "%other", 1),
    "one stays": ("%more", "%y", 1),
    "one moves by what it reads": ("%some", "%other", 2),
    "both do": ("%some", "%same", 2),
    "one begins again": ("%some", "%back", 1),
    "one is set": ("%more", "7", 1),
    "none moves": ("%x", "%y", 0),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent(name: str) -> None:
    x, y, expected = INDEPENDENT[name]
    function = read_module(TWO.format(x=x, y=y)).functions["f"]
    (loop,) = find_loops(build_cfg(function)).loops.values()
    phis = [
        i.result.index for i in function.blocks[loop.header].instructions if i.opcode == "phi" and i.result
    ]
    assert independent(function, loop, phis) == expected
    assert independent(function, loop, ()) == 0
