"""LLVM text that applies one operation to a table of operands and emits the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEADER = """\
target triple = "x86_64-unknown-linux-musl"
declare void @operand(ptr, ptr)
declare void @emit(i64, i64)
"""


@dataclass(frozen=True)
class Case:
    """One operation: its name, IR lines that compute %r from %a, %b, %c, types, and rows of operands.

    Operands arrive as integers of ``widths`` bits; the body may start with bitcasts. ``result`` is the width
    of the integer %r. ``declares`` are declarations the body needs.
    """

    name: str
    widths: tuple[int, ...]
    body: tuple[str, ...]
    result: int
    rows: tuple[tuple[int, ...], ...]
    declares: tuple[str, ...] = ()


def function_text(case: Case, number: int) -> str:
    """A table and a function that walks over it; the body may not contain blocks of its own."""
    count = len(case.widths)
    rows = []
    for row in case.rows:
        words = []
        for value, width in zip(row, case.widths, strict=True):
            masked = value & ((1 << width) - 1)
            words += [f"i64 {masked & (1 << 64) - 1}", f"i64 {masked >> 64}"]
        rows.append(f"[{2 * count} x i64] [{', '.join(words)}]")
    table = f"[{len(rows)} x [{2 * count} x i64]]"
    lines = [
        f"; {case.name}",
        f"@rows{number} = private constant {table} [{', '.join(rows)}]",
        f"define void @case{number}() {{",
        "entry:",
        *(f"  %at{k} = alloca [2 x i64], align 16" for k in range(count)),
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
    ]
    for k, width in enumerate(case.widths):
        name = "abc"[k]
        lines += [
            f"  %row{k} = getelementptr {table}, ptr @rows{number}, i64 0, i64 %i, i64 {2 * k}",
            f"  call void @operand(ptr %row{k}, ptr %at{k})",
            f"  %whole{k} = load i128, ptr %at{k}, align 16",
        ]
        if width == 128:
            lines.append(f"  %{name} = add i128 %whole{k}, 0")
        else:
            lines.append(f"  %{name} = trunc i128 %whole{k} to i{width}")
    lines += [f"  {line}" for line in case.body]
    if case.result == 128:
        lines.append("  %wide = add i128 %r, 0")
    else:
        lines.append(f"  %wide = zext i{case.result} %r to i128")
    lines += [
        "  %low = trunc i128 %wide to i64",
        "  %up = lshr i128 %wide, 64",
        "  %high = trunc i128 %up to i64",
        "  call void @emit(i64 %low, i64 %high)",
        "  %next = add i64 %i, 1",
        f"  %more = icmp ult i64 %next, {len(rows)}",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def module_text(cases: Sequence[Case]) -> str:
    """A program that runs all cases in order."""
    declares = sorted({d for case in cases for d in case.declares})
    parts = [HEADER, *declares]
    parts += [function_text(case, number) for number, case in enumerate(cases)]
    calls = [f"  call void @case{number}()" for number in range(len(cases))]
    parts.append("\n".join(["define i32 @main() {", *calls, "  ret i32 0", "}"]))
    return "\n".join(parts) + "\n"
