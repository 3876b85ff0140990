"""Programs in which a state that looks redundant is not. Each rule that saves one of them is switched off in
turn: then something has to be lost, or the trap would prove nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.reduce.redundancy import backward, points
from anabranch.reduce.redundancy.constraints import Constraints
from anabranch.reduce.redundancy.facts import FunctionFacts
from anabranch.reduce.redundancy.goals import Goals
from anabranch.reduce.redundancy.live import Live
from anabranch.reduce.redundancy.slicing import Slicer
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
static volatile unsigned char a;
static KEPT void set(unsigned char x) { if (x > 7) { a = 1; marks++; } }
int main(void) {
  unsigned char x = same(FIRST);
  set(same(9));
  a = 0;
  if (IN == 1) { mark(0); x = same(SECOND); }
  set(x);
  if (a) mark(2);
  return 0;
}""",
    "use after free": """
int main(void) {
  unsigned char *p = malloc(1), x = same(FIRST);
  *p = 1;
  if (IN == 1) { mark(0); x = same(SECOND); }
  if (x > 7) free(p);
  marks += *p;
  mark(2);
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
    "a constraint that came with a check in a callee": """
static unsigned char table[4] = {1, 1, 1, 1};
static KEPT void look(unsigned char k) { marks += table[k]; }
int main(void) {
  unsigned char i = IN, k;
  if (IN == 1) { mark(0); k = FIRST ? i : 0; } else { mark(1); k = FIRST ? 0 : i; }
  look(k);
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
    "the same code from another call": """
static KEPT void look(unsigned char y) { if (y == 1) marks++; }
int main(void) {
  unsigned char x = IN, y = IN;
  if (x == 1) { look(y); mark(1); } else { look(y); mark(2); }
  return 0;
}""",
    "another field of a struct": """
static struct { unsigned char a, b; } s;
static KEPT void set(unsigned char x) { if (x > 7) s.b = 1; else s.a = 1; }
int main(void) {
  unsigned char x = same(FIRST);
  set(same(0));
  set(same(9));
  s.a = s.b = 0;
  if (IN == 1) { mark(0); x = same(SECOND); }
  set(x);
  if (s.a) mark(1);
  if (s.b) mark(2);
  return 0;
}""",
    "a value that depends on the way": """
static KEPT int way(unsigned char x) {
  int n;
  if (x > 7) { marks++; n = 1; } else { marks--; n = 2; }
  marks++;
  return n;
}
int main(void) {
  unsigned char x = same(FIRST);
  way(same(0));
  way(same(9));
  if (IN == 1) { mark(0); x = same(SECOND); }
  if (way(x) == 1) mark(1); else mark(2);
  return 0;
}""",
    "what a call has returned": """
static KEPT int way(unsigned char x) {
  int n;
  if (IN == 1) marks++;
  if (x > 7) { marks++; n = 1; } else { marks--; n = 2; }
  marks++;
  return n;
}
int main(void) {
  unsigned char x;
  switch (IN & 3) {
  case 0: x = same(5); break;
  case 1: x = same(6); break;
  case 2: x = same(FIRST); break;
  default: x = same(SECOND);
  }
  int n = way(x);
  if (n == 1) mark(1);
  return 0;
}""",
    "code behind a call, in the same block": """
static KEPT void one(unsigned char x) { if (x == 1) marks++; else if (x == 2) { marks--; exit(1); } }
static KEPT void both(void) { one(IN); mark(1); one(IN); mark(2); }
int main(void) {
  both();
  return 0;
}""",
}


def variants(name: str) -> list[str]:
    """A trap with its values in both orders: which side of a branch comes first is nobody's business."""
    return [f"#define FIRST {a}\n#define SECOND {b}\n{TRAPS[name]}" for a, b in ((0, 9), (9, 0))]


@pytest.mark.parametrize("order", ("dfs", "random-path"))
@pytest.mark.parametrize("name", TRAPS)
def test_nothing_is_lost(tmp_path: Path, name: str, order: str) -> None:
    for source in variants(name)[: 2 if "FIRST" in TRAPS[name] else 1]:
        assert missing(tmp_path, source, order) == []


BESIDE = {
    "all": ("--merge", "all"),
    "all, dynamic": ("--merge", "all", "--merging", "dynamic"),
    "auto": ("--merge", "auto"),
    "zeq": ("--zeq", "rules"),
}


@pytest.mark.parametrize("other", BESIDE)
@pytest.mark.parametrize("name", TRAPS)
def test_nothing_is_lost_beside_other_techniques(tmp_path: Path, name: str, other: str) -> None:
    """What states were merged into begins a tape of its own."""
    assert missing(tmp_path, variants(name)[0], "dfs", *BESIDE[other]) == []


def add_no_object(live: Live, part: tuple[str, object], before: Any = Live.add_part) -> None:
    if part[0] != "object":
        before(live, part)


WRONG: dict[str, tuple[Any, str, Any, str]] = {
    "constraints": (Constraints, "allow", lambda *_: True, "another function through a pointer"),
    "halts": (Goals, "ahead", lambda *_: False, "a constraint that came with a check"),
    "potential dependences": (
        FunctionFacts, "may_write", lambda *_: (0, ()), "a store behind a branch that was not taken",
    ),
    "pointers": (FunctionFacts, "pointed", lambda *_: 0, "a store through a pointer that is another one"),
    "fields": (Live, "meets", lambda *_: False, "another field of a struct"),
    "calls that are skipped": (
        Slicer, "_skips", lambda *_: True, "a store behind a branch that was not taken",
    ),
    "call stacks": (
        points.Point, "location", property(lambda point: (id(point.site),)),
        "the same code from another call",
    ),
    "objects": (Live, "add_part", add_no_object, "use after free"),
    "edges": (FunctionFacts, "edge", lambda *_: [], "a value that depends on the way"),
    "memory": (Live, "add", lambda *_: None, "a file that is written and read back"),
    "calls": (Goals, "_goes_to_goal", lambda *_: False, "code behind a call, in the same block"),
    "instructions": (
        backward._Generator, "_instruction", lambda *_: None, "a function that runs at the end",
    ),
}  # fmt: skip
"""Rules, how each is switched off, and a trap that loses something then."""


@pytest.mark.parametrize("rule", WRONG)
def test_a_pruner_without_a_rule_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    owner, name, instead, trap = WRONG[rule]
    monkeypatch.setattr(owner, name, instead)
    assert any(missing(tmp_path, source, order) for source in variants(trap) for order in ("dfs", "bfs"))
