"""Query counts: the paper's example, graphs small enough to count by hand, calls, memory, laws."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from anabranch.analysis.cfg import build_cfg
from anabranch.frontend import FrontendOptions, load_program
from anabranch.ir import Function, Module, read_module
from anabranch.reduce.qce import Base, Counts, QceParameters, QueryCounts, similar

from .programs import random_function

ECHO = """
int strcmp(const char *, const char *);
int putchar(int);
/* The numbers of the lines below are those of Figure 1. */
#line 1
void main(int argc, char **argv) {
  int r = 1, arg = 1;
  if (arg < argc)
    if (strcmp(argv[arg], "-n") == 0) {
      r = 0; ++arg;
    }
  for (; arg < argc; ++arg)
    for (int i = 0; argv[arg][i] != 0; ++i)
      putchar(argv[arg][i]);
  if (r)
    putchar('\\n');
}
"""
PAPER = QceParameters(alpha=0.5, beta=0.6, kappa=1, memory_weight=0)
BRANCHES = QceParameters(alpha=0.5, beta=0.5, kappa=2, memory_weight=0, check_weight=0, model_weight=0)


def compiled(tmp_path: Path, source: str, level: int = 1) -> Module:
    path = tmp_path / "m.c"
    path.write_text(source)
    options = FrontendOptions(cache_dir=tmp_path / "cache", use_cache=False, opt_level=level)
    return load_program([path], options).module


def index(function: Function, name: str) -> int:
    locals_ = [*function.params, *(i.result for b in function.blocks for i in b.instructions if i.result)]
    return next(local.index for local in locals_ if local.name == name)


def block(function: Function, name: str) -> int:
    return next(b.index for b in function.blocks if b.name == name)


def at(text: str, name: str, where: str, parameters: QceParameters = BRANCHES) -> tuple[Function, Counts]:
    module = read_module(text)
    function = module.functions[name]
    return function, QueryCounts(module, parameters).at(name, block(function, where))


# The paper's example.


def named(function: Function, counts: Counts) -> dict[str, float]:
    """Counts of variables by their names in the source: in registers, or in memory without optimisation."""
    names = function.variable_names
    found = {names[local]: count for local, count in counts.locals.items() if local in names}
    memory = {names[base[1]]: count for (base, _), count in counts.memory.items() if base[0] == "alloca"}
    return found | memory | {"other memory": counts.heap}


def line(function: Function, block: int) -> int:
    """Of the first instruction of a block that has one and is no phi."""
    instructions = (i for i in function.blocks[block].instructions if i.opcode != "phi")
    return next((i.loc.line for i in instructions if i.loc is not None and i.loc.line), 0)


@pytest.mark.parametrize("level", [0, 1])
def test_the_paper_s_example(tmp_path: Path, level: int) -> None:
    module = compiled(tmp_path, ECHO, level)
    main, estimator = module.functions["main"], QueryCounts(module, PAPER)
    # The loop's header is where arg has just been chosen and r is still needed.
    at_entry = [estimator.at("main", block) for block in build_cfg(main).order if line(main, block) == 7]
    header = next(counts for counts in at_entry if counts.total == pytest.approx(2.92))
    counts = named(main, header)
    assert counts["arg"] == pytest.approx(1.6)
    assert counts["r"] == pytest.approx(1.32)
    hot = header.hot(PAPER)
    variables = [*hot.locals, *(base[1] for base, _ in hot.memory)]
    assert {main.variable_names[local] for local in variables} == {"arg"}
    # By hand: argc is in the test of line 7 once; the array argv and its strings in that of line 8.
    assert counts["argc"] == pytest.approx(1.0)
    assert counts["argv"] == counts["other memory"] == pytest.approx(0.6)


def test_the_paper_s_example_by_index(tmp_path: Path) -> None:
    module = compiled(tmp_path, ECHO)
    main = module.functions["main"]
    names = {name: i for i, name in main.variable_names.items()}
    header = next(
        b.index
        for b in main.blocks
        for i in b.instructions
        if i.opcode == "phi" and i.result is not None and main.variable_names.get(i.result.index) == "arg"
        if any(j.loc is not None and j.loc.line == 7 and j.opcode == "icmp" for j in b.instructions)
    )
    counts = QueryCounts(module, PAPER).at("main", header)
    assert counts.total == pytest.approx(2.92)
    arg = next(
        i.result.index for i in main.blocks[header].instructions if i.opcode == "phi" and i.result is not None
    )
    assert counts.of(arg) == pytest.approx(1.6)
    assert counts.hot(PAPER).locals == {arg}
    assert not counts.hot(PAPER).memory and not counts.hot(PAPER).any_offset and not counts.hot(PAPER).heap
    assert "i" in names and counts.of(names["i"]) == 0.0


# Small graphs, beta 0.5.

DIAMOND = """
define void @f(i32 %a, i32 %b, i32 %unused) {
entry:
  %c = icmp eq i32 %a, 0
  br i1 %c, label %left, label %right
left:
  %d = icmp eq i32 %b, 0
  br i1 %d, label %join, label %right
right:
  %s = add i32 %a, %b
  %e = icmp eq i32 %s, 0
  br i1 %e, label %join, label %end
join:
  br label %end
end:
  ret void
}
"""


def test_a_diamond_by_hand() -> None:
    f, counts = at(DIAMOND, "f", "entry")
    # entry: 1; left: 0.5; right: 0.5 + 0.5 * 0.5.
    assert counts.total == pytest.approx(1 + 0.5 + 0.75)
    assert counts.of(0) == pytest.approx(1 + 0.75)
    assert counts.of(1) == pytest.approx(0.5 + 0.75)
    assert counts.of(2) == 0.0
    _, right = at(DIAMOND, "f", "right")
    assert (right.total, right.of(0), right.of(index(f, "c"))) == (1.0, 1.0, 0.0)


def test_only_uses_ahead_count() -> None:
    text = """
define void @f(i32 %a) {
entry:
  %c = icmp eq i32 %a, 0
  br label %next
next:
  %other = icmp eq i32 %a, 7
  br i1 %c, label %x, label %y
x:
  br i1 %other, label %y, label %z
y:
  ret void
z:
  ret void
}
"""
    f, counts = at(text, "f", "next")
    # The first branch tests what was computed before: making %a symbolic now adds nothing there.
    assert counts.of(index(f, "c")) == 1.0
    assert counts.of(0) == 0.5
    assert counts.total == 1.5


LOOP = """
define void @f(i32 %n, i32 %r) {{
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %go = icmp slt i32 %i, {bound}
  br i1 %go, label %body, label %done
body:
  %next = add i32 %i, 1
  br label %head
done:
  %t = icmp eq i32 %r, 0
  br i1 %t, label %end, label %end2
end:
  ret void
end2:
  ret void
}}
"""


@pytest.mark.parametrize(("bound", "iterations"), [("%n", 2), ("5", 5), ("1", 1), ("0", 1)])
def test_loops_run_their_trip_count_or_kappa_times(bound: str, iterations: int) -> None:
    f, counts = at(LOOP.format(bound=bound), "f", "head")
    # q(k) = 0.5 * q(k - 1) + 0.5 * 1 + 1 with q(0) = 1: after the last iteration only the last test is left.
    expected, r = 1.0, 1.0
    for _ in range(iterations):
        expected, r = 0.5 * expected + 0.5 + 1, 0.5 * r + 0.5
    assert counts.total == pytest.approx(expected)
    assert counts.of(1) == pytest.approx(r)
    assert counts.of(index(f, "i")) == pytest.approx(expected - r)


def test_switches_and_checks() -> None:
    text = """
define i32 @f(i32 %a, i32 %b) {
entry:
  %q = udiv i32 100, %b
  %s = shl i32 1, %b
  %k = udiv i32 %a, 7
  switch i32 %a, label %x [
    i32 1, label %y
    i32 2, label %z
    i32 3, label %y
  ]
x:
  ret i32 %q
y:
  ret i32 0
z:
  ret i32 %s
}
"""
    _, plain = at(text, "f", "entry")
    assert (plain.total, plain.of(0), plain.of(1)) == (2.0, 2.0, 0.0)
    _, checked = at(text, "f", "entry", QceParameters(check_weight=3.0, beta=0.5))
    assert (checked.total, checked.of(0), checked.of(1)) == (8.0, 2.0, 6.0)


def test_memory_accesses_weigh_what_they_are_told() -> None:
    text = """
@table = global [4 x i32] zeroinitializer
define i32 @f(ptr %p, i64 %i) {
entry:
  %a = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
  %x = load i32, ptr %a
  %b = getelementptr [4 x i32], ptr @table, i64 0, i64 2
  %y = load i32, ptr %b
  %z = load i32, ptr %p
  store i32 %x, ptr %b
  ret i32 %z
}
"""
    _, counts = at(text, "f", "entry", QceParameters(memory_weight=2.0))
    # Two of the four accesses have an address that is not the same on every path.
    assert (counts.total, counts.of(0), counts.of(1)) == (4.0, 2.0, 2.0)


# Memory.

MEMORY = """
%pair = type { i32, i32 }
@g = global %pair zeroinitializer
@k = constant i32 5

define void @f(ptr %p, i32 %v, i64 %i) {
entry:
  %slot = alloca [4 x i32]
  br label %start
start:
  %first = load i32, ptr @g
  %kept = getelementptr %pair, ptr @g, i32 0, i32 1
  %field = getelementptr %pair, ptr %p, i32 0, i32 1
  %behind = load i32, ptr %field
  %sum = add i32 %first, %behind
  %two = getelementptr [4 x i32], ptr %slot, i64 0, i64 2
  store i32 %sum, ptr %two
  %any = getelementptr [4 x i32], ptr %slot, i64 0, i64 %i
  br label %test
test:
  %again = load i32, ptr %two
  %c = icmp eq i32 %again, 0
  br i1 %c, label %x, label %y
x:
  %other = load i32, ptr %any
  %d = icmp eq i32 %other, 0
  br i1 %d, label %y, label %z
y:
  ret void
z:
  store i32 %v, ptr @g
  ret void
}
"""


def test_memory_at_constant_offsets() -> None:
    f, counts = at(MEMORY, "f", "start")
    assert counts.total == 1.5
    # Both branches read the sum, the second one perhaps.
    assert counts.memory[("global", "g"), 0] == 1.5
    assert (("global", "g"), 4) not in counts.memory
    assert counts.memory[("argument", 0), 4] == 1.5
    assert counts.byte(("argument", 0), 6) == 1.5
    assert counts.byte(("argument", 0), 0) == counts.byte(("argument", 0), 8) == 0.0
    assert counts.of(0) == 1.5
    assert counts.of(1) == 0.0
    slot: Base = ("alloca", index(f, "slot"))
    # Offset 8 is overwritten before it is read; the rest may be read at an unknown offset.
    assert counts.byte(slot, 8) == 0.0
    assert counts.byte(slot, 0) == counts.any_offset[slot] == 0.5
    assert counts.of(index(f, "i")) == 0.5
    assert counts.heap == 0.0


def test_memory_after_the_store() -> None:
    f, counts = at(MEMORY, "f", "test")
    slot: Base = ("alloca", index(f, "slot"))
    assert counts.byte(slot, 8) == 1.5
    assert counts.byte(slot, 12) == 0.5
    assert ("global", "g") not in counts.bases


def test_overlapping_cells_and_aliases() -> None:
    text = """
define void @f(ptr %p, i16 %v) {
entry:
  %q = getelementptr i8, ptr %p, i64 2
  br label %a
a:
  store i16 %v, ptr %q
  br label %b
b:
  %r = getelementptr i8, ptr %q, i64 -2
  %w = load i32, ptr %r
  %c = icmp eq i32 %w, 0
  br i1 %c, label %x, label %y
x:
  ret void
y:
  ret void
}
"""
    f, counts = at(text, "f", "a")
    assert counts.of(1) == 1.0
    assert counts.byte(("argument", 0), 1) == 1.0
    # %p itself is dead here: a frame knows the memory by %q.
    assert counts.of(0) == 0.0
    assert counts.byte(("pointer", index(f, "q")), -1) == 1.0


def test_pointers_from_memory_share_the_heap() -> None:
    text = """
@list = global ptr null
define void @f(i32 %v) {
entry:
  %a = load ptr, ptr @list
  store i32 %v, ptr %a
  br label %next
next:
  %b = load ptr, ptr @list
  %n = getelementptr { i32, ptr }, ptr %b, i32 0, i32 1
  %x = load i32, ptr %b
  %c = icmp eq i32 %x, 0
  br i1 %c, label %end, label %end2
end:
  ret void
end2:
  ret void
}
"""
    _, counts = at(text, "f", "entry")
    assert counts.of(0) == counts.heap == 1.0
    assert counts.memory[("global", "list"), 0] == 1.0
    _, later = at(text, "f", "next")
    assert (later.of(0), later.heap) == (0.0, 1.0)


def test_a_pointer_that_walks() -> None:
    text = """
define void @f(ptr %s) {
entry:
  br label %head
head:
  %p = phi ptr [ %s, %entry ], [ %q, %head ]
  %x = load i8, ptr %p
  %q = getelementptr i8, ptr %p, i64 1
  %c = icmp eq i8 %x, 0
  br i1 %c, label %end, label %head
end:
  ret void
}
"""
    f, counts = at(text, "f", "entry")
    # kappa is 2: 1 + 0.5.
    assert counts.total == counts.of(0) == counts.any_offset[("argument", 0)] == 1.5
    _, inside = at(text, "f", "head")
    assert inside.of(index(f, "p")) == inside.byte(("pointer", index(f, "p")), 0) == 1.5


# Calls.

CALLS = """
@count = global i32 0
declare i32 @unknown(i32, ptr)
declare i64 @strlen(ptr)

define i32 @inner(ptr %p, i32 %limit, i32 %ignored) {
entry:
  %q = getelementptr i32, ptr %p, i64 1
  %x = load i32, ptr %q
  %c = icmp slt i32 %x, %limit
  br i1 %c, label %yes, label %no
yes:
  %n = load i32, ptr @count
  %m = add i32 %n, %x
  store i32 %m, ptr @count
  ret i32 %x
no:
  ret i32 0
}

define void @outer(i32 %a, i32 %b, i32 %z) {
entry:
  %box = alloca [4 x i32]
  %at = getelementptr [4 x i32], ptr %box, i64 0, i64 2
  %l = add i32 %a, %b
  %got = call i32 @inner(ptr %at, i32 %l, i32 %z)
  %c = icmp eq i32 %got, 0
  br i1 %c, label %next, label %end
next:
  %u = call i32 @unknown(i32 %z, ptr null)
  %d = icmp eq i32 %u, 0
  br i1 %d, label %last, label %end
last:
  %n = load i32, ptr @count
  %e = icmp eq i32 %n, 0
  br i1 %e, label %more, label %end
more:
  ret void
end:
  ret void
}
"""


def test_calls_add_the_callee_s_counts() -> None:
    module = read_module(CALLS)
    f = module.functions["outer"]
    counts = QueryCounts(module, BRANCHES).at("outer", (0, 0))
    box: Base = ("alloca", index(f, "box"))
    # One query in the callee, then 1, 0.5 and 0.25 in the caller.
    assert counts.total == 1 + 1 + 0.5 + 0.25
    assert counts.of(0) == counts.of(1) == 1.0
    assert counts.of(2) == 0.5
    # box[3] decides in the callee, is returned, and is added to the counter tested last.
    assert counts.byte(box, 12) == 1 + 1 + 0.25
    assert counts.byte(box, 8) == 0.0
    # The counter is also kept as it is.
    assert counts.memory[("global", "count"), 0] == 0.25


def test_the_point_after_a_call() -> None:
    module = read_module(CALLS)
    outer = module.functions["outer"]
    call = next(i for i, x in enumerate(outer.blocks[0].instructions) if x.opcode == "call")
    estimator = QueryCounts(module, BRANCHES)
    counts = estimator.at("outer", (0, call))
    assert counts.total == 1.75
    assert counts.of(index(outer, "got")) == 1.0
    assert counts.of(0) == 0.0
    assert counts.bases == {("global", "count")}


def test_counts_of_a_stack() -> None:
    module = read_module(CALLS)
    outer = module.functions["outer"]
    call = next(i for i, x in enumerate(outer.blocks[0].instructions) if x.opcode == "call")
    estimator = QueryCounts(module, BRANCHES)
    stack = [("outer", (0, call)), ("inner", 1)]
    counts = estimator.global_counts(stack)
    assert counts is estimator.global_counts(list(stack))
    assert counts.total == 1.75 + 0.0
    assert counts.of(0, 2) == 0.5
    assert counts.of(1, 2) == 0.0
    assert counts.byte([(f, ("global", "count"), 0) for f in (0, 1)], False) == 0.25
    entry = estimator.global_counts([("outer", (0, call)), ("inner", 0)])
    assert entry.total == 2.75
    assert entry.of(1, 1) == 1.0
    # The same byte, behind the callee's argument and in the caller's variable, which it no longer reads.
    box: Base = ("alloca", index(outer, "box"))
    assert entry.byte([(0, box, 12), (1, ("argument", 0), 4)], False) == 1.0
    hot = entry.hot(QceParameters(alpha=0.3))
    assert hot[1].locals == {0, 1} and hot[0].locals == {index(outer, "got")}


def test_modelled_functions() -> None:
    text = """
declare i64 @strlen(ptr)
define void @f(ptr %s) {
entry:
  %n = call i64 @strlen(ptr %s)
  %c = icmp eq i64 %n, 3
  br i1 %c, label %x, label %y
x:
  ret void
y:
  ret void
}
"""
    _, counts = at(text, "f", "entry", QceParameters(model_weight=4.0))
    assert counts.total == counts.of(0) == counts.byte(("argument", 0), 17) == 5.0


RECURSIVE = """
define i32 @even(i32 %n, i32 %x) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %yes, label %no
yes:
  ret i32 1
no:
  %m = sub i32 %n, 1
  %r = call i32 @odd(i32 %m, i32 %x)
  ret i32 %r
}
define i32 @odd(i32 %n, i32 %x) {
entry:
  %c = icmp eq i32 %x, %n
  br i1 %c, label %yes, label %no
yes:
  ret i32 0
no:
  %m = sub i32 %n, 1
  %r = call i32 @even(i32 %m, i32 %x)
  ret i32 %r
}
"""


@pytest.mark.parametrize(("kappa", "expected"), [(1, 1.0), (2, 1.5), (3, 1.75)])
def test_recursion_is_kappa_deep(kappa: int, expected: float) -> None:
    parameters = QceParameters(beta=0.5, kappa=kappa)
    _, counts = at(RECURSIVE, "even", "entry", parameters)
    assert counts.total == counts.of(0) == expected
    assert counts.of(1) == {1: 0.0, 2: 0.5, 3: 0.5}[kappa]


def test_calls_through_pointers() -> None:
    text = """
@t = global [2 x ptr] [ptr @a, ptr @b]
define void @a(i32 %x) {
entry:
  %c = icmp eq i32 %x, 0
  br i1 %c, label %p, label %q
p:
  ret void
q:
  ret void
}
define void @b(i32 %x) {
  ret void
}
define void @f(ptr %g, i32 %x) {
entry:
  %u = load ptr, ptr @t
  call void %g(i32 %x)
  ret void
}
"""
    _, counts = at(text, "f", "entry")
    # Which function it is may be asked; one of the two makes a query.
    assert (counts.total, counts.of(0), counts.of(1)) == (1.5, 1.0, 0.5)


# The criterion.


def test_equation_seven() -> None:
    one = QceParameters(alpha=0.5, zeta=1.0)
    assert similar(10.0, [4.9, 1.0], [9.0], one)
    assert not similar(10.0, [5.0], [], one)
    two = QceParameters(alpha=0.5, zeta=1.5)
    assert similar(10.0, [1.0], [7.9], two)
    assert not similar(10.0, [1.0], [8.0], two)
    assert similar(0.0, [], [], one) and similar(0.0, [0.0], [3.0], one)
    assert not similar(10.0, [1e-9], [], QceParameters(alpha=0.0))


@pytest.mark.parametrize(
    "wrong",
    [{"beta": 0.0}, {"beta": 1.1}, {"kappa": 0}, {"alpha": -1.0}, {"zeta": 0.5}, {"memory_weight": -1.0}],
)
def test_parameters_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        QceParameters(**wrong)  # type: ignore[arg-type]


# Laws.


@pytest.mark.parametrize("seed", range(25))
def test_laws(seed: int) -> None:
    module = read_module(random_function(random.Random(seed)))
    low = QueryCounts(module, QceParameters(beta=0.6, kappa=3))
    high = QueryCounts(module, QceParameters(beta=0.7, kappa=3))
    for place in build_cfg(module.functions["f"]).order:
        counts, more = low.at("f", place), high.at("f", place)
        assert more.total >= counts.total - 1e-9
        for local, count in counts.locals.items():
            assert 0 <= count <= counts.total + 1e-9
            assert more.of(local) >= count - 1e-9


def test_more_iterations_count_more() -> None:
    module = read_module(LOOP.format(bound="%n"))
    totals = [QueryCounts(module, QceParameters(beta=0.6, kappa=k)).at("f", 0).total for k in range(1, 12)]
    assert all(a < b for a, b in pairwise(totals))


def test_unreachable_blocks_and_declarations_count_nothing() -> None:
    module = read_module("declare void @d()\ndefine void @f() {\n  ret void\nlost:\n  br label %lost\n}\n")
    estimator = QueryCounts(module)
    assert estimator.at("f", 1).total == 0.0
    assert estimator.at("d", 0).total == estimator.at("nowhere", 0).total == 0.0


def test_the_analysis_knows_no_machine() -> None:
    from tests.test_layering import ROOT, imports

    allowed = ("anabranch.ir", "anabranch.semantics", "anabranch.analysis", "anabranch.reduce.qce")
    for path in (ROOT / "reduce" / "qce").glob("*.py"):
        ours = {name for name in imports(path) if name.startswith("anabranch")}
        assert all(name.startswith(allowed) for name in ours), path


SIZED = """
declare ptr @malloc(i64)
declare i64 @strlen(ptr)
define internal i8 @get(ptr %p, i32 %i) {
entry:
  %at = getelementptr i8, ptr %p, i32 %i
  %v = load i8, ptr %at
  ret i8 %v
}
define i64 @f(i64 %n, i32 %i) {
entry:
  %fixed = alloca [4 x i8]
  %own = alloca i8, i64 %n
  %p = call ptr @malloc(i64 %n)
  %q = call ptr @malloc(i64 %n)
  br label %use
use:
  %first = getelementptr i8, ptr %p, i32 1
  store i8 0, ptr %first
  %a = call i8 @get(ptr %p, i32 %i)
  %b = call i8 @get(ptr %own, i32 %i)
  %c = call i8 @get(ptr %fixed, i32 %i)
  %l = call i64 @strlen(ptr %q)
  ret i64 %l
}
"""


def test_sizes_count_the_checks_that_depend_on_them() -> None:
    f, before = at(SIZED, "f", "entry", QceParameters())
    f, counts = at(SIZED, "f", "use", QceParameters())
    p, q, own = (index(f, name) for name in ("p", "q", "own"))
    assert counts.extents == {("pointer", p): 2.0, ("pointer", q): 1.0, ("alloca", own): 1.0, None: 3.0}
    assert before.extents == {None: 3.0}  # the others are not allocated yet
    assert counts.total == 5.0
