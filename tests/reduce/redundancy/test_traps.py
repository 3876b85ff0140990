"""Programs in which a state that looks redundant is not. Each rule that saves one of them is switched off in
turn: then something has to be lost, or the trap would prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.reduce.redundancy import backward, matching
from anabranch.reduce.redundancy.facts import FunctionFacts
from anabranch.reduce.redundancy.goals import Goals
from anabranch.reduce.redundancy.live import Live
from tests.reduce.redundancy.harness import missing

TRAPS = {
    "a store through a pointer that is another one": """
static unsigned char a, b, *p = &a;
int main(void) {
  unsigned char x = IN, y = IN;
  if (x == 1) p = &b;
  if (y == 1) mark(1);
  *p = 1;
  if (b) mark(2);
  return 0;
}""",
    "a store behind a branch that was not taken": """
static unsigned char a;
int main(void) {
  unsigned char x = IN, y = IN;
  if (y == 1) mark(1);
  if (x > 7) a = 1;
  if (a) mark(2);
  return 0;
}""",
    "use after free": """
int main(void) {
  unsigned char *p = malloc(1), x = IN, y = IN;
  *p = 1;
  if (x == 1) free(p);
  if (y == 1) mark(1);
  if (y == 2) mark(2);
  if (*p == 1) mark(3);
  mark(4);
  return 0;
}""",
    "a halt in a callee": """
static KEPT void check(unsigned char x) { if (x == 1) exit(1); }
int main(void) {
  unsigned char x = IN, y = IN;
  if (y == 1) mark(1);
  check(x);
  mark(2);
  return 0;
}""",
    "a loop that defines a register anew": """
int main(void) {
  unsigned char n = IN & 3, y = IN, i, last = 0;
  if (y == 1) mark(1);
  for (i = 0; i < n; i++) last = i;
  if (last == 2) mark(2);
  return 0;
}""",
    "a model that fails": """
static char text[4] = "abc";
int main(void) {
  unsigned char x = IN, y = IN;
  char *p = x == 1 ? 0 : text;
  if (y == 1) mark(1);
  if (strlen(p) == 3) mark(2);
  return 0;
}""",
    "longjmp": """
static jmp_buf there;
int main(void) {
  unsigned char x = IN, y = IN;
  if (setjmp(there)) { mark(1); return 0; }
  if (y == 1) mark(2);
  if (x == 1) longjmp(there, 1);
  return 0;
}""",
    "a file that is written and read back": """
int main(void) {
  unsigned char x = IN, y = IN, c = 0;
  int d = open("f", O_CREAT | O_RDWR, 0600);
  if (x == 1) write(d, "1", 1); else write(d, "0", 1);
  if (y == 1) mark(1);
  lseek(d, 0, SEEK_SET);
  read(d, &c, 1);
  if (c == '1') mark(2);
  return 0;
}""",
    "a constraint that came with a check": """
static unsigned char table[4] = {1, 1, 1, 1};
int main(void) {
  unsigned char x = IN, y = IN, i = IN;
  unsigned char k = x == 1 ? 0 : i;
  if (y == 1) mark(1);
  if (table[k]) marks++;
  if (i > 7) mark(2);
  return 0;
}""",
    "a function that runs at the end": """
static unsigned char a;
static void last(void) { if (a == 1) mark(1); }
int main(void) {
  unsigned char x = IN, y = IN;
  atexit(last);
  if (y == 1) mark(2);
  if (x == 1) a = 1;
  return 0;
}""",
    "another function through a pointer": """
static KEPT void f(void) { marks++; }
static KEPT void g(void) { mark(2); }
int main(void) {
  unsigned char x = IN, y = IN;
  void (*h)(void) = x == 1 ? g : f;
  if (y == 1) mark(1);
  h();
  return 0;
}""",
    "a value that depends on the way": """
int main(void) {
  unsigned char x = IN, y = IN;
  int way = x == 1 ? 1 : 2;
  if (y == 1) mark(1);
  switch (way) { case 1: mark(2); break; case 2: mark(3); }
  return 0;
}""",
}


@pytest.mark.parametrize("order", ("dfs", "random-path"))
@pytest.mark.parametrize("name", TRAPS)
def test_nothing_is_lost(tmp_path: Path, name: str, order: str) -> None:
    assert missing(tmp_path, TRAPS[name], order) == []


def lost_somewhere(tmp_path: Path) -> bool:
    """Does any trap lose a line?"""
    return any(missing(tmp_path, source, order) for source in TRAPS.values() for order in ("dfs", "bfs"))


def test_a_pruner_without_constraints_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "implied", lambda part, slices: True)
    assert lost_somewhere(tmp_path)


def test_a_pruner_without_halts_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Goals, "ahead", lambda self, stack: False)
    assert lost_somewhere(tmp_path)


def test_a_pruner_without_potential_dependences_loses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FunctionFacts, "may_write", lambda self, block: 0)
    assert lost_somewhere(tmp_path)


def test_a_pruner_without_the_rule_for_pointers_loses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FunctionFacts, "pointed", lambda self, pointer: 0)
    assert lost_somewhere(tmp_path)


def test_a_pruner_that_forgets_objects_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Live.add_part
    monkeypatch.setattr(
        Live, "add_part", lambda self, part: None if part[0] == "object" else before(self, part)
    )
    assert lost_somewhere(tmp_path)


def test_a_pruner_without_edges_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FunctionFacts, "edge", lambda self, source, target: [])
    assert lost_somewhere(tmp_path)


def test_a_pruner_without_memory_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Live, "add", lambda self, address, size, touched=(): None)
    assert lost_somewhere(tmp_path)


def test_the_generated_functions_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward._Generator, "_instruction", lambda self, instruction: None)
    assert lost_somewhere(tmp_path)
