"""Functions with one planted bug each: found, ranked as the comments say, reproduced natively.

UNIT: function flags           what to explore, and how
ERROR: kind rank               on the line of the bug
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anabranch.cli.main import main

PLANTED = Path(__file__).parent / "planted"
SUBJECTS = sorted(PLANTED.glob("*.c"))


def test_there_are_enough() -> None:
    assert len(SUBJECTS) >= 10


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda path: path.stem)
def test_planted_bug(subject: Path, tmp_path: Path) -> None:
    text = subject.read_text()
    said = re.search(r"UNIT: (\w+)(.*?)\s*\*/", text)
    assert said is not None
    flags = said[2].replace("copy_name.toml", str(PLANTED / "copy_name.toml")).split()
    wanted = {
        (number, *found.groups())
        for number, line in enumerate(text.splitlines(), 1)
        for found in re.finditer(r"ERROR: ([\w-]+) (\w+)", line)
    }
    out = tmp_path / "out"
    assert main(["unit", str(subject), said[1], "--output-dir", str(out), "-q", *flags]) == 0
    (function,) = json.loads((out / "unit.json").read_text())["functions"]
    found = {(error["line"], error["kind"], error["rank"]) for error in function["errors"]}
    assert found == wanted
    for error in function["errors"]:
        assert error["reproduced"], error["problem"]
        assert (out / said[1] / error["harness"]).is_file()
        assert error["assumes"] or error["rank"] == "none"
