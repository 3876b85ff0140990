"""Sizes, alignments and offsets, compared with what LLVM's own layout gives."""

import llvmlite.binding as llvm
import pytest

from anabranch.ir import read_module
from anabranch.ir import types as ty

LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
SPELLINGS = [
    *(f"i{w}" for w in (1, 7, 8, 9, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 129, 200, 256)),
    *("ptr", "half", "bfloat", "float", "double", "x86_fp80", "fp128"),
    *("[0 x i32]", "[5 x i8]", "[3 x x86_fp80]", "[2 x [3 x i16]]", "[3 x i24]"),
    *("<4 x i32>", "<3 x i32>", "<8 x i1>", "<2 x ptr>", "<5 x i8>", "<8 x double>", "<3 x i64>"),
    *(
        "{}",
        "{ i8, i32 }",
        "<{ i8, i32 }>",
        "{ i8, i64, i8 }",
        "{ i8, { i16, i8 }, i128 }",
        "{ i8, x86_fp80 }",
    ),
    *("{ i1, i1, ptr, i8 }", "[2 x { i32, i8 }]", "{ <4 x float>, i8 }", "<{ i8, { i8, i32 }, i16 }>"),
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_layout_is_that_of_llvm(spelling: str) -> None:
    text = f'target datalayout = "{LAYOUT}"\n@g = external global {spelling}\n'
    ours = read_module(text).globals["g"].value_type
    module = llvm.parse_assembly(text)
    theirs = module.get_global_variable("g").global_value_type
    data = llvm.create_target_data(LAYOUT)
    assert ours.size == data.get_abi_size(theirs)
    assert ours.align == data.get_abi_alignment(theirs)
    assert str(ours) == spelling
    if isinstance(ours, ty.StructType):
        for index, offset in enumerate(ours.offsets):
            assert offset == data.get_element_offset(theirs, index)


def test_types_are_interned() -> None:
    assert ty.int_type(37) is ty.int_type(37)
    assert ty.array_type(3, ty.I8) is ty.array_type(3, ty.I8)
    assert ty.struct_type((ty.I8, ty.PTR)) is ty.struct_type((ty.I8, ty.PTR))
    assert ty.struct_type((ty.I8, ty.PTR)) is not ty.struct_type((ty.I8, ty.PTR), packed=True)
    assert ty.function_type(ty.VOID, (ty.PTR,), True) is ty.function_type(ty.VOID, (ty.PTR,), True)


def test_value_widths() -> None:
    assert ty.float_type("x86_fp80").bits == 80
    assert ty.vector_type(8, ty.I1).bits == 8
    assert ty.int_type(1).bits == 1
    assert ty.int_type(24).size == 4


def test_named_structs_may_come_in_any_order() -> None:
    text = "%a = type { %b, ptr }\n%b = type { i8, i32 }\n%o = type opaque\n"
    types = read_module(text).types
    assert types["a"].size == 16
    assert types["a"].offsets == (0, 8)
    assert types["o"].fields is None
