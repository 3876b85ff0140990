"""What records carry for exporters: types of inputs, trails of errors, hits; and who hears of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.cli.main import main
from anabranch.explore.build import build_parts
from anabranch.explore.engine import Exploration
from anabranch.explore.observers import PathEvents
from anabranch.machine import Path as MachinePath
from anabranch.machine import Where
from anabranch.report.errors import SHOWN, ErrorRecord, Step, error_json, error_text
from anabranch.report.events import Collector, InputRecord
from bench.lib.run_directory import parse_error_text
from tests.machine.harness import load, run_source

TYPED = """\
#include <klee/klee.h>
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
double __VERIFIER_nondet_double(void);
_Bool __VERIFIER_nondet_bool(void);
int main(void) {
  int x = __VERIFIER_nondet_int(), y = klee_int("y");
  char buffer[3];
  klee_make_symbolic(buffer, 3, "buffer");
  if (x != -5 || __VERIFIER_nondet_uchar() != 200 || __VERIFIER_nondet_double() != -1.5) return 1;
  if (!__VERIFIER_nondet_bool() || y != 7) return 3;
  return 2;
}
"""


def test_inputs_are_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(TYPED)
    assert main(["run", "p.c", "--output-dir", "out", "--tests", "all", "-q"]) == 0
    tests = [json.loads(line) for line in Path("out/tests.jsonl").read_text().splitlines()]
    (inputs,) = [test["inputs"] for test in tests if test["exit_code"] == 2]
    assert inputs == [
        {"name": "nondet_int", "type": "int", "form": "signed", "bits": 32, "value": -5},
        {"name": "y", "type": "int", "form": "signed", "bits": 32, "value": 7},
        {"name": "buffer", "bytes": 3},
        {"name": "nondet_uchar", "type": "unsigned char", "form": "unsigned", "bits": 8, "value": 200},
        {"name": "nondet_double", "type": "double", "form": "float", "bits": 64, "value": -1.5},
        {"name": "nondet_bool", "type": "_Bool", "form": "bool", "bits": 8, "value": 1},
    ]


def test_values_of_inputs() -> None:
    assert InputRecord("x", b"\xff\xff").value is None
    assert InputRecord("x", b"\xff\xff", "short", "signed").value == -1
    assert InputRecord("x", b"\xff\xff", "unsigned short", "unsigned").value == 65535
    assert InputRecord("x", b"\0\0\xc0\x3f", "float", "float").value == 1.5


FAILING = """\
#include <assert.h>
#include <klee/klee.h>
#include <string.h>
static int small(int n) {
  if (n > 100)
    return 0;
  return 1;
}
int main(void) {
  int n;
  char s[4];
  klee_make_symbolic(&n, sizeof n, "n");
  klee_make_symbolic(s, sizeof s, "s");
  if (n < 3)
    return 0;
  if (!small(n))
    return 1;
  assert(n != 50);
  return 0;
}
"""


def test_the_trail_of_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(FAILING)
    assert main(["run", "p.c", "--output-dir", "out", "-q"]) == 0
    (error,) = json.loads(Path("out/run.json").read_text())["errors"]
    steps = error["trail"]["decisions"]
    assert error["trail"]["untold"] == 0
    assert [(step["line"], step["function"]) for step in steps] == [(14, "main"), (5, "small"), (18, "main")]
    assert all(step["file"].endswith("p.c") and "n" in step["condition"] for step in steps)
    assert [step["taken"] for step in steps][:2] == [False, False]
    (text,) = [path.read_text() for path in Path("out").glob("*.assert.err")]
    lines = parse_error_text(text)["Trail"].splitlines()
    assert len(lines) == 3 and lines[1].endswith(steps[1]["condition"]) and ":5 in small: not (" in lines[1]


def test_a_trail_is_bounded(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """#include <klee/klee.h>
        int main(void) {
          unsigned long bits; int n = 0;
          klee_make_symbolic(&bits, 8, "bits");
          for (int i = 0; i < 300; i++) { if (bits > i) n++; else return 1; }
          return 1 / (n - 300);
        }""",
    )
    (error,) = outcome.collector.errors
    assert len(error.trail) == 200 and error.untold == 100
    text = error_text(error).splitlines()
    assert text[-SHOWN - 2 :][:2] == ["Trail: ", "\t... 280 decisions before"]


def test_an_error_without_decisions_has_no_section() -> None:
    error = ErrorRecord("abort", "abort failure")
    assert "Trail" not in error_text(error)
    assert error_json(error)["trail"] == {"untold": 0, "decisions": []}
    step = Step("a.c", 3, "f", "(x)", False)
    assert error_text(ErrorRecord("abort", "m", trail=(step,))).endswith("Trail: \n\ta.c:3 in f: not (x)\n")


def test_hits_of_lines_and_branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(FAILING)
    assert main(["run", "p.c", "--output-dir", "out", "-q"]) == 0
    (file,) = json.loads(Path("out/run.json").read_text())["coverage"]["files"].values()
    assert [int(line) for line, count in file["hits"].items() if count] == file["lines_covered"]
    assert file["hits"]["14"] == 1 and file["hits"]["15"] == 1
    (sides,) = file["branch_hits"]["14"]
    assert sorted(sides) == [1, 1]


WAITING = """\
#include <klee/klee.h>
int a, b;
int main(void) {
  unsigned char i;
  int *t[2] = {&a, &b};
  klee_make_symbolic(&i, sizeof i, "i");
  klee_assume(i < 2);
  *t[i] = 1;
  a += 2;
  while (a) b++;
  return 0;
}
"""


def test_what_a_state_waited_in_front_of_was_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(WAITING)
    flags = ("--merge", "none", "--max-instructions", "2000", "--output-dir", "out", "-q")
    assert main(["run", "p.c", *flags]) == 0
    (file,) = json.loads(Path("out/run.json").read_text())["coverage"]["files"].values()
    assert file["hits"]["8"] == 2 and file["hits"]["9"] == 1  # one path never came to an end of line 8


def test_any_number_of_listeners_in_their_order(tmp_path: Path) -> None:
    heard: list[tuple[object, ...]] = []
    events = PathEvents()

    def ended(path: MachinePath, reason: str, where: Where | None) -> None:
        heard.append(("ended", reason, path.multiplicity))

    events.ended += [ended, lambda path, reason, where: heard.append(("again", reason))]
    covered: list[int] = []
    events.covered.append(covered.extend)
    events.failed.append(lambda path, key, fault, where: heard.append(("failed", fault.kind)))
    events.tested.append(lambda number, test: heard.append(("tested", number, test.end)))
    events.reported.append(lambda key, error: heard.append(("reported", error.test)))
    source = '#include <klee/klee.h>\nint main(void) { if (klee_int("x") == 3) klee_abort(); return 0; }'
    (tmp_path / "p.c").write_text(source)
    settings = settings_from_args([str(tmp_path / "p.c"), "--tests", "all"])
    Exploration(build_parts(load(settings), settings, Collector(), path_events=events)).run()
    failing = [("ended", "abort", 1), ("again", "abort"), ("failed", "abort"), ("tested",), ("reported",)]
    at = heard.index(failing[0])
    assert [entry[: len(wanted)] for entry, wanted in zip(heard[at:], failing, strict=False)] == failing
    assert ("ended", "exit", 1) in heard and ("again", "exit") in heard
    assert covered and len(covered) == len(set(covered))
