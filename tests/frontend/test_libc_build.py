"""The library built once, whatever happens meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from anabranch.frontend import FrontendError
from anabranch.frontend.libc import build
from anabranch.frontend.libc.build import compile_members, ensure_library
from anabranch.frontend.libc.progress import Progress
from anabranch.frontend.libc.sources import Member, members, musl_root, portable_files
from anabranch.frontend.libc.store import Library, write_library
from anabranch.frontend.libc.symbols import Symbols


def test_members_are_compiled_and_simplified(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "#include <stdio.h>\nextern int other(int);\nlong double half(long double x) { return x / 2; }\n"
        "int twice(int x) { int y = x; return other(y) + BUFSIZ; }\n"
    )
    (tmp_path / "b.c").write_text(
        '#include "syscall.h"\n#include "atomic.h"\nint n;\n'
        "int b(void) { a_inc(&n); return syscall(SYS_getpid); }\n"
    )
    wanted = [Member("a.c", tmp_path / "a.c"), Member("b.c", tmp_path / "b.c", ("-DX=1",))]
    built = compile_members(wanted, tmp_path, Progress())
    assert built["a.c"][0].defined == {"half", "twice"}
    assert built["a.c"][0].undefined == {"other"}
    assert built["b.c"][0].undefined == {"__syscall0", "__syscall_ret"}
    assert all(data.startswith(b"BC") for _, data in built.values())


def test_a_member_that_does_not_compile_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int x = ;\n")
    with pytest.raises(FrontendError, match=r"bad\.c:[\s\S]*expected expression"):
        compile_members([Member("bad.c", tmp_path / "bad.c")], tmp_path, Progress())


def test_sources_are_portable_and_ours_replace_some() -> None:
    names = {member.name for member in members()}
    assert {"src/stdio/printf.c", "src/math/sqrt.c", "anabranch/start.c"} <= names
    assert not any("/x86_64/" in name or "/arm/" in name for name in names)
    assert not any(name.startswith(("src/malloc/mallocng/", "src/setjmp/")) for name in names)
    flags = {member.name: member.flags for member in members()}
    assert flags["src/string/strlen.c"] == ("-U__GNUC__",)
    assert flags["src/stdio/printf.c"] == ()
    own = portable_files(musl_root() / "src", "x86_64")
    assert any(path.parent.name == "x86_64" for path in own)
    assert musl_root() / "src/math/sqrt.c" not in own


@pytest.fixture
def slow_build(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A build that takes a moment and counts itself."""
    built: list[Path] = []

    def run(path: Path) -> Path:
        built.append(path)
        time.sleep(0.2)
        write_library(path, {"a.c": (Symbols({"a"}), b"BC")})
        return path

    monkeypatch.setattr(build, "build_library", run)
    return built


def test_two_at_once_build_one(tmp_path: Path, slow_build: list[Path]) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(ensure_library(tmp_path))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(slow_build) == 1
    assert found[0] == found[1] == slow_build[0]
    assert ensure_library(tmp_path) == found[0]
    assert len(slow_build) == 1


def test_what_a_killed_build_leaves_is_no_library(tmp_path: Path, slow_build: list[Path]) -> None:
    path = ensure_library(tmp_path)
    (path.parent / ".new-1-dead").write_bytes(b"half a file")
    path.write_bytes(path.read_bytes()[:-1])
    assert ensure_library(tmp_path) == path
    assert len(slow_build) == 2
    assert Library(path).read(["a.c"]) == [b"BC"]


def test_without_a_place_to_keep_it_is_built_for_this_time(tmp_path: Path, slow_build: list[Path]) -> None:
    (tmp_path / "file").write_text("")
    path = ensure_library(tmp_path / "file")
    assert Library(path).symbols
    assert not path.is_relative_to(tmp_path)
