"""Summaries (`--loops summaries`): nothing is asked inside a loop, and the same paths end in the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.reduce.loops.summaries.rounds import Following, Leg
from tests.reduce.merging.harness import Found, explore

HEAD = """
#include "klee/klee.h"
#include <stdlib.h>
#ifndef N
#define N 5
#endif
static char *text(void) {
  char *s = malloc(N + 1);
  klee_make_symbolic(s, N + 1, "s");
  s[N] = 0;
  return s;
}
static size_t any(size_t most) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= most);
  return n;
}
"""

# Programs with the number of summaries that are made of them.
PROGRAMS: dict[str, tuple[str, int]] = {
    "a text and its length": (
        "int main(void) { char *s = text(); int n = 0; while (s[n]) n++; if (n == 3) return 1;"
        " return n > 4 ? 2 : 0; }",
        1,
    ),
    "two conditions to leave by": (
        "int main(void) { char *s = text(), *p = s; while (*p && *p != ':') p++; if (!*p) return 9;"
        " if (p[1] == '/') return 8; return (int)(p - s); }",
        1,
    ),
    "two edges to leave by": (
        "int main(void) { char *s = text(); int i = 0, found = 0;"
        " for (; s[i]; i++) if (s[i] == '!') { found = 1; break; }"
        " if (found) return i == 2; return i == 4 ? 5 : 6; }",
        1,
    ),
    "a block of unknown size, maybe of none": (
        "int main(void) { size_t n = any(4), i = 0; char *s = malloc(n); klee_make_symbolic(s, n, \"s\");"
        " while (i < n && s[i] == 'a') i++; if (i == n) return 9; return s[i] == 'b' ? (int)i : 8; }",
        1,
    ),
    "one byte too far in a block of unknown size": (
        "int main(void) { size_t n = any(3) + 1, i = 0; char *s = malloc(n); klee_make_symbolic(s, n, \"s\");"
        " while (i <= n && s[i] == 'a') i++; return (int)i; }",
        1,
    ),
    "no end of the text": (
        "int main(void) { char s[3]; klee_make_symbolic(s, 3, \"s\"); int i = 0; while (s[i] == 'a') i++;"
        " return i; }",
        1,
    ),
    "a second loop from where the first stopped": (
        "static int span(const char *s, int n, char c) { int i = 0; while (i < n && s[i] == c) i++;"
        " return i; }"
        " int main(void) { char *s = text(); int a = span(s, N, 'a'), b = span(s + a, N - a, 'b');"
        " klee_assert(a + b <= N); if (a == 2 && b == 2) return 7; return b > a; }",
        2,
    ),
    "a second loop back from where the first stopped": (
        "int main(void) { char *s = text(); int e = 0; while (s[e]) e++;"
        " while (e > 0 && (s[e - 1] == ' ' || s[e - 1] == '.')) e--; s[e] = 0; return e == 2 ? 7 : e > 3; }",
        2,
    ),
    "four loops with pointers": (
        "int main(void) { char *p = text(); while (*p == ' ') p++; char *q = p; while (*p >= '0' && *p"
        " <= '9') p++;"
        " if (p == q) return 5; int digits = p - q; while (*p == ' ') p++; if (*p == ':') { p++;"
        " while (*p == ' ') p++; if (!*p) return 6; } return digits == 3 ? 7 : 8; }",
        4,
    ),
    "a set that is searched in every round": (
        "int main(void) { char *s = text(); int r = 0; while (s[r]) { const char *a = \"abc\";"
        " while (*a && *a != s[r]) a++; if (!*a) break; r++; } return r == 2 ? 3 : r == 4; }",
        1,
    ),
    "a sum that decides when to leave": (
        "int main(void) { unsigned char s[4]; klee_make_symbolic(s, 4, \"s\"); unsigned v = 0; int i = 0;"
        " while (i < 4 && v < 300) { v += s[i]; i++; } if (v == 300) return 1; return i == 2 ? 2 : 3; }",
        1,
    ),
    "a count of some": (
        "int main(void) { char *s = text(); int commas = 0, others = 0; for (int i = 0; s[i]; i++)"
        " if (s[i] == ',') commas++; else others += 2; return commas == 2 ? 1 : others == 6 ? 2 : 0; }",
        1,
    ),
    "a count of some of a fixed number": (
        "int main(void) { char *s = text(); int commas = 0, others = 0; for (int i = 0; i < 4; i++)"
        " if (s[i] == ',') commas++; else others += i; return commas == 2 ? 1 : others == 6 ? 2 : 0; }",
        1,
    ),
    "a count of some from a position of many": (
        "int main(void) { char *p = text(); while (*p == ' ') p++; int commas = 0, n = 0;"
        " for (; *p; p++, n++) if (*p == ',') commas++; return commas == 2 ? 1 : n == 3 ? 2 : 0; }",
        2,
    ),
    "a position of the input": (
        "int main(void) { char *s = text(); size_t i = any(3); while (s[i] == 'a') i++; return i == 4; }",
        0,
    ),
    "a position of the input that may be outside": (
        "int main(void) { char *s = text(); size_t i = any(N + 2); while (s[i] == 'a') i++; return i == 4; }",
        0,
    ),
    "loops over a text in a block of unknown size": (
        "int main(void) { size_t n = any(4); char *s = malloc(n + 1), *p = s; klee_make_symbolic(s, n + 1,"
        " \"s\"); s[n] = 0; while (*p == ' ') p++; char *q = p; while (*p && *p != ':') p++;"
        " if (*p != ':') return 1; p++; while (*p == ' ') p++; if (!*p) return 2;"
        " while (p > q && p[-1] == ' ') p--; return p - q == 2; }",
        4,
    ),
    "an optional sign between loops": (
        "int main(void) { char *p = text(), *s = p; int minus = 0; while (*p == ' ') p++;"
        " if (*p == '-') { minus = 1; p++; } while (*p >= '0' && *p <= '2') p++;"
        " return minus * 16 + (int)(p - s); }",
        0,
    ),
    "a read from where the first stopped in a later round only": (
        "int main(void) { char *s = text(), *p = s; while (*p == ' ') p++; size_t t = p - s, i;"
        " for (i = 0; i < 3; i++) { if (i == t) break; if (i >= 2 && s[t + i - 2] == 'x') break; }"
        " return t * 8 + i; }",
        2,
    ),
    "two limits": (
        "int main(void) { char *s = text(); size_t n = any(5), m = any(5), i = 0;"
        " while (i < n && i < m && s[i]) i++; return i == 3 ? n > m : 2; }",
        1,
    ),
    "a counter that wraps around": (
        "int main(void) { char *s = text(); unsigned char i = 253; while (i != 2 && s[(unsigned char)(i"
        " + 3)] == 'a')"
        " i++; return i == 1 ? 7 : i > 250; }",
        1,
    ),
    "a signed counter from below zero": (
        "int main(void) { char *s = text(), *p = s + 3; signed char i = -3; while (i < 2 && p[i] > 'f') i++;"
        " return i == -1 ? 7 : i > 0; }",
        1,
    ),
    "a switch": (
        "int main(void) { char *s = text(); int i = 0, n = 0; for (;; i++) { switch (s[i]) { case 'a':"
        " case 'b':"
        " n++; continue; case 'c': n += 3; continue; case 'd': return 9; default: break; } break; }"
        " return n == 4 ? i : 6; }",
        1,
    ),
    "an assumption on what is read": (
        "int main(void) { char *s = text(); klee_assume(s[1] == s[2]); klee_assume(s[3] != 'a'); int i = 0;"
        " while (s[i] == 'a') i++; return i; }",
        1,
    ),
    "a division that may fail": (
        "int main(void) { char *s = text(); int i = 0, v = 9; while (s[i] > '0') { v += 100 / (s[i] -"
        " '5'); i++; }"
        " return v == 30; }",
        0,
    ),
    "an abort in the middle": (
        "int main(void) { char *s = text(); int i = 0; while (s[i]) { if (s[i] == '!' && i > 2)"
        " abort(); i++; }"
        " klee_assert(i != 4); return i; }",
        1,
    ),
    "a store in every round": (
        "int main(void) { char *s = text(), d[N + 1]; int i = 0; while (s[i]) { d[i] = s[i] ^ 1; i++; }"
        " return i > 2 && d[1] == 'x'; }",
        0,
    ),
    "a position in a global variable": (
        "static const char *at; int main(void) { char *s = text(); at = s; while (*at == ' ') at++;"
        " return at - s == 3; }",
        0,
    ),
    "a position of many or the start": (
        "int main(void) { char *s = text(); int i = 0; while (s[i] == ' ') i++; int j = i > 1 ? 0 : i;"
        " while (j < 4 && s[j] == 'x') j += 2; return i * 3 + j; }",
        0,
    ),
    "steps of two from a position of many": (
        "int main(void) { char *s = text(); int i = 0; while (s[i] == ' ') i++; int j = i;"
        " while (j < 4 && s[j] == 'x') j += 2; return i * 3 + j; }",
        1,
    ),
    "nothing of the input": (
        "int main(void) { const char *t = \"abcdefgh\"; int i = 0; while (t[i] != 'h') i++;"
        " char *s = text(); return s[0] == t[i]; }",
        0,
    ),
    "uninitialised data": (
        "int main(void) { char s[4]; klee_make_symbolic(s, 2, \"s\"); int i = 0; while (i < 4 && s[i]"
        " != 'a') i++;"
        " return i; }",
        0,
    ),
    "a loop in a loop": (
        "int main(void) { char *p = text(); int lines = 0, best = 0; for (; *p; lines++) { int n = 0;"
        " while (*p && *p != '.') { p++; n++; } if (n > best) best = n; if (*p) p++; }"
        " return lines == 2 ? 1 : best > 2 ? 2 : 0; }",
        0,
    ),
}  # fmt: skip


def summarised(directory: Path, name: str, *options: str) -> Found:
    more = ("--merge", "qce", "--merging", "static", "--loops", "summaries", *options)
    return explore(directory, HEAD + PROGRAMS[name][0], *more)


def figures(found: Found) -> dict[str, Any]:
    made: dict[str, Any] = found.result.reductions["summaries"]
    return made


@pytest.mark.parametrize("kind", ["static", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_paths_end_in_the_same_way(tmp_path: Path, name: str, kind: str) -> None:
    plain = explore(tmp_path, HEAD + PROGRAMS[name][0])
    merged = summarised(tmp_path, name, "--verify-reductions", "--merging", kind)
    # Dynamic merging does not wait at a header until all that may come have come.
    number, wanted = figures(merged)["summaries"], PROGRAMS[name][1]
    assert number == wanted or (kind == "dynamic" and number > wanted > 0), figures(merged)
    assert merged.result.complete == plain.result.complete
    assert merged.ends() == plain.ends()
    assert merged.result.paths_exact == plain.result.paths_total
    assert merged.errors() == plain.errors()
    assert merged.lines() == plain.lines()
    assert merged.merging["wrong"] == merged.merging["not decided"] == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_tests_cover_what_those_of_all_paths_cover(tmp_path: Path, name: str) -> None:
    merged = summarised(tmp_path, name, "--tests", "covering")
    assert merged.lines() == explore(tmp_path, HEAD + PROGRAMS[name][0]).lines()
    assert merged.run.reporter.tests >= 1


def test_a_wrong_summary_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Following._next

    def wrong(self: Following, w: int, again: Any) -> Leg:
        leg = right(self, w, again)
        return Leg([True], True, leg.row, leg.sets) if w == 2 else leg

    monkeypatch.setattr(Following, "_next", wrong)
    found = summarised(tmp_path, "a text and its length", "--verify-reductions")
    assert found.merging["wrong"] > 0 and not found.result.complete


def test_wrong_values_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Following._live

    def wrong(self: Following, way: Any) -> dict[int, Any]:
        return {local: value + 1 if value == 3 else value for local, value in right(self, way).items()}

    monkeypatch.setattr(Following, "_live", wrong)
    found = summarised(tmp_path, "a text and its length", "--verify-reductions")
    assert found.merging["wrong"] > 0 and not found.result.complete


CONTRADICTION = (
    "int main(void) { size_t n = any(4); char *s = text(), *p = s; while (p - s < (long)n && *p != 'y') p++;"
    " size_t t = p - s, r = 0; int c = 0; size_t i0; for (i0 = 1; i0 < 3; i0 += 1) { if (s[i0 * 2] == s[i0])"
    " break; } r = r * 7 + i0; t = i0; size_t i1; for (i1 = 1; i1 < t; i1 += 1) { if (i1 == t) c++; }"
    " r = r * 7 + i1; return (r + c * 16 + t) & 255; }"
)


@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_ways_whose_decisions_contradict_each_other_are_none(tmp_path: Path, kind: str) -> None:
    options = ("--merge", "all", "--merging", kind, "--loops", "summaries", "--verify-reductions")
    merged = explore(tmp_path, HEAD + CONTRADICTION, *options)
    assert merged.result.complete
    assert merged.ends() == explore(tmp_path, HEAD + CONTRADICTION).ends()


LARGE = (
    "a text and its length",
    "two conditions to leave by",
    "a set that is searched in every round",
    "a second loop from where the first stopped",
    "four loops with pointers",
    "a block of unknown size, maybe of none",
)


@pytest.mark.parametrize("name", LARGE)
def test_nothing_is_asked_inside_the_loop(tmp_path: Path, name: str) -> None:
    """As many states, and as many queries that only the solver can answer, for long data as for short."""
    states, asked = set(), []
    for size in (12, 60):
        source = HEAD + PROGRAMS[name][0].replace("any(4)", f"any({size})")
        options = ("--tests", "none", "--merge", "qce", "--merging", "static", "-D", f"N={size}")
        found = explore(tmp_path, source, *options, "--loops", "summaries", "--capacity", "64")
        assert found.result.complete
        states.add(found.result.states_explored)
        asked.append(found.run.parts.space.stats.timer("backend").count)
    assert len(states) == 1 and asked[1] <= asked[0] + 2


def test_paths_meet_at_one_position_behind_an_optional_sign(tmp_path: Path) -> None:
    source = HEAD + PROGRAMS["an optional sign between loops"][0]
    options = ("--tests", "none", "--merge", "qce", "--merging", "static", "-D", "N=40")
    found = explore(tmp_path, source, *options)
    assert found.result.complete
    assert found.run.parts.space.stats.timer("backend").count < 20


def test_loops_before_one_that_is_not_summarised_are_not(tmp_path: Path) -> None:
    """Behind the first loop there would be one state with all positions, and the second one writes there."""
    source = HEAD + (
        "int main(void) { char *p = text(); while (*p == ' ') p++; while (*p > 'f') { *p -= 3; p++; }"
        " return *p == 'a'; }"
    )
    found = explore(tmp_path, source, "--merge", "qce", "--merging", "static", "--loops", "summaries")
    assert figures(found)["summaries"] == 0 and not figures(found)["refused"]
    assert found.ends() == explore(tmp_path, source).ends()


def test_auto_uses_summaries(tmp_path: Path) -> None:
    options = ("--tests", "none", "--merge", "qce", "--merging", "static")
    found = explore(tmp_path, HEAD + PROGRAMS["a text and its length"][0], *options)
    assert figures(found)["summaries"] == 1


def test_they_are_not_made_where_z_equivalence_reads_calls(tmp_path: Path) -> None:
    options = ("--tests", "none", "--merge", "qce", "--merging", "static", "--zeq", "rules")
    found = explore(tmp_path, HEAD + PROGRAMS["a text and its length"][0], *options)
    assert "summaries" not in found.result.reductions
