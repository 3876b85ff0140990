"""Functions without a body: answers, memory they change, objects behind the pointers they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.contracts import Extent, ExternalsError, read_contracts
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.reduce.setup import reductions
from anabranch.report.events import Collector
from tests.machine.harness import Outcome, load, run_source

FRESH = ("--externals", "fresh", "--tests", "all")
BOTH = pytest.mark.parametrize("how", [(), ("--interpret",)], ids=["translated", "interpreted"])


def run(path: Path, source: str, *flags: str) -> Outcome:
    return run_source(path, source, *FRESH, *flags)


def run_reduced(path: Path, source: str, *flags: str) -> Outcome:
    (path / "subject.c").write_text(source)
    settings = settings_from_args([str(path / "subject.c"), *FRESH, *flags])
    collector = Collector()
    exploration = prepare_exploration(load(settings), settings, collector, None, reductions(settings))
    return Outcome(exploration, exploration.run(), collector)


def exit_codes(outcome: Outcome) -> set[int | None]:
    return {test.exit_code for test in outcome.collector.tests if test.end == "exit"}


def test_calls_end_the_path_unless_asked_for(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, "int ask(void); int main(void) { return ask(); }")
    assert outcome.losses() == {"unsupported: external function ask": 1}
    assert outcome.result.unknown_calls == {}


@BOTH
def test_every_answer_of_the_type_and_every_call_its_own(tmp_path: Path, how: tuple[str, ...]) -> None:
    source = """
    int ask(void); unsigned char small(int); _Bool yes(void); double real(void);
    int main(void) {
      if (small(1) > 255) return 9;
      int first = ask(), second = ask();
      if (first != second) return 1;
      if (yes() > 1) return 8;
      if (real() > 1.5) return 2;
      return 3;
    }"""
    outcome = run(tmp_path, source, *how)
    assert exit_codes(outcome) == {1, 2, 3}
    assert outcome.result.complete
    calls = outcome.result.unknown_calls
    assert calls["ask"]["count"] == 2 and len(calls["ask"]["places"]) == 1
    assert set(calls) == {"ask", "small", "yes", "real"}


@BOTH
def test_pointers_are_null_or_lead_to_objects_of_their_own(tmp_path: Path, how: tuple[str, ...]) -> None:
    source = """
    struct node { struct node *next; int value; };
    struct node *get(void);
    int main(void) {
      struct node *a = get(), *b = get();
      if (!a || !b) return 1;
      if (a == b) return 2;
      a->value = 5;
      if (b->value == 5) return 3;
      if (a->next == a || a->next == b) return 4;
      if (a->next) return 5;
      return 6;
    }"""
    outcome = run(tmp_path, source, *how)
    assert exit_codes(outcome) == {1, 3, 5, 6}
    assert outcome.result.complete and not outcome.collector.errors


def test_pointers_may_lead_to_the_same_object_with_alias(tmp_path: Path) -> None:
    source = """
    struct node { struct node *next; int value; };
    struct node *get(void);
    int main(void) {
      struct node *a = get(), *b = get();
      if (!a || !b) return 1;
      if (a == b) { a->value = 7; return b->value == 7 ? 2 : 9; }
      return 3;
    }"""
    outcome = run(tmp_path, source, "--alias")
    assert exit_codes(outcome) == {1, 2, 3}


def test_what_is_behind_a_pointer_has_its_type(tmp_path: Path) -> None:
    source = """
    struct inner { short s; char text[4]; };
    struct outer { long tag; struct inner in[2]; _Bool flag; unsigned low : 3, high : 5; char *name; };
    struct outer *get(void);
    int main(void) {
      struct outer *o = get();
      if (!o) return 1;
      if (o->flag > 1) return 9;
      if (o->high == 17 && o->low == 2 && o->in[1].text[3] == 'x' && o->in[0].s == -7) return 2;
      if (o->name && o->name[15]) return 8;
      return ((char *)o)[sizeof *o];   /* ERROR */
    }"""
    outcome = run(tmp_path, source)
    assert exit_codes(outcome) == {1, 2}
    assert {error.kind for error in outcome.collector.errors} == {"out-of-bounds"}


def test_null_is_found_at_the_access(tmp_path: Path) -> None:
    outcome = run(tmp_path, "int *get(void);\nint main(void) {\n if (*get() == 3) return 1;\n return 0; }")
    assert outcome.errors() == [("null-pointer", 3)]
    assert exit_codes(outcome) == {0, 1}


def test_lists_are_as_long_as_the_depth_allows(tmp_path: Path) -> None:
    source = """
    struct node { struct node *next; } *get(void);
    int main(void) { int n = 0; for (struct node *p = get(); p; p = p->next) n++; return n; }"""
    outcome = run(tmp_path, source, "--depth", "3")
    assert exit_codes(outcome) == {0, 1, 2, 3}
    assert outcome.losses() == {"limit of --depth: unknown objects further away": 1}


def test_memory_stays_unless_a_summary_says_otherwise(tmp_path: Path) -> None:
    source = """
    int fill(int *out, char *data, int size);
    int main(void) {
      int k = 1; char data[4] = "abc";
      int r = fill(&k, data, 2);
      if (r < 0 || r > 2) return 4;
      if (k != 1) return 1;
      if (data[0] != 'a') return 2;
      return data[2] != 'c' ? 9 : 3;
    }"""
    plain = run(tmp_path, source)
    assert exit_codes(plain) == {3, 4}
    known = tmp_path / "known.toml"
    known.write_text('[fill]\nreturns = "0..2"\nwrites = { 1 = "type", 2 = "arg 3" }\n')
    (tmp_path / "again").mkdir()
    told = run(tmp_path / "again", source, "--summaries", str(known))
    assert exit_codes(told) == {1, 2, 3}


def test_a_buffer_too_small_for_what_is_written_is_an_error(tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text("[fill.writes]\n1 = 8\n")
    source = "void fill(char *);\nint main(void) { char b[4];\n fill(b);\n return 0; }"
    outcome = run(tmp_path, source, "--summaries", str(known))
    assert outcome.errors() == [("out-of-bounds", 3)]


def test_structs_come_back_whole(tmp_path: Path) -> None:
    source = """
    struct two { long a; char *b; }; struct big { int v[6]; int *p; };
    struct two two(void); struct big big(void);
    int main(void) {
      struct two t = two(); struct big b = big();
      if (t.a == 3 && t.b && *t.b == 'x') return 1;
      if (b.v[5] == 4 && b.p && *b.p == 8) return 2;
      return 3;
    }"""
    outcome = run(tmp_path, source)
    assert exit_codes(outcome) == {1, 2, 3}
    assert not outcome.collector.errors


def test_functions_that_do_not_return_end_the_program(tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text("[leave]\nnoreturn = true\n")
    source = """
    void leave(void); __attribute__((noreturn)) void die(void); int ask(void);
    int main(void) { if (ask() == 1) die(); if (ask() == 2) leave(); return 3; }"""
    outcome = run(tmp_path, source, "--summaries", str(known))
    assert exit_codes(outcome) == {0, 3}
    assert outcome.result.paths_exit == 3 and outcome.result.complete


def test_function_pointers_in_unknown_objects(tmp_path: Path) -> None:
    source = """
    struct ops { int (*size)(void *); void *(*get)(int); } *ops(void);
    int main(void) {
      struct ops *o = ops();
      if (!o || !o->size || !o->get) return 1;
      if (o->size(o) == 77) return 2;
      if (o->get(3)) return 3;
      return 4;
    }"""
    outcome = run(tmp_path, source)
    assert exit_codes(outcome) == {1, 2, 3, 4}
    assert "ops()->size" in outcome.result.unknown_calls


def test_a_null_function_pointer_is_an_error(tmp_path: Path) -> None:
    source = """struct o { int (*f)(void); } *get(void);
    int main(void) { struct o *o = get(); if (!o) return 0;
      return o->f(); }"""
    outcome = run(tmp_path, source)
    assert outcome.errors() == [("bad-call", 3)]


@pytest.mark.parametrize("merge", ["all", "qce"])
def test_merging_keeps_what_answers_lead_to(tmp_path: Path, merge: str) -> None:
    source = """
    struct node { struct node *next; int value; };
    struct node *get(int); int ask(void);
    int main(void) {
      struct node *a = get(1); int sum = 0;
      if (ask() > 3) {
        if (a) sum += a->value > 0;
      } else {
        struct node *b = get(2);
        if (b && b->value > 1) sum++;
      }
      struct node *c = get(3);
      if (c && c->value == 42) sum += 40;
      if (sum == 0) return 0;
      if (sum == 1) return 1;
      if (sum == 40) return 40;
      return 41;
    }"""
    plain = run(tmp_path, source)
    (tmp_path / "merged").mkdir()
    merged = run_reduced(tmp_path / "merged", source, "--merge", merge, "--verify-reductions")
    assert exit_codes(plain) == exit_codes(merged) == {0, 1, 40, 41}
    assert merged.result.complete


def test_merging_with_an_object_that_one_side_has_not_touched(tmp_path: Path) -> None:
    source = """
    struct node { int value; int other; } *get(void); int ask(void);
    int main(void) {
      struct node *a = get();
      if (!a) return 9;
      if (ask()) a->value = 3;
      if (a->value == 3) { if (a->other == 1) return 1; return 2; }
      if (a->value == 4) return 3;
      return 4;
    }"""
    for merge in ("none", "all"):
        (tmp_path / merge).mkdir()
        outcome = run_reduced(tmp_path / merge, source, "--merge", merge, "--verify-reductions")
        assert exit_codes(outcome) == {1, 2, 3, 4, 9}
        ways = {
            test.exit_code for test in outcome.collector.tests if dict(test.objects).get("ask()") == bytes(4)
        }
        assert 1 in ways and 2 in ways, "untouched objects may hold the value as well"
    assert outcome.result.reductions["merging"]["merges"] == 5
    assert outcome.result.paths_total == 1


def test_summaries_are_read(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    text = '[f]\nreturns = "-1..5"\nwrites = { 1 = 3, 2 = "type", 3 = "arg 4" }\n[g]\nnoreturn = true\n'
    path.write_text(text)
    found = read_contracts(path)
    assert found["f"].range == (-1, 5)
    assert found["f"].extents == ((0, Extent(3)), (1, Extent()), (2, Extent(argument=3)))
    assert found["f"].writes == {0, 1, 2} and found["g"].writes is None
    assert found["g"].noreturn and not found["f"].noreturn


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f = 3", "f must be a table"),
        ("[f]\nreturn = 3", "unknown key 'return'"),
        ('[f]\nreturns = "some"', 'write "null" (may be NULL)'),
        ('[f]\nreturns = "5..1"', "the range 5..1 is empty"),
        ("[f]\nnoreturn = 1", "write true or false"),
        ("[f.writes]\nbuf = 3", "'buf' is not a number of a parameter"),
        ('[f.writes]\n1 = "all"', "write a number of bytes"),
        ("[f", "is not valid TOML"),
    ],
)
def test_wrong_summaries_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(ExternalsError) as caught:
        read_contracts(path)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ExternalsError, match="no such file"):
        read_contracts(tmp_path / "absent.toml")
