"""What may be removed behind a call, and what may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.reduce.zequivalence import ledger, parts, return_point, technique
from tests.reduce.zequivalence.harness import figures, kept, plain, removing, same_findings

# Each: a function f, a main that calls it, states that come back and are kept.
CASES: dict[str, tuple[str, tuple[int, int]]] = {
    "conditions that nobody sees": (
        """
        static int f(void) { if (__VERIFIER_nondet_bool()) return 1; return 1; }
        int main(void) { return f(); }
        """,
        (2, 1),
    ),
    "results": (
        """
        static int f(void) { if (__VERIFIER_nondet_bool()) return 1; return 2; }
        int main(void) { return f(); }
        """,
        (2, 2),
    ),
    "objects of any size": (
        """
        static char *f(void) {
          unsigned n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
          if (n > 8 || m > 8) exit(0);
          if (__VERIFIER_nondet_bool()) return calloc(n, 1);
          return calloc(m, 1);
        }
        int main(void) { char *p = f(); unsigned i = __VERIFIER_nondet_int(); return p[i]; }
        """,
        (2, 1),
    ),
    "objects of other sizes": (
        """
        static char *f(void) {
          unsigned n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
          if (n > 8 || m > 8) exit(0);
          if (__VERIFIER_nondet_bool()) return calloc(n, 1);
          return calloc(m & ~1u, 1);
        }
        unsigned long malloc_usable_size(void *);
        int main(void) { char *p = f(); assert(malloc_usable_size(p) != 4); return p[0]; }
        """,
        (2, 2),
    ),
    "an unknown sum": (
        """
        static int f(int *p) {
          *p = __VERIFIER_nondet_int();
          if (__VERIFIER_nondet_bool()) *p += __VERIFIER_nondet_int();
          return 0;
        }
        int main(void) { int x; f(&x); assert(x != 77); return x == 3; }
        """,
        (2, 1),
    ),
    "an argument that is read again": (
        """
        static int f(int a) { if (a > 5) return 1; return 1; }
        int main(void) { int a = __VERIFIER_nondet_int(); int r = f(a); assert(r + a != 3); return 0; }
        """,
        (2, 2),
    ),
    "an argument that is not": (
        """
        static int f(int a) { if (a > 5) return 1; return 1; }
        int main(void) { int a = __VERIFIER_nondet_int(); int r = f(a); assert(r == 1); return 0; }
        """,
        (2, 1),
    ),
    "two outputs that depend on each other": (
        """
        static int g;
        static int f(void) {
          int x = __VERIFIER_nondet_int();
          if (__VERIFIER_nondet_bool()) { g = x; return x; }
          g = __VERIFIER_nondet_int();
          return __VERIFIER_nondet_int();
        }
        int main(void) { int r = f(); assert(r == g); return 0; }
        """,
        (2, 2),
    ),
    "memory of the caller": (
        """
        static char table[300];
        static int f(void) { if (__VERIFIER_nondet_bool()) table[280] = 1; return 0; }
        int main(void) { f(); assert(!table[280]); return 0; }
        """,
        (2, 2),
    ),
    "memory written back": (
        """
        static char table[300];
        static int f(void) { if (__VERIFIER_nondet_bool()) { table[280] = 1; table[280] = 0; } return 0; }
        int main(void) { f(); assert(!table[280]); return 0; }
        """,
        (2, 1),
    ),
    "new objects by what they hold": (
        """
        struct node { int key; struct node *next; };
        static struct node *f(void) {
          struct node *a = malloc(sizeof *a), *b;
          if (__VERIFIER_nondet_bool()) { b = malloc(sizeof *b); }
          else { struct node *lost = malloc(8); lost->key = 5; b = malloc(sizeof *b); }
          a->key = __VERIFIER_nondet_int(); b->key = __VERIFIER_nondet_int();
          a->next = b; b->next = 0;
          return a;
        }
        int main(void) { struct node *n = f(); assert(n->key != n->next->key); return 0; }
        """,
        (2, 1),
    ),
    "new objects that hang together otherwise": (
        """
        struct node { int key; struct node *next; };
        static struct node *f(void) {
          struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b);
          a->key = b->key = 1; a->next = b; b->next = 0;
          if (__VERIFIER_nondet_bool()) b->next = a;
          return a;
        }
        int main(void) { struct node *n = f(); assert(n->next->next == 0); return 0; }
        """,
        (2, 2),
    ),
    "an object that is freed": (
        """
        static int f(char *p) { if (__VERIFIER_nondet_bool()) free(p); return 0; }
        int main(void) { char *p = malloc(4); p[0] = 1; f(p); return p[0]; }
        """,
        (2, 2),
    ),
    "a pointer to what is freed": (
        """
        static char *f(void) { char *p = malloc(4); *p = 7; if (__VERIFIER_nondet_bool()) free(p); return p; }
        int main(void) { return *f(); }
        """,
        (2, 2),
    ),
    "output": (
        """
        static int f(void) { if (__VERIFIER_nondet_bool()) puts("a"); else puts("b"); return 0; }
        int main(void) { return f(); }
        """,
        (2, 1),
    ),
    "conditions on what was there before": (
        """
        static int f(int a) { int u = __VERIFIER_nondet_int(); if (u > a) return 1; return 1; }
        int main(void) {
          int a = __VERIFIER_nondet_int(), r = f(a);
          assert(r + a != 2147483647);
          return 0;
        }
        """,
        # for the greatest a, no u is above
        (2, 2),
    ),
    "known values of unknown things": (
        """
        static int f(void) {
          int u = __VERIFIER_nondet_int();
          if (u == 5) return u;
          if (u == 6) return 5;
          return 0;
        }
        int main(void) { int r = f(); assert(r != 6); return r; }
        """,
        (3, 2),
    ),
    "uninitialised memory": (
        """
        static int f(int *p) { if (__VERIFIER_nondet_bool()) *p = __VERIFIER_nondet_int(); return 0; }
        int main(void) { int x; f(&x); if (x == 3) return 1; return 0; }
        """,
        (2, 2),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_states_kept(tmp_path: Path, name: str) -> None:
    source, expected = CASES[name]
    found = removing(tmp_path, source, "--verify-reductions")
    assert kept(found)["f"] == expected
    assert figures(found)["wrong"] == figures(found)["not decided"] == 0
    same_findings(found, plain(tmp_path, source))


FREED_LAST = """
static int f(char *p) {
  if (__VERIFIER_nondet_bool()) { *p = 1; return 0; }
  if (__VERIFIER_nondet_bool()) { *p = 2; return 0; }
  free(p);
  return 1;
}
int main(void) { char *p = malloc(4); *p = 0; if (!f(p)) assert(*p == 1); return 0; }
"""


@pytest.mark.parametrize("order", ["dfs", "bfs"])
def test_pages_of_an_object_that_another_path_has_freed(tmp_path: Path, order: str) -> None:
    """The state in which it is freed may be the first to come back: those to come still have the pages."""
    found = removing(tmp_path, FREED_LAST, "--search", order, "--verify-reductions")
    assert kept(found)["f"] == (3, 3)
    assert figures(found)["wrong"] == 0
    same_findings(found, plain(tmp_path, FREED_LAST))


EXTENT = """
static int f(char *s) { if (s[0] == 0) { s[0] = 'x'; return 1; } s[0] = 'x'; return 1; }
int main(int argc, char **argv) {
  if (argc < 2) return 0;
  f(argv[1]);
  argv[1][0] = 'y';
  return argv[1][1];
}
"""


def test_what_may_be_accessed_is_observable(tmp_path: Path) -> None:
    """Where an argument ends depends on bytes that were overwritten."""
    options = ("--sym-args", "1", "1", "3")
    found = removing(tmp_path, EXTENT, *options, "--verify-reductions")
    assert kept(found)["f"] == (2, 2)
    assert figures(found)["wrong"] == 0
    same_findings(found, plain(tmp_path, EXTENT, *options))


WIDENED = """
struct small { int a; };
struct big { int a; char pad[600]; int last; };
int unknown(void);
struct small *get(void);
static int work(struct small *p) {
  struct big *b = (struct big *)p;
  if (unknown()) { b->last = 1; return 3; }
  b->last = 2;
  return 3;
}
int main(void) {
  struct small *p = get();
  if (!p || p->a != 3) return 0;
  work(p);
  return ((struct big *)p)->last == 1 ? 5 : 6;
}
"""


def test_pages_that_an_object_got_when_it_became_larger(tmp_path: Path) -> None:
    found = removing(tmp_path, WIDENED, "--externals", "fresh", "--verify-reductions")
    assert kept(found)["work"] == (2, 2)
    assert figures(found)["wrong"] == 0
    same_findings(found, plain(tmp_path, WIDENED, "--externals", "fresh"))


LEAKS = """
static int f(void) { if (__VERIFIER_nondet_bool()) { char *p = malloc(3); *p = 1; } return 0; }
int main(void) { return f(); }
"""


def test_leaks_count_where_they_are_looked_for(tmp_path: Path) -> None:
    assert kept(removing(tmp_path, LEAKS))["f"] == (2, 1)
    found = removing(tmp_path, LEAKS, "--check", "leak")
    assert kept(found)["f"] == (2, 2)
    same_findings(found, plain(tmp_path, LEAKS, "--check", "leak"))
    assert found.errors()


NESTED = """
static int wait_ready(void) {
  for (int i = 0; i < 4; i++) {
    int status = __VERIFIER_nondet_int();
    if (status & 1) return 0;
    if (status & 2) return -5;
  }
  return -110;
}
static int probe(void) {
  int error = wait_ready();
  if (error) return error;
  return wait_ready();
}
static int count;
int main(void) {
  for (int i = 0; i < 3; i++) {
    if (probe()) return 1;
    count++;
  }
  assert(count == 3);
  return 0;
}
"""
WAYS = [
    (order, *merging)
    for order in ("dfs", "bfs", "random-path", "nurs:covnew", "places")
    for merging in (
        ("--merge", "none"),
        ("--merge", "all", "--merging", "static"),
        ("--merge", "auto", "--merging", "static"),
        ("--merge", "qce", "--merging", "dynamic"),
    )
]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_every_order_with_merging_and_without(tmp_path: Path, way: tuple[str, ...]) -> None:
    found = removing(tmp_path, NESTED, "--search", *way, "--verify-reductions")
    same_findings(found, plain(tmp_path, NESTED))
    assert figures(found)["wrong"] == 0
    assert found.result.paths_total <= 9
    if way[2] == "none":
        assert figures(found)["removed"] >= 20
        assert found.result.paths_multiplicity == plain(tmp_path, NESTED).result.paths_total


@pytest.mark.parametrize(
    "options", [("--interpret",), ("--zeq-wait", "1"), ("--batch-forks", "1")], ids=" ".join
)
def test_other_ways_to_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    found = removing(tmp_path, NESTED, "--search", "random-path", *options)
    same_findings(found, plain(tmp_path, NESTED))
    assert figures(found)["removed"] >= 20


def test_callers_do_not_wait_for_ever(tmp_path: Path) -> None:
    source = """
    static int f(void) { int n = 0; while (__VERIFIER_nondet_bool()) n++; return n > 3; }
    int main(void) { int r = f(); assert(r); return 0; }
    """
    found = removing(tmp_path, source, "--zeq-wait", "20", "--max-forks", "60")
    assert figures(found)["opened calls"] == 1
    assert {kind for kind, _ in found.errors()} == {"assert"}


def test_nothing_is_removed_where_all_paths_are_wanted(tmp_path: Path) -> None:
    found = removing(tmp_path, NESTED, "--goal", "paths", "--merge", "none")
    assert "zequivalence" not in found.result.reductions
    assert found.result.paths_total == plain(tmp_path, NESTED).result.paths_total
    assert any("zequivalence is not used" in text for text in found.collector.warnings)
    assert technique.ZEquivalence.contract.serves == {"coverage", "bugs"}


def test_covered_lines_of_removed_states_have_tests(tmp_path: Path) -> None:
    source = """
    static int f(void) {
      if (__VERIFIER_nondet_int() == 12345) {
        puts("seldom");
        return 1;
      }
      return 1;
    }
    int main(void) { return f(); }
    """
    found = removing(tmp_path, source)
    assert kept(found)["f"] == (2, 1)
    values = {int.from_bytes(data, "little") for test in found.collector.tests for _, data in test.objects}
    assert 12345 in values and len(values) == 2


FILLED = """
struct s { int x, y; };
int unknown(void);
struct s *get(void);
static int work(struct s *p) {
  if (unknown()) { p->x = 1; return 3; }
  p->x = 2;
  return 3;
}
static int only_read(struct s *p) { return unknown() ? p->y != p->y : 0; }
int main(void) {
  struct s *p = get();
  if (!p) return 0;
  if (only_read(p)) return 4;
  work(p);
  return p->x == 1 ? 5 : p->x == 2 ? 6 : 7;
}
"""


def test_objects_that_are_filled_inside_the_call(tmp_path: Path) -> None:
    """What was there before, though nobody had looked: changes count, having looked does not."""
    found = removing(tmp_path, FILLED, "--externals", "fresh", "--verify-reductions")
    same_findings(found, plain(tmp_path, FILLED, "--externals", "fresh"))
    assert kept(found)["work"] == (2, 2)
    assert kept(found)["only_read"] == (2, 1)
    assert figures(found)["wrong"] == 0


@pytest.mark.parametrize(("removed", "open"), [(0, False), (3, False), (40, True)])
def test_call_sites_are_given_up_where_hardly_any_state_goes(removed: int, open: bool) -> None:
    counts = ledger.ZLedger()
    site: Any = object()
    site_row, row = counts.site_row(site), counts.row("f")
    for number in range(1000):
        counts.came_back(site_row, row, 1, 1)
        if number < removed:
            counts.removed(site_row, row)
    assert counts.open(site) is open


def test_differences_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shadow mode finds out if states are removed that should not be."""
    first: list[Any] = []
    monkeypatch.setattr(
        return_point.ReturnPoint,
        "representative",
        lambda self, state, more: first[0] if first else first.append(state),
    )
    source = CASES["results"][0].replace("return f();", "int r = f(); assert(r == 1); return 0;")
    found = removing(tmp_path, source, "--verify-reductions")
    assert figures(found)["wrong"] == 1
    assert not found.result.complete
    assert any("wrongly removed" in text for text in found.collector.warnings)


def test_exact_checks_where_the_rules_give_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(return_point.ReturnPoint, "_fingerprint", lambda self, state: None)
    monkeypatch.setattr(parts.PartForms, "form", lambda self, state: object())
    monkeypatch.setattr(technique, "EXACT_FROM", 2)
    blind = removing(tmp_path, NESTED)
    assert figures(blind)["removed"] == 0
    exact = removing(tmp_path, NESTED, "--zeq", "exact", "--verify-reductions")
    same_findings(exact, plain(tmp_path, NESTED))
    assert sum(row["exact"] for row in figures(exact)["functions"]) == figures(exact)["removed"] > 20
    assert figures(exact)["wrong"] == 0


def test_the_same_run_twice(tmp_path: Path) -> None:
    options = ("--search", "random-path", "--seed", "3")
    one, other = (removing(tmp_path, NESTED, *options) for _ in range(2))
    assert [t.objects for t in one.collector.tests] == [t.objects for t in other.collector.tests]
    assert kept(one) == kept(other)


PASSED_ON = """
static int g;
static int inner(void) { if (__VERIFIER_nondet_bool()) return 1; return 1; }
static int outer(int a) { g = a; if (a > 3) { int r = inner(); printf("inner"); return r; } return 0; }
int main(void) { assert(outer(__VERIFIER_nondet_int()) <= g + 7); return 0; }
"""


def test_who_is_passed_on_is_compared_behind_the_caller(tmp_path: Path) -> None:
    """Unless the boundary is that of each function, as in the paper."""
    found = removing(tmp_path, PASSED_ON, "--verify-reductions")
    same_findings(found, plain(tmp_path, PASSED_ON))
    assert kept(found) == {"outer": (3, 2)}
    by_function = removing(tmp_path, PASSED_ON, "--zeq-observe", "function")
    assert kept(by_function)["inner"] == (2, 1)


def recorded(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[object]:
    """What a method that is given one state returns from now on."""
    found: list[object] = []
    method = getattr(owner, name)

    def record(self: Any, state: Any) -> Any:
        found.append(method(self, state))
        return found[-1]

    monkeypatch.setattr(owner, name, record)
    return found


POLLED = """
int device(void);
static int get(void) { for (int i = 0; i < 3 && !(device() & 1); i++); return device(); }
int main(void) { int got = get(); assert(got != 12345); return got == 3; }
"""


def test_answers_have_the_same_names_however_often_was_asked_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So no forms are needed: all states go on with the very same variable."""
    forms = recorded(monkeypatch, parts.PartForms, "form")
    found = removing(tmp_path, POLLED, "--externals", "fresh")
    same_findings(found, plain(tmp_path, POLLED, "--externals", "fresh"))
    assert kept(found) == {"get": (4, 1)}
    assert not forms


BEHIND_NOBODY = """
static int answer(int *p) { *p = 0; if (__VERIFIER_nondet_bool()) *p = 1; return 1; }
static int last(int a) {
  int local;
  for (int i = 0; i < 2; i++) { if (answer(&local) + local > a) return i; }
  return local;
}
static int outer(int a) { if (a > 3) return last(a); return 0; }
int main(void) { int r = outer(__VERIFIER_nondet_int()); assert(r != 77); return r == 3; }
"""


def test_locals_of_calls_behind_which_nobody_stops_are_not_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a call is a scope for those inside it, so that states there have fingerprints."""
    fingerprints = recorded(monkeypatch, return_point.ReturnPoint, "_fingerprint")
    found = removing(tmp_path, BEHIND_NOBODY, "--verify-reductions")
    same_findings(found, plain(tmp_path, BEHIND_NOBODY))
    assert kept(found)["answer"] == (6, 4)
    assert "last" not in kept(found)
    assert fingerprints and None not in fingerprints


def test_the_last_state_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If all that are left are represented by states that have gone on before them, the run is over."""
    compare = technique.ZEquivalence._compare

    def all_of_them(self: Any, states: list[Any], call: Any) -> list[Any]:
        compare(self, states, call)
        return [technique.Removal(state, states[0], call) for state in states]

    monkeypatch.setattr(technique.ZEquivalence, "_compare", all_of_them)
    source = CASES["results"][0].replace("return f();", "int r = f(); return r + 1;")
    assert removing(tmp_path, source).result.complete


WIDE = """
#include <string.h>
static char page[200];
static int last;
static int fill(void) {
  int kind = __VERIFIER_nondet_int() & 15;
  for (int i = 0; i < 12; i++)
    if (kind == i) {
      memset(page, i, sizeof page);
      last = __VERIFIER_nondet_int() * kind;
      return i * __VERIFIER_nondet_int();
    }
  return 0;
}
int main(void) {
  int r = fill();
  return r == 7 && last == 4 ? page[3] : 0;
}
"""


def test_outputs_wider_than_any_variable(tmp_path: Path) -> None:
    """Whole pages of known bytes, compared by the solver."""
    same_findings(plain(tmp_path, WIDE), removing(tmp_path, WIDE, "--zeq", "exact"))
