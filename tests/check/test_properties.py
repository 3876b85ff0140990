"""Subjects with their reports on the lines where they belong: exactly these are made."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anabranch.cli.main import main
from tests.check.support import SUBJECTS

_REPORT = re.compile(r"REPORT: (\w+) (\w+)")


def expected(path: Path) -> set[tuple[int, str, str]]:
    return {
        (number, *found.groups())  # type: ignore[misc]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for found in _REPORT.finditer(line)
    }


@pytest.mark.parametrize(
    "name",
    [
        "null",
        "values",
        "freed",
        "flows",
        "idioms",
        "loops",
        "recursion",
        "pointed",
        "contracts",
        "consequences",
        "parser",
    ],
)
def test_reports(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = SUBJECTS / f"{name}.c"
    assert main(["check", str(source), "--json", "--all-ranks"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {(report["line"], report["property"], report["rank"]) for report in document["reports"]}
    # A place to which values of two origins come may be told with either.
    also = {(a["line"], r["property"], r["rank"]) for r in document["reports"] for a in r["also"]}
    assert found <= expected(source) <= found | also
    assert document["suppressed"] == source.read_text().count("anabranch: ignore")
