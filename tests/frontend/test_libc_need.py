"""The library by itself: linked if a program uses what only the library has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.environment import EXTERNAL_GLOBALS, MODELS
from anabranch.frontend import FrontendOptions, load_program
from anabranch.frontend.libc import need
from anabranch.frontend.options import AUTO, MUSL, NO_LIBC, Program

OWN = frozenset((*MODELS, *EXTERNAL_GLOBALS))
MODELLED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *p = malloc(8);
  strcpy(p, argv[0] ? "abc" : "");
  fprintf(stderr, "%s %d\\n", p, argc);
  return puts(p) < 0;
}
"""
OPENS = '#include <stdio.h>\nint main(void) { FILE *f = fopen("A", "r"); return f ? getc(f) : 1; }\n'


def loaded(tmp_path: Path, source: str, **more: object) -> Program:
    (tmp_path / "p.c").write_text(source)
    options = {"libc": AUTO, "models": OWN, **more}
    return load_program([tmp_path / "p.c"], FrontendOptions(**options))  # type: ignore[arg-type]


def test_modelled_functions_need_none(tmp_path: Path) -> None:
    program = loaded(tmp_path, MODELLED)
    assert (program.libc, program.library_reason, program.entry) == (NO_LIBC, "", "main")
    same = load_program([tmp_path / "p.c"], FrontendOptions(libc=NO_LIBC))
    assert program.ir_text == same.ir_text


def test_other_functions_need_it(tmp_path: Path) -> None:
    program = loaded(tmp_path, OPENS)
    assert (program.libc, program.entry) == (MUSL, "__anabranch_start")
    assert program.library_reason == "fopen and getc"
    again = loaded(tmp_path, OPENS)
    assert again.from_cache and again.library_reason == "fopen and getc" and again.libc == MUSL


def test_variables_and_mathematics_need_it(tmp_path: Path) -> None:
    assert loaded(tmp_path, "extern int optind; int main(void) { return optind; }").library_reason == "optind"
    source = "#include <math.h>\nint main(int c, char **v) { return (int)exp(c); }"
    assert loaded(tmp_path, source).library_reason == "exp"


def test_what_nobody_defines_needs_none(tmp_path: Path) -> None:
    program = loaded(tmp_path, "int fopen_or_so(void); int main(void) { return fopen_or_so(); }")
    assert program.libc == NO_LIBC


def test_a_reason_from_outside(tmp_path: Path) -> None:
    program = loaded(tmp_path, MODELLED, library_for="--sym-stdin")
    assert (program.libc, program.library_reason) == (MUSL, "--sym-stdin")


def test_other_entries_go_without(tmp_path: Path) -> None:
    source = '#include <stdio.h>\nint f(void) { return rename("x", "y"); }\nint main(void) { return f(); }'
    assert loaded(tmp_path, source, entry="f").libc == NO_LIBC
    assert loaded(tmp_path, source).libc == MUSL


def test_the_library_is_not_built_for_strange_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(directory: Path) -> Path:
        raise AssertionError("built")

    monkeypatch.setattr(need, "ensure_library", build)
    assert need.provided(["strange_name", "another"], tmp_path) == []
    with pytest.raises(AssertionError, match="built"):
        need.provided(["strange_name", "getopt_long"], tmp_path)


def test_lists_for_the_reader() -> None:
    assert need.listed([]) == ""
    assert need.listed(["a"]) == "a"
    assert need.listed(["a", "b", "c"]) == "a, b and c"
    assert need.listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_a_run_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # Seconds are counted from the start of the process, which is here that of all tests.
    monkeypatch.setattr("anabranch.cli.run._process_age", lambda: 0.0)
    (tmp_path / "p.c").write_text(OPENS)
    assert main(["run", "p.c", "--sym-files", "1", "2", "--output-dir", "out", "--replay"]) == 0
    assert "anabranch: linked with musl, for --sym-files\n" in capsys.readouterr().err
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert 0 < run["timers"]["main"] <= run["timers"]["total"] and run["settings"]["libc"] == "auto"
    assert "Entered main: " in (tmp_path / "out" / "info").read_text()
    assert json.loads((tmp_path / "out" / "program.json").read_text())["libc"] == "musl"
    assert json.loads((tmp_path / "out" / "replay.json").read_text())["agrees"]
