"""Control regions without halts: the paper's snippets, never-returning calls, and brute force on random
functions."""

import random
from pathlib import Path

import pytest

from anabranch.analysis.bits import mask_of, ones_of
from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.cfg import block_successors, build_cfg, graph, reachable_from
from anabranch.analysis.controldep import control_dependence
from anabranch.analysis.dominators import post_dominators
from anabranch.analysis.regions import ControlRegions, control_regions
from anabranch.analysis.returning import Returning
from anabranch.frontend import FrontendOptions, load_program
from anabranch.ir import Function, Module, read_module

CHOWN = """
void error(void); int stat_(void), parse_user_spec(void); void other(void), uncovered(void);
void f(int reference_file, int recurse, int preserve_root) {
#line 1
  if (reference_file) {
    if (stat_())
      error();
    other();
  } else {
    if (parse_user_spec())
      error();
    other();
  }
  if (recurse & preserve_root)
    uncovered();
}
"""
"""Section 3.1 of the paper, with its line numbers. Its lines 3 and 11 are uncovered."""
HALTS = """
void exit(int) __attribute__((noreturn)); void work(void), goal(void);
void quiet_exit(int status) { work(); exit(status); }
void usage(int n) { for (int i = 0; i < n; i++) work(); quiet_exit(n); }
void f(int bad, int a) {
#line 1
  if (bad)
    usage(bad);
  work();
  if (a)
    goal();
  work();
}
void never(int a) {
#line 20
  if (a)
    quiet_exit(1);
  work();
  quiet_exit(2);
}
"""


def compiled(tmp_path: Path, source: str) -> Module:
    path = tmp_path / "m.c"
    path.write_text(source)
    options = FrontendOptions(cache_dir=tmp_path / "cache", use_cache=False, opt_level=0, entry="f")
    return load_program([path], options).module


def at_line(function: Function, line: int) -> int:
    """Mask of the blocks that have a call of a line."""
    return mask_of(
        block.index
        for block in function.blocks
        for i in block.instructions
        if i.opcode == "call" and i.loc is not None and i.loc.line == line
    )


def branch_lines(function: Function, branches: int) -> set[int]:
    found = set()
    for block in ones_of(branches):
        loc = function.blocks[block].instructions[-1].loc
        assert loc is not None
        found.add(loc.line)
    return found


def controlling(function: Function, regions: ControlRegions, *lines: int) -> set[int]:
    mask = 0
    for line in lines:
        mask |= at_line(function, line)
    assert mask
    return branch_lines(function, regions.controllers(mask))


def test_the_snippet_of_section_3_1(tmp_path: Path) -> None:
    function = compiled(tmp_path, CHOWN).functions["f"]
    regions = control_regions(function)
    assert controlling(function, regions, 3, 11) == {1, 2, 10}
    assert controlling(function, regions, 7) == {1, 6}
    assert regions.halting == 0
    first = next(b for b in ones_of(regions.controllers(at_line(function, 3))))
    assert at_line(function, 4) & regions.closure[first]
    assert not at_line(function, 11) & regions.closure[first]
    assert function.blocks[regions.end[first]].instructions[-1].loc.line == 10  # type: ignore[union-attr]


def test_calls_that_never_come_back(tmp_path: Path) -> None:
    module = compiled(tmp_path, HALTS)
    returning = Returning(build_call_graph(module))
    assert {"exit", "quiet_exit", "usage", "never"} <= returning.never
    assert not {"f", "work", "goal"} & returning.never
    function = module.functions["f"]
    # Neither function is declared noreturn, so that no `unreachable` follows the call.
    assert control_regions(function).halting == 0
    halting = control_regions(function, returning)
    assert controlling(function, halting, 5) == {4}
    assert controlling(function, halting, 2) == {1}
    assert halting.halting == at_line(function, 2)
    branch = ones_of(halting.controllers(at_line(function, 2)))[0]
    assert halting.between[branch] == 0
    assert halting.closure[branch] == at_line(function, 2)
    assert at_line(function, 3) == 1 << halting.end[branch]
    # In the whole graph the first branch decides about all that is behind it.
    ends = graph([() if returning.ends(function, b) else block_successors(b) for b in function.blocks])
    assert halting.end[branch] in control_dependence(ends).controlled[branch]


def test_a_function_that_never_returns_is_taken_as_it_is(tmp_path: Path) -> None:
    module = compiled(tmp_path, HALTS)
    function = module.functions["never"]
    regions = control_regions(function, Returning(build_call_graph(module)))
    assert regions.halting == 0
    assert controlling(function, regions, 22) == {20}


def test_a_replaced_body_comes_back_unless_declared_otherwise(tmp_path: Path) -> None:
    graph_ = build_call_graph(compiled(tmp_path, HALTS))
    assert "usage" not in Returning(graph_, replaced={"quiet_exit"}).never


INDIRECT = """
@p = global ptr @out
declare void @exit(i32) noreturn
define void @out(i64 %x) {
  call void @exit(i32 1)
  unreachable
}
define void @endless() {
  call void @endless()
  ret void
}
define void @through() {
  %q = load ptr, ptr @p
  call void %q(i64 1)
  ret void
}
define void @even(i1 %c) {
  br i1 %c, label %more, label %done
more:
  call void @odd(i1 %c)
  br label %done
done:
  ret void
}
define void @odd(i1 %c) {
  call void @even(i1 %c)
  ret void
}
"""


def test_recursion_and_indirect_calls() -> None:
    module = read_module(INDIRECT)
    never = Returning(build_call_graph(module)).never
    assert never == {"exit", "out", "endless", "through"}


def random_function(seed: int) -> Function:
    rng = random.Random(seed)
    count = rng.randint(2, 12)
    lines = ["define void @f(i1 %c, i32 %s) {"]
    for b in range(count):
        lines.append(f"b{b}:")
        target = [f"label %b{rng.randrange(1, count)}" for _ in range(3)]
        kind = rng.choice(("ret", "halt", "br", "if", "if", "if", "switch"))
        lines.append(
            {
                "ret": "  ret void",
                "halt": "  unreachable",
                "br": f"  br {target[0]}",
                "if": f"  br i1 %c, {target[0]}, {target[1]}",
                "switch": f"  switch i32 %s, {target[0]} [ i32 1, {target[1]} i32 2, {target[2]} ]",
            }[kind]
        )
    return read_module("\n".join([*lines, "}"])).functions["f"]


@pytest.mark.parametrize("seed", range(300))
def test_regions_equal_their_definition(seed: int) -> None:
    function = random_function(seed)
    cfg = build_cfg(function)
    regions = control_regions(function)
    leaving = {b.index for b in function.blocks if b.instructions[-1].opcode == "ret"}
    halting = {b for b in cfg.order if not reachable_from(cfg.successors, [b]) & leaving}
    if 0 in halting:
        halting = set()
    assert {b for b in cfg.order if regions.halting >> b & 1} == halting
    whole = control_dependence(cfg)
    for block in cfg.order:
        if halting:
            direct = {b for b in ones_of(regions.controlled[block]) if b in halting}
            assert direct == whole.controlled[block] & halting
        assert regions.closure[block] == transitive(regions, block)
        if block in halting:
            continue
        kept = [[t for t in targets if t not in halting] for targets in cfg.successors]
        end = regions.end[block]
        assert end == post_dominators(graph(kept)).parent[block]
        # What is decided about transitively is what can run before the end (Podgurski and Clarke).
        before = [[t for t in targets if t != end] for targets in kept]
        expected = reachable_from(before, before[block]) if len(kept[block]) > 1 else set()
        assert {b for b in ones_of(regions.between[block]) if cfg.reachable(b)} == expected


def transitive(regions: ControlRegions, block: int) -> int:
    mask = regions.controlled[block]
    while True:
        more = mask
        for b in ones_of(mask):
            more |= regions.controlled[b]
        if more == mask:
            return mask
        mask = more


def test_a_long_chain_of_branches_is_quick() -> None:
    size = 3000
    body = "".join(f"b{b}:\n  br i1 %c, label %b{b + 1}, label %b{size}\n" for b in range(size))
    text = f"define void @f(i1 %c) {{\n{body}b{size}:\n  ret void\n}}"
    function = read_module(text).functions["f"]
    regions = control_regions(function)
    assert len(ones_of(regions.closure[0])) == size - 1
