"""Whole replays: runs of the engine, and run directories written by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.replay.record import record_text
from anabranch.report.ktest import encode

PROGRAM = """\
#include "klee/klee.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int table[4];
int main(void) {
  unsigned char x, y;
  klee_make_symbolic(&x, 1, "x");
  klee_make_symbolic(&y, 1, "y");
  switch (x) {
  case 1: puts("one"); return 1;
  case 2: return table[y & 7];
  case 3: return 10 / (y & 1);
  case 4: assert(y != 7); break;
  case 5: { char *p = malloc(3); p[0] = 1; free(p); if (y == 2) free(p); break; }
  case 6: return 1 << (y & 63);
  }
  return 0;
}
"""

FILTER = """\
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
  if (!f) return 2;
  int c, n = 0;
  while ((c = getc(f)) != EOF) { putchar(c ^ 1); n++; }
  return n;
}
"""


def test_a_run_of_the_engine_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM)
    assert main(["run", "p.c", "--output-dir", "out", "--replay", "-q"]) == 0
    document = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert document["agrees"] and document["compared"] == document["tests"] >= 9
    (file,) = document["coverage"]["files"].values()
    assert file["lines_covered"] == file["lines_total"]


def test_a_large_object_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(
        """#include "klee/klee.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  unsigned long size = 3ul << 29;
  unsigned char x;
  klee_make_symbolic(&x, 1, "x");
  char *p = malloc(size);
  if (!p) return 9;
  p[0] = 1; p[size - 1] = x;
  if (p[size - 1] == 7) puts("seven");
  if (x == 8) p[size] = 1;
  if (x == 9) p[-1] = 1;
  free(p);
  return x == 10 ? p[0] : 0;
}
"""
    )
    assert main(["run", "p.c", "--output-dir", "out", "--replay", "-q"]) == 0
    document = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert document["agrees"] and document["compared"] == document["tests"] == 5


def hand_made(
    directory: Path,
    source: str,
    tests: list[tuple[list[tuple[str, bytes]], dict[str, object]]],
    **settings: object,
) -> Path:
    """A run directory with the tests given: objects, and the line of tests.jsonl."""
    (directory / "f.c").write_text(source)
    run = directory / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"settings": {"inputs": ["f.c"], **settings}}))
    (run / "program.json").write_text(record_text((Path("f.c"),), directory))
    lines = []
    for number, (objects, prediction) in enumerate(tests, 1):
        (run / f"test{number:06d}.ktest").write_bytes(encode(objects))
        lines.append(json.dumps({"test": number, **prediction}))
    (run / "tests.jsonl").write_text("\n".join(lines) + "\n")
    return run


def hexed(text: bytes) -> str:
    return text.hex()


def test_files_arguments_and_input_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    n = (1).to_bytes(4, "little")
    none = bytes(4)
    tests: list[tuple[list[tuple[str, bytes]], dict[str, object]]] = [
        (
            [("n_args", n), ("arg00", b"A\0"), ("A_data", b"abc")],
            {"end": "exit", "exit_code": 3, "output": hexed(b"`cb")},
        ),
        (
            [("n_args", none), ("A_data", b"abc"), ("stdin", b"11")],
            {"end": "exit", "exit_code": 2, "output": hexed(b"00")},
        ),
        (
            [("n_args", n), ("arg00", b"C\0"), ("A_data", b"abc")],
            {"end": "exit", "exit_code": 2, "output": ""},
        ),
        ([("n_args", n), ("arg00", b"A\0"), ("A_data", b"abc")], {"end": "early"}),
    ]
    run = hand_made(
        tmp_path, FILTER, tests, program_args=["--sym-args", "0", "1", "1", "--sym-files", "1", "3"]
    )
    assert main(["replay", str(run)]) == 0
    out = capsys.readouterr().out
    assert "Replayed 4 tests natively: 3 as predicted, 1 without prediction." in out
    assert "100.0%" in out


LOOKS = """\
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char name[100];
  struct stat s;
  puts(getcwd(name, sizeof name));
  printf("%d %d %d", stat("/etc", &s), stat("/home/user/A", &s), stat("/tmp", &s));
  return 0;
}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a program a root directory")
def test_a_root_directory_like_the_model_s(tmp_path: Path) -> None:
    output = hexed(b"/home/user\n-1 0 0")
    tests: list[tuple[list[tuple[str, bytes]], dict[str, object]]] = [
        ([("A_data", b"1")], {"end": "exit", "exit_code": 0, "output": output})
    ]
    assert (
        main(["replay", str(hand_made(tmp_path, LOOKS, tests, program_args=["--sym-files", "1", "1"]))]) == 0
    )


def test_without_a_root_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    n = (1).to_bytes(4, "little")
    tests: list[tuple[list[tuple[str, bytes]], dict[str, object]]] = [
        ([("n_args", n), ("arg00", b"A\0"), ("A_data", b"abc")], {"end": "exit", "exit_code": 3}),
    ]
    assert (
        main(["replay", str(hand_made(tmp_path, FILTER, tests, program_args=["--sym-args", "0", "1", "1"]))])
        == 0
    )


def test_what_differs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests: list[tuple[list[tuple[str, bytes]], dict[str, object]]] = [
        ([("stdin", b"1")], {"end": "exit", "exit_code": 0, "output": hexed(b"0")}),
        ([("stdin", b"1")], {"end": "exit", "exit_code": 1, "output": hexed(b"1")}),
        ([("stdin", b"1")], {"end": "error", "kind": "assert", "line": 3}),
        ([("stdin", b"1")], {"end": "exit", "exit_code": 1, "output": hexed(b"0")}),
    ]
    run = hand_made(tmp_path, FILTER, tests, program_args=["--sym-stdin", "1"])
    (run / "test000005.ktest").write_bytes(b"KTES")
    assert main(["replay", str(run), "--no-checks"]) == 1
    out = capsys.readouterr().out
    assert "test000001  predicted exit 0, native exit 1" in out
    assert "test000002  predicted output b'1', native b'0'" in out
    assert "test000003  predicted assert, native exit 1" in out
    assert "test000004" not in out
    assert "test000005.ktest: " in out
    assert len(json.loads((run / "replay.json").read_text())["differ"]) == 3


def test_hanging_programs_are_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "int main(void) { for (;;) { } }\n"
    run = hand_made(tmp_path, source, [([("stdin", b"1")], {"end": "exit", "exit_code": 0})])
    assert main(["replay", str(run), "--time", "300ms"]) == 1
    assert "did not end in time" in capsys.readouterr().out


def test_a_changed_program_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = hand_made(tmp_path, "int main(void) { return 0; }\n", [])
    (tmp_path / "f.c").write_text("int main(void) { return 1; }\n")
    assert main(["replay", str(run)]) == 0
    assert "f.c has changed" in capsys.readouterr().out


FUZZED = """\
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int main(void) { return 9; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 2 && data[0] == 'x') abort();
  return 0;
}
"""


def test_fuzz_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(FUZZED)
    arguments = [
        "--entry",
        "LLVMFuzzerTestOneInput",
        "--max-len",
        "3",
        "--output-dir",
        "out",
        "--replay",
        "-q",
    ]
    assert main(["run", "p.c", *arguments]) == 0
    document = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert document["agrees"] and document["compared"] >= 3


def test_other_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM.replace("int main(void)", "int check(void)"))
    assert main(["run", "p.c", "--entry", "check", "--output-dir", "out", "--replay", "-q"]) == 0
    assert json.loads((tmp_path / "out" / "replay.json").read_text())["compared"] >= 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere is not a run directory"),
        (["."], "has no run.json"),
        (["run", "--program", "absent"], "absent: no such program"),
        (["run", "--time", "soon"], "is not a time"),
        (["run"], "f.c: no such file"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    hand_made(tmp_path, "int main(void) { return 0; }\n", [])
    (tmp_path / "f.c").unlink()
    assert main(["replay", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "source",
    [
        "#include <stdio.h>\n#include <unistd.h>\n"
        "int getopt(int n, char *const a[], const char *o) { return optind + 4; }\n"
        'int main(int n, char **a) { printf("%d", getopt(n, a, "")); return 0; }\n',
        "extern int hook(int) __attribute__((weak));\n"
        "int main(void) { if (!hook) return hook(1); return 0; }\n",
    ],
    ids=["a function of the library", "a weak function that is missing"],
)
def test_definitions_that_the_program_has_and_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(source)
    assert main(["run", "p.c", "--output-dir", "out", "--replay", "-q"]) == 0
    document = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert document["agrees"] and document["compared"] == 1
