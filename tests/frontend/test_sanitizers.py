"""Bitcode that somebody else built with sanitizers: every form of clang's checks, at two levels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.native.tools import INCLUDE, compiler, run_tool

SOURCE = """\
#include <klee/klee.h>
struct pair { char key[8]; char val[8]; } s;
static int one(int x) { return x; }
static int two(int x) { return x + 2; }
int main(void) {
  int x, k;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&k, sizeof k, "k");
  int (*f)(int) = k & 16 ? one : two;
  switch (k & 15) {
  case 0: return x + 1 > 5;
  case 1: s.key[x & 15] = 1; return 1;
  case 2: return 10 / x;
  case 3: return x << 3 == 8;
  case 4: return f(x & 3);
  }
  return 0;
}
"""
FORMS = {
    "recovering": ("-fsanitize=undefined",),
    "aborting": ("-fsanitize=undefined", "-fno-sanitize-recover=all"),
    "trapping": ("-fsanitize=undefined", "-fsanitize-trap=undefined"),
    "minimal": ("-fsanitize=undefined", "-fsanitize-minimal-runtime"),
}
EXPECTED = {("overflow", 11), ("out-of-bounds", 12), ("division-by-zero", 13)}
LEVELS = {"plain": ("-O1", "-Xclang", "-disable-llvm-passes"), "optimised": ("-O2",)}


def bitcode(directory: Path, *flags: str) -> Path:
    (directory / "p.c").write_text(SOURCE)
    output = directory / "p.bc"
    command = [*compiler(), "-I", str(INCLUDE), "-g", "-emit-llvm", "-c", *flags]
    run_tool([*command, str(directory / "p.c"), "-o", str(output)])
    return output


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("form", FORMS)
def test_checks_of_others_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, level: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program = bitcode(tmp_path, *FORMS[form], *LEVELS[level])
    assert main(["run", str(program), "--output-dir", "out", "--libc", "none", "-q"]) == 0
    document = json.loads((tmp_path / "out/run.json").read_text())
    assert document["complete"], document["losses"]
    found = {(error["kind"], error["line"]) for error in document["errors"]}
    # Only the record tells bits that get lost from too many bits.
    shift = "shift-base" if form in ("recovering", "aborting") else "overshift"
    assert found == EXPECTED | {(shift, 14)}


def test_a_program_with_red_zones_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = bitcode(tmp_path, "-O1", "-fsanitize=address")
    assert main(["run", str(program), "--output-dir", "out"]) == 2
    assert "was built with AddressSanitizer" in capsys.readouterr().err


def test_a_report_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(
        "void __asan_report_load4(unsigned long);\n"
        "int main(void) {\n  __asan_report_load4(16);\n  return 0;\n}\n"
    )
    assert main(["run", "p.c", "--output-dir", "out", "-q"]) == 0
    (error,) = json.loads((tmp_path / "out/run.json").read_text())["errors"]
    assert (error["kind"], error["line"]) == ("out-of-bounds", 3)
