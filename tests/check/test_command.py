"""The command: output, baselines, exit codes, one line for wrong input, and input that is hard to read."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest

from anabranch.cli.main import main
from tests.check.support import SUBJECTS

BUG = """#include <stdlib.h>
int *fresh(void) {
    int *p = malloc(4);
    *p = 1;
    return p;
}
"""


@pytest.fixture
def bug(tmp_path: Path) -> Path:
    path = tmp_path / "bug.c"
    path.write_text(BUG)
    return path


def test_a_report_tells_origin_and_place(bug: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(bug)]) == 0
    text = capsys.readouterr().out
    assert f"{bug}:4: likely: write through a NULL pointer [null, CWE-690]" in text
    assert f"{bug}:3  int *p = malloc(4);" in text and "malloc returns NULL" in text
    assert "1 report (1 likely) in 1 function\n1 condition: 0 proved, 1 refuted" in text
    assert "not looked at: concurrency" in text


def test_the_cwe_tells_unchecked_results_and_late_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "cwe.c"
    source.write_text(
        "#include <stdlib.h>\n"
        "int unchecked(void) { int *p = malloc(4); *p = 1; return *p; }\n"
        "int late(void) { int *p = malloc(4); *p = 1; if (p) return *p; return 0; }\n"
        "int plain(void) { int *p = 0; return *p; }\n"
        "void twice(void) { char *p = malloc(4); free(p); free(p); }\n"
    )
    assert main(["check", str(source), "--json"]) == 0
    reports = json.loads(capsys.readouterr().out)["reports"]
    found = {(report["line"], report["kind"], report["cwe"]) for report in reports}
    null = "null-pointer"
    assert found == {(2, null, 690), (3, null, 476), (4, null, 476), (5, "double-free", 415)}


def test_steps_follow_globals_that_nobody_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "five.c"
    source.write_text(
        "#include <stdlib.h>\n"
        "int five = 5;\n"
        "static int get(const int *p) { return *p; }\n"
        "int used(void) {\n"
        "    int *p = calloc(1, 4);\n"
        "    if (!p) return 0;\n"
        "    if (five == 5)\n"
        "        free(p);\n"
        "    return get(p);\n"
        "}\n"
    )
    assert main(["check", str(source), "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert report["origin"]["line"] == 8 and report["origin"]["text"] == "it is freed"
    assert report["values"] == {"five": "5"}


def test_the_summary_is_never_just_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(SUBJECTS / "same.c")]) == 0
    text = capsys.readouterr().out
    assert text.startswith("0 reports in ") and "unsound" in text and "not looked at" in text


def test_fail_on_error_and_allocations(bug: Path) -> None:
    assert main(["check", str(bug), "-q", "--fail-on-error"]) == 1
    assert main(["check", str(bug), "-q", "--fail-on-error", "--no-failing-allocations"]) == 0
    assert main(["check", str(bug), "-q", "--fail-on-error", "--property", "assert"]) == 0


def test_a_baseline_hides_what_is_known(bug: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = bug.with_name("baseline.json")
    assert main(["check", str(bug), "-q", "--write-baseline", str(baseline)]) == 0
    # Lines before it do not make a report a new one; another function with the same bug does.
    bug.write_text("int one;\nint two;\n" + BUG)
    assert main(["check", str(bug), "-q", "--baseline", str(baseline), "--fail-on-error"]) == 0
    bug.write_text(BUG + BUG.replace("fresh", "other").replace("#include <stdlib.h>", ""))
    capsys.readouterr()
    assert main(["check", str(bug), "--baseline", str(baseline), "--fail-on-error"]) == 1
    text = capsys.readouterr().out
    assert text.count("likely: ") == 1 and "not shown: 1 of the baseline" in text


def test_check_json(bug: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["check", str(bug), "-q", "--output-dir", str(out)]) == 0
    document = json.loads((out / "check.json").read_text())
    (report,) = document["reports"]
    assert report["origin"]["line"] == 3 and [step["line"] for step in report["steps"]] == [3, 4]
    assert document["unsound"] == {} and document["verdicts"] == {"refuted": 1}


def test_contracts_of_the_user(tmp_path: Path) -> None:
    source, contracts = tmp_path / "user.c", tmp_path / "user.toml"
    source.write_text("int *find(int); void stop(void); int f(void) { int *p = find(1); return *p; }\n")
    command = ["check", str(source), "-q", "--fail-on-error", "--summaries", str(contracts)]
    contracts.write_text('[find]\nreturns = "nonnull"\n')
    assert main(command) == 0
    contracts.write_text('[find]\nreturns = "null"\n')
    assert main(command) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no program given"),
        (["missing.c"], "there is no file missing.c"),
        (["notes.txt"], "is not a C file"),
        (["{bug}", "--property", "speed"], "invalid choice: 'speed'"),
        (["{bug}", "--unroll", "0"], "is not a whole number above 0"),
        (["{bug}", "--baseline", "none.json"], "cannot read none.json"),
        (["{bug}", "--summaries", "{bug}"], "is not valid TOML"),
        (["{bug}", "--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_wrong_usage_is_one_line(
    words: list[str], message: str, bug: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *(word.replace("{bug}", str(bug)) for word in words)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_unrolling_is_an_unsound_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "loop.c"
    source.write_text(
        "#include <assert.h>\n"
        "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += 2; assert(s != 4); return s; }\n"
    )
    found = []
    for copies in ("1", "2"):
        assert main(["check", str(source), "--unroll", copies, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        found.append([report["values"] for report in document["reports"]])
        assert document["unsound"] == {"a loop is assumed to end after the unrolled iterations": 1}
    assert found == [[], [{"n": "2"}]]


def test_any_null_doubts_callers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "caller.c"
    source.write_text("int f(int *p) { return *p; }\n")
    assert main(["check", str(source), "-q", "--fail-on-error"]) == 0
    assert main(["check", str(source), "--null", "any", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert report["rank"] == "possible" and report["because"] == ["an unknown caller passes NULL"]


HARD = {
    "missing bodies": "int g(int); int f(int x) { return g(x) + g(x + 1); }",
    "assembly": 'int f(int x) { __asm__("nop" : "+r"(x)); return x; }',
    "assembly that jumps": 'int f(int x) { __asm__ goto("" : : "r"(x) : : out); return 0; out: return 1; }',
    "variable arguments": """#include <stdarg.h>
int f(int n, ...) { va_list a; va_start(a, n); int s = 0;
  while (n--) s += va_arg(a, int); va_end(a); return s; }
int h(void) { return f(2, 3, 4); }""",
    "variable arguments of all kinds": """#include <stdarg.h>
#include <stdio.h>
struct s { int a[20]; double d; };
static int sum(int n, va_list a) { int t = 0;
  while (n--) { struct s b = va_arg(a, struct s); char *p = va_arg(a, char *); t += b.a[n] + *p; } return t; }
int f(const char *form, ...) { va_list a, b; va_start(a, form); va_copy(b, a); vprintf(form, a);
  int t = sum(2, b); va_end(b); va_end(a); return t + (int)va_arg(a, double); }
int h(struct s b) { return f("%s", b, "x", b, "y"); }""",
    "setjmp": """#include <setjmp.h>
static jmp_buf b; int f(int x) { if (setjmp(b)) return 1; if (x) longjmp(b, 1); return 0; }""",
    "longjmp out of calls": """#include <setjmp.h>
#include <stdlib.h>
static jmp_buf b; static int *held;
static void fail(int c) { free(held); longjmp(b, c); }
static int work(int x) { held = malloc(4); if (!held) fail(2); *held = x; if (x > 3) fail(1); return *held; }
int f(int x) { switch (setjmp(b)) { case 0: x = work(x); break; case 1: return -1; default: exit(1); }
  free(held); return x; }""",
    "recursion": "int f(int x) { return x ? f(x - 1) + 1 : 0; } int g(int x) { return f(x); }",
    "mutual recursion": "int b(int); int a(int x) { return b(x); } int b(int x) { return x ? a(x - 1) : 0; }",
    "endless tail recursion": "int f(int x) { return f(x); } int g(void) { return f(1); }",
    "tail calls in loops": """int f(int a, int b) { for (int i = 0; i < a; i++) if (i == b) return f(b, i);
  if (a > b) return f(b, a); return a; }""",
    "pointers to functions that call by pointers": """typedef int (*fn)(int); static fn table[4];
static int a(int n) { return n ? table[n & 3](n - 1) : 0; } static int b(int n) { return a(n) + table[1](n); }
static int c(int n) { fn f = c; return n ? f(n - 1) : 1; } static int v(int n, ...) { return n; }
int main(int argc, char **argv) { int (*g)(int, ...) = argc > 1 ? v : 0; if (g) g(1, 2, 3.0);
  table[0] = a; table[1] = b; table[2] = table[3] = c; return table[argc & 3](argc); }""",
    "goto into a loop": "int f(int x) { if (x) goto in; while (x < 9) { x++; in: x += 2; } return x; }",
    "function pointers": "int f(int (*g)(int), int x) { return g ? g(x) : g(1); }",
    "computed goto": "int f(int x) { void *t[] = {&&a, &&b}; goto *t[x & 1]; a: return 1; b: return 2; }",
    "floats": "double f(double x, float y) { return x > y ? x / y : (long double)x; }",
    "structs by value": "struct s { int a; long b[5]; }; struct s f(struct s x) { x.a++; return x; }",
    "vectors": "typedef int v __attribute__((vector_size(16))); v f(v a, v b) { return a + b * a; }",
    "endless loop": "int f(int *p) { for (;;) ++*p; }",
    "no return": "int f(int *p) { __builtin_unreachable(); }",
    "atomics": "int f(_Atomic int *p) { return ++*p; }",
    "a huge struct": """struct s { char data[1 << 20]; int tail; };
static struct s g; int f(struct s *p) { struct s copy = *p; g = copy; return copy.tail + g.data[77]; }
struct s h(struct s x) { x.tail = 3; return x; }""",
    "a huge array": "int a[1 << 26]; int f(int i) { a[i & 0xffffff] = 1; return a[5] + a[1 << 25]; }",
    "deep expressions": "int f(int x) { return " + "(x + " * 200 + "1" + ")" * 200 + "; }",
    "wide integers": "__int128 f(__int128 x, long y) { return x / (y | 1); }",
}
COUNTED = (
    "missing bodies",
    "assembly",
    "assembly that jumps",
    "variable arguments of all kinds",
    "setjmp",
    "longjmp out of calls",
    "recursion",
    "mutual recursion",
    "goto into a loop",
)
"""Those where an unsound choice is made."""


@pytest.mark.parametrize("name", HARD)
def test_hard_input_is_no_crash(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "hard.c"
    source.write_text(HARD[name] + "\n")
    assert main(["check", str(source), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["functions"] and not document["not_checked"]
    assert bool(document["unsound"]) == (name in COUNTED)


def test_a_large_switch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = "\n".join(f"    case {n}: s += *p * {n}; break;" for n in range(10_000))
    source = tmp_path / "switch.c"
    source.write_text(f"int f(int x, int *p) {{ int s = 0; switch (x) {{\n{cases}\n}} return s; }}\n")
    assert main(["check", str(source), "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["not_checked"]


def test_a_large_switch_that_falls_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a loop, with calls that have no body."""
    cases = "\n".join(
        f"    case {n}: s += p[{n % 50}]; if (s > {n}) s = g({n}); {'break;' if n % 3 else ''}"
        for n in range(1000)
    )
    source = tmp_path / "falls.c"
    source.write_text(
        "int g(int);\nint f(int x, int *p, int n) { int s = 0;\n"
        f"  for (int i = 0; i < n; i++) switch (x + i) {{\n{cases}\n  }}\n  return s; }}\n"
    )
    assert main(["check", str(source), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert not document["not_checked"] and document["unsound"]


def test_a_large_table_of_pointers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an initial value leads to is looked at once for each variable, not for each mention of one."""
    source = tmp_path / "table.c"
    source.write_text(
        "static int t[20000] = {1};\n"
        f"static int *q[] = {{{', '.join(f'&t[{n}]' for n in range(20_000))}}};\n"
        "int f(unsigned i) { return *q[i % 20000]; }\n"
    )
    started = process_time()
    assert main(["check", str(source), "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["not_checked"]
    assert process_time() - started < 20  # 0.5 s; it was quadratic: 23 s for 4,000 pointers


def test_a_large_cycle_of_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = 500
    source = tmp_path / "cycle.c"
    source.write_text(
        "\n".join(f"int r{n}(int, int *);" for n in range(count))
        + "\n".join(
            f"int r{n}(int x, int *p) {{ if (x > {n}) *p += x;"
            f" return r{(n + 1) % count}(x - 1, p) + r{(n * 7 + 3) % count}(x, p); }}"
            for n in range(count)
        )
    )
    assert main(["check", str(source), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["functions"] == count and not document["not_checked"] and document["unsound"]


def test_deep_nesting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Chains of a thousand joins and of hundreds of calls: walks keep stacks of their own."""
    ifs = "\n".join(f"    if (x & {1 << n % 30}) *p += {n};" for n in range(1000))
    calls = "\n".join(f"static int c{n}(int *p) {{ return c{n - 1}(p) + {n}; }}" for n in range(1, 600))
    source = tmp_path / "deep.c"
    source.write_text(
        f"int f(int x, int *p) {{\n{ifs}\n return *p; }}\n"
        f"static int c0(int *p) {{ return *p; }}\n{calls}\nint top(void) {{ int x = 1; return c599(&x); }}\n"
    )
    assert main(["check", str(source), "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["not_checked"]
