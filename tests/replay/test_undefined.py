"""Every check of undefined behaviour: what it reports, at which line, and that it is so natively.

Each program stands on lines of its own, so that (kind, line) is the whole answer. The tests of a run are
replayed natively with the checks of the same names: each has to end there as the engine says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.main import main

HEAD = """\
#include <klee/klee.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static int number(const char *name) { int x; klee_make_symbolic(&x, sizeof x, name); return x; }
"""
FIRST = HEAD.count("\n") + 1

# name -> (checks, the program from line FIRST on, {(kind, line of the program from 0, part of the message)})
CASES: dict[str, tuple[tuple[str, ...], str, set[tuple[str, int, str]]]] = {
    "index past an array that is a member": (
        ("bounds",),
        """struct pair { char key[8]; char val[8]; } s;
int main(void) {
  int i = number("i");
  if (i < 0 || i > 15) return 1;
  s.key[i] = 1;
  return 0;
}""",
        {("out-of-bounds", 4, "out of bounds of 'char[8]'")},
    ),
    "copies between blocks that overlap": (
        (),
        """int main(void) {
  char text[16] = "abcdef";
  int i = number("i") & 3;
  switch (i) {
  case 0: memcpy(text + 1, text, 4); break;
  case 1: strcpy(text + 2, text); break;
  case 2: strncat(text, text, 6); break;
  default: memcpy(text, text, 4); }
  return 0;
}""",
        {("overlap", 4, "memcpy between blocks that overlap"), ("overlap", 5, "strcpy between blocks")},
    ),
    "index past a row": (
        ("bounds",),
        """int a[2][3];
int main(void) {
  unsigned i = number("i") & 1, j = number("j") & 3;
  return a[i]
          [j];
}""",
        {("out-of-bounds", 3, "index 3 out of bounds of 'int[3]'")},
    ),
    "one past the end may be pointed at": (
        ("bounds",),
        """int a[4];
int main(void) {
  int i = number("i") & 7;
  int *end = &a[i];
  return end == a;
}""",
        {("out-of-bounds", 3, "out of bounds of 'int[4]'")},
    ),
    "sum, difference, product, negation": (
        ("overflow",),
        """int main(void) {
  int x = number("x"), y = number("y"), z = number("z");
  int a = x + y;
  int b = x - y;
  int c = x * 3;
  int d = -z;
  return a + b + c + d == 7 ? 1 : 0;
}""",
        {
            ("overflow", 2, "does not fit in 'int'"),
            ("overflow", 3, "does not fit in 'int'"),
            ("overflow", 4, "* 3 does not fit in 'int'"),
            ("overflow", 5, "overflow: -(-2147483648) does not fit in 'int'"),
            ("overflow", 6, "does not fit in 'int'"),
        },
    ),
    "a constant sum": (
        ("overflow",),
        """int main(void) {
  int x = number("x");
  if (x == 5) return 2147483647 + 1;
  return 0;
}""",
        {("overflow", 2, "2147483647 + 1 does not fit in 'int'")},
    ),
    "small types are added as int": (
        ("overflow",),
        """int main(void) {
  short x = number("x"), y = number("y");
  short z = x + y;
  z++;
  long long w = number("w");
  w = w * w;
  unsigned u = x;
  u = u * u * u;
  return z == w;
}""",
        set(),
    ),
    "shifts": (
        ("shift",),
        """int main(void) {
  int x = number("x"), n = number("n");
  long m = number("m");
  int a = x << n;
  int b = x >> (m << 1);
  unsigned c = (unsigned)x << 31;
  return a + b == (int)c;
}""",
        {
            ("overshift", 3, "of a number of 32 bits, 'int'"),
            ("shift-base", 3, "does not fit in 'int'"),
            ("shift-base", 4, "does not fit in 'long'"),
            ("overshift", 4, "overshift"),
        },
    ),
    "null pointers that nobody reads through": (
        ("null",),
        """struct pair { int a, b; };
int main(void) {
  struct pair *p = number("x") == 3 ? NULL : malloc(sizeof *p);
  int *b = &p->b;
  free(p);
  return b == 0;
}""",
        {("null-pointer", 3, "'struct pair' by a null pointer")},
    ),
    "addresses that do not suit a type": (
        ("alignment",),
        """_Alignas(8) char buffer[16];
int main(void) {
  unsigned i = number("i") & 3;
  memset(buffer, 1, sizeof buffer);
  return *(int *)(buffer + i) == 0;
}""",
        {("misaligned", 4, "load of 'int' at the address")},
    ),
    "a bool that is none": (
        ("bool",),
        """int main(void) {
  unsigned char x = number("x");
  bool b;
  memcpy(&b, &x, 1);
  return b ? 1 : 0;
}""",
        {("invalid-value", 4, "is no value of 'bool'")},
    ),
    "an enum may hold any int in C": (
        ("enum",),
        """enum colour { RED, GREEN };
int main(void) {
  int x = number("x");
  enum colour c;
  memcpy(&c, &x, sizeof c);
  return c == GREEN;
}""",
        set(),
    ),
    "lengths of arrays": (
        ("vla-bound",),
        """int main(void) {
  int n = number("n");
  if (n < -2 || n > 3) return 0;
  char a[n];
  a[0] = 1;
  return a[0];
}""",
        {("vla-bound", 3, "which is not positive")},
    ),
    "floating-point numbers that do not fit": (
        ("float-cast",),
        """int main(void) {
  int x = number("x");
  double d = x;
  d *= 4;
  int y = (int)d;
  unsigned char c = (float)x;
  return y == c;
}""",
        {("float-cast", 4, "'double', to 'int'"), ("float-cast", 5, "'float', to 'unsigned char'")},
    ),
    "pointers that wrap around": (
        ("pointer-overflow",),
        """char buffer[8], *start = buffer;
int main(void) {
  unsigned long n = (long)number("n");
  char *p = start + n;
  return p == start;
}""",
        {("pointer-overflow", 3, "wraps around")},
    ),
    "null where an attribute forbids it": (
        ("nonnull",),
        """__attribute__((nonnull)) static int is(int *p) { return p != 0; }
__attribute__((returns_nonnull)) static int *one(int x) {
  static int y;
  return x == 1 ? NULL : &y;
}
int main(void) {
  int x = number("x"), y;
  return is(x == 2 ? NULL : &y) + (one(x) == 0);
}""",
        {("nonnull", 7, "argument is null"), ("nonnull", 3, "result is null")},
    ),
    "zero has no first bit": (
        ("builtin",),
        """int main(void) {
  unsigned x = number("x");
  return __builtin_ctz(x) + __builtin_clz(x | 1);
}""",
        {("invalid-builtin", 2, "a builtin is given")},
    ),
    "all of them": (
        ("undefined",),
        """struct pair { char key[4]; char val[4]; } s;
int main(void) {
  int x = number("x"), i = number("i") & 7;
  s.key[i] = 1;
  return (x + 1) / (x - 4) << (i & 1);
}""",
        {
            ("out-of-bounds", 3, "of 'char[4]'"),
            ("overflow", 4, "+ 1 does not fit"),
            ("overflow", 4, "- 4 does not fit"),
            ("division-by-zero", 4, "divide by zero"),
            ("shift-base", 4, "does not fit in 'int'"),
        },
    ),
}

WHOLE_PATHS = {
    "a constant sum",
    "null pointers that nobody reads through",
    "null where an attribute forbids it",
}
"""Here the inputs that fail are one of the program's own paths."""


def run(directory: Path, source: str, *flags: str) -> dict[str, object]:
    (directory / "p.c").write_text(source)
    arguments = ["run", "p.c", "--output-dir", "out", "--tests", "all", "-q", *flags]
    assert main(arguments) == 0, "a test does not end natively as the engine says"
    document: dict[str, object] = json.loads((directory / "out/run.json").read_text())
    return document


@pytest.mark.parametrize("level", ["1", "2"])
@pytest.mark.parametrize("name", CASES)
def test_checks_mean_what_they_mean_natively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, level: str
) -> None:
    monkeypatch.chdir(tmp_path)
    checks, source, expected = CASES[name]
    flags = [flag for check in checks for flag in ("--check", check)]
    replayed = ["--replay"] if level == "1" else []
    document = run(tmp_path, HEAD + source, *flags, "-O", level, *replayed)
    assert document["complete"], document["losses"]
    errors = document["errors"]
    assert isinstance(errors, list)
    found = {(e["kind"], e["line"] - FIRST) for e in errors}
    assert found == {(kind, line) for kind, line, _ in expected}
    for kind, line, message in expected if level == "1" else ():
        shown = [e["message"] for e in errors if (e["kind"], e["line"] - FIRST) == (kind, line)]
        assert any(message in text for text in shown), (message, shown)


def covered(document: dict[str, Any]) -> list[tuple[object, ...]]:
    """Lines and branches that were reached, not how often."""
    files = document["coverage"]["files"].items()
    return [(name, file["lines_covered"], file["lines_total"], file["branches"]) for name, file in files]


@pytest.mark.parametrize("name", CASES)
def test_without_the_check_there_is_no_such_error_and_no_other_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A check adds its failing ends, nothing else: the paths to the end, lines and branches are the same."""
    monkeypatch.chdir(tmp_path)
    checks, source, _ = CASES[name]
    flags = [flag for check in checks for flag in ("--check", check)]
    checked = run(tmp_path, HEAD + source, *flags)
    (tmp_path / "out").rename(tmp_path / "checked")
    plain = run(tmp_path, HEAD + source, "--no-check", "undefined")
    assert covered(checked) == covered(plain)
    ends = [document["paths"]["exit"] for document in (plain, checked)]  # type: ignore[index]
    assert ends[0] - ends[1] == (name in WHOLE_PATHS)
