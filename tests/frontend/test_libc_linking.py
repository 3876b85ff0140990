"""Which members of the library a program gets, and what is done to its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.environment import MODELS
from anabranch.frontend.constructors import call_constructors
from anabranch.frontend.libc.giving_way import give_way
from anabranch.frontend.libc.mathematics import call_library
from anabranch.frontend.libc.models import KERNEL, MODELLED
from anabranch.frontend.libc.select import select_members
from anabranch.frontend.libc.store import Library, LibraryError, write_library
from anabranch.frontend.libc.symbols import Symbols, read_symbols
from anabranch.machine.translator.calls import SETJMP

TEXT = """
@plain = global i32 1
@shared = common dso_local global i32 0
@mine = internal constant [3 x i8] c"ab\\00"
@.str = private unnamed_addr constant [9 x i8] c"external\\00"
@elsewhere = external hidden global ptr, align 8
@perhaps = extern_weak global ptr
@replaceable = weak hidden global i32 3
@per_thread = thread_local(initialexec) global i32 3
@other_name = weak alias i32 (), ptr @function
@fixed_name = hidden alias i32 (), ptr @function
@llvm.used = appending global [1 x ptr] [ptr @plain]
@"odd name" = global i32 0

define hidden i32 @function() #0 {
  ret i32 0
}
define internal void @helper(ptr %0) {
  ret void
}
define weak i32 @fallback(i32 noundef %0) {
  ret i32 0
}
declare i32 @printf(ptr noundef, ...) #1
declare extern_weak void @hook()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @anabranch.undef.ptr()
"""


def test_symbols_are_those_a_linker_sees() -> None:
    symbols = read_symbols(TEXT)
    assert symbols.defined == {"plain", "shared", "per_thread", "fixed_name", "function", "odd name"}
    assert symbols.weak == {"replaceable", "other_name", "fallback"}
    assert symbols.undefined == {"elsewhere", "printf"}
    assert symbols.wanted == {"perhaps", "hook"}
    assert Symbols.from_json(symbols.to_json()) == symbols


def test_definitions_that_give_way_are_weak_and_all_others_stay() -> None:
    before, after = (
        read_symbols(TEXT),
        read_symbols(give_way(TEXT, ["plain", "shared", "fixed_name", "function"])),
    )
    assert after.weak == before.weak | {"plain", "shared", "fixed_name", "function"}
    assert after.defined == {"per_thread", "odd name"}
    assert (after.undefined, after.wanted) == (before.undefined, before.wanted)


def member(defined: str = "", undefined: str = "", weak: str = "", wanted: str = "") -> Symbols:
    return Symbols(set(defined.split()), set(weak.split()), set(undefined.split()), set(wanted.split()))


LIBRARY = {
    "exit.c": member("exit", "_Exit", weak="flush on_exit"),
    "_Exit.c": member("_Exit", "__syscall1"),
    "flush.c": member("flush flush_needed", "write"),
    "print.c": member("print", "flush_needed strlen", wanted="hook"),
    "hook.c": member("hook"),
    "strlen.c": member("strlen"),
    "write.c": member("write"),
    "write_again.c": member("write other"),
}


def choose(program: Symbols, *roots: str) -> list[str]:
    return select_members([program], LIBRARY, frozenset({"strlen"}), roots)


def test_members_are_taken_for_what_is_needed_and_what_that_needs() -> None:
    assert choose(member("main", "exit")) == ["exit.c", "_Exit.c"]
    assert choose(member("main"), "exit") == ["exit.c", "_Exit.c"]
    assert choose(member("main")) == []


def test_weak_definitions_count_and_a_strong_one_comes_with_its_own_need() -> None:
    assert "flush.c" not in choose(member("main", "exit flush"))
    taken = choose(member("main", "exit print"))
    assert taken == ["exit.c", "print.c", "_Exit.c", "flush.c", "write.c"]


def test_weak_wishes_models_and_own_definitions_take_nothing() -> None:
    assert choose(member("main", wanted="hook")) == []
    assert choose(member("main", "strlen")) == []
    assert choose(member("main exit", "exit")) == []
    assert choose(member("main", "exit", weak="_Exit")) == ["exit.c"]


def test_the_first_of_two_members_is_taken() -> None:
    assert choose(member("main", "write")) == ["write.c"]
    assert choose(member("main", "nowhere")) == []


def test_what_stays_modelled_has_a_model() -> None:
    assert MODELS.keys() >= MODELLED - SETJMP
    assert not MODELLED & KERNEL


@pytest.mark.parametrize("name", ["printf", "puts", "fflush", "exit", "_exit", "atexit", "write", "getenv"])
def test_what_must_go_through_the_library_is_not_modelled(name: str) -> None:
    assert name in MODELS
    assert name not in MODELLED


def test_a_library_on_disk_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "l.library"
    write_library(path, {"a.c": (LIBRARY["exit.c"], b"BC one"), "b.c": (LIBRARY["print.c"], b"\n\0two")})
    library = Library(path)
    assert library.symbols == {"a.c": LIBRARY["exit.c"], "b.c": LIBRARY["print.c"]}
    assert library.read(["b.c", "a.c"]) == [b"\n\0two", b"BC one"]
    assert [p.name for p in tmp_path.iterdir()] == ["l.library"]


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: b"", lambda d: b"{}\n", lambda d: b"\xff" + d]
)
def test_a_damaged_library_is_refused(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "l.library"
    write_library(path, {"a.c": (LIBRARY["exit.c"], b"BC one")})
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(LibraryError):
        Library(path)


def test_constructors_run_by_priority_and_destructors_backwards() -> None:
    def table(name: str, *entries: tuple[int, str]) -> str:
        rows = ", ".join(f"{{ i32, ptr, ptr }} {{ i32 {n}, ptr {f}, ptr null }}" for n, f in entries)
        return f"@llvm.{name} = appending global [{len(entries)} x {{ i32, ptr, ptr }}] [{rows}]\n"

    text = call_constructors(
        table("global_ctors", (65535, "@late"), (101, "@early.1"))
        + table("global_dtors", (65535, "@first"), (65535, "@second"))
        + "declare void @__anabranch_constructors() #2\ndeclare void @__anabranch_destructors() #2\n"
    )
    calls = [line.split()[-1] for line in text.splitlines() if line.startswith("  call")]
    assert calls == ["@early.1()", "@late()", "@second()", "@first()"]
    assert "declare" not in text
    assert call_constructors("define void @f() {\n  ret void\n}\n") == "define void @f() {\n  ret void\n}\n"


def test_mathematics_goes_back_to_the_library() -> None:
    text = """define double @f(double %0) {
  %2 = call double @llvm.exp.f64(double %0)
  %3 = call float @llvm.pow.f32(float 1.0, float 2.0)
  %4 = call i64 @llvm.lrint.i64.f64(double %2)
  %5 = call double @llvm.fabs.f64(double %2)
  ret double %5
}
declare double @llvm.exp.f64(double) #1
declare float @llvm.pow.f32(float, float) #1
declare i64 @llvm.lrint.i64.f64(double) #1
declare double @llvm.fabs.f64(double) #1
declare double @exp(double)
"""
    changed = call_library(text)
    for wanted in ("call double @exp(", "call float @powf(", "call i64 @lrint(", "@llvm.fabs.f64(double %2)"):
        assert wanted in changed
    assert changed.count("declare double @exp(double)") == 1
    assert "declare float @powf(float, float)" in changed
