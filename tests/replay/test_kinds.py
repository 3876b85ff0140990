"""Kinds of errors from a run to its replay: `reach_error`, which the engine models even where the program has
a body for it, and pointers that `klee.h` refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main

CASES = {
    "declared": "void reach_error(void);",
    "aborts": "#include <stdlib.h>\nvoid reach_error(void) { abort(); }",
    "fails an assertion": '#include <assert.h>\nvoid reach_error(void) { assert(0 && "reached"); }',
    "does nothing": "void reach_error(void) {}",
    "static": "static void reach_error() { }",
    "older": "void __VERIFIER_error(void) {}\n#define reach_error __VERIFIER_error",
}


@pytest.mark.parametrize("name", CASES)
def test_a_call_replays_as_predicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(
        f"{CASES[name]}\nint __VERIFIER_nondet_int(void);\n"
        "int main(void) { if (__VERIFIER_nondet_int() == 7) reach_error(); return 0; }\n"
    )
    assert main(["run", "p.c", "--output-dir", "out", "--replay", "-q"]) == 0
    (error,) = json.loads((tmp_path / "out" / "run.json").read_text())["errors"]
    assert error["kind"] == "reach-error"
    assert (tmp_path / "out" / f"test{error['test']:06d}.assert.err").exists()
    document = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert document["agrees"] and document["compared"] == 2


@pytest.mark.parametrize("access", ["klee_check_memory_access(p, 5)", "klee_make_symbolic(p + 1, 4, 0)"])
def test_an_invalid_pointer_is_written_as_klee_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, access: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(
        "#include <klee/klee.h>\nint main(void) { char p[4]; unsigned long n; "
        f'klee_make_symbolic(&n, 8, "n"); if (n > 4) {access}; return 0; }}\n'
    )
    assert main(["run", "p.c", "--output-dir", "out", "-q"]) == 0
    (error,) = json.loads((tmp_path / "out" / "run.json").read_text())["errors"]
    assert error["kind"] == "invalid-pointer"
    assert [path.name for path in (tmp_path / "out").glob("*.err")] == [f"test{error['test']:06d}.ptr.err"]
