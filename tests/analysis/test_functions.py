"""Liveness, call graph and distances on functions read from text."""

import random

import pytest

from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.cfg import returns_at_once
from anabranch.analysis.distance import INFINITE, DistanceGraph
from anabranch.analysis.liveness import Liveness
from anabranch.ir import Function, Module, read_module
from anabranch.ir.values import Local

LOOP = """
define i32 @sum(i32 %n, i32 %unused) {
entry:
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %acc = phi i32 [ 0, %entry ], [ %more, %body ]
  %go = icmp slt i32 %i, %n
  br i1 %go, label %body, label %done

body:
  %more = add i32 %acc, %i
  %next = add i32 %i, 1
  br label %head

done:
  ret i32 %acc
}
"""


def names(live: Liveness, mask: int) -> set[str]:
    return {local.name for local in live.locals(mask)}


def test_liveness_of_a_loop() -> None:
    live = Liveness(read_module(LOOP).functions["sum"])
    assert names(live, live.entry[0]) == {"n"}
    assert names(live, live.entry[1]) == {"n", "i", "acc"}
    assert names(live, live.edge(2, 1)) == {"n", "next", "more"}
    assert names(live, live.edge(0, 1)) == {"n"}
    assert names(live, live.after(1, 2)) == {"n", "i", "acc", "go"}
    assert names(live, live.after(2, 0)) == {"n", "i", "more"}
    assert names(live, live.entry[3]) == {"acc"}
    assert live.exit[3] == 0


def random_function(seed: int) -> Function:
    """Branches at random over values of dominating blocks only (the entry), and of the block itself."""
    rng = random.Random(seed)
    count = rng.randint(2, 9)
    lines = ["define i32 @f(i32 %p, i1 %c) {", "b0:"]
    lines.extend(f"  %e{i} = add i32 %p, {i}" for i in range(4))
    lines.append(f"  br label %b{rng.randrange(1, count)}")
    for b in range(1, count):
        lines.append(f"b{b}:")
        for i in range(rng.randint(0, 3)):
            local = rng.choice(["p", "e0", "e1", "e2", "e3", *[f"v{b}_{j}" for j in range(i)]])
            lines.append(f"  %v{b}_{i} = add i32 %{local}, %e{rng.randrange(4)}")
        kind = rng.randrange(3)
        if kind == 0:
            lines.append(f"  ret i32 %e{rng.randrange(4)}")
        elif kind == 1:
            lines.append(f"  br label %b{rng.randrange(1, count)}")
        else:
            lines.append(f"  br i1 %c, label %b{rng.randrange(1, count)}, label %b{rng.randrange(1, count)}")
    return read_module("\n".join([*lines, "}"])).functions["f"]


def live_by_search(function: Function, block: int, index: int) -> set[str]:
    """Values with a use on some path from before instruction `index`, not defined again on the way."""
    found: set[str] = set()
    for wanted in [
        *function.params,
        *(i.result for b in function.blocks for i in b.instructions if i.result),
    ]:
        stack, seen = [(block, index)], set()
        while stack:
            b, start = stack.pop()
            stopped = False
            for instruction in function.blocks[b].instructions[start:]:
                if wanted in instruction.operands:
                    found.add(wanted.name)
                if instruction.result is wanted:
                    stopped = True
                    break
            if stopped or wanted.name in found:
                continue
            for target in function.blocks[b].instructions[-1].targets:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, 0))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_liveness_equals_search(seed: int) -> None:
    function = random_function(seed)
    live = Liveness(function)
    for block in function.blocks:
        assert names(live, live.entry[block.index]) == live_by_search(function, block.index, 0)
        for index in range(len(block.instructions)):
            expected = live_by_search(function, block.index, index + 1)
            assert names(live, live.after(block.index, index)) == expected


def test_mask_order_is_by_index() -> None:
    live = Liveness(read_module(LOOP).functions["sum"])
    found = live.locals(live.entry[1])
    assert [local.index for local in found] == sorted(local.index for local in found)
    assert all(isinstance(local, Local) for local in found)


CALLS = """
@table = global [2 x ptr] [ptr @red, ptr @green]
@dead_table = global ptr @blue
@other = alias i32 (i32), ptr @leaf

define i32 @leaf(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}

define i32 @red(i32 %x) {
  ret i32 %x
}

define i32 @green(i32 %x) {
  %r = call i32 @other(i32 %x)
  ret i32 %r
}

define i32 @blue(i32 %x) {
  ret i32 0
}

define void @stop() {
  call void @abort()
  unreachable
}

define i32 @main(i32 %argc, ptr %argv) {
entry:
  %f = load ptr, ptr @table
  %r = call i32 %f(i32 %argc)
  %c = icmp eq i32 %r, 3
  br i1 %c, label %bad, label %good

bad:
  call void @stop()
  br label %good

good:
  ret i32 %r
}

declare void @abort() #0
attributes #0 = { noreturn }
"""


@pytest.fixture
def module() -> Module:
    return read_module(CALLS)


def test_call_graph(module: Module) -> None:
    calls = build_call_graph(module, ["main"])
    assert calls.callees("main") == ["red", "green", "stop"]
    assert calls.callees("green") == ["leaf"]
    assert calls.address_taken == {"red", "green"}
    assert "blue" not in calls.sites
    assert [site.caller for site in calls.callers["leaf"]] == ["green"]
    assert calls.sites["main"][0].indirect
    assert not calls.sites["main"][1].indirect


def test_call_graph_of_everything(module: Module) -> None:
    assert set(build_call_graph(module).sites) == {"leaf", "red", "green", "blue", "stop", "main"}


def test_distance_through_calls(module: Module) -> None:
    distances = DistanceGraph(build_call_graph(module, ["main"]))
    assert distances.return_distance("leaf") == 2
    assert distances.return_distance("green") == 4
    assert distances.return_distance("stop") >= INFINITE
    # The entry costs its four instructions and the nearest callee, red, its single one; good returns at once.
    assert distances.to_return["main"] == [6, INFINITE, 1]
    found = distances.to_targets({"leaf": [0]})
    assert found["leaf"] == [0]
    assert found["green"] == [1]
    assert found["main"][0] == 2 + 1
    assert found["main"][2] >= INFINITE
    assert distances.to_targets({"main": [2]})["main"] == [5, INFINITE, 0]
    assert distances.to_targets({"stop": [0]})["main"] == [5 + 1, 1, INFINITE]


def test_recursion_terminates() -> None:
    text = """
define i32 @even(i32 %n) {
entry:
  %z = icmp eq i32 %n, 0
  br i1 %z, label %yes, label %no

yes:
  ret i32 1

no:
  %m = sub i32 %n, 1
  %r = call i32 @even(i32 %m)
  ret i32 %r
}
"""
    distances = DistanceGraph(build_call_graph(read_module(text)))
    assert distances.to_return["even"] == [3, 1, 6]
    assert distances.to_targets({"even": [1]})["even"] == [2, 0, 4]


STRAIGHT = """
declare void @log()
declare void @stop()

define i32 @inner() {
  ret i32 1
}

define i32 @f(i1 %c) {
entry:
  %a = call i32 @inner()
  br i1 %c, label %tail, label %other

tail:
  %b = call i32 @inner()
  call void @log()
  br label %end

other:
  %d = call i32 @inner()
  %e = call i32 @inner()
  br label %loop

loop:
  br label %loop

end:
  %r = phi i32 [ %b, %tail ]
  ret i32 %r
}
"""


@pytest.mark.parametrize(
    ("block", "position", "expected"),
    [
        (0, 1, False),  # a branch
        (1, 1, True),  # a call of something without a body, and the return
        (2, 1, False),  # a call into the program
        (2, 2, False),  # an endless loop
        (4, 0, True),
    ],
)
def test_returns_at_once(block: int, position: int, expected: bool) -> None:
    functions = read_module(STRAIGHT).functions
    assert returns_at_once(functions, functions["f"], block, position) is expected
