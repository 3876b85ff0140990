"""Reports that are handed to the engine: confirmed natively, proved impossible, or left open."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.main import main
from anabranch.unit.reproduce import Sources, fails_at_line

SUBJECT = Path(__file__).with_name("subjects") / "confirm.c"
EXPECTED = {
    "unchecked": "confirmed",
    "through_calls": "confirmed",
    "scanned": "confirmed",
    "second": "confirmed",
    "stream": "confirmed",
    "never": "impossible",
    "rarely": "open",
}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("confirm") / "out"
    flags = ["--confirm", "--confirm-time", "60", "--property", "null", "--output-dir", str(out), "-q"]
    flags += ["--summaries", str(SUBJECT.with_suffix(".toml"))]
    assert main(["check", str(SUBJECT), *flags]) == 0
    found: dict[str, Any] = json.loads((out / "check.json").read_text())
    return found


def planted(function: str) -> int:
    """The line of a function that has a comment with its verdict."""
    lines = SUBJECT.read_text().splitlines()
    words = {"through_calls": "from through_calls"}.get(function, f"{EXPECTED[function]}:")
    start = (
        0
        if function == "through_calls"
        else next(n for n, line in enumerate(lines) if line.startswith(f"int {function}("))
    )
    return next(n for n, line in enumerate(lines[start:], start + 1) if words in line)


@pytest.mark.parametrize("function", EXPECTED)
def test_verdicts(document: dict[str, Any], function: str) -> None:
    reports = [*document["reports"], *document["impossible"]]
    (report,) = (report for report in reports if report["checked_in"] == function)
    found = report["confirmation"]
    assert (found["verdict"], report["line"]) == (EXPECTED[function], planted(function)), found["note"]
    assert (report in document["impossible"]) == (EXPECTED[function] == "impossible")


def test_confirmed_reports_stand_first_and_fail_natively(document: dict[str, Any]) -> None:
    verdicts = [report["confirmation"]["verdict"] for report in document["reports"]]
    assert verdicts == sorted(verdicts, key=lambda verdict: verdict != "confirmed")
    for report in document["reports"][: verdicts.count("confirmed")]:
        harness = Path(report["confirmation"]["harness"])
        text = harness.read_text()
        renamed = tuple(name for name in ("malloc", "strdup") if f"anabranch_failing_{name}" in text)
        sources = Sources().failing(renamed)
        assert fails_at_line(harness, report["kind"], (report["file"], report["line"]), sources) is None
        other = fails_at_line(harness, report["kind"], (report["file"], report["line"] + 1), sources)
        assert other == "fails natively, but not at that line"
        assert report["confirmation"]["build"].startswith("cc -g")


def test_the_summary_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "one.c"
    source.write_text("#include <stdlib.h>\nint f(void) { int *p = malloc(4);\n  return *p; }\n")
    flags = ("--confirm", "--property", "null", "--output-dir", str(tmp_path / "out"))
    assert main(["check", str(source), *flags]) == 0
    said = capsys.readouterr().out
    assert "confirmed: f fails there natively with malloc() fails (allocation 1)" in said
    assert "explored: 1 report confirmed, 0 not decided, 0 impossible and dropped" in said


def test_a_wrong_time_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(SUBJECT), "--confirm", "--confirm-time", "soon"]) == 2
    assert "'soon' is not a time" in capsys.readouterr().err


CONFIGURED = {
    "include/limits_of_it.h": "#include <stdlib.h>\nint *made(void);\n",
    "made.c": '#include "limits_of_it.h"\nint *made(void) { return malloc(SIZE); }\n',
    "main.c": '#include "limits_of_it.h"\nint first(void) {\n  return *made() + START;\n}\n'
    "int main(void) { return first(); }\n",
    "other.c": "#error of another program\n",
}
"""Every file needs flags that the others do not have."""


def test_files_of_compile_commands_are_built_with_their_own_flags(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    for name, text in CONFIGURED.items():
        (tmp_path / name).write_text(text)
    flags = {"made.c": "-DSIZE=4 -I include", "main.c": "-DSTART=1 -Iinclude -O2 -Werror", "other.c": ""}
    entries = [{"directory": str(tmp_path), "file": name, "command": f"cc {words} -c {name}"}
               for name, words in flags.items()]  # fmt: skip
    database, out = tmp_path / "compile_commands.json", tmp_path / "out"
    database.write_text(json.dumps(entries))
    asked = ["--confirm", "--property", "null", "--output-dir", str(out), "-q"]
    assert main(["check", str(database), *asked]) == 0
    (report,) = json.loads((out / "check.json").read_text())["reports"]
    confirmation = report["confirmation"]
    assert (report["line"], confirmation["verdict"]) == (3, "confirmed"), confirmation["note"]
    # What a person is told to type works: with the system's compiler, in any directory.
    done = subprocess.run(confirmation["build"], shell=True, cwd=out, capture_output=True, check=False)
    assert done.returncode != 0 and b"main.c:3" in done.stderr
