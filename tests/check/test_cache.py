"""A second run, and several jobs: the same result, and only what has changed is checked again."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from anabranch.check import cache as cache_module
from anabranch.check import decide
from anabranch.check.cache import Cache
from anabranch.check.records import CheckResult
from anabranch.check.schedule import Progress, Resources, check_module
from anabranch.cli.main import main
from anabranch.frontend import FrontendError
from tests.check.support import SUBJECTS, module_of

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """#include <stdlib.h>
#include <assert.h>
struct list { struct list *next; int value; };
static int other(int n) { return n * 3; }
static struct list *find(struct list *l, int v) {
    while (l && l->value != v)
        l = l->next;
    return l;
}
int get(struct list *l, int v) {
    return find(l, v)->value;
}
int add(struct list **l, int v) {
    struct list *n = malloc(sizeof *n);
    n->value = v;
    n->next = *l;
    *l = n;
    return other(v);
}
int top(void) {
    struct list *l = NULL;
    int r = add(&l, 3) / (get(l, 3) - 3);
    assert(r < 1000);
    return r;
}
"""


class Seen(Progress):
    """Counts what is checked, not taken from the cache."""

    def __init__(self) -> None:
        self.functions = 0

    def checked(self, functions: int, total: int, conditions: int, share: float) -> None:
        self.functions += 1
        assert 0 < share <= 1 and functions <= total


def plain(result: CheckResult) -> dict[str, Any]:
    """All but the time and the order of counters that are equal."""
    return {**{name: getattr(result, name) for name in result.__slots__}, "seconds": {}, "order": {}} | {
        "reports": [asdict(report) for report in result.reports]
    }


def check(source: Path, cache: Cache | None = None, jobs: int = 1) -> tuple[dict[str, Any], int]:
    seen = Seen()
    result = check_module(module_of(source), resources=Resources(jobs, cache=cache), progress=seen)
    assert cache is None or not cache.problem
    return plain(result), seen.functions


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    return path


def kept(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache", ["program"])


def test_what_is_unchanged_is_not_checked_again(source: Path, tmp_path: Path) -> None:
    fresh, count = check(source)
    assert count == 5 and fresh["reports"]
    assert check(source, kept(tmp_path)) == (fresh, 5)
    assert check(source, kept(tmp_path)) == (fresh, 0)


# What is replaced, and how many functions are checked again. Lines move, of assertions too; values that come
# from two places have none.
EDITS = {
    "lines before all of it": ("struct list {", "\n\nstruct list {", 0),
    "lines before most of it": ("int get", "\n\n\nint get", 0),
    "lines behind everything": ("    return r;\n}\n", "    return r;\n}\n\n\nint x;\n", 0),
    "a string that moves others": ("    return other(v);", '    return other(v) + ""[0];', 2),
    "a comment inside a function": ("    n->next = *l;", "    // here\n    n->next = *l;", 1),
    "a statement that callers do not see": ("return n * 3;", "int unused = n; return n * 3;", 1),
    "a call that callers do not see": ("    n->next = *l;", "    rand();\n    n->next = *l;", 1),
    "a function that nobody uses": ("int top(void)", "int more(void) { return 1; } int top(void)", 1),
    "a callee": ("n * 3", "n * 4", 3),
    "a callee of a callee": ("l->value != v", "l->value > v", 3),
    "a root": ("r < 1000", "r < 2000", 1),
    "a type": ("int value; }", "int value; int more; }", 3),
}


@pytest.mark.parametrize("name", EDITS)
def test_only_what_depends_on_an_edit_is_checked_again(name: str, source: Path, tmp_path: Path) -> None:
    check(source, kept(tmp_path))
    old, new, expected = EDITS[name]
    source.write_text(PROGRAM.replace(old, new))
    fresh, _ = check(source)
    assert check(source, kept(tmp_path)) == (fresh, expected)
    assert check(source, kept(tmp_path)) == (fresh, 0)


def test_answers_of_the_last_run_are_used(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line moves inside `get`, so that it is checked again; nothing new is asked."""
    solved = []
    new_answer = decide._Session._found

    def counted(self: decide._Session, *arguments: Any) -> Any:
        solved.append(arguments)
        return new_answer(self, *arguments)

    monkeypatch.setattr(decide._Session, "_found", counted)
    check(source, kept(tmp_path))
    assert solved
    source.write_text(PROGRAM.replace("    return find(l, v)->value;", "\n    return find(l, v)->value;"))
    fresh, _ = check(source)
    solved.clear()
    result, count = check(source, kept(tmp_path))
    assert (result, solved) == (fresh, []) and count >= 1


_CHANGES = (
    ("<", "<="),
    ("==", "!="),
    ("+", "-"),
    ("1", "2"),
    ("3", "4"),
    ("NULL", "(void *)8"),
    ("&&", "||"),
)


def edited(text: str, rng: random.Random) -> str:
    """One operator, number or whole statement of a program is another one."""
    lines = text.splitlines(keepends=True)
    while True:
        number = rng.randrange(len(lines))
        line = lines[number]
        if line.lstrip().startswith(("#", "//", "/*", "*", "struct", "typedef")):
            continue
        old, new = rng.choice(_CHANGES)
        if rng.random() < 0.2 and line.startswith("    ") and line.rstrip().endswith(";"):
            lines[number] = line + "    ;\n" if "return" in line else line + line.replace("int ", "")
            return "".join(lines)
        if old in line:
            lines[number] = line.replace(old, new, 1)
            return "".join(lines)


@pytest.mark.parametrize("name", ["flows", "freed", "idioms", "null", "values"])
def test_any_edit_has_the_result_of_a_run_without_cache(name: str, tmp_path: Path) -> None:
    """Edits come one after the other, each on a cache that has seen those before."""
    rng = random.Random(name)
    original = (SUBJECTS / f"{name}.c").read_text()
    source, text, again = tmp_path / "edited.c", original, 0
    for _ in range(8):
        changed = edited(text, rng)
        source.write_text(changed)
        try:
            fresh, total = check(source)
        except FrontendError:
            continue
        text = changed
        found, count = check(source, kept(tmp_path))
        assert found == fresh
        again += count
        assert check(source, kept(tmp_path)) == (fresh, 0)
    assert 0 < again < 4 * total


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_cache_counts_as_absent(damage: str, source: Path, tmp_path: Path) -> None:
    fresh, _ = check(source, kept(tmp_path))
    for path in (tmp_path / "cache").iterdir():
        data = path.read_bytes()
        changed = data.replace(b'"left"', b'"lefd"').replace(b"[2,", b"[0,")
        other = b"[]"
        path.write_bytes(
            {"cut": data[: len(data) // 2], "changed": changed, "empty": b"", "other": other}[damage]
        )
    assert check(source, kept(tmp_path)) == (fresh, 5)


def test_the_oldest_files_make_room(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(source, kept(tmp_path))
    size = sum(path.stat().st_size for path in (tmp_path / "cache").iterdir())
    monkeypatch.setattr(cache_module, "MAX_BYTES", 2 * size)
    for number in range(5):
        check(source, Cache(tmp_path / "cache", [str(number)]))
    found = list((tmp_path / "cache").iterdir())
    assert sum(path.stat().st_size for path in found) <= 2 * size
    assert check(source, Cache(tmp_path / "cache", ["4"]))[1] == 0


def test_a_cache_that_cannot_be_written_is_a_warning(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    (home / "anabranch").mkdir(parents=True)
    (home / "anabranch" / "checks").write_text("not a directory")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    assert main(["check", str(source)]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and "not kept for the next run" in captured.err


def test_the_command_keeps_and_uses_records(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    texts = []
    for flags in ([], [], ["--no-cache"], ["--jobs", "2", "--no-cache"]):
        assert main(["check", str(source), *flags]) == 0
        texts.append(capsys.readouterr().out)
    assert len(set(texts)) == 1
    assert len(list((tmp_path / "home" / "anabranch" / "checks").glob("*.records"))) == 1
    shutil.rmtree(tmp_path / "home")
    assert main(["check", str(source), "--no-cache"]) == 0
    assert not (tmp_path / "home" / "anabranch" / "checks").exists()


def test_keys_are_the_same_in_every_process(source: Path, tmp_path: Path) -> None:
    """The order of sets of strings differs from process to process."""
    source.write_text(PROGRAM + "__attribute__((nonnull)) int given(int *restrict p) { return *p; }\n")
    written = []
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "XDG_CACHE_HOME": str(tmp_path / "home")}
        command = [sys.executable, "-m", "anabranch.cli.main", "check", "-q", str(source)]
        subprocess.run(command, env={**environment, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
        (file,) = (tmp_path / "home" / "anabranch" / "checks").glob("*.records")
        written.append(file.stat().st_mtime_ns)
    assert len(set(written)) == 1  # nothing was checked after the first run


@pytest.mark.parametrize("name", ["flows", "freed", "null", "values"])
def test_jobs_make_no_difference(name: str, tmp_path: Path) -> None:
    source = SUBJECTS / f"{name}.c"
    one, count = check(source)
    assert check(source, jobs=3) == (one, count)
    assert check(source, kept(tmp_path), jobs=2) == (one, count)
    assert check(source, kept(tmp_path), jobs=2) == (one, 0)


def test_gated_forms_are_made_again_when_memory_is_short(source: Path) -> None:
    """With no memory at all they are dropped before every function."""
    fresh, _ = check(source)
    result = check_module(module_of(source), resources=Resources(max_bytes=0))
    assert plain(result) == fresh
