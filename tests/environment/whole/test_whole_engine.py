"""`--strings` in whole runs: what it saves, and the errors that must not get lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.harness import Outcome, run_source

START = """
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>
char s[6];
int main(void) {
  klee_make_symbolic(s, sizeof s, "s");
  s[5] = 0;
"""


def run(directory: Path, body: str, *options: str) -> Outcome:
    outcome = run_source(directory, START + body + "\n}\n", "--search", "dfs", *options)
    assert outcome.result.complete, outcome.losses()
    return outcome


WORDS = """
  if (!strcmp(s, "get")) return 1;
  if (!strcmp(s, "gets")) return 2;
  char *colon = strchr(s, ':');
  if (colon && atoi(colon + 1) == 42) return 3;
  if (strlen(s) > 3) return 4;
  return 0;
"""


def codes(outcome: Outcome) -> set[int | None]:
    return {test.exit_code for test in outcome.collector.tests}


def test_the_flag_chooses_and_the_default_is_to_fork(tmp_path: Path) -> None:
    plain, fork = run(tmp_path, WORDS), run(tmp_path, WORDS, "--strings", "fork")
    whole = run(tmp_path, WORDS, "--strings", "whole")
    short = run(tmp_path, WORDS, "--strings", "whole", "--string-limit", "2")
    assert plain.result.paths_exit == fork.result.paths_exit > 50
    # Three branches, the two sides of `colon &&`, and the last choice.
    assert whole.result.paths_exit == 7
    assert 7 < short.result.paths_exit < fork.result.paths_exit
    assert codes(plain) == codes(whole) == codes(short) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("char *p = malloc(4); p[0] = s[0]; free(p); return strlen(p);", "use-after-free"),
        ("return strlen(s[0] ? (char *)0 : s);", "null-pointer"),
        ("size_t n; return strnlen(s, n);", "uninitialised"),
        ("int c; return strchr(s, c) != 0;", "uninitialised"),
        ("char t[6]; return strcmp(s, t);", "uninitialised"),
        ("char t[8]; strcpy(t, s); if (t[2] == 7) return 1; return 0;", "uninitialised"),
        ('strcpy((char *)"constant", s); return 0;', "read-only"),
        ("char t[3]; strcpy(t, s); return 0;", "out-of-bounds"),
        ("char t[3]; strncpy(t, s, 4); return 0;", "out-of-bounds"),
        ("char t[3]; memcpy(t, s, strlen(s)); return 0;", "out-of-bounds"),
        ("char *p = malloc(2); memcpy(p, s, 2); return atoi(p);", "out-of-bounds"),
        ("return *strchr(s, 'x');", "null-pointer"),
        ("return strrchr(s, 0)[1];", "out-of-bounds"),
    ],
)
def test_errors_are_those_of_the_forking_models(tmp_path: Path, body: str, kind: str) -> None:
    found = []
    for strings in ("fork", "whole"):
        outcome = run(tmp_path, body, "--strings", strings)
        assert kind in {error.kind for error in outcome.collector.errors}
        found.append({(e.kind, e.line, e.message) for e in outcome.collector.errors})
        found.append({(test.end, test.exit_code) for test in outcome.collector.tests if test.end == "exit"})
    assert found[0] == found[2]
    assert bool(found[1]) == bool(found[3])


def test_a_copy_that_may_be_short_leaves_the_rest_as_it_was(tmp_path: Path) -> None:
    body = """
  char t[8] = "0123456";
  strcpy(t, s);
  if (strlen(s) == 2 && t[2] == 0 && t[3] == '3' && t[7] == 0) return 1;
  if (strlen(s) == 5 && t[4] == s[4] && t[6] == '6') return 2;
  return strlen(s) == 2 || strlen(s) == 5 ? 3 : 0;
"""
    outcome = run(tmp_path, body, "--strings", "whole")
    assert codes(outcome) == {0, 1, 2}


def test_a_known_count_keeps_the_bytes_as_they_are(tmp_path: Path) -> None:
    """What the compiler makes of memcpy is left alone unless the count is symbolic."""
    body = "char t[4]; memcpy(t, s, 4); memset(s, 1, 3); return t[0] == 'a' ? 1 : s[2];"
    outcome = run(tmp_path, body, "--strings", "whole")
    assert (outcome.result.paths_exit, codes(outcome)) == (2, {1})
