"""Reads below the first variable of a program are errors natively, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main


@pytest.mark.parametrize(
    "declaration",
    ["int pool[4] = {1, 2, 3, 4};", "int pool[4];"],
    ids=["initialised", "zero"],
)
def test_below_the_first_variable(tmp_path: Path, declaration: str) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        f"{declaration}\nint __VERIFIER_nondet_int(void);\n"
        "int main(void) {\n  const int *p = pool;\n  int i = __VERIFIER_nondet_int();\n"
        "  if (i < -2 || i > 3) return 0;\n  return p[i] == 7;\n}\n"
    )
    out = tmp_path / "out"
    flags = ("--output-dir", str(out), "--quiet", "--no-check", "bounds")
    assert main(["run", str(source), *flags, "--replay"]) == 0
    replayed = json.loads((out / "replay.json").read_text())
    run = json.loads((out / "run.json").read_text())
    assert [error["kind"] for error in run["errors"]] == ["out-of-bounds"]
    assert replayed["agrees"]
