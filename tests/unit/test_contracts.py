"""Allocations that fail and functions that do what their contracts say, in harnesses and replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.replay.replay import ReplayOptions, replay
from tests.unit.test_unit import all_reproduced, errors, unit

ALLOCATIONS = """#include <stdlib.h>
#include <string.h>
int plain(void) { char *p = malloc(4);
  *p = 1; free(p); return 0; }
int checked(void) { char *p = malloc(4); if (!p) return 1; *p = 1; free(p); return 0; }
int third(int n) { char *p = calloc(1, 4), *q = realloc(p, 8), *r = strdup("ab");
  if (!p || !q) { free(r); return 1; }
  int c = r[0];
  free(q); free(r); return c; }
"""


def test_allocations_fail_only_if_asked_for(tmp_path: Path) -> None:
    assert [errors(found) for found in unit(tmp_path, ALLOCATIONS, "--all")] == [[], [], []]


def test_harnesses_let_the_same_allocations_fail(tmp_path: Path) -> None:
    plain, checked, third = unit(tmp_path, ALLOCATIONS, "--all", "--failing-allocations")
    assert errors(plain) == [(4, "null-pointer", "none")] or errors(plain) == [(4, "null-pointer", "answer")]
    assert errors(checked) == [] and checked["complete"]
    assert errors(third) == [(8, "null-pointer", "answer")]
    assert all_reproduced(plain) and all_reproduced(third), third["errors"]
    assert third["errors"][0]["assumes"][-1].startswith("strdup() fails")


def test_replays_let_the_same_allocations_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(ALLOCATIONS + "int main(void) { return checked() + third(2) + plain(); }")
    flags = ("--failing-allocations", "--tests", "all", "--output-dir", "out", "-q")
    assert main(["run", "p.c", *flags]) == 0
    result = replay(tmp_path / "out", ReplayOptions())
    assert [test.problem for test in result.problems] == []
    assert {test.predicted.kind for test in result.tests} == {None, "null-pointer"}


CONTRACTS = """#include <stdio.h>
#include <string.h>
#include <pwd.h>
#include <sys/stat.h>
struct item { int kind; char *name; };
int fill(struct item *to, int n);
int scan(FILE *file) { char word[32]; int n;
  if (fscanf(file, "%31s %d", word, &n) != 2) return 0;
  char *colon = strchr(word, ':');
  return n == 77 ?
    *colon : 0; }
int close_twice(const char *name) { FILE *f = fopen(name, "r");
  fclose(f);
  return 0; }
int made(int n) { struct item item; fill(&item, n); return item.kind == 12 ?
    item.name[0] : 0; }
int same(const char *name) { return getpwnam(name) ? (int)getpwnam(name)->pw_uid : 0; }
long size(const char *name) { struct stat about; return stat(name, &about) ? -1 : about.st_size; }
"""


def test_functions_do_what_their_contracts_say(tmp_path: Path) -> None:
    found = {row["function"]: row for row in unit(tmp_path, CONTRACTS, "--all", "--externals", "contracts")}
    lines = {name: [(line, kind) for line, kind, _ in errors(row)] for name, row in found.items()}
    assert lines == {
        "scan": [(11, "null-pointer")],
        "close_twice": [(13, "null-pointer")],
        "made": [(16, "null-pointer")],
        "same": [],
        "size": [],
    }
    assert all(all_reproduced(row) for row in found.values()), found


def test_memory_stays_as_it_is_without_contracts(tmp_path: Path) -> None:
    (found,) = unit(tmp_path, CONTRACTS, "close_twice")
    assert errors(found) == []
    (found,) = unit(tmp_path, CONTRACTS, "made")
    assert [kind for _, kind, _ in errors(found)] == ["uninitialised"]


def test_contracts_of_the_user_come_first(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text('[fopen]\nreturns = "nonnull"\n')
    flags = ("--externals", "contracts", "--summaries", str(tmp_path / "known.toml"))
    (found,) = unit(tmp_path, CONTRACTS, "close_twice", *flags)
    assert errors(found) == [] and found["complete"]


def test_replays_of_contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(
        CONTRACTS + 'int main(void) { return close_twice("a") + size("b") + made(2); }'
    )
    flags = ("--externals", "contracts", "--libc", "none", "--tests", "all", "--output-dir", "out", "-q")
    assert main(["run", "p.c", *flags]) == 0
    result = replay(tmp_path / "out", ReplayOptions())
    assert [test.problem for test in result.problems] == []
    assert "null-pointer" in {test.predicted.kind for test in result.tests}
