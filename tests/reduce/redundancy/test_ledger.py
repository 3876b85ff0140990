"""When detection is given up because it does not pay, and that the tape is then out of all code."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.explore.engine import Exploration, TechniqueMaker, prepare
from anabranch.machine import Machine
from anabranch.machine.recording import RecordingMachine
from anabranch.reduce.redundancy import ledger
from anabranch.reduce.redundancy.ledger import HEAD_START, Ledger
from anabranch.reduce.setup import reductions
from anabranch.report.events import Collector
from bench.lib.coverage_runs import CountsCalls, load
from bench.lib.subjects import HERE
from tests.reduce.redundancy.harness import DECLARED, both
from tests.reduce.redundancy.test_traps import TRAPS, variants

CALLS = """
struct pair { int a, b; };
static KEPT int sum(struct pair p) { return p.a + p.b; }
static KEPT int less(int a) { mark(a); return a - 1; }
static KEPT int more(int a) { mark(a); return a + 1; }
int main(void) {
  char text[8] = {0}, copy[8];
  int (*change)(int) = IN > 9 ? less : more;
  for (int i = 0; i < 5; i++) {
    unsigned char c = IN;
    text[i] = c > 64 ? 'x' : 'y';
    memcpy(copy, text, sizeof copy);
    if (c > 128) mark(change(i));
    if (strlen(copy) == 3 && c == 7) mark(sum((struct pair){i, c}));
  }
  return strcmp(copy, "xyxyx") ? 0 : sum((struct pair){1, 2});
}"""


def explored(path: Path, *options: str) -> Exploration:
    program = load(path)
    settings = settings_from_args([str(path), "--tests", "none", "--search", "dfs", *options])
    asked = reductions(settings)
    techniques = TechniqueMaker(lambda parts: [*asked.make(parts), CountsCalls(parts)], asked.machine)
    run = prepare(program, settings, Collector(), None, techniques)
    run.run()
    return run


def test_what_is_saved_pays_for_what_is_spent() -> None:
    account = Ledger()
    assert account.pays
    account.snapshots = HEAD_START // ledger.SNAPSHOT + 1
    assert not account.pays
    account.saved = account.spent
    assert account.pays
    account.items = account.saved
    assert not account.pays


def test_an_idle_tape_is_given_up() -> None:
    account = Ledger()
    account.explored = HEAD_START
    assert account.pays
    account.explored = 20 * HEAD_START
    assert not account.pays


def give_up_at(monkeypatch: pytest.MonkeyPatch, spent: int) -> None:
    monkeypatch.setattr(ledger, "HEAD_START", spent)
    monkeypatch.setattr(ledger, "PATIENCE", 0)
    monkeypatch.setattr(ledger, "CREDIT", 0)


@pytest.mark.parametrize("spent", (0, 2_000, 10_000, 20_000))
@pytest.mark.parametrize("order", ("dfs", "random-path"))
def test_nothing_is_lost_when_it_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spent: int, order: str
) -> None:
    give_up_at(monkeypatch, spent)
    plain, some = both(tmp_path, CALLS, order, "--no-keep-errors", "--redundancy", "auto")
    assert some.figures["given up"]
    assert some.defects == 0 and not some.losses
    assert (some.pieces, some.errors) == (plain.pieces, plain.errors)


@pytest.mark.parametrize("name", sorted(TRAPS))
def test_no_trap_catches_who_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    give_up_at(monkeypatch, 2_000)
    plain, some = both(tmp_path, variants(name)[0], "dfs", "--no-keep-errors", "--redundancy", "auto")
    assert some.defects == 0
    assert some.pieces == plain.pieces


@pytest.mark.parametrize("spent", (0, 2_000, 20_000))
def test_the_tape_is_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spent: int) -> None:
    give_up_at(monkeypatch, spent)
    path = tmp_path / "subject.c"
    path.write_text(DECLARED + CALLS)
    run = explored(path, "--redundancy", "auto", "--no-keep-errors")
    machine = run.machine
    assert isinstance(machine, RecordingMachine)
    assert not machine.records and not machine.tape.items
    figures = run.techniques.figures()["redundancy"]
    if spent == 0:
        assert not figures["dropped"]
        assert run.figures.instructions == explored(path).figures.instructions


def test_the_same_run_again() -> None:
    options = ("--redundancy", "auto", "--no-keep-errors")
    figures = [explored(HERE / "key_value.c", *options).techniques.figures()["redundancy"] for _ in range(2)]
    for one in figures:
        assert one.pop("seconds") >= one.pop("backwards") >= 0
    assert figures[0] == figures[1]
    assert figures[0]["dropped"] > 100 and not figures[0]["given up"]


@pytest.mark.parametrize(
    ("options", "detects"),
    (
        (("--redundancy", "auto"), True),
        (("--redundancy", "auto", "--max-time", "60"), False),
        (("--redundancy", "auto", "--goal", "bugs"), False),
        (("--redundancy", "auto", "--interpret"), False),
        (("--redundancy", "on", "--max-time", "60"), True),
        (("--redundancy", "on", "--externals", "fresh"), False),
        ((), False),
    ),
)
def test_who_gets_a_machine_with_a_tape(options: tuple[str, ...], detects: bool) -> None:
    settings = settings_from_args(["x.c", *options])
    assert reductions(settings).machine is (RecordingMachine if detects else Machine)
