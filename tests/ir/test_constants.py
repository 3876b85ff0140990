"""Constants in every spelling."""

import struct

import pytest

from anabranch.ir import IRError, read_module
from anabranch.ir.floats import from_double
from anabranch.ir.values import (
    BlockAddress,
    ConstAggregate,
    ConstBytes,
    ConstExpr,
    ConstFloat,
    ConstInt,
    GlobalRef,
    Null,
    Operand,
    Poison,
    Undef,
    Zero,
)


def constant(type: str, text: str) -> Operand:
    value = read_module(f"@x = global i32 0\n@g = global {type} {text}, align 1\n").globals["g"].initializer
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("i8", "-1", 255),
        ("i8", "127", 127),
        ("i1", "true", 1),
        ("i1", "false", 0),
        ("i128", "-170141183460469231731687303715884105728", 1 << 127),
        ("i37", "-1", (1 << 37) - 1),
        ("i64", "u0xFF", 255),
    ],
)
def test_integers(type: str, text: str, value: int) -> None:
    found = constant(type, text)
    assert isinstance(found, ConstInt)
    assert found.value == value


@pytest.mark.parametrize(
    ("type", "text", "bits"),
    [
        ("double", "1.000000e+00", 0x3FF0000000000000),
        ("double", "0x7FF8000000000000", 0x7FF8000000000000),
        ("double", "-0.000000e+00", 1 << 63),
        ("float", "1.500000e+00", 0x3FC00000),
        ("float", "0x3FB99999A0000000", 0x3DCCCCCD),
        ("float", "0x7FF0000000000000", 0x7F800000),
        ("float", "0x7FF8000000000000", 0x7FC00000),
        ("float", "0x36A0000000000000", 1),
        ("half", "0xH3C00", 0x3C00),
        ("bfloat", "0xR3F80", 0x3F80),
        ("x86_fp80", "0xK3FFF8000000000000000", 0x3FFF8000000000000000),
        ("fp128", "0xL00000000000000013FFF000000000000", 0x3FFF0000000000000000000000000001),
        ("float", "f0x3F800000", 0x3F800000),
        ("double", "f0x3FF0000000000000", 0x3FF0000000000000),
        ("x86_fp80", "1.000000e+00", 0x3FFF8000000000000000),
        ("half", "1.0", 0x3C00),
    ],
)
def test_floats(type: str, text: str, bits: int) -> None:
    found = constant(type, text)
    assert isinstance(found, ConstFloat)
    assert found.bits == bits


@pytest.mark.parametrize(
    "value", [0.1, 1e-40, 1e300, -2.5, 65504.0, 65519.9, 65520.0, 5e-324, 1.17549435e-38, 6e-8]
)
@pytest.mark.parametrize(("kind", "code"), [("float", "f"), ("half", "e")])
def test_narrowing_is_rounded_as_struct_rounds(value: float, kind: str, code: str) -> None:
    double = struct.unpack("<Q", struct.pack("<d", value))[0]
    try:
        expected = int.from_bytes(struct.pack("<" + code, value), "little")
    except OverflowError:
        expected = 0x7F800000 if kind == "float" else 0x7C00
    assert from_double(double, kind) == expected


def test_aggregates() -> None:
    assert isinstance(constant("[2 x i8]", "zeroinitializer"), Zero)
    text = constant("[3 x i8]", r'c"a\00\22"')
    assert isinstance(text, ConstBytes)
    assert text.data == b'a\0"'
    packed = constant("<{ i8, i16 }>", "<{ i8 1, i16 -1 }>")
    assert isinstance(packed, ConstAggregate)
    assert [e.value for e in packed.elements if isinstance(e, ConstInt)] == [1, 0xFFFF]
    splat = constant("<3 x i32>", "splat (i32 7)")
    assert isinstance(splat, ConstAggregate)
    assert [e.value for e in splat.elements if isinstance(e, ConstInt)] == [7, 7, 7]
    assert isinstance(constant("i32", "undef"), Undef)
    assert isinstance(constant("<2 x float>", "poison"), Poison)
    assert isinstance(constant("ptr", "null"), Null)


def test_constant_expressions() -> None:
    gep = constant("ptr", "getelementptr inbounds nuw ([2 x i32], ptr @x, i64 0, i64 1)")
    assert isinstance(gep, ConstExpr)
    assert gep.op == "getelementptr"
    assert str(gep.extra) == "[2 x i32]"
    assert isinstance(gep.operands[0], GlobalRef)
    ranged = constant("ptr", "getelementptr inbounds inrange(-8, 8) (i8, ptr @x, i64 8)")
    assert isinstance(ranged, ConstExpr)
    difference = constant(
        "i32", "trunc (i64 sub (i64 ptrtoint (ptr @x to i64), i64 ptrtoint (ptr @g to i64)) to i32)"
    )
    assert isinstance(difference, ConstExpr)
    assert difference.op == "trunc"
    inner = difference.operands[0]
    assert isinstance(inner, ConstExpr)
    assert inner.op == "sub"
    compare = constant("i1", "icmp eq (ptr @x, ptr null)")
    assert isinstance(compare, ConstExpr)
    assert compare.extra == "eq"


def test_block_address() -> None:
    text = """
@t = global ptr blockaddress(@f, %"odd name")

define void @f() {
entry:
  indirectbr ptr @t, [label %"odd name"]

"odd name":
  ret void
}
"""
    module = read_module(text)
    value = module.globals["t"].initializer
    assert isinstance(value, BlockAddress)
    assert (value.function, value.block) == ("f", "odd name")
    assert module.functions["f"].blocks[0].instructions[0].targets == (1,)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("i8", "300"),
        ("i32", "true"),
        ("[2 x i8]", 'c"abc"'),
        ("{ i8, i8 }", "{ i8 1 }"),
        ("[2 x i8]", "[i8 1, i16 2]"),
        ("i32", "null"),
        ("ptr", "@missing"),
        ("ptr", "%local"),
        ("float", "0xH3C00"),
        ("double", "hello"),
        ("i32", "[i32 1]"),
        ("i32", "add (i64 1, i64 2)"),
        ("ptr", "getelementptr ([2 x i32], ptr @x"),
        ("i32", "1 2"),
        ("ptr", ""),
    ],
)
def test_bad_constants(type: str, text: str) -> None:
    with pytest.raises(IRError, match=r"^line 2: "):
        constant(type, text)
