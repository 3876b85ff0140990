"""Objects of symbolic size: one path for all sizes, and every access checked against the size exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch import expr as X
from anabranch.cli.main import main
from anabranch.expr import Expr
from tests.machine.harness import Outcome, error_text, prepare, run_source

HEAD = """#define _GNU_SOURCE
#include <alloca.h>
#include <assert.h>
#include <klee/klee.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static size_t below(size_t limit, const char *name) {
  size_t n; klee_make_symbolic(&n, sizeof n, name); klee_assume(n < limit); return n;
}
int main(void) { size_t n = below(9, "n"), i = below(20, "i");
"""
LINES = HEAD.count("\n")

# What is tested: the body of main, lines of errors, paths that exit and that fail.
CASES: dict[str, tuple[str, list[int], tuple[int | None, int]]] = {
    "any index": ("char *p = malloc(n);\np[i] = 1;", [2], (1, 1)),
    "no bytes": ("char *p = malloc(n); if (n) return 0;\nreturn p[0] == 1;", [2], (1, 1)),
    "the last element": ("int *p = calloc(n + 1, 4);\nreturn p[n];", [], (1, 0)),
    "behind the last element": ("int *p = calloc(n, 4);\nreturn p[n];", [2], (0, 1)),
    "a word at the end": ("char *p = calloc(n, 1);\nreturn *(int *)(p + i);", [2], (1, 1)),
    "below the start": ("char *p = calloc(n, 1);\nreturn p[i - 3];", [2], (1, 1)),
    "rows and columns": ("char *p = calloc(n, i);\nif (n && i) p[n * i - 1] = 1;\nreturn 0;", [], (3, 0)),
    "an array": ("char a[n + 1];\na[i] = 1;", [2], (1, 1)),
    "alloca": ("char *a = alloca(n);\na[i] = 1;", [2], (1, 1)),
    "memset of all": ("char *p = malloc(n); memset(p, 1, n); if (i < n) assert(p[i] == 1);", [], (2, 0)),
    "memset of more": ("char *p = malloc(n);\nmemset(p, 1, n + 1);", [2], (0, 1)),
    "memset of another size": ("char *p = malloc(n);\nmemset(p, 1, i);", [2], (1, 1)),
    "memset of nothing behind the end": ("char *p = malloc(n);\nmemset(p + i, 1, 0);", [], (1, 0)),
    "a copy": (
        "char *p = malloc(n), *q = malloc(n + 1); memset(p, 2, n); memcpy(q, p, n); q[n] = 0;\n"
        "if (n > 3) assert(q[2] == 2 && q[n] == 0);", [], (2, 0),
    ),
    "a copy into less": ("char *p = calloc(n + 1, 1), *q = malloc(n);\nmemcpy(q, p, n + 1);", [2], (0, 1)),
    "realloc keeps what both have": (
        "char *p = calloc(n, 1); p = realloc(p, i); if (n > 3 && i > 3) assert(p[3] == 0);", [], (3, 0),
    ),
    "realloc adds what nobody has written": (
        "char *p = calloc(n, 1); p = realloc(p, n + 1);\nif (p[n]) return 1;", [2], (None, 0),
    ),
    "realloc takes away": (
        "if (!n) return 0; char *p = calloc(n + 1, 1); p = realloc(p, n);\np[n] = 1;", [2], (1, 1),
    ),
    "reallocarray": (
        "int *p = calloc(n, 4); p = reallocarray(p, i, 4); if (n > 2 && i > 2) assert(p[2] == 0);\n"
        "if (i < n) p[i] = 1;", [2], (None, 0),
    ),
    "reallocarray of too much": (
        "char *p = malloc(n); assert(!reallocarray(p, n + (1ul << 61), 16));\np[i] = 1;", [2], (1, 1),
    ),
    "strdup": (
        'char s[4]; klee_make_symbolic(s, 4, "s"); s[3] = 0;\nchar *d = strdup(s);\nreturn d[i];',
        [3], (None, 0),
    ),
    "strndup": (
        'char s[4]; klee_make_symbolic(s, 4, "s"); s[3] = 0; char *d = strndup(s, n);\n'
        "if (i <= n && i < 4) return d[i];", [2], (None, 0),
    ),
    "freed": ("char *p = malloc(n + 1); free(p);\nreturn p[0];", [2], (0, 1)),
    "freed twice": ("char *p = malloc(n); free(p);\nfree(p);", [2], (0, 1)),
    "freed inside": ("char *p = malloc(n);\nfree(p + 1);", [2], (0, 1)),
    "text": ("char *p = malloc(n + 1); memset(p, 'a', n); p[n] = 0; assert(strlen(p) == n);", [], (9, 0)),
    "text without an end": (
        "char *p = malloc(n + 1); memset(p, 'a', n + 1);\nreturn strlen(p);", [2], (0, 9),
    ),
    "sprintf": ("char *p = malloc(n);\nsprintf(p, \"%d\", 1234);", [2], (1, 1)),
    "snprintf": ("char *p = malloc(n);\nif (n) snprintf(p, n, \"abc\");", [], (None, 0)),
    "strncpy": ("char *p = malloc(n + 1);\nstrncpy(p, \"ab\", n);", [], (None, 0)),
    "no such amount": ("char *p = malloc(n - 1ul);\nif (!n) { assert(!p); return 0; }", [], (2, 0)),
}  # fmt: skip


@pytest.mark.parametrize("strings", ["fork", "whole"])
@pytest.mark.parametrize("name", CASES)
def test_errors_are_those_of_native_runs(
    name: str, strings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body, lines, (exits, failing) = CASES[name]
    (tmp_path / "p.c").write_text(f"{HEAD}{body}\nreturn 0; }}\n")
    arguments = ["run", "p.c", "--strings", strings, "--tests", "all", "--all-errors", "--output-dir", "out"]
    assert main([*arguments, "--capacity", "256", "--no-check", "bounds", "-q", "--replay"]) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["complete"], run["losses"]
    assert sorted({error["line"] - LINES for error in run["errors"]}) == lines
    if strings == "fork":
        assert exits is None or (run["paths"]["exit"], run["paths"]["error"]) == (exits, failing)
    replayed = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert replayed["agrees"] and replayed["compared"] == replayed["tests"] > 0


def explore(directory: Path, body: str, *options: str) -> Outcome:
    return run_source(directory, f"{HEAD}{body}\nreturn 0; }}\n", *options)


def test_an_error_tells_the_size_in_its_test(tmp_path: Path) -> None:
    outcome = explore(tmp_path, "char *p = malloc(n);\np[i] = 1;")
    (error,) = outcome.collector.errors
    (test,) = [test for test in outcome.collector.tests if test.end == "error"]
    values = {name: int.from_bytes(data, "little") for name, data in test.objects}
    assert values["i"] >= values["n"]
    assert f"size of the object: {values['n']} = n" in error_text(error)
    assert "of at most 8 bytes allocated at" in error_text(error)


def test_an_input_is_as_long_as_its_test_says(tmp_path: Path) -> None:
    body = "char *p = malloc(n); klee_make_symbolic(p, n, \"p\"); if (n == 3 && p[2] == 'x') return 7;"
    outcome = explore(tmp_path, body)
    for test in outcome.collector.tests:
        objects = dict(test.objects)
        assert len(objects["p"]) == int.from_bytes(objects["n"], "little")
    (found,) = [dict(test.objects)["p"] for test in outcome.collector.tests if test.exit_code == 7]
    assert len(found) == 3 and found[2:] == b"x"


def test_a_wrong_size_given_to_klee_make_symbolic(tmp_path: Path) -> None:
    outcome = explore(tmp_path, 'char *p = malloc(n); klee_make_symbolic(p, i, "p");')
    assert [kind for kind, _ in outcome.errors()] == ["user"]
    assert outcome.result.paths_exit == 1


def test_the_size_of_an_object_can_be_asked_for(tmp_path: Path) -> None:
    body = """char *p = malloc(n); assert(malloc_usable_size(p) == n); assert(klee_get_obj_size(p) == n);
      p = realloc(p, i); assert(malloc_usable_size(p) == i);
      p = reallocarray(p, n, 2); assert(malloc_usable_size(p) == 2 * n);"""
    outcome = explore(tmp_path, body)
    assert outcome.result.complete and not outcome.errors() and outcome.result.paths_exit == 1


def test_what_is_larger_than_the_capacity_is_a_loss_at_its_place(tmp_path: Path) -> None:
    outcome = explore(tmp_path, 'size_t m = below(5000, "m");\nchar *p = malloc(m);\np[m - 1] = 1;')
    assert outcome.errors() == [("out-of-bounds", LINES + 3)]  # of no bytes
    (kind,) = outcome.losses()
    assert kind == "size of malloc: some of many values explored"
    (place,) = outcome.exploration.reporter.losses.as_dict()[kind]
    assert place.endswith(f"subject.c:{LINES + 2}")
    sizes = {int.from_bytes(dict(test.objects)["m"], "little") for test in outcome.collector.tests}
    assert max(sizes) == 4999


# Where an object of unknown size comes from, and what the runs need for that.
FIRST: dict[str, tuple[str, tuple[str, ...]]] = {
    "malloc": ("char *p = malloc(n);", ()),
    "elements": ("short *p = calloc(n, 2);", ()),
    "an array": ("char p[n + 1];", ()),
    "a file": ("char p[8]; n = read(0, p, 8);", ("--sym-stdin", "8", "--sym-file-size", "symbolic")),
}


def test_a_size_that_is_one_number_though_its_expression_is_none(tmp_path: Path) -> None:
    machine = prepare(tmp_path, "int main(void) { return 0; }").parts.machine
    machine.start("main", lambda api: [])
    y = machine.api.fresh("y", 8)
    is_one, is_small = X.eq(y, 1, 8), X.ult(y, 9, 8)
    size = X.ite(is_one, 1, X.ite(X.and_(is_one, is_small, 1), 4, X.ite(is_one, 2, 1, 64), 64), 64)
    assert isinstance(size, Expr) and X.eq(size, 1, 64) is True
    assert machine.extents.capacity_of(size, "size") == (1, None)


@pytest.mark.parametrize("name", FIRST)
def test_the_largest_size_is_explored_first(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make, options = FIRST[name]
    body = f'{make} for (i = 0; i < n; i++) {{ p[i] = 1; klee_print_expr("", i); }} return i;'
    (tmp_path / "p.c").write_text(f"#include <unistd.h>\n{HEAD}{body} }}\n")
    order = ("--search", "random-path", "--merge", "none")
    flags = (*order, "--tests", "all", "--goal", "paths", "--output-dir", "out", "-q")
    assert main(["run", "p.c", *flags, *options]) == 0
    tests = [json.loads(line) for line in (tmp_path / "out" / "tests.jsonl").read_text().splitlines()]
    codes = [test["exit_code"] for test in tests]
    assert codes.index(8) < codes.index(1) and sorted(codes) == list(range(9))


JOINED = """static char *make(size_t n) { return calloc(n, 1); }
int main(void) {
  unsigned char c, i;
  klee_make_symbolic(&c, 1, "c"); klee_make_symbolic(&i, 1, "i");
  char *p;
  if (c < 10) { p = make(3); p[1] = 5; } else { p = make(300); p[299] = 6; }
  if (p[i] == 5) return i;
  return 100;
}
"""


def test_states_that_allocated_different_sizes_become_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(f"{HEAD.split('static')[0]}{JOINED}")
    found = {}
    for merge in ("none", "all"):
        flags = ["--merge", merge, "--verify-reductions", "--goal", "paths", "--output-dir", merge, "-q"]
        assert main(["run", "p.c", *flags, "--replay"]) == 0
        run = json.loads((tmp_path / merge / "run.json").read_text())
        assert run["complete"]
        found[merge] = {(error["kind"], error["line"]) for error in run["errors"]}
    assert found["all"] == found["none"] != set()
    figures = run["reductions"]["merging"]
    assert figures["merges"] >= 1 and not figures["refused"]
    assert figures["verified"] == figures["merges"] and not figures["wrong"]


@pytest.mark.parametrize("length", range(4))
def test_fuzz_targets_have_one_start_for_all_lengths(tmp_path: Path, length: int) -> None:
    source = f"""#include <stddef.h>
    #include <stdint.h>
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{
      if (size == {length}) return size ? data[size - 1] == 'x' : 2;
      return 0;
    }}"""
    outcome = run_source(tmp_path, source, "--max-len", "3")
    assert outcome.result.complete and not outcome.errors()
    for test in outcome.collector.tests:
        objects = dict(test.objects)
        assert len(objects["fuzz_data"]) == int.from_bytes(objects["fuzz_size"], "little")
