"""Functions of math.h against the C library."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.environment.numbers import BINARY, UNARY
from anabranch.expr import evaluate, var
from tests.environment.fake import FakeMachine, index_of
from tests.environment.libc_oracle import Double, oracle

FEW = settings(max_examples=25, deadline=None)
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e300, float("inf"), float("-inf"), float("nan"), 5e-324]
DOUBLES = st.one_of(st.sampled_from(SPECIAL), st.floats(), st.floats(-1e6, 1e6))
FLOATS = st.one_of(st.sampled_from(SPECIAL), st.floats(width=32))


def double_bits(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def float_bits(x: float) -> int:
    return int.from_bytes(struct.pack("<f", x if abs(x) <= 3.4e38 or x != x else x * 0), "little")


def is_nan(bits: int, width: int) -> bool:
    magnitude = bits & ((1 << (width - 1)) - 1)
    return magnitude > (0x7F800000 if width == 32 else 0x7FF0000000000000)


def check(name: str, width: int, *args: int) -> None:
    """Equal to the last bit; any NaN is as good as another."""
    natives = [Double(a) if width == 64 else a for a in args]
    truth = int(oracle()(name, *natives).result) & ((1 << width) - 1)
    m = FakeMachine()
    variables = [var(f"f{width}.{i}", width) for i in range(len(args))]
    inputs = {index_of(v): a for v, a in zip(variables, args, strict=True)}
    for result in (m.call(name, *args), evaluate(m.call(name, *variables), inputs)):
        assert result == truth or (is_nan(truth, width) and is_nan(result, width)), (name, args)
    assert not m.decisions


@pytest.mark.parametrize("name", sorted(UNARY))
@FEW
@given(DOUBLES, FLOATS)
def test_unary(name: str, x: float, y: float) -> None:
    check(name, 64, double_bits(x))
    check(f"{name}f", 32, float_bits(y))


@pytest.mark.parametrize("name", sorted(BINARY))
@FEW
@given(DOUBLES, DOUBLES, FLOATS, FLOATS)
def test_binary(name: str, x: float, y: float, z: float, w: float) -> None:
    check(name, 64, double_bits(x), double_bits(y))
    check(f"{name}f", 32, float_bits(z), float_bits(w))


@pytest.mark.parametrize("x", [*SPECIAL, 1.0, -1.0, 2.2250738585072014e-308])
def test_classes(x: float) -> None:
    m = FakeMachine()
    symbolic = var("d", 64)
    bits = double_bits(x)
    m.inputs[index_of(symbolic)] = bits
    for argument in (bits, symbolic):
        for name in ("__fpclassify", "__signbit"):
            assert m.value(m.call(name, argument)) == int(oracle()(name, Double(bits)).result)
        assert m.value(m.call("__isnan", argument)) == (x != x)
        assert m.value(m.call("__finite", argument)) == (abs(x) < float("inf"))
        infinite = m.value(m.call("__isinf", argument))
        assert infinite == {float("inf"): 1, float("-inf"): 0xFFFFFFFF}.get(x, 0)
    single = float_bits(x)
    for name in ("__fpclassifyf", "__signbitf"):
        assert m.call(name, single) == int(oracle()(name, single).result)
