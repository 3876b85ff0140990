"""Whole projects: from compile commands, and while they are built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.main import main

ROOT = Path(__file__).resolve().parent.parent.parent

FILES = {
    "list.h": "struct list { struct list *next; int value; };\nstruct list *find(struct list *, int);\n",
    "list.c": '#include "list.h"\n#include <stddef.h>\n'
    "struct list *find(struct list *l, int v) {\n"
    "    if (l->value == v)\n        return l;\n"
    "    return NULL;\n}\n",
    "main.c": '#include "list.h"\n#include <stdlib.h>\n'
    "int main(int argc, char **argv) {\n"
    "    struct list last = {&last, argc};\n"
    "    return find(&last, 3)->value;\n}\n",
    "Makefile": "prog: main.o list.o\n\t$(CC) $(LDFLAGS) -o $@ main.o list.o\n"
    "%.o: %.c list.h\n\t$(CC) $(CFLAGS) -c -o $@ $<\n",
}
REPORT = "main.c:5"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(directory: Path, *names: str) -> Path:
    entries: list[dict[str, Any]] = [
        {"directory": str(directory), "file": name, "command": f"cc -O2 -c {name}"} for name in names
    ]
    file = directory / "compile_commands.json"
    file.write_text(json.dumps(entries))
    return file


# -- compile commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["compile_commands.json"], ["."], ["--compile-commands", "compile_commands.json"]]
)
def test_all_files_of_the_compile_commands(
    words: list[str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands(project, "main.c", "list.c")
    assert main(["check", *words]) == 0
    text = capsys.readouterr().out
    assert f"{REPORT}: likely: read through a NULL pointer" in text and "list.c:6" in text
    assert "1 report (1 likely) in 2 functions" in text


def test_a_program_of_several(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "other.c").write_text("int helper(void) { return 1; }\nint main(void) { return helper(); }\n")
    file = commands(project, "main.c", "list.c", "other.c")
    assert main(["check", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "several files define 'main'" in error
    assert main(["check", str(file), "main.c"]) == 0
    assert "in 2 functions" in capsys.readouterr().out


def test_a_file_that_does_not_compile_is_left_out(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "broken.c").write_text("int f( {\n")
    file = commands(project, "broken.c", "main.c", "list.c", "gone.c")
    assert main(["check", str(file)]) == 0
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) == 2 and all("left out: " in line for line in lines)
    assert "broken.c:1:8: error: " in lines[0] and "gone.c" in lines[1]
    assert REPORT in captured.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no file"),
        ("[", "not JSON"),
        ("{}", "not a list of compile commands"),
        ("[3]", "an entry without file, directory or command"),
        ('[{"file": "main.c"}]', "an entry without file, directory or command"),
        ("[]", "names no C file"),
        ('[{"file": "gone.c", "directory": ".", "command": "cc -c gone.c"}]', "no file of"),
    ],
)
def test_wrong_compile_commands_are_one_line(
    text: str | None, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (project / "compile_commands.json").write_text(text)
    assert main(["check", "compile_commands.json"]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_only_files_that_changed_are_compiled_again(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from anabranch.wrapper import kept

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiled = []

    def run_tool(command: list[str], directory: Path) -> str:
        compiled.append(command[-10:])
        return original(command, directory)

    original = kept.run_tool
    monkeypatch.setattr(kept, "run_tool", run_tool)
    file = commands(project, "main.c", "list.c")
    counts = []
    for name, old, new in (
        ("list.h", "", ""),
        ("list.h", "", ""),
        ("main.c", "argc}", "argc + 1}"),
        ("list.h", "next; int", "next;  int"),
    ):
        source = project / name
        source.write_text(source.read_text().replace(old, new) if old else source.read_text())
        compiled.clear()
        assert main(["check", str(file), "-q"]) == 0
        counts.append(len(compiled))
        assert REPORT in capsys.readouterr().out
    assert counts == [2, 0, 1, 2]


# -- while a project is built -----------------------------------------------------------------------------


def make(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    compiler = f"{sys.executable} -m anabranch.cli.main cc"
    return subprocess.run(
        ["make", f"CC={compiler}{''.join(' ' + word for word in words)}"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


WARNING = f"{REPORT}:28: warning: read through a NULL pointer [null, CWE-476, likely]"


def test_a_build_that_is_checked(project: Path) -> None:
    """Warnings where a compiler has them; the program is built, and make has nothing left to do."""
    built = make(project, "--check")
    assert built.returncode == 0, built.stderr
    assert WARNING in built.stderr and "list.c:6: note: NULL is" in built.stderr
    assert "warning" not in built.stdout
    assert (project / "prog").exists() and (project / "prog.bc").exists()
    assert make(project, "--check").stderr == ""


def test_a_build_that_fails_on_reports(project: Path) -> None:
    built = make(project, ANABRANCH_CC_CHECK="error")
    assert built.returncode != 0 and WARNING in built.stderr
    assert "prog is not linked" in built.stderr and not (project / "prog").exists()
    source = project / "main.c"
    source.write_text(source.read_text().replace("find(&last, 3)->value", "find(&last, 3) != NULL"))
    built = make(project, ANABRANCH_CC_CHECK="error")
    assert built.returncode == 0 and "warning" not in built.stderr and (project / "prog").exists()


def test_a_build_with_a_baseline(project: Path) -> None:
    assert make(project).returncode == 0
    assert main(["check", "prog.bc", "-q", "--write-baseline", "known.json"]) == 0
    (project / "prog").unlink()
    built = make(
        project, "--check=error", ANABRANCH_CC_CHECK_FLAGS=f"--baseline {project / 'known.json'} --jobs 2"
    )
    assert built.returncode == 0 and built.stderr == ""


def test_a_check_that_goes_wrong_does_not_break_the_build(project: Path) -> None:
    built = make(project, "--check=error", ANABRANCH_CC_CHECK_FLAGS="--baseline none.json")
    assert built.returncode == 0 and (project / "prog").exists()
    assert "prog.bc: not checked: check: cannot read none.json" in built.stderr
    (project / "prog").unlink()
    built = make(project, "--check=maybe")
    assert built.returncode != 0 and "--check=maybe: say --check or --check=error" in built.stderr
