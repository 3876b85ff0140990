"""Constructors, destructors and handlers of `atexit`: errors in them, in the engine and natively."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main

HEADERS = """\
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
#include <klee/klee.h>
#define BEFORE(n) __attribute__((constructor(n))) static void
#define AFTER(n) __attribute__((destructor(n))) static void
static int x;
"""
HANDLERS = """\
static int how;
static void handler(void) { assert(how != 3); }
static void quick(void) { assert(x == 1); x = 2; }
static void first_quick(void) { x = 1; }
AFTER(200) gone(void) { assert(how != 0); }
static void leave(int depth) {
  if (depth) leave(depth - 1);
  if (how == 0) exit(3);
  if (how == 1) quick_exit(4);
  if (how == 2) _exit(5);
}
int main(void) {
  klee_make_symbolic(&how, sizeof how, "how");
  klee_assume(how >= 0 & how <= 3);
  atexit(handler); at_quick_exit(quick); at_quick_exit(first_quick);
  leave(2);
  return 6;
}
"""

# What is tested: the program, its flags, the lines of its errors (the first line of the text is 1) and the
# exit codes of its paths.
CASES: dict[str, tuple[str, tuple[str, ...], list[int], list[int]]] = {
    "constructors by priority": (
        """BEFORE(300) third(void) { x = x * 10 + 3; }
BEFORE(101) first(void) { x = x * 10 + 1; }
BEFORE(200) second(void) { x = x * 10 + 2; }
int main(void) { assert(x != 123); return 0; }
""",
        (), [4], [],
    ),
    "destructors backwards, behind every handler": (
        """AFTER(101) last(void) { x = x * 10 + 4; assert(x != 1234); }
AFTER(300) third(void) { x = x * 10 + 3; }
static void second(void) { x = x * 10 + 2; }
static void first(void) { x = x * 10 + 1; }
int main(void) { atexit(second); atexit(first); return 0; }
""",
        (), [1], [],
    ),
    "a handler registered by a handler": (
        """static void inner(void) { assert(x == 0); }
static void outer(void) { x = 1; atexit(inner); }
int main(void) { atexit(outer); return 0; }
""",
        (), [1], [],
    ),
    "each way to leave": (HANDLERS, (), [2, 5], [4, 5]),
    "a constructor that ends the program": (
        """AFTER(200) gone(void) { assert(x == 0); }
BEFORE(200) early(void) { x = 1; exit(2); }
int main(void) { return 0; }
""",
        (), [1], [],
    ),
    "inputs of a constructor": (
        """BEFORE(200) ask(void) { klee_make_symbolic(&x, sizeof x, "x"); if (x == 5) exit(1); }
int main(void) { assert(x != 6); return x == 5; }
""",
        (), [2], [0, 1],
    ),
    "tables made by hand": (
        """static void early(void) { x = 1; }
static void late(void) { assert(x == 2); }
__attribute__((section(".init_array"), used)) static void (*begin)(void) = early;
__attribute__((section(".fini_array"), used)) static void (*end[1])(void) = {late};
int main(void) { return x; }
""",
        (), [2], [],
    ),
    "a fuzz target": (
        """BEFORE(200) early(void) { x = 7; }
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) { assert(!size || *data != x); return 0; }
""",
        ("--max-len", "1"), [2], [0, 0],
    ),
}  # fmt: skip


def explore(tmp_path: Path, source: str, *flags: str) -> tuple[dict[str, object], list[int], list[int]]:
    """The result, the lines of errors from the end of the headers on, the exit codes; replayed natively."""
    (tmp_path / "p.c").write_text(HEADERS + source)
    arguments = ["run", "p.c", "--output-dir", "out", "--tests", "all", "--replay", "-q", *flags]
    assert main(arguments) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["complete"], run["losses"]
    replayed = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert replayed["agrees"] and replayed["compared"] == replayed["tests"]
    tests = [json.loads(line) for line in (tmp_path / "out" / "tests.jsonl").read_text().splitlines()]
    lines = sorted(error["line"] - len(HEADERS.splitlines()) for error in run["errors"])
    return run, lines, sorted(test["exit_code"] for test in tests if test["end"] == "exit")


@pytest.mark.parametrize("libc", ["none", "musl"])
@pytest.mark.parametrize("name", CASES)
def test_what_starts_and_ends_a_program(
    name: str, libc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, flags, errors, codes = CASES[name]
    assert explore(tmp_path, source, "--libc", libc, *flags)[1:] == (errors, codes)


def test_constructors_run_before_any_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = "BEFORE(200) early(void) { x = 7; }\nint begin(void) { assert(x != 7); return 0; }\n"
    assert explore(tmp_path, source, "--entry", "begin")[1] == [2]


def test_a_handler_with_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What C++ and `atexit` of glibc's start files come down to."""
    monkeypatch.chdir(tmp_path)
    source = """int __cxa_atexit(void (*)(void *), void *, void *);
static void at_end(void *p) { assert(*(int *)p == 0); }
int main(void) { __cxa_atexit(at_end, &x, 0); x = 1; return 0; }
"""
    assert explore(tmp_path, source)[1] == [2]


def test_coverage_of_constructors_is_counted_natively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    explore(tmp_path, "BEFORE(101) first(void) {\n  x = 1;\n}\nint main(void) { return 0; }\n")
    (file,) = json.loads((tmp_path / "out" / "replay.json").read_text())["coverage"]["files"].values()
    assert file["lines_covered"] == file["lines_total"]
