"""SARIF files of `run` and `check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.main import main
from anabranch.report.exporters import Issue, Place, export
from anabranch.report.sarif import sarif_text

SOURCE = """#include <stdlib.h>
int set(int *p) { *p = 1; return *p; }
int main(int argc, char **argv) {
    int *p = malloc(4);
    int n = argc > 1 ? set(p) : 0;
    return 8 / n;
}
"""


def results(path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_text())
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert run["tool"]["driver"]["name"] == "anabranch"
    assert {result["ruleId"] for result in run["results"]} == rules
    return list(run["results"])


def line(result: dict[str, Any]) -> int:
    return int(result["locations"][0]["physicalLocation"]["region"]["startLine"])


def test_reports_of_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a file.c"
    source.write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "a file.c", "--sarif", "out.sarif", "-q", "--no-progress", "--no-cache"]) == 0
    found = {result["ruleId"]: result for result in results(tmp_path / "out.sarif")}
    null = found["null-pointer"]
    assert (line(null), null["level"], null["message"]["text"]) == (
        2,
        "error",
        "write through a NULL pointer",
    )
    uri = null["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20file.c"
    steps = null["codeFlows"][0]["threadFlows"][0]["locations"]
    told = [(line({"locations": [s["location"]]}), s["location"]["message"]["text"]) for s in steps]
    assert told[0] == (4, "malloc returns NULL") and told[-1][0] == 2
    assert null["partialFingerprints"]["anabranch/v1"] and null["properties"]["rank"] == "likely"
    assert line(found["division-by-zero"]) == 6


def test_errors_of_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "run.c"
    source.write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    words = ["run", "run.c", "--output-dir", "out", "--sarif", "run.sarif", "-q", "--no-progress"]
    assert main(words) == 0
    (division,) = results(tmp_path / "run.sarif")
    assert (division["ruleId"], line(division), division["level"]) == ("division-by-zero", 6, "error")
    assert (tmp_path / "out" / division["properties"]["ktest"]).exists()


def test_a_place_without_line_and_file() -> None:
    issues = [
        Issue("assert", False, Place("", 0, "somewhere")),
        Issue("assert", True, Place("/x/y.c", 0, "?")),
    ]
    first, second = json.loads(sarif_text(issues))["runs"][0]["results"]
    assert first["locations"] == [] and first["level"] == "warning"
    assert second["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "file:///x/y.c"}}}]


def test_a_file_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "w.c"
    source.write_text("int f(void) { return 0; }\n")
    assert main(["check", str(source), "--sarif", str(tmp_path / "no" / "x.sarif"), "-q"]) == 2
    assert "cannot write" in capsys.readouterr().err
    with pytest.raises(KeyError):
        export("nothing", tmp_path / "x", [])
