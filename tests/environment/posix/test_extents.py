"""Arguments and variables of the environment end at their NUL, whatever the most is that they can hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main

# What is tested: the body of main, flags, lines of errors.
HEAD = """#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv, char **envp) { char *s = argv[1];
"""
ARGUMENT, VARIABLE = ("--sym-arg", "3"), ("--sym-env", "X", "2")
CASES: dict[str, tuple[str, tuple[str, ...], list[int]]] = {
    "one byte behind the end": ("while (*s) s++;\nreturn s[1];", ARGUMENT, [2]),
    "a fixed place": ("return s[2];", ARGUMENT, [1]),
    "a place whose way was looked at": ("return s[0] && s[1] && s[2] ? s[3] : 1;", ARGUMENT, []),
    "a symbolic place": ("return s[(unsigned char)s[0] % 4];", ARGUMENT, [1]),
    "a wide load": ("return *(short *)s;", ARGUMENT, [1]),
    "a write": ("s[1] = 'x';\nreturn 0;", ARGUMENT, [1]),
    "a written NUL ends nothing": ("if (!s[0]) return 1;\ns[0] = 0;\nreturn s[1];", ARGUMENT, []),
    "an overwritten NUL": ("s[0] = 'x';\nreturn strlen(s);", ARGUMENT, [2]),
    "a copy of a fixed length": ("char b[4]; memcpy(b, s, 3);\nreturn b[0];", ARGUMENT, [1]),
    "strings stay inside": ("char b[8]; strcpy(b, s); return strcmp(b, s) + !strchr(s, 0);", ARGUMENT, []),
    "a string that begins behind the end": ("return strlen(s + 1);", ARGUMENT, [1]),
    "memory is read as far as it differs": ("return memcmp(s, \"ab\", 2) ? 0 : s[2];", ARGUMENT, []),
    "memchr beyond the NUL": ("return memchr(s, 'x', 3) != 0;", ARGUMENT, [1]),
    "a variable of the environment": ("s = getenv(\"X\");\nreturn s[1];", VARIABLE, [2]),
    "the environment's own strings": ("while (*envp[0]) envp[0]++;\nreturn envp[0][1];", VARIABLE, [2]),
    "several arguments": ("return argc > 2 ? argv[2][1] : 0;", ("--sym-args", "0", "2", "2"), [1]),
    "the array of arguments": ("return argv[argc + 1] != 0;", ARGUMENT, [1]),
    "an argument is not to be freed": ("free(s);\nreturn 0;", ARGUMENT, [1]),
}  # fmt: skip


@pytest.mark.parametrize("strings", ["fork", "whole"])
@pytest.mark.parametrize("name", CASES)
def test_reads_past_the_end_are_errors_here_and_natively(
    name: str, strings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body, flags, lines = CASES[name]
    (tmp_path / "p.c").write_text(f"{HEAD}{body}\n}}\n")
    arguments = ["run", "p.c", *flags, "--strings", strings, "--tests", "all", "--output-dir", "out", "-q"]
    assert main([*arguments, "--replay"]) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["complete"], run["losses"]
    assert sorted(error["line"] - 3 for error in run["errors"]) == lines
    replayed = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert replayed["agrees"] and replayed["compared"] == replayed["tests"] > 0


def test_the_extent_is_that_of_every_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer argument has the errors of all shorter ones: each length is one path that fails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(f"{HEAD}while (*s) s++;\nreturn s[1];\n}}\n")
    for most in (1, 2, 4, 300):
        out = f"out{most}"
        assert main(["run", "p.c", "--sym-arg", str(most), "--output-dir", out, "-q"]) == 0
        paths = json.loads((tmp_path / out / "run.json").read_text())["paths"]
        assert paths == {"exit": 0, "error": most + 1, "total": most + 1, "left": 0}


@pytest.mark.parametrize("flags", [("--merge", "all"), ("--goal", "paths"), ("--goal", "bugs")])
def test_merged_states_know_how_far_they_may_read(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = "int n = 0; while (s[n]) n++;\nif (argc > 5) return 1;\nreturn s[n] + (n == 2 ? s[3] : 0);"
    (tmp_path / "p.c").write_text(f"{HEAD}{body}\n}}\n")
    assert main(["run", "p.c", "--sym-arg", "4", *flags, "--output-dir", "out", "--replay", "-q"]) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["complete"] and [error["line"] - 3 for error in run["errors"]] == [3]
    assert json.loads((tmp_path / "out" / "replay.json").read_text())["agrees"]
