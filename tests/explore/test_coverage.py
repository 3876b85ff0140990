from __future__ import annotations

import pytest

from anabranch.explore.coverage import BlockTable, BranchCount, FunctionCounters
from anabranch.explore.new_coverage import NewCoverage
from anabranch.ir import Function, Module, read_module
from anabranch.report.result import FileCoverage, Ratio

TEXT = """
define i32 @main(i32 %x) !dbg !4 {
entry:
  %c = icmp eq i32 %x, 0, !dbg !10
  br i1 %c, label %then, label %join, !dbg !10
then:
  %r = call i32 @helper(i32 %x), !dbg !11
  %s = add i32 %r, 1, !dbg !12
  call void @log(i32 %s), !dbg !13
  br label %join, !dbg !13
join:
  %p = phi i32 [ 0, %entry ], [ %s, %then ], !dbg !19
  switch i32 %p, label %out [
    i32 1, label %one
    i32 2, label %one
    i32 3, label %join2
  ], !dbg !14
one:
  br label %join2, !dbg !15
join2:
  br label %out, !dbg !0
out:
  ret i32 0, !dbg !16
}
define i32 @helper(i32 %x) !dbg !5 {
  %c = icmp sgt i32 %x, 0, !dbg !17
  br i1 %c, label %a, label %b, !dbg !17
a:
  ret i32 1, !dbg !17
b:
  ret i32 2, !dbg !18
}
define void @library() !dbg !7 {
  ret void, !dbg !20
}
define void @log(i32 %x) {
  ret void
}
!0 = !DILocation(line: 0, scope: !4)
!1 = !DIFile(filename: "a.c", directory: "/src")
!2 = !DIFile(filename: "lib.c", directory: "/usr/lib")
!4 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 1)
!5 = distinct !DISubprogram(name: "helper", scope: !1, file: !1, line: 20)
!7 = distinct !DISubprogram(name: "library", scope: !2, file: !2, line: 1)
!10 = !DILocation(line: 2, column: 3, scope: !4)
!11 = !DILocation(line: 3, column: 3, scope: !4)
!12 = !DILocation(line: 4, column: 3, scope: !4)
!13 = !DILocation(line: 5, column: 3, scope: !4)
!14 = !DILocation(line: 6, column: 3, scope: !4)
!15 = !DILocation(line: 7, column: 3, scope: !4)
!16 = !DILocation(line: 8, column: 3, scope: !4)
!17 = !DILocation(line: 21, column: 3, scope: !5)
!18 = !DILocation(line: 22, column: 3, scope: !5)
!19 = !DILocation(line: 99, column: 3, scope: !4)
!20 = !DILocation(line: 2, column: 3, scope: !7)
"""
A = "/src/a.c"


@pytest.fixture
def module() -> Module:
    return read_module(TEXT)


def is_user(function: Function) -> bool:
    return function.subprogram is not None and function.subprogram.file.startswith("/src/")


def run(table: BlockTable, main: FunctionCounters, *blocks: int) -> list[int]:
    """Counters after `main` ran these blocks, as translated code would leave them."""
    counters = [0] * table.size
    names = {(0, 2): (0, 1), (2, 5): (2, 0), (2, 4): (2, 3)}  # (block, next) -> side, where it may be counted
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        counters[main.block_numbers[block]] += 1
        side = names.get((block, following)) if following is not None else None
        number = main.edge_numbers.get(side) if side is not None else None
        if number is not None:
            counters[number] += 1
    return counters


def lines(found: set[tuple[str, int]]) -> list[int]:
    assert {file for file, _ in found} <= {A}
    return sorted(line for _, line in found)


def test_numbers_are_dense_and_only_shared_targets_count_sides(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    assert main.first_block_number == 0
    assert list(main.block_numbers) == [0, 1, 2, 3, 4, 5]
    # then: one way in; join: two; out (default): two; one: two cases, but one block; join2: two.
    assert main.edge_numbers == {(0, 0): None, (0, 1): 6, (2, 0): 7, (2, 1): None, (2, 2): None, (2, 3): 8}
    assert main.call_numbers == {}
    assert table.size == 9
    helper = table.register(module.functions["helper"])
    assert list(helper.block_numbers) == [9, 10, 11]
    assert set(helper.edge_numbers.values()) == {None}
    assert table.size == 12
    assert table.register(module.functions["main"]) is main
    assert table.size == 12


def test_locations_of_counters(module: Module) -> None:
    table = BlockTable(module, is_user)
    table.register(module.functions["main"])
    table.register(module.functions["log"])
    assert table.function_of(5).name == table.function_of(8).name == "main"
    assert [table.block_of(number) for number in (3, 7, 9)] == [3, None, 0]
    assert [table.instructions(number) for number in (0, 1, 2, 7)] == [2, 4, 2, 0]
    assert table.is_user_code(8)
    assert not table.is_user_code(9)
    assert table.describe(1) == f"{A}:3"
    assert table.describe(4) == "main:4"
    assert table.describe(9) == "log:0"


def test_lines_of_a_short_run(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    counters = run(table, main, 0, 2, 5)
    assert lines(table.lines_covered(counters)) == [2, 6, 8]
    # helper's lines count though it was never translated; line 0, phis and other files do not
    assert table.lines_total() == 9
    in_file = table.by_file(counters)
    assert list(in_file) == [A]
    assert [line for line, hits in in_file[A].lines.items() if not hits] == [3, 4, 5, 7, 21, 22]
    assert in_file[A].lines[6] == 1


def test_branches(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    counters = run(table, main, 0, 2, 5)
    assert table.branches(counters) == BranchCount(0, 2, 3, 2, 7)
    assert table.by_file(counters)[A].branches == table.branches(counters)
    more = run(table, main, 0, 1, 2, 3, 4, 5)
    counters = [a + b for a, b in zip(counters, more, strict=True)]
    assert table.branches(counters) == BranchCount(1, 1, 3, 4, 7)
    more = run(table, main, 0, 2, 4, 5)
    counters = [a + b for a, b in zip(counters, more, strict=True)]
    assert table.branches(counters) == BranchCount(2, 0, 3, 5, 7)


def test_a_target_that_others_reach_does_not_count_for_a_side(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    counters = run(table, main, 0, 1, 2, 3, 4, 5)
    assert counters[main.block_numbers[2]] == counters[main.block_numbers[5]] == 1
    assert table.branches(counters) == BranchCount(0, 2, 3, 2, 7)


def test_uncovered_blocks(module: Module) -> None:
    table = BlockTable(module, is_user, after_calls=True)
    main = table.register(module.functions["main"])
    assert table.uncovered_blocks(run(table, main, 0, 2, 5)) == {"main": [1, 3, 4], "helper": [0, 1, 2]}
    everything = run(table, main, 0, 1, 2, 3, 4, 5)
    assert table.uncovered_blocks(everything) == {"helper": [0, 1, 2]}


def test_instruction_coverage(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    assert table.instruction_coverage(run(table, main, 0, 2, 5)) == (5, 15)


def test_lines_behind_the_end_of_a_path_are_not_covered(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    counters = run(table, main, 0, 1)
    table.stopped(main.block_numbers[1], 1)
    assert lines(table.lines_covered(counters)) == [2, 3, 4]
    counters = run(table, main, 0, 1)
    counters[main.block_numbers[1]] = 2  # another path got through
    assert lines(table.lines_covered(counters)) == [2, 3, 4, 5]


def test_returns_are_counted_where_lines_follow(module: Module) -> None:
    table = BlockTable(module, is_user, after_calls=True)
    main = table.register(module.functions["main"])
    # behind helper() on line 3 comes line 4; behind log() on line 5 nothing new
    assert main.call_numbers == {(1, 0): 6}
    assert list(main.block_numbers) == [0, 1, 2, 3, 4, 5]
    assert [table.instructions(number) for number in (1, 6)] == [1, 3]
    counters = run(table, main, 0, 1)
    assert lines(table.lines_covered(counters)) == [2, 3]
    counters[main.call_numbers[1, 0]] = 2  # helper forked, both paths came back
    assert lines(table.lines_covered(counters)) == [2, 3, 4, 5]
    table.stopped(main.call_numbers[1, 0], 1)
    assert lines(table.lines_covered(counters)) == [2, 3, 4, 5]
    table.stopped(main.call_numbers[1, 0], 1)
    assert lines(table.lines_covered(counters)) == [2, 3, 4]


def test_report(module: Module) -> None:
    table = BlockTable(module, is_user)
    main = table.register(module.functions["main"])
    report = table.report(run(table, main, 0, 2, 5))
    assert report.lines == Ratio(3, 9)
    assert report.branches == Ratio(2, 7)
    hits = {2: 1, 3: 0, 4: 0, 5: 0, 6: 1, 7: 0, 8: 1, 21: 0, 22: 0}
    sides = {2: ((0, 1),), 6: ((1, 0, 0),), 21: ((0, 0),)}
    assert report.files == {A: FileCoverage(hits, Ratio(2, 7), sides)}
    assert report.files[A].lines_covered == (2, 6, 8) and report.files[A].lines_total == tuple(hits)


def test_new_coverage_is_seen_once() -> None:
    counters = [0, 0, 0]
    new = NewCoverage(counters)
    assert new.check() == []
    version = new.version
    assert new.check() == [] and new.version == version
    counters[1] = 4
    assert new.check() == [1] and new.version > version
    assert new.check() == []
    counters += [0, 1]
    counters[1] += 1
    counters[0] = 1
    assert new.check() == [0, 4]
    assert list(new.uncovered) == [2, 3]
    counters[2] = counters[3] = 1
    assert new.check() == [2, 3]
    assert list(new.uncovered) == []
    counters[0] += 1
    assert new.check() == []


def test_new_coverage_of_what_matters_only() -> None:
    counters = [0, 0, 1]
    new = NewCoverage(counters, accept=lambda number: number != 2)
    assert new.check() == []
    counters[1] = 1
    assert new.check() == [1]


def test_every_call_is_counted_if_asked_for(module: Module) -> None:
    table = BlockTable(module, is_user)
    table.count_every_call()
    main = table.register(module.functions["main"])
    calls = {
        (block.index, position)
        for block in module.functions["main"].blocks
        for position, instruction in enumerate(block.instructions)
        if instruction.opcode == "call"
    }
    assert set(main.call_numbers) == calls and len(calls) > 1
    with pytest.raises(ValueError):
        table.count_every_call()
