"""Loops become one state (`--loops rounds`): the same paths end in the same way, in fewer states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reduce.merging.harness import Found, explore

HEAD = """
#include "klee/klee.h"
#include <stdio.h>
#include <stdlib.h>
#define N 6
"""

PROGRAMS = {
    "a text and its length": """
      int main(void) {
        char s[N + 1];
        klee_make_symbolic(s, sizeof s, "s");
        s[N] = 0;
        int n = 0;
        while (s[n]) n++;
        if (n == 3) return 1;
        return n > 4 ? 2 : 0;
      }
    """,
    "two ways to leave": """
      int main(void) {
        char s[N + 1];
        klee_make_symbolic(s, sizeof s, "s");
        s[N] = 0;
        char *p = s;
        while (*p && *p != ':') p++;
        if (!*p) return 9;
        if (p[1] == '/') return 8;
        return (int)(p - s);
      }
    """,
    "a block of unknown size": """
      int main(void) {
        size_t n;
        klee_make_symbolic(&n, sizeof n, "n");
        klee_assume(n >= 1);
        klee_assume(n <= N);
        char *s = malloc(n);
        klee_make_symbolic(s, n, "s");
        size_t i = 0;
        while (i < n && s[i] == 'a') i++;
        if (i == n) return 9;
        return s[i] == 'b' ? (int)i : 8;
      }
    """,
    "a second loop from where the first stopped": """
      static int span(const char *s, int n, char c) { int i = 0; while (i < n && s[i] == c) i++; return i; }
      int main(void) {
        char s[N];
        klee_make_symbolic(s, sizeof s, "s");
        int a = span(s, N, 'a');
        int b = span(s + a, N - a, 'b');
        klee_assert(a + b <= N);
        if (a == 2 && b == 2) return 7;
        return b > a;
      }
    """,
    "writes at positions and a sum": """
      int main(void) {
        unsigned char s[N], d[N + 1];
        klee_make_symbolic(s, sizeof s, "s");
        int i = 0, sum = 0;
        for (; i < N && s[i] != 0; i++) { d[i] = s[i] ^ 1; sum += s[i] & 3; }
        d[i] = 0;
        if (i > 2 && d[1] == 'x') return 1;
        return sum == 5 ? 2 : 3;
      }
    """,
    "output in every round": """
      int main(void) {
        char s[N];
        klee_make_symbolic(s, sizeof s, "s");
        s[N - 1] = 0;
        int i = 0;
        for (; s[i] > ' '; i++) putchar('a' + i);
        puts(".");
        return i == 4;
      }
    """,
    "an error in the middle": """
      int main(void) {
        char s[N];
        klee_make_symbolic(s, sizeof s, "s");
        int i = 0;
        while (i < N && s[i] != '.') { if (s[i] == '!' && i > 2) abort(); i++; }
        klee_assert(i != 4);
        return i == 2;
      }
    """,
    "an input and a block in every round": """
      int main(void) {
        char *kept[4] = {0};
        int n = 0;
        while (n < 4) {
          unsigned char more;
          klee_make_symbolic(&more, 1, "more");
          if (more < 100) break;
          kept[n] = malloc(1);
          *kept[n++] = more;
        }
        if (n > 2 && *kept[1] == 200) return 1;
        return n == 4 ? 2 : 0;
      }
    """,
    "a loop in a loop": """
      int main(void) {
        char s[5];
        klee_make_symbolic(s, sizeof s, "s");
        s[4] = 0;
        int lines = 0, best = 0;
        for (char *p = s; *p; lines++) {
          int length = 0;
          while (*p && *p != '\\n') { p++; length++; }
          if (length > best) best = length;
          if (*p) p++;
        }
        if (lines == 2) return 1;
        return best > 2 ? 2 : 0;
      }
    """,
    "values of the caller differ": """
      static void skip(char **at) { char *p = *at; while (*p == ' ') p++; *at = p; }
      int main(void) {
        char s[N + 1], *p = s;
        klee_make_symbolic(s, sizeof s, "s");
        s[N] = 0;
        skip(&p);
        if (p - s == 4) return 1;
        return *p == 'x' ? 2 : 3;
      }
    """,
}


def found_by(directory: Path, name: str, *options: str) -> Found:
    return explore(directory, HEAD + PROGRAMS[name], *options)


@pytest.mark.parametrize("policy", ["all", "qce"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_paths_end_in_the_same_way(tmp_path: Path, name: str, policy: str) -> None:
    plain = found_by(tmp_path, name)
    options = ("--merge", policy, "--merging", "static", "--loops", "rounds", "--verify-reductions")
    merged = found_by(tmp_path, name, *options)
    assert merged.result.complete == plain.result.complete
    assert merged.result.paths_exact == plain.result.paths_total
    assert merged.ends() == plain.ends()
    assert merged.errors() == plain.errors()
    assert merged.lines() == plain.lines()
    assert merged.merging["wrong"] == merged.merging["not decided"] == 0
    assert merged.result.reductions["loops"]["joins"] > 0 or policy == "all"
    names = {tuple(name for name, _ in test.objects) for test in plain.collector.tests}
    assert {tuple(name for name, _ in test.objects) for test in merged.collector.tests} == names


@pytest.mark.parametrize("name", ["a text and its length", "two ways to leave", "a block of unknown size"])
def test_all_rounds_become_few_states(tmp_path: Path, name: str) -> None:
    options = ("--tests", "none", "--merge", "qce", "--merging", "static", "-D", "N=40", "--capacity", "64",
               "--loops", "rounds")  # fmt: skip
    source = HEAD.replace("#define N 6", "") + PROGRAMS[name]
    found = explore(tmp_path, source, *options).result
    assert found.paths_total <= 2
    assert found.reductions["loops"]["joins"] <= 3 and found.reductions["loops"]["states"] >= 40


def test_the_last_round_is_left_with_the_others(tmp_path: Path) -> None:
    source = """
      int main(void) {
        unsigned n;
        klee_make_symbolic(&n, sizeof n, "n");
        klee_assume(n <= 8);
        int *p = malloc(n * sizeof *p);
        for (unsigned i = 0; i < n; i++) p[i] = i;
        for (unsigned i = 0; i < n; i++) klee_assert(p[i] < 5);
        return 0;
      }
    """
    options = ("--tests", "none", "--merge", "qce", "--merging", "static", "--capacity", "64")
    found = explore(tmp_path, HEAD + source, *options)
    # No branch decides that the eighth round is the last one: it goes on from its header to the exit.
    assert found.result.reductions["loops"]["exits"][0]["states"] == 9
    assert found.result.paths_total == 2


# What steers is more than one position, or is not among the live values: merging in pairs is left to decide.
LEFT_ALONE = {
    "two positions that do not go in step": """
      int main(void) {
        char s[N + 1], d[2 * N];
        klee_make_symbolic(s, sizeof s, "s");
        s[N] = 0;
        int i = 0, o = 0;
        while (s[i]) {
          if (s[i] == '%') { d[o++] = s[i + 1]; if (!s[i + 1]) break; i += 2; }
          else if (s[i] == '+') { d[o++] = ' '; d[o++] = ' '; i++; }
          else d[o++] = s[i++];
        }
        return o == 4;
      }
    """,
    "a position in a global variable": """
      static const char *at;
      static void blanks(void) { while (*at == ' ') at++; }
      static int word(void) { int n = 0; while (*at >= 'a' && *at <= 'z') { at++; n++; } return n; }
      int main(void) {
        char s[N + 1];
        klee_make_symbolic(s, sizeof s, "s");
        s[N] = 0;
        int words = 0;
        for (at = s; *at; words++) { blanks(); if (!word()) break; blanks(); if (*at == ';') at++; }
        return words > 1;
      }
    """,
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_no_more_work_than_in_pairs(tmp_path: Path, name: str) -> None:
    options = ("--tests", "none", "--merge", "qce", "--merging", "static", "-D", "N=8")
    source = HEAD.replace("#define N 6", "") + LEFT_ALONE[name]
    pairs = explore(tmp_path, source, *options, "--loops", "off")
    merged = explore(tmp_path, source, *options, "--loops", "rounds")
    assert merged.result.complete and pairs.result.complete
    assert merged.result.states_explored <= 1.05 * pairs.result.states_explored
    assert queries(merged) <= queries(pairs)


def queries(found: Found) -> int:
    """How many the back end was asked."""
    return found.run.space.stats.timer("backend").count


def test_how_many_bytes_a_loop_counted_is_decided_without_a_search(tmp_path: Path) -> None:
    source = """
      int main(void) {
        char s[32];
        unsigned n, commas = 0;
        klee_make_symbolic(&n, sizeof n, "n");
        klee_make_symbolic(s, sizeof s, "s");
        klee_assume(n <= 32);
        for (unsigned i = 0; i < n; i++) commas += s[i] == ',';
        klee_assert(commas != 16);
        return 0;
      }
    """
    found = explore(tmp_path, HEAD + source, "--tests", "none", "--merge", "qce", "--merging", "static")
    assert {kind for kind, _ in found.errors()} == {"assert"}
    assert found.result.complete and queries(found) == 0


def test_states_that_cannot_become_one_are_merged_in_pairs(tmp_path: Path) -> None:
    source = """
      int main(void) {
        char s[5], *block = malloc(3);
        klee_make_symbolic(s, sizeof s, "s");
        int i = 0;
        for (; i < 5 && s[i]; i++) if (i == 2) free(block);
        return i == 4;
      }
    """
    plain = explore(tmp_path, HEAD + source)
    merged = explore(tmp_path, HEAD + source, "--merge", "all", "--merging", "static", "--verify-reductions")
    assert merged.result.reductions["loops"]["refused"] == {"an object freed on one side": 1}
    assert merged.ends() == plain.ends()
    assert merged.merging["wrong"] == 0 and merged.merges > 0


MEMSPN = """
  static int memspn(const char *s, size_t n, const char *set) {
    const char *p = set;
    int count = 0;
    while (*p && (size_t)count < n) {
      if (*p == s[count]) { count++; p = set; } else p++;
    }
    return count;
  }
  int main(void) {
    size_t n;
    char s[N];
    klee_make_symbolic(&n, sizeof n, "n");
    klee_make_symbolic(s, sizeof s, "s");
    klee_assume(n <= N);
    int count = memspn(s, n, "a");
    if (count == 2) return 1;
    return count > 3 ? 2 : 0;
  }
"""


def test_the_running_example_of_the_paper(tmp_path: Path) -> None:
    """Figure 2 and Table 1 by `--loops quantified`: one state for each formula pattern. That n is not 0 is
    what all paths to another character share, so that it is not said of each round of theirs."""
    plain = explore(tmp_path, HEAD + MEMSPN)
    options = ("--merge", "qce", "--merging", "static", "--loops", "quantified", "--merge-report")
    merged = explore(tmp_path, HEAD + MEMSPN, *options, "--verify-reductions")
    patterns = {text for row in merged.result.reductions["loops"]["exits"] for text in row["patterns"]}
    print(patterns)
    assert patterns == {
        "n > i and s[i] == 'a' for all i < k; n <= k",
        "s[i] == 'a' and n > i + 1 for all i < k; s[k] != 'a'",
    }
    assert merged.ends() == plain.ends()
    assert merged.merging["wrong"] == merged.merging["not decided"] == 0
    assert merged.result.paths_total <= 4
