"""Operations on expressions and on numbers agree: values, and when they are errors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import pytest

from anabranch import expr
from anabranch.ir import Instruction, read_module
from anabranch.ir.types import FloatType, Type, VectorType
from anabranch.ir.values import BlockAddress, ConstInt, Local
from anabranch.semantics.conditions import possible_faults
from anabranch.semantics.constants import Constants
from anabranch.semantics.elements import Value, element_types
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.integers import INTRINSICS as INTEGER_INTRINSICS
from anabranch.semantics.intrinsics import intrinsic_function
from anabranch.semantics.operations import OPERATIONS, result, updated
from anabranch.semantics.switches import in_case, switch_cases

WIDTHS = (1, 3, 8, 32, 65)
INTEGER = ("add", "sub", "mul", "and", "or", "xor", "udiv", "urem", "sdiv", "srem", "shl", "lshr", "ashr")
PREDICATES = ("eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")


Row = tuple[str, ...]
"""An instruction over %a, %b and %c, then their types."""


def rows() -> Iterator[Row]:
    for type in (*(f"i{width}" for width in WIDTHS), "<3 x i8>", "<2 x i1>"):
        yield from ((f"{op} {type} %a, %b", type, type) for op in INTEGER)
        yield from ((f"{op} nsw {type} %a, %b", type, type) for op in ("add", "sub", "mul"))
        yield from ((f"icmp {p} {type} %a, %b", type, type) for p in PREDICATES)
        yield f"freeze {type} %a", type
    for narrow, wide in pairwise(WIDTHS):
        yield from ((f"{op} i{narrow} %a to i{wide}", f"i{narrow}") for op in ("zext", "sext"))
        yield f"trunc i{wide} %a to i{narrow}", f"i{wide}"
    yield from ((f"{op} double %a, %b", "double", "double") for op in ("fadd", "fsub", "fmul", "fdiv"))
    yield from ((f"fcmp {p} float %a, %b", "float", "float") for p in ("oeq", "ogt", "une", "ult", "uno"))
    yield "fneg double %a", "double"
    yield "fpext float %a to double", "float"
    yield "fptrunc double %a to float", "double"
    yield "sitofp i32 %a to double", "i32"
    yield "uitofp i8 %a to float", "i8"
    yield "bitcast double %a to i64", "double"
    yield "bitcast <3 x i8> %a to i24", "<3 x i8>"
    yield "inttoptr i32 %a to ptr", "i32"
    yield "ptrtoint ptr %a to i16", "ptr"
    yield "select i1 %a, i8 %b, i8 %c", "i1", "i8", "i8"
    yield "select <2 x i1> %a, <2 x i8> %b, <2 x i8> %c", "<2 x i1>", "<2 x i8>", "<2 x i8>"
    yield "extractelement <3 x i8> %a, i8 %b", "<3 x i8>", "i8"
    yield "insertelement <3 x i8> %a, i8 %b, i2 %c", "<3 x i8>", "i8", "i2"
    yield "shufflevector <3 x i8> %a, <3 x i8> %b, <2 x i32> <i32 4, i32 0>", "<3 x i8>", "<3 x i8>"
    yield "getelementptr { i8, [4 x i32] }, ptr %a, i16 %b, i32 1, i64 %c", "ptr", "i16", "i64"
    yield "getelementptr i64, ptr %a, i1 %b", "ptr", "i1"


def first_instruction(text: str, *types: str) -> Instruction:
    """Of a function that has a line of text, with parameters of these types."""
    params = ", ".join(f"{type} %{name}" for type, name in zip(types, "abc", strict=False))
    declared = f"declare {text.removeprefix('call ')}\n" if text.startswith("call") else ""
    module = read_module(f"{declared}define void @f({params}) {{\n  %r = {text}\n  ret void\n}}\n")
    return module.functions["f"].blocks[0].instructions[0]


def some_number(rng: random.Random, type: Type) -> Any:
    if isinstance(type, VectorType):
        return tuple(some_number(rng, part) for part in element_types(type))
    bits = type.bits
    if isinstance(type, FloatType) and rng.random() < 0.5:
        one, sign = (0x3F800000, 1 << 31) if bits == 32 else (0x3FF0000000000000, 1 << 63)
        return rng.choice((0, one, one + 1, sign, sign | one))
    edges = (0, 1, bits - 1, bits, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1)
    number = (rng.choice(edges) if rng.random() < 0.6 else rng.getrandbits(bits)) & ((1 << bits) - 1)
    return bool(number) if bits == 1 else number


def variables(prefix: str, type: Type, number: Any, model: dict[int, int]) -> Value:
    """Variables in place of a value, which the model gives them."""
    if isinstance(number, tuple):
        parts = zip(element_types(type), number, strict=True)
        return tuple(variables(f"{prefix}.{i}", part, n, model) for i, (part, n) in enumerate(parts))
    variable = expr.var(f"{prefix}:{type.bits}", type.bits)
    model[variable.a] = number
    return variable


def evaluated(value: Value, model: dict[int, int]) -> Any:
    if isinstance(value, tuple):
        return tuple(evaluated(part, model) for part in value)
    return expr.evaluate(value, model)


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row[0])
def test_expressions_and_numbers_agree(row: Row) -> None:
    rng = random.Random(row[0])
    step = first_instruction(*row)
    for _ in range(40):
        model: dict[int, int] = {}
        numbers, symbols = [], []
        for operand in step.operands:
            if isinstance(operand, ConstInt):
                numbers.append(operand.value)
                symbols.append(operand.value)
                continue
            assert isinstance(operand, Local)
            number = some_number(rng, operand.type)
            numbers.append(number)
            symbols.append(variables(operand.name, operand.type, number, model))
        wrong = [fault.kind for bad, fault in possible_faults(step, numbers, True) if bad]
        asked = possible_faults(step, symbols, True)
        assert wrong == [fault.kind for bad, fault in asked if evaluated(bad, model)]
        if not wrong:
            value = result(step, numbers)
            assert evaluated(result(step, symbols), model) == value
            if step.type.bits == 1:
                assert isinstance(value, bool)


def test_the_table_has_nothing_else() -> None:
    untested = {"extractvalue", "insertvalue", "addrspacecast", "ptrtoaddr", "fptosi", "fptoui", "frem"}
    assert set(OPERATIONS) == {row[0].split()[0] for row in rows()} | untested


@pytest.mark.parametrize(
    ("line", "types", "values", "kinds"),
    [
        ("sdiv i8 %a, %b", ("i8", "i8"), (128, 255), ["overflow"]),
        ("srem i8 %a, %b", ("i8", "i8"), (1, 0), ["division-by-zero"]),
        (
            "udiv <2 x i8> %a, %b",
            ("<2 x i8>", "<2 x i8>"),
            ((1, 2), (0, 0)),
            ["division-by-zero", "division-by-zero"],
        ),
        ("shl i8 %a, %b", ("i8", "i8"), (1, 8), ["overshift"]),
        ("add nsw i8 %a, %b", ("i8", "i8"), (127, 1), ["overflow"]),
        ("add i8 %a, %b", ("i8", "i8"), (127, 1), []),
        ("extractelement <3 x i8> %a, i8 %b", ("<3 x i8>", "i8"), ((1, 2, 3), 3), ["out-of-bounds"]),
    ],
)
def test_errors(line: str, types: tuple[str, ...], values: tuple[Any, ...], kinds: list[str]) -> None:
    step = first_instruction(line, *types)
    assert [fault.kind for bad, fault in possible_faults(step, values, True) if bad] == kinds


def test_overflow_is_an_error_only_where_asked_for() -> None:
    assert not list(possible_faults(first_instruction("add nsw i8 %a, %b", "i8", "i8"), (127, 1), False))


@pytest.mark.parametrize(
    ("call", "values", "expected"),
    [
        ("i8 @llvm.uadd.sat.i8(i8 %a, i8 %b)", (200, 100), 255),
        ("i8 @llvm.ssub.sat.i8(i8 %a, i8 %b)", (0x80, 1), 0x80),
        ("{ i8, i1 } @llvm.smul.with.overflow.i8(i8 %a, i8 %b)", (16, 8), (128, True)),
        ("i8 @llvm.fshl.i8(i8 %a, i8 %b, i8 %c)", (0x81, 0xC0, 9), 0x03),
        ("i2 @llvm.ucmp.i2.i8(i8 %a, i8 %b)", (1, 2), 3),
        ("<2 x i8> @llvm.smax.v2i8(<2 x i8> %a, <2 x i8> %b)", ((255, 3), (1, 2)), (1, 3)),
        ("i8 @llvm.vector.reduce.umin.v3i8(<3 x i8> %a)", ((5, 3, 9),), 3),
        ("double @llvm.fabs.f64(double %a)", (1 << 63,), 0),
        ("i8 @llvm.fptosi.sat.i8.f64(double %a)", (0x40C0000000000000,), 127),
    ],
)
def test_intrinsics(call: str, values: tuple[Any, ...], expected: Any) -> None:
    name, params = call.split("@", 1)[1].rstrip(")").split("(", 1)
    step = first_instruction(f"call {call}", *(param.rsplit(" ", 1)[0] for param in params.split(", ")))
    assert intrinsic_function(name, step)(*values) == expected
    model: dict[int, int] = {}
    symbols = [
        variables(o.name, o.type, v, model)  # type: ignore[union-attr]
        for o, v in zip(step.operands[1:], values, strict=True)
    ]
    assert evaluated(intrinsic_function(name, step)(*symbols), model) == expected


@pytest.mark.parametrize(
    "name", [*sorted(INTEGER_INTRINSICS.keys() - {"bswap"}), "uadd.with.overflow", "ssub.with.overflow"]
)
def test_one_bit_is_a_boolean(name: str) -> None:
    count = {"ctpop": 1, "bitreverse": 1, "fshl": 3, "fshr": 3}.get(name, 2)
    kind = "{ i1, i1 }" if name.endswith("overflow") else "i1"
    params = ", ".join(f"i1 %{letter}" for letter in "abc"[:count])
    step = first_instruction(f"call {kind} @llvm.{name}.i1({params})", *("i1",) * count)
    for values in product((False, True), repeat=count):
        value = intrinsic_function(f"llvm.{name}.i1", step)(*values)
        assert all(part.__class__ is bool for part in (value if isinstance(value, tuple) else (value,)))


def test_what_is_not_known_says_its_name() -> None:
    step = first_instruction("call i8 @llvm.nothing.of.it()")
    with pytest.raises(Unsupported, match=r"intrinsic llvm\.nothing\.of\.it"):
        intrinsic_function("llvm.nothing.of.it", step)
    with pytest.raises(Unsupported, match="instruction call"):
        result(step, ())
    with pytest.raises(Unsupported, match="atomicrmw fmax"):
        updated("fmax", 1, 2, 32)


def test_switches() -> None:
    text = """define void @f(i8 %a) {
  switch i8 %a, label %out [ i8 1, label %x
    i8 2, label %out
    i8 3, label %x
    i8 4, label %y ]
x:
  ret void
y:
  ret void
out:
  ret void
}
"""
    step = read_module(text).functions["f"].blocks[0].instructions[0]
    cases, default = switch_cases(step)
    assert ([case.values for case in cases], default) == ([(1, 3), (4,)], 3)
    a = expr.var("a", 8)
    for number in range(6):
        assert (
            evaluated(in_case(a, cases[0], 8), {a.a: number})
            == in_case(number, cases[0], 8)
            == (number in (1, 3))
        )


class Symbols(Constants):
    """Variables at known addresses, all but `far`."""

    def address(self, name: str) -> Value:
        return expr.var("far", 64) if name == "far" else 0x1000

    def label_address(self, label: BlockAddress) -> Value:
        return 0x2000


def test_initialisers() -> None:
    text = """
@far = external global i8
@near = external global i8
@x = global { i8, [2 x i16], ptr, <4 x i1>, [3 x i8], ptr, i32, x86_fp80 } { i8 1,
 [2 x i16] [i16 2, i16 undef],
 ptr getelementptr (i16, ptr @near, i64 -1), <4 x i1> <i1 1, i1 0, i1 1, i1 1>, [3 x i8] c"ab\\00", ptr @far,
 i32 0, x86_fp80 0xK3FFF8000000000000000 }
""".replace(",\n ", ", ")
    variable = read_module(text).globals["x"]
    assert variable.initializer is not None
    cells = list(Symbols().cells(variable.initializer))
    far = expr.var("far", 64)
    assert [(offset, size) for offset, size, _ in cells] == [
        (0, 1), (2, 2), (8, 8), (16, 1), (17, 3), (24, 8), (32, 4), (48, 10),
    ]  # fmt: skip
    assert cells[5][2] is far
    image = Symbols().image(variable.initializer, variable.value_type.size)
    assert image[:24] == bytes((1, 0, 2, 0, 0, 0, 0, 0)) + 0xFFE.to_bytes(8, "little") + b"\x0dab\0" + bytes(
        4
    )
    assert image[24:48] == bytes(24)
    assert image[48:] == (0x3FFF8000000000000000).to_bytes(16, "little")
