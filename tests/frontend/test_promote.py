"""Marks on locals for promotion, on text alone."""

import re

from anabranch.frontend.promote import KEEP, UNDEF, mark_locals, without_marks

TEXT = """
define i32 @f(i32 noundef %0, ptr %q) {
  %2 = alloca i32, align 4
  %x = alloca i32, align 4
  %escapes = alloca i32, align 4
  %stored = alloca ptr, align 8
  %part = alloca i64, align 8
  %array = alloca [3 x i32], align 4
  %late = alloca double, align 8
  %"odd name" = alloca i8, align 1
  store i32 %0, ptr %2, align 4
  call void @llvm.lifetime.start.p0(i64 4, ptr %x), !dbg !5
    #dbg_declare(ptr %x, !23, !DIExpression(), !49)
  call void @g(ptr %escapes)
  store ptr %stored, ptr %q, align 8
  %3 = load i32, ptr %part, align 8
  %4 = load i32, ptr %x, align 4
  store double 1.0, ptr %late, align 8
  %5 = load i8, ptr %"odd name", align 1
  br label %6

6:
  call void @llvm.lifetime.start.p0(ptr nonnull %x), !dbg !7
  %7 = load double, ptr %late, align 8
  ret i32 %4
}

declare void @g(ptr)
"""


def test_only_promotable_scalars_are_marked() -> None:
    marked = mark_locals(TEXT)
    names = re.findall(r'store (\w+) %anabranch\.u\d+, ptr (%"[^"]*"|%\w+)', marked)
    assert sorted(names) == [("double", "%late"), ("i32", "%x"), ("i32", "%x"), ("i8", '%"odd name"')]


def test_marks_stand_where_life_begins() -> None:
    lines = mark_locals(TEXT).split("\n")
    starts = [i for i, line in enumerate(lines) if "lifetime.start" in line]
    for start in starts:
        assert f"@{UNDEF}i32()" in lines[start + 1]
        assert lines[start + 1].endswith(lines[start][lines[start].index(", !dbg") :])
        assert lines[start + 2].startswith("  store i32 %anabranch.u")
    late = next(i for i, line in enumerate(lines) if line.startswith("  %late = alloca"))
    assert f"call double @{UNDEF}double()" in lines[late + 1]


def test_declarations_are_pure_and_given_once() -> None:
    marked = mark_locals(TEXT)
    for name in ("i32", "double", "i8"):
        assert marked.count(f"declare {name} @{UNDEF}{name}() nounwind willreturn memory(none)") == 1


def test_locals_that_can_fail_are_kept() -> None:
    kept = re.findall(rf"call void @{KEEP}\(ptr (.*)\)", mark_locals(TEXT))
    assert kept == ["%escapes", "%stored", "%part", "%array"]


def test_a_value_whose_name_begins_like_a_local_s_is_another() -> None:
    text = "define void @f() {\n  %2 = alloca i32, align 4\n  store i32 %22, ptr %2, align 4\n  ret void\n}\n"
    assert "store i32 %anabranch.u0, ptr %2" in mark_locals(text)


def test_a_parameter_that_is_stored_late_does_not_initialise() -> None:
    text = """define void @f(i32 %0) {
  %2 = alloca i32, align 4
  br i1 true, label %3, label %4

3:
  store i32 %0, ptr %2, align 4
  br label %4

4:
  ret void
}
"""
    assert "store i32 %anabranch.u0, ptr %2" in mark_locals(text)


def test_marks_without_a_use_go() -> None:
    text = """define i32 @f() {
  %anabranch.u0 = call i32 @anabranch.undef.i32()
    #dbg_value(i32 %anabranch.u0, !1, !DIExpression(), !2)
  %anabranch.u1 = call i32 @anabranch.undef.i32()
  call void @anabranch.keep(ptr %x)
  ret i32 %anabranch.u1
}
"""
    lines = without_marks(text).strip().split("\n")
    assert [line.strip() for line in lines[1:-1]] == [
        "%anabranch.u1 = call i32 @anabranch.undef.i32()",
        "ret i32 %anabranch.u1",
    ]


def test_text_without_locals_stays() -> None:
    text = "define void @f() {\n  ret void\n}\n"
    assert without_marks(mark_locals(text)).strip() == text.strip()
