"""A failure of the engine is never told as one of the program; what made it fail once does so no more."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from anabranch.environment import MODELS
from tests.machine.harness import run_source

RECURSION = {
    "itself": "int down(int n) { return 1 + down(n + 1); } int main(void) { return down(0); }",
    "each other": (
        "int odd(int n); int even(int n) { return 1 + odd(n + 1); }"
        " int odd(int n) { return 1 + even(n + 1); }"
        " int main(void) { return odd(0); }"
    ),
    "through a pointer of another type": (
        "int down(int n); int (*volatile next)(int, int) = (int (*)(int, int))down;"
        " int down(int n) { return 1 + next(n + 1, 0); } int main(void) { return down(0); }"
    ),
}


@pytest.mark.parametrize("mode", [(), ("--interpret",)], ids=["translated", "interpreted"])
@pytest.mark.parametrize("source", RECURSION.values(), ids=RECURSION)
def test_a_program_without_end_of_calls_overflows_its_stack(
    tmp_path: Path, source: str, mode: tuple[str, ...]
) -> None:
    outcome = run_source(tmp_path, source, "--max-stack-frames", "600", *mode)
    assert outcome.errors() == [("stack-overflow", 1)]
    assert outcome.result.complete


@pytest.mark.parametrize("calls", [0, 500])
@pytest.mark.parametrize("mode", [(), ("--interpret",)], ids=["translated", "interpreted"])
def test_a_model_without_end_of_calls_is_no_error_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int, mode: tuple[str, ...]
) -> None:
    def endless(*arguments: object) -> object:
        return endless(*arguments)

    monkeypatch.setitem(MODELS, "klee_int", dataclasses.replace(MODELS["klee_int"], function=endless))
    source = """#include <klee/klee.h>
int down(int n) { return n ? 1 + down(n - 1) : klee_int("x"); }
int main(void) { return down(CALLS); }
"""
    outcome = run_source(tmp_path, source, f"-DCALLS={calls}", "--max-stack-frames", "600", *mode)
    assert outcome.errors() == []
    assert outcome.losses() == {"internal error: RecursionError": 1}
    assert not outcome.result.complete
    assert "RecursionError" in outcome.collector.defects[0]


def test_a_jump_without_labels_has_its_error(tmp_path: Path) -> None:
    source = """
define i32 @main() {
  indirectbr ptr null, []
}
"""
    outcome = run_source(tmp_path, source, suffix=".ll")
    assert [error.kind for error in outcome.collector.errors] == ["bad-call"]
    assert outcome.result.complete


@pytest.mark.parametrize("level", ["0", "1", "2"])
@pytest.mark.parametrize(("jumps", "line"), [(1, 7), (2, 2)])
def test_a_jump_to_no_label_has_its_place(tmp_path: Path, jumps: int, line: int, level: str) -> None:
    """All computed gotos of a function share one block, which has no location of its own."""
    source = f"""#include <klee/klee.h>
int main(void) {{
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  klee_assume(i < 3);
  void *labels[] = {{ &&a, &&b, (char *)&&a + 7 }};
  goto *labels[i];
a:
  {"if (i == 1) goto *labels[1];" if jumps > 1 else ""}
  return 1;
b:
  return 2;
}}
"""
    outcome = run_source(tmp_path, source, "-O", level)
    (error,) = outcome.collector.errors
    assert (error.kind, error.line, error.function) == ("bad-call", line, "main")
    assert error.file.endswith("subject.c")


def test_interpreted_callers_go_on_by_the_interpreter(tmp_path: Path) -> None:
    """The caller's loop was written in line without end, for interpreted functions have no arms."""
    source = """#include <klee/klee.h>
int seen;
void count(int n) { if (n > 7) seen++; else seen--; }
int main(void) {
  int x, sum = 0, i = 0;
  klee_make_symbolic(&x, sizeof x, "x");
  count(x);
  for (;;) { sum += i * seen; if (i++ > 10) break; }
  return sum == 66 ? 1 : sum == -66 ? 2 : 3;
}
"""
    translated = run_source(tmp_path, source)
    interpreted = run_source(tmp_path, source, "--interpret", "--search", "bfs", "--max-instructions", "9999")
    assert {test.exit_code for test in translated.collector.tests} == {1, 2}
    assert interpreted.summary() == translated.summary()


CONSTANTS = {
    "<2 x i32> bitcast (<4 x i16> <i16 1, i16 2, i16 3, i16 4> to <2 x i32>)": [0x20001, 0x40003],
    "<2 x i32> bitcast (i64 ptrtoint (ptr null to i64) to <2 x i32>)": [0, 0],
    "<2 x i32> trunc (<2 x i64> ptrtoint (<2 x ptr> zeroinitializer to <2 x i64>) to <2 x i32>)": [0, 0],
    "<2 x i32> add (<2 x i32> bitcast (<4 x i16> <i16 1, i16 2, i16 3, i16 4> to <2 x i32>), "
    "<2 x i32> <i32 1, i32 -1>)": [0x20002, 0x40002],
    "<2 x i32> shufflevector (<2 x i32> bitcast (<4 x i16> <i16 1, i16 2, i16 3, i16 4> to <2 x i32>), "
    "<2 x i32> poison, <2 x i32> <i32 1, i32 0>)": [0x40003, 0x20001],
}


@pytest.mark.parametrize("mode", [(), ("--interpret",)], ids=["translated", "interpreted"])
@pytest.mark.parametrize(("constant", "lanes"), CONSTANTS.items())
def test_constants_made_of_vectors(
    tmp_path: Path, constant: str, lanes: list[int], mode: tuple[str, ...]
) -> None:
    source = f"""
@kept = global {constant}
define i32 @main() {{
  %stored = load <2 x i32>, ptr @kept
  %other = xor <2 x i32> {constant.removeprefix("<2 x i32> ")}, %stored
  %a = extractelement <2 x i32> %stored, i32 0
  %b = extractelement <2 x i32> %stored, i32 1
  %c = extractelement <2 x i32> %other, i32 0
  %d = extractelement <2 x i32> %other, i32 1
  %first = icmp eq i32 %a, {lanes[0]}
  %second = icmp eq i32 %b, {lanes[1]}
  %or = or i32 %c, %d
  %same = icmp eq i32 %or, 0
  %both = and i1 %first, %second
  %all = and i1 %both, %same
  %code = select i1 %all, i32 0, i32 1
  ret i32 %code
}}
"""
    outcome = run_source(tmp_path, source, "-O", "0", *mode, suffix=".ll")
    assert outcome.result.complete
    assert [test.exit_code for test in outcome.collector.tests] == [0]
