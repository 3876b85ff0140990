"""The comparison with native runs notices every kind of difference, and nothing else."""

from __future__ import annotations

import copy
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.lib.compare import differences
from bench.lib.engine import EngineRun, TestRecord
from bench.lib.generate import Input, Program
from bench.lib.oracle import End, Truth

SOURCE = Path("program.c")
TEXT = "int main(void) {\nCOV one();\nCOV two();\nCOV three();\n}\n"
PROGRAM = Program(1, TEXT, (Input("x", 1, 4),), exact=True, library_forks=False, floating=False)
# Inputs 0 and 1 print, 2 fails on line 4, 3 is excluded by an assumption.
TRUTH = Truth(
    ends=(End("exit", 0, 5, b"a"), End("out-of-bounds", 4, 0, b""), End("assume", 0, 0, b"")),
    covers=(frozenset({2, 3}), frozenset({2, 4}), frozenset({2})),
    end_of=array("I", [0, 0, 1, 2]),
    cover_of=array("I", [0, 0, 1, 2]),
    path_of=array("I", [0, 0, 1, 2]),
)


def record(number: int, value: int, **changes: Any) -> TestRecord:
    made = TestRecord(number, "exit", None, None, 5, b"a", (("x", bytes([value])),), frozenset({2, 3}), None)
    return replace(made, **changes)


def good_run() -> EngineRun:
    failing = record(
        2, 2, end="error", kind="out-of-bounds", exit_code=None, output=b"", lines=frozenset({2, 4})
    )
    files = {"/some/where/program.c": {"lines_covered": [2, 3, 4], "lines_total": [2, 3, 4, 5]}}
    document = {
        "complete": True,
        "losses": {},
        "paths": {"exit": 1, "error": 1, "total": 2},
        "errors": [{"kind": "out-of-bounds", "line": 4, "test": 2}],
        "coverage": {"files": files},
    }
    return EngineRun(Path("run"), 0, "", "", 0.0, 0, document, [record(1, 0), failing])


def found(run: EngineRun) -> str:
    return " | ".join(differences(PROGRAM, TRUTH, run, SOURCE))


def test_agreement() -> None:
    assert found(good_run()) == ""


def test_wrong_exit_code_output_and_kind() -> None:
    for changes in (
        {"exit_code": 6},
        {"output": b"b"},
        {"end": "error", "kind": "division-by-zero", "line": 3},
    ):
        run = good_run()
        run.tests[0] = replace(run.tests[0], **changes)
        assert "test 1, input 0: predicted" in found(run)


def test_error_in_another_place() -> None:
    run = good_run()
    run.run["errors"][0]["line"] = 3
    text = found(run)
    assert (
        "error never found: out-of-bounds at line 4" in text
        and "error that no input shows: out-of-bounds at line 3" in text
    )


def test_lost_path() -> None:
    run = good_run()
    del run.tests[1]
    run.run["paths"]["total"] = 1
    run.run["errors"] = []
    text = found(run)
    assert "end never found: out-of-bounds at line 4" in text
    assert "1 of 2 native paths have no test" in text and "1 paths, natively 2" in text


def test_lines_of_the_run_and_of_a_path() -> None:
    run = good_run()
    run.run["coverage"]["files"]["/some/where/program.c"]["lines_covered"] = [2, 4]
    assert "covered lines: missed [3]" in found(run)
    run = good_run()
    run.tests[0] = replace(run.tests[0], lines=frozenset({2, 3, 4}))
    assert "test 1: lines of the path differ: [4]" in found(run)


def test_inputs() -> None:
    run = good_run()
    run.tests[0] = replace(run.tests[0], objects=(("x", b"\x03"),))
    assert "excluded by an assumption" in found(run)
    run.tests[0] = replace(run.tests[0], objects=(("x", b"\x02"),))
    assert "have the same input" in found(run)
    run.tests[0] = replace(run.tests[0], objects=(("y", b"\x00"),))
    assert "objects ['y']" in found(run)


def test_losses_and_missing_tests() -> None:
    run = good_run()
    run.run = copy.deepcopy(run.run) | {"complete": False, "losses": {"max-time": {"count": 1}}}
    assert "not complete" in found(run)
    run = good_run()
    run.run["paths"]["total"] = 3
    assert "2 tests for 3 paths" in found(run)
