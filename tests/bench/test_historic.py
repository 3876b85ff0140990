"""The bench of historic bugs: what counts as the bug, archives unpacked, a bug of our own from end to end."""

from __future__ import annotations

import dataclasses
import tarfile
from pathlib import Path

import pytest

from bench.historic.bugs import BUGS
from bench.historic.table import SUBJECTS, Bug, Package
from bench.historic.trial import confirm, is_the_bug, look_for
from bench.lib import registries

REPORT = """Error: memory error: out of bound pointer
File: lib.c
Line: 7
Stack:
\t#000000027 in copy(from=1, size=2) at /some where/lib.c:7
\t#100000031 in main() at harness.c:12
Info:
\tkind: out-of-bounds
\taccess: write of 1 byte
"""
OWN = Bug(
    name="own",
    package=Package("pypi", "own", "1.0", "own 1.0"),
    number="none",
    kind="out-of-bounds",
    function="copy",
    lines=(3,),
    access="write",
    harness="harness.c",
    known=b"abcdefg\0",
    files=("lib.c",),
    include=(".",),
)
LIBRARY = """#include "lib.h"
void copy(char *to, const char *from) {
  for (int i = 0; from[i]; i++) to[i] = from[i];
}
"""
HARNESS = """#include "lib.h"
#include <klee/klee.h>
int main(void) {
  char text[8], place[4];
  klee_make_symbolic(text, sizeof text, "input");
  text[7] = 0;
  copy(place, text);
  return 0;
}
"""


def test_only_the_bug_itself_counts() -> None:
    bug = dataclasses.replace(OWN, lines=(7,))
    assert is_the_bug(bug, REPORT)
    assert is_the_bug(dataclasses.replace(bug, function="main", lines=(11, 12)), REPORT)
    assert not is_the_bug(dataclasses.replace(bug, lines=(8,)), REPORT)
    assert not is_the_bug(dataclasses.replace(bug, function="main"), REPORT)
    assert not is_the_bug(dataclasses.replace(bug, kind="assert"), REPORT)
    assert not is_the_bug(dataclasses.replace(bug, access="read"), REPORT)


def test_the_table_names_what_there_is() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    for bug in BUGS:
        assert '"input"' in (SUBJECTS / bug.harness).read_text(), bug.name
        assert bug.stubs is None or (SUBJECTS / bug.stubs).is_dir()


def test_archives_are_unpacked_without_their_top_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own-1.0").mkdir()
    (tmp_path / "own-1.0" / "lib.c").write_text(LIBRARY)

    def download(registry: str, name: str, version: str, directory: Path) -> Path:
        archive = directory / f"{registry}-{name}-{version}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / "own-1.0", "own-1.0")
        return archive

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(registries, "_download", download)
    tree = registries.source("npm", "own", "1.0")
    assert (tree / "lib.c").read_text() == LIBRARY
    monkeypatch.setattr(registries, "_download", None)
    assert registries.source("npm", "own", "1.0") == tree


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lib.c").write_text(LIBRARY)
    (tmp_path / "lib.h").write_text("void copy(char *to, const char *from);\n")
    (tmp_path / "harness.c").write_text(HARNESS)
    monkeypatch.setattr("bench.historic.trial.SUBJECTS", tmp_path)
    return tmp_path


def test_a_known_input_is_confirmed_natively(tree: Path) -> None:
    assert confirm(OWN, tree, tree) == "out-of-bounds"
    harmless = dataclasses.replace(OWN, known=b"abc\0\0\0\0\0")
    assert confirm(harmless, tree, tree) == "native exit 0"


def test_a_bug_is_found_and_its_test_replayed(tree: Path) -> None:
    found = look_for(OWN, tree, "default", tree)
    assert found.seconds is not None and 0 < found.seconds < 60, found.note
    assert found.confirmed, found.note
    (tree / "again").mkdir()
    missed = look_for(dataclasses.replace(OWN, lines=(4,)), tree, "bugs", tree / "again")
    assert missed.seconds is None and "out-of-bounds in copy" in missed.note
