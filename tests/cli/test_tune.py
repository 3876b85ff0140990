"""`anabranch tune` as a user meets it: log, tune, run with the result."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from anabranch.cli.main import main

PROGRAM = """
void klee_make_symbolic(void *, unsigned long, const char *);
int main(void) {
    unsigned x, y;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_make_symbolic(&y, sizeof y, "y");
    if (x * y == %d && x > y && y > 2) return 1;
    if (x %% 7 == y / 3 && (x ^ y) > 1000) return 2;
    return 0;
}
"""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name, number in (("one", 391), ("two", 899)):
        source = tmp_path / f"{name}.c"
        source.write_text(PROGRAM % number)
        flags = ["--log-queries", "-q", "--libc", "none", "--output-dir", str(tmp_path / "logs" / name)]
        assert main(["run", *flags, str(source)]) == 0
    return tmp_path / "logs"


def test_a_users_walk(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tuned = tmp_path / "tuned"
    words = ["tune", "--corpus", str(logs), "--length", "2", "--budget", "3s", "--repetitions", "1"]
    assert main([*words, "--output-dir", str(tuned)]) == 0
    shown = capsys.readouterr()
    assert "training" in shown.out
    assert "tuned:" in shown.err
    assert {p.name for p in tuned.iterdir()} == {
        *("config.toml", "log.jsonl", "table.txt", "scatter.svg", "sweep.txt"),
    }
    assert main(["tune", "--show", str(tuned / "config.toml")]) == 0
    assert "bitwuzla.rewrite-level = " in capsys.readouterr().out
    config = ["--solver-config", str(tuned / "config.toml")]
    program = str(tmp_path / "one.c")
    assert main(["run", *config, "-q", "--libc", "none", "--output-dir", str(tmp_path / "run"), program]) == 0
    for how in ("spear", "check"):
        place = str(tmp_path / how)
        assert main(["run", "--solver-config", how, "--libc", "none", "--output-dir", place, program]) == 0
        assert "6 paths" in capsys.readouterr().out


def test_other_forms(logs: Path, tmp_path: Path) -> None:
    features, scripts = tmp_path / "features.csv", tmp_path / "smt"
    assert main(["tune", "--corpus", str(logs), "--features", str(features), "--smtlib", str(scripts)]) == 0
    with features.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(list(scripts.iterdir())) > 2
    assert {row["program"] for row in rows} == {"one.c", "two.c"}
    assert any(float(row["multiplications"]) for row in rows)


def test_check_logs_too(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text("int f(int *p, int n) { if (n * 3 > 9 && !p) return *p; return 0; }\n")
    assert main(["check", "--no-cache", "-q", "--log-queries", str(tmp_path / "logs"), str(source)]) == 0
    text = "".join(p.read_text() for p in (tmp_path / "logs").glob("*.corpus"))
    assert text.startswith('h check "f.c"')
    assert "\nq " in text


def test_check_with_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "f.c"
    source.write_text("int f(int *p, int n) { if (n * 3 > 9 && !p) return *p; return 0; }\n")
    config = tmp_path / "config.toml"
    outputs = []
    for text in (
        "",
        '[bitwuzla]\nprefix = "assume"\npreprocess = false\n',
        "[bitwuzla]\nrewrite-level = 1\n",
    ):
        config.write_text(text)
        assert main(["check", "--no-cache", "--solver-config", str(config), str(source)]) == 0
        outputs.append(capsys.readouterr().out)
    assert "f.c:1" in outputs[0]
    assert outputs[0] == outputs[1] == outputs[2]


WRONG = {
    "another solver for check": (["check", "--solver-config", "spear", "x.c"], "Bitwuzla only"),
    "nothing to do": (["tune"], "--corpus"),
    "no result": (["tune", "--corpus", "x"], "--output-dir"),
    "no such configuration": (["tune", "--show", "best"], "neither"),
    "no queries": (["tune", "--corpus", "nowhere", "--output-dir", "o"], "nowhere"),
    "a run": (["run", "--solver-config", "best", "x.c"], "neither"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words, told = WRONG[name]
    assert main(words) == 2
    assert told in capsys.readouterr().err
