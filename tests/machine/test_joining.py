"""Joining two states: exact, or refused with the reason."""

from __future__ import annotations

import copy
import errno
from collections.abc import Sequence
from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.environment.posix.filesystem import FileSystem, standard_file_system
from anabranch.environment.posix.kernel import FILES
from anabranch.environment.posix.nodes import S_IFREG, OpenFile
from anabranch.explore.engine import Exploration
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.explore.worklist import Worklist
from anabranch.expr import Expr, evaluate, ult, var
from anabranch.machine import State
from anabranch.machine.joining import CannotJoin
from anabranch.machine.joining.states import join
from anabranch.machine.joining.values import choose
from anabranch.report.events import Collector
from tests.environment.posix.system import Model
from tests.machine.harness import load

HEAD = '#include "klee/klee.h"\n#include <stdlib.h>\n'


def waiting(directory: Path, source: str, count: int) -> tuple[Exploration, list[State]]:
    """An exploration stopped when so many states wait, and these states."""
    path = directory / "subject.c"
    path.write_text(HEAD + source)
    settings = settings_from_args([str(path), "--search", "bfs", "--batch-forks", "1", "--tests", "none"])
    run = prepare_exploration(load(settings), settings, Collector())

    def excess(worklist: Worklist) -> Sequence[State] | None:
        return () if len(worklist) < count else None

    run.housekeeping.excess = excess  # type: ignore[method-assign]
    run.run()
    return run, list(run.worklist.states())


def same_location(states: list[State]) -> tuple[State, State]:
    for i, a in enumerate(states):
        for b in states[i + 1 :]:
            if a.entry is b.entry:
                return a, b
    raise AssertionError("no two states wait at one location")


TWO_FORKS = """
int main(void) {
  unsigned char b[2];
  klee_make_symbolic(b, 2, "b");
  int n = 1;
  %s
  if (b[1] < 7) n++;
  return n;
}
"""


def test_a_join_is_a_choice(tmp_path: Path) -> None:
    run, states = waiting(tmp_path, TWO_FORKS % "if (b[0] < 5) n = 9; else n = 4;", 4)
    a, b = same_location(states)
    joined = join(a, b, run.space, run.machine.extras)
    assert joined.multiplicity == 2
    for side in (a, b):
        model = {i: part.model[i] for i, part in side.slices.items()}
        assert all(evaluate(c, model) is True for part in set(joined.slices.values()) for c in part.order)
        for mine, both in zip(side.values, joined.values, strict=True):
            assert evaluate(mine, model) == evaluate(both, model)


def test_complements_leave_nothing_behind(tmp_path: Path) -> None:
    run, states = waiting(tmp_path, TWO_FORKS % "if (b[0] < 5) n = 9; else n = 4;", 4)
    a, b = same_location(states)
    joined = join(a, b, run.space, run.machine.extras)
    assert joined.slices[0] is run.space.root(0)


def test_a_state_with_itself(tmp_path: Path) -> None:
    run, states = waiting(tmp_path, TWO_FORKS % "n = b[0];", 2)
    with pytest.raises(CannotJoin, match="itself"):
        join(states[0], states[0], run.space, run.machine.extras)
    with pytest.raises(CannotJoin, match="same path"):
        join(states[0], copy.copy(states[0]), run.space, run.machine.extras)


def test_states_at_different_locations(tmp_path: Path) -> None:
    run, states = waiting(tmp_path, TWO_FORKS % "n = b[0];", 2)
    with pytest.raises(CannotJoin, match="different locations"):
        join(states[0], states[1], run.space, run.machine.extras)


def test_different_call_stacks(tmp_path: Path) -> None:
    source = """
    static int small(int x) { if (x < 7) return 1; return 2; }
    int main(void) {
      unsigned char b[2];
      klee_make_symbolic(b, 2, "b");
      int n;
      if (b[0] < 5) n = small(b[1]); else n = 1 + small(b[1]);
      return n;
    }
    """
    run, states = waiting(tmp_path, source, 4)
    with pytest.raises(CannotJoin, match="call stacks"):
        join(*same_location(states), run.space, run.machine.extras)


def test_an_object_freed_on_one_side(tmp_path: Path) -> None:
    body = "char *p = malloc(3); p[0] = 1; if (b[0] < 5) free(p); else n = p[0];"
    run, states = waiting(tmp_path, TWO_FORKS % body, 4)
    with pytest.raises(CannotJoin, match="freed on one side"):
        join(*same_location(states), run.space, run.machine.extras)


def test_an_object_of_one_side_only(tmp_path: Path) -> None:
    body = 'char *p = 0; if (b[0] < 5) { p = malloc(3); p[1] = 4; } klee_print_expr("p", p);'
    run, states = waiting(tmp_path, TWO_FORKS % body + "", 4)
    a, b = same_location(states)
    joined = join(a, b, run.space, run.machine.extras)
    heap = [info for info in joined.objects.values() if info.site.kind == "heap"]
    assert len(heap) == 1 and not heap[0].end
    with pytest.raises(CannotJoin, match="leaks"):
        join(a, b, run.space, run.machine.extras, heaps_must_agree=True)


def test_files() -> None:
    guard = ult(var("g", 8), 3, 8)
    fs, number = FileSystem.empty().add_loose("file", S_IFREG | 0o644, data=b"abc")
    fs = fs.changed(files=fs.files.set(1, OpenFile(number, 0)))
    other = fs.put(fs.nodes[number].changed(data=b"axc"))
    data = fs.join(other, guard).nodes[number].data
    assert data[0] == ord("a") and data[1].__class__ is Expr and data[2] == ord("c")
    assert evaluate(data[1], {guard.a.a: 0}) == ord("b")
    assert evaluate(data[1], {guard.a.a: 9}) == ord("x")
    moved = fs.changed(files=fs.files.set(1, OpenFile(number, 0, offset=2)))
    with pytest.raises(CannotJoin, match="different offsets"):
        fs.join(moved, guard)
    with pytest.raises(CannotJoin, match="different lengths"):
        fs.join(fs.put(fs.nodes[number].changed(data=b"ab")), guard)
    with pytest.raises(CannotJoin, match="made"):
        fs.join(fs.add_loose("file", S_IFREG | 0o600)[0], guard)


def test_output_of_different_lengths() -> None:
    """Standard output is a pipe: how much was written is in the output of the path, not in the file."""
    short, long = Model(), Model()
    assert short.write(1, b"ab") == 2 and long.write(1, b"abcd") == 4
    short.m.notes[FILES].join(long.m.notes[FILES], ult(var("g", 8), 3, 8))
    assert long.call("lseek", 1, 0, 1) == -errno.ESPIPE


def test_output_of_different_lengths_that_may_be_a_file() -> None:
    """Where standard output may be a file (`--sym-stdout`), its size and offset depend on the path."""
    mode, sides = var("mode", 32), []
    for text in (b"ab", b"abcd"):
        fs = standard_file_system()
        sides.append(Model(fs.put(fs.node_of(1).with_status(mode=mode))))
        assert sides[-1].write(1, text) == len(text)
    short, long = (side.m.notes[FILES] for side in sides)
    joined = short.join(long, ult(var("g", 8), 3, 8))
    for g, size in ((0, 2), (9, 4)):
        inputs = {var("g", 8).a: g, mode.a: 0o100600}
        assert evaluate(joined.node_of(1).size(), inputs) == size
        assert evaluate(joined.file(1).offset, inputs) == size


def test_sums_stay_sums() -> None:
    guard, x = ult(var("g", 8), 3, 8), var("x", 32)
    joined = choose(guard, x + 3, x + 8, 32)
    assert (joined.op == "add" and joined.a is x) or joined.b is x
    for g in (0, 200):
        model = {guard.a.a: g, x.a: 10}
        assert evaluate(joined, model) == 10 + (3 if g < 3 else 8)
