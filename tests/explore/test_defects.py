"""A defect of the engine itself costs one path and is told, whatever it is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from anabranch.cli.settings import RunSettings
from anabranch.environment import MODELS
from anabranch.explore.engine import explore
from anabranch.explore.settings import ReportSettings
from anabranch.frontend import FrontendOptions, load_program
from anabranch.report.events import Collector

PROGRAM = """
#include <klee/klee.h>
int main(void) {
  char b;
  klee_make_symbolic(&b, 1, "b");
  if (b > 3) return klee_int("x");
  return 2;
}
"""


@pytest.mark.parametrize(
    "defect", [KeyError("gone"), TypeError("wrong"), AssertionError(), RuntimeError("no")]
)
def test_a_defect_ends_one_path(defect: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise defect

    monkeypatch.setitem(MODELS, "klee_int", dataclasses.replace(MODELS["klee_int"], function=broken))
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    listener = Collector()
    result = explore(
        load_program([source], FrontendOptions()),
        RunSettings(inputs=(source,), report=ReportSettings(tests="all")),
        listener,
    )
    assert not result.complete
    assert list(result.losses) == [f"internal error: {type(defect).__name__}"]
    assert result.defects == 1
    assert (result.paths_exit, result.paths_total) == (1, 2)
    assert "Traceback" in listener.defects[0]
