"""Functions by themselves: what they find, ranks of errors, what harnesses do, what the command says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.main import main
from anabranch.solver import BitwuzlaBackend


def unit(tmp_path: Path, source: str, *words: str) -> list[dict[str, Any]]:
    """The functions in unit.json of a program given as text."""
    path = tmp_path / "subject.c"
    path.write_text(source)
    out = tmp_path / f"out{len(list(tmp_path.glob('out*')))}"
    assert main(["unit", str(path), *words, "--output-dir", str(out), "-q"]) == 0
    functions: list[dict[str, Any]] = json.loads((out / "unit.json").read_text())["functions"]
    return functions


def errors(function: dict[str, Any]) -> list[tuple[int, str, str]]:
    return sorted((e["line"], e["kind"], e["rank"]) for e in function["errors"])


def all_reproduced(function: dict[str, Any]) -> bool:
    return all(error["reproduced"] is True for error in function["errors"])


# ---- what a function finds ---------------------------------------------------------------------------


def test_arguments_of_all_kinds_reach_everything(tmp_path: Path) -> None:
    source = """#include <assert.h>
    struct small { int a; char *name; }; struct pair { float x, y; }; struct big { long v[5]; int *p; };
    enum colour { RED, GREEN }; typedef unsigned short u16; union number { int i; float f; };
    int f(signed char c, u16 h, _Bool b, enum colour e, long l, float x, double d, struct small s,
          struct pair p, struct big g, const char *t, int **pp, int (*call)(int), union number *n) {
      if (b > 1) return 1;
      if (c == -3 && h == 60000 && e == GREEN && l == -5000000000 && x == 1.5f && d == -2.25) {
        if (s.a == 7 && s.name && s.name[2] == 'q' && p.y == 4.0f && g.v[4] == 9 && g.p && *g.p == 11)
          if (t[3] == 'z' && pp[0] && **pp == 12 && call(3) == 13 && n->i == 14)
            assert(0);
      }
      return 0;
    }"""
    (found,) = unit(tmp_path, source, "f")
    assert [error["kind"] for error in found["errors"]] == ["assert"]
    assert found["errors"][0]["rank"] == "answer"
    assert all_reproduced(found), found["errors"][0]["problem"]


def test_pointer_arguments_are_null_only_if_asked_for(tmp_path: Path) -> None:
    source = "int f(int *p) {\n return *p; }"
    assert errors(unit(tmp_path, source, "f")[0]) == []
    (found,) = unit(tmp_path, source, "f", "--null-args")
    assert errors(found) == [(2, "null-pointer", "argument")]
    assert found["errors"][0]["assumes"] == ["p == NULL"] and all_reproduced(found)


def test_pointer_arguments_are_distinct_unless_they_may_be_aliases(tmp_path: Path) -> None:
    source = """#include <assert.h>
    struct s { int v; };
    void f(struct s *a, struct s *b) { a->v = 1; b->v = 2;
      assert(a->v == 1); }"""
    assert errors(unit(tmp_path, source, "f")[0]) == []
    (found,) = unit(tmp_path, source, "f", "--alias")
    assert errors(found) == [(4, "assert", "argument")] and all_reproduced(found)


def test_globals_hold_anything_but_what_nobody_writes(tmp_path: Path) -> None:
    source = """#include <assert.h>
    int changed = 3; static int constant_in_fact = 4; static int written; extern int elsewhere;
    void set(int v) { written = v; }
    void f(void) {
      assert(constant_in_fact == 4);
      assert(changed == 3);
      assert(written == 0);
      assert(elsewhere != 5);
    }"""
    (found,) = unit(tmp_path, source, "f")
    assert errors(found) == [(line, "assert", "argument") for line in (6, 7, 8)]
    assert all_reproduced(found), found["errors"]


def test_casts_tell_what_a_handle_leads_to(tmp_path: Path) -> None:
    source = """#include <assert.h>
    struct handle { int kind; }; struct opaque;
    struct file { int kind; long size; int *data; }; struct hidden { char pad[40]; int *deep; };
    int f(struct handle *h, struct opaque *o, void *v) {
      struct file *file = (struct file *)h; struct hidden *hidden = (struct hidden *)o;
      struct file *other = v;
      if (h->kind != 3 || file->size != 77 || !file->data || *file->data != 5) return 0;
      if (hidden->deep && *hidden->deep == 6 && other->size == 8)
        assert(0);
      return 1;
    }"""
    (found,) = unit(tmp_path, source, "f")
    assert errors(found) == [(9, "assert", "argument")] and all_reproduced(found)


def test_preconditions_are_c(tmp_path: Path) -> None:
    source = """struct v { int n; int d[4]; };
    int f(struct v *v, int n) {
      return v->d[n] / v->n; }"""
    (free,) = unit(tmp_path, source, "f")
    assert {kind for _, kind, _ in errors(free)} == {"division-by-zero", "overflow", "out-of-bounds"}
    (assumed,) = unit(tmp_path, source, "f", "--assume", "n >= 0 && n < 4 && v->n > 0")
    assert errors(assumed) == [] and assumed["complete"]
    (part,) = unit(tmp_path, source, "f", "--assume", "n >= 0 && n < 4 && v->n == 0")
    assert errors(part) == [(3, "division-by-zero", "none")], "every caller that keeps to it fails"
    assert all_reproduced(part)


def test_static_functions_and_main_can_be_explored(tmp_path: Path) -> None:
    source = """static int half(int n, int d) { return n / d; }
    int main(int argc, char **argv) { return argv[argc][0]; }
    int use(void) { return half(4, 2); }"""
    (half, main_) = unit(tmp_path, source, "half", "main")
    assert ("division-by-zero", "argument") in {(kind, rank) for _, kind, rank in errors(half)}
    assert main_["errors"] and all_reproduced(half) and all_reproduced(main_)


def test_uses_of_uninitialised_memory_are_reproduced(tmp_path: Path) -> None:
    source = """extern void fill(char *);
    int f(int n) { int x;
      if (n > 3) x = 2;
      if (x == 7) return 1;
      return 0; }
    int g(void) { char b[8]; fill(b);
      while (b[0] > 3) b[0]--;
      return b[0]; }"""
    (f, g) = unit(tmp_path, source, "f", "g")
    assert errors(f) == [(4, "uninitialised", "argument")] and errors(g) == [(7, "uninitialised", "answer")]
    assert all_reproduced(f) and all_reproduced(g)


# ---- ranks -------------------------------------------------------------------------------------------


def ranks(tmp_path: Path, body: str) -> list[str]:
    source = f"""#include <assert.h>
    #include <stdlib.h>
    #include <string.h>
    extern int ask(void); extern char *name(void); extern void fill(int *), look(const int *);
    int f(int n, char *s) {{ {body} }}"""
    (found,) = unit(tmp_path, source, "f", "--no-reproduce")
    return sorted(error["rank"] for error in found["errors"])


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("assert(0); return 1;", ["none"]),
        ("if (n > 3) n = 3; if (s[0]) n++; assert(n < 2 && n > 2); return 1;", ["none"]),
        ("if (ask()) n++; abort();", ["none"]),
        ("if (n == 3) abort(); return 1;", ["argument"]),
        ("if (ask() > 3) n = n & 7; else n = n & 3; if (s[1] == 5) abort(); return n;", ["argument"]),
        ("if (s[0] == 'a' && ask() == 7) abort(); return 1;", ["answer"]),
        ("char *t = name(); if (t && t[0] == 'x') abort(); return 1;", ["answer"]),
        ("return s[17];", []),
        ("s[17] = 1; return 0;", []),
        ("return s[-1];", ["size"]),
        ("char *t = name(); return t ? t[17] : 0;", []),
        ("char *t = name(); return t ? t[-1] : 0;", ["answer"]),
        ("for (int i = 0; i < n; i++) if (s[i] == 'x') return 1; return 0;", []),
        ("n = 0; while (s[n]) n++; return s[n + 1];", ["size"]),
        ("n = 0; while (s[n]) n++; s[n + 1] = 0; return 1;", []),
        ("return s[strlen(s) + 1];", ["size"]),
        ("char b[64]; if (n < 0 || n > 64) return 0; memcpy(b, s, n); return n ? b[0] : 0;", []),
        ("char b[8]; if (n < 0 || n > 9) return 0; memcpy(b, s, n); return n ? b[0] : 0;", ["argument"]),
        ("if (n < 0) return 0; return s[n];", []),
        ("char b[4]; return b[n & 3] = s[0];", []),
        ("int d = 0; fill(&d); return n % d;", ["answer"]),
        ("int d = 0; look(&d); return 7u % d;", ["none"]),
        ("char b[4]; if (n > 4 || n < 0) return 0; b[n] = 1; return b[0];", ["argument"]),
    ],
)
def test_ranks(tmp_path: Path, body: str, wanted: list[str]) -> None:
    assert ranks(tmp_path, body) == wanted


def test_what_a_buffer_is_too_small_for_is_a_counted_loss(tmp_path: Path) -> None:
    source = """int f(const unsigned char *p, unsigned n) {
      unsigned sum = 0;
      for (unsigned i = 0; i < n; i++) sum += p[i];
      return sum; }
    int g(char *s) { unsigned n = 0; while (s[n]) n++; return s[n + 1]; }"""
    (f, g) = unit(tmp_path, source, "f", "g")
    assert errors(f) == [] and set(f["losses"]) == {"limit of --buffer-size: *p"} and not f["complete"]
    assert [rank for _, _, rank in errors(g)] == ["size"] and all_reproduced(g)


def test_merged_paths_are_ranked_and_reproduced_too(tmp_path: Path) -> None:
    source = """#include <stdlib.h>
    struct s { int a, b; struct s *next; }; extern int ask(void);
    int f(struct s *s, int n) {
      int sum = 0;
      if (n > 3) sum += s->a; else sum++;
      if (ask() > 5) sum += 2; else if (s->next) sum += s->next->b;
      if (sum == 1234) abort();
      return sum;
    }"""
    for merge in ("none", "all"):
        (found,) = unit(tmp_path, source, "f", "--merge", merge)
        assert [(e["kind"], e["rank"]) for e in found["errors"]] == [("abort", "answer")]
        assert all_reproduced(found), merge


# ---- the command -------------------------------------------------------------------------------------

TWO = """extern int ask(void);
int first(int n) { return n / (n - 5); }
static int second(void) { return ask(); }
int third(_Float16 x) { return x > 1 ? second() : 0; }
"""

LONG = """#include <assert.h>
extern long double ask(void);
struct pair { char c; long double x; };
int f(long double x, struct pair *p) {
  if (x > 1 && x < 1.0000000000000000002L && p->x == x + 1) assert(ask() != 0.1L);
  return 0;
}
"""


def test_long_doubles(tmp_path: Path) -> None:
    """As arguments, behind pointers and as answers, with numbers that no double can hold."""
    (found,) = unit(tmp_path, LONG, "f")
    assert [e["kind"] for e in found["errors"] if e["rank"] == "answer"] == ["assert"]
    assert all_reproduced(found)


def test_all_functions_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "two.c", tmp_path / "out"
    path.write_text(TWO)
    assert main(["unit", str(path), "--all", "--output-dir", str(out), "--no-progress"]) == 0
    printed = capsys.readouterr().out
    functions = json.loads((out / "unit.json").read_text())["functions"]
    assert [f["function"] for f in functions] == ["first", "second", "third"]
    assert functions[1]["unknown_functions"]["ask"]["count"] == 1
    assert "half" in functions[2]["unsupported"]
    assert "divide by zero" in printed and "n == 5" in printed and "reproduced natively" in printed
    assert "may answer anything: ask" in printed
    run = json.loads((out / "first" / "run.json").read_text())
    assert run["finished"] and run["errors"] and (out / "first" / "harness000001.c").is_file()


def test_exit_code_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    words = ["unit", str(path), "first", "--no-progress", "--output-dir", str(tmp_path / "out")]
    assert main([*words, "--fail-on-error", "--json", "--no-reproduce"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["functions"][0]["errors"][0]["reproduced"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["first"], "no program given: name a C file"),
        (["two.c"], "name functions after the files, or give --all"),
        (["two.c", "first", "--all"], "name functions after the files, or give --all"),
        (["two.c", "frist"], "no function 'frist' is defined; did you mean first?"),
        (["two.c", "first", "--assum", "1"], "did you mean --assume?"),
        (["two.c", "--all", "--assume", "n > 0"], "name the one function"),
        (["two.c", "first", "--libc", "musl"], "without a C library"),
        (["two.c", "first", "--summaries", "absent.toml"], "cannot read absent.toml"),
        (["two.c", "first", "--assume", "n >"], "error: expected expression"),
        (["two.c", "first", "--assume", "m > 0"], "undeclared identifier 'm'"),
        (["absent.c", "first"], "no such file"),
    ],
)
def test_wrong_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.c").write_text(TWO)
    assert main(["unit", *words]) == 2
    assert message in capsys.readouterr().err


def test_help_is_about_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unit", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--null-args" in text and "--assume" in text and "FUNCTION" in text


def test_harness_is_readable_and_says_what_it_assumes(tmp_path: Path) -> None:
    source = """struct list { struct list *next; int value; };
    extern int ask(int, void *);
    int f(struct list *l) { if (ask(1, l) == 3 && l->value == 9) return l->next->value; return 0; }"""
    (found,) = unit(tmp_path, source, "f")
    text = (tmp_path / "out0" / "f" / found["errors"][0]["harness"]).read_text()
    assert "Assumes of the caller: certain answers of unknown functions" in text
    assert "ask() == 3" in text and "l->next == NULL" in text
    assert "/* l->value */" in text and '__asm__("ask")' in text and "cc -g -fsanitize" in text


def test_answers_are_named_in_the_order_of_the_calls(tmp_path: Path) -> None:
    """Whatever their variables are called inside."""
    source = """extern int ask(void);
    int f(void) { int zero = 0; ask(); ask(); return ask() == 77 ? 1 / zero : ask(); }"""
    (found,) = unit(tmp_path, source, "f")
    text = (tmp_path / "out0" / "f" / found["errors"][0]["harness"]).read_text()
    assert "ask()_2 == 77" in text and "() #" not in text


def test_several_files_and_bitcode(tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int other(int n) { return 10 / n; }\n")
    source = "int other(int); int f(int n) { return n > 3 ? 1 : other(n); }"
    (found,) = unit(tmp_path, source, str(tmp_path / "other.c"), "f")
    assert ("division-by-zero", "argument") in {(kind, rank) for _, kind, rank in errors(found)}
    assert all_reproduced(found)
    out = tmp_path / "run"
    text = tmp_path / "subject.ll"
    assert main(["run", str(tmp_path / "other.c"), "--entry", "other", "-q", "--output-dir", str(out),
                 "--emit-ir", str(text)]) == 0  # fmt: skip
    assert main(["unit", str(text), "other", "-q", "--output-dir", str(tmp_path / "bitcode")]) == 0
    (function,) = json.loads((tmp_path / "bitcode" / "unit.json").read_text())["functions"]
    assert function["errors"] and all(
        "C file was not given" in error["problem"] for error in function["errors"]
    )


@pytest.mark.parametrize(
    "flags", [(), ("--interpret",), ("-O0",), ("-O2",)], ids=["plain", "int", "O0", "O2"]
)
def test_however_it_is_run(tmp_path: Path, flags: tuple[str, ...]) -> None:
    source = """struct l { struct l *next; int v; }; extern struct l *get(void); extern int more(void);
    int f(struct l *l, int n) {
      int sum = 0;
      for (; l && n; l = l->next, n--) sum += l->v == 3;
      struct l *m = get();
      if (more() == sum) return m->v;
      return 0; }"""
    (found,) = unit(tmp_path, source, "f", "--depth", "2", *flags)
    assert errors(found) == [(6, "null-pointer", "answer")] and all_reproduced(found)


LARGER_INSIDE = """#include <assert.h>
struct base { int kind, flags; };
struct text { struct base base; int length, more; };
int ask(void);
static int inner(struct base *b) {
  int k = ask();
  if (k > 5) return 0;
  if (b->kind == 3) {
    struct text *t = (struct text *)b;
    b->flags = k;
    if (k > 3) t->length = k;
    else if (k > 1) t->more = 7;
  }
  return k & 1;
}
int outer(struct base *b) {
  int r = b->kind + b->flags;
  r += inner(b);
  r += inner(b);
  if (b->kind == 3 && r == 2) assert(((struct text *)b)->length != 4);
  return r;
}
"""


@pytest.mark.parametrize("more", [(), ("--max-time", "1h")])
def test_twins_where_an_object_was_made_larger_inside_a_call(tmp_path: Path, more: tuple[str, ...]) -> None:
    (plain,) = unit(tmp_path, LARGER_INSIDE, "outer", *more)
    (reduced,) = unit(tmp_path, LARGER_INSIDE, "outer", "--zeq", "rules", *more)
    assert reduced["complete"] and errors(reduced) == errors(plain) != []
    assert reduced["blocks"] == plain["blocks"] and all_reproduced(reduced)


def test_the_solver_of_the_settings_proves_ranks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    solve = BitwuzlaBackend.solve
    monkeypatch.setattr(BitwuzlaBackend, "solve", lambda *words: asked.append(words) or solve(*words))
    source = """#include <assert.h>
    int f(unsigned x, unsigned y) { if (x * y == 391 && x > y) assert(y < 3); return 0; }"""
    (usual,) = unit(tmp_path, source, "f")
    assert asked
    asked.clear()
    (other,) = unit(tmp_path, source, "f", "--solver-config", "spear")
    assert not asked
    assert errors(other) == errors(usual) != []
