"""The partition check's own parts: reader, evaluator of all inputs, decision tree. None may be fooled."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from bench.lib.bitslice import BitSlices, input_tables
from bench.lib.conditions import bits_of_float, place_of
from bench.lib.float_slices import Unsupported
from bench.lib.partition_tree import Partition, Proof
from bench.lib.smt import Reader, Script, SmtError, to_text

HEADER = "(declare-const |x#1| (_ BitVec 8)) (declare-const |y[1]#2| (_ BitVec 8))\n"


def signed(value: int) -> int:
    return value - 256 if value & 128 else value


def divide(a: int, b: int) -> int:
    return 255 if b == 0 else a // b


def signed_divide(a: int, b: int) -> int:
    if b == 0:
        return 1 if signed(a) < 0 else 255
    return math.trunc(signed(a) / signed(b)) & 255


def signed_rest(a: int, b: int) -> int:
    return a if b == 0 else int(math.fmod(signed(a), signed(b))) & 255


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "bvadd": lambda a, b: a + b,
    "bvsub": lambda a, b: a - b,
    "bvmul": lambda a, b: a * b,
    "bvand": lambda a, b: a & b,
    "bvor": lambda a, b: a | b,
    "bvxor": lambda a, b: a ^ b,
    "bvudiv": divide,
    "bvurem": lambda a, b: a if b == 0 else a % b,
    "bvsdiv": signed_divide,
    "bvsrem": signed_rest,
    "bvshl": lambda a, b: a << b if b < 8 else 0,
    "bvlshr": lambda a, b: a >> b if b < 8 else 0,
    "bvashr": lambda a, b: signed(a) >> min(b, 7),
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "=": lambda a, b: a == b,
    "bvult": lambda a, b: a < b,
    "bvule": lambda a, b: a <= b,
    "bvugt": lambda a, b: a > b,
    "bvuge": lambda a, b: a >= b,
    "bvslt": lambda a, b: signed(a) < signed(b),
    "bvsle": lambda a, b: signed(a) <= signed(b),
    "bvsgt": lambda a, b: signed(a) > signed(b),
    "bvsge": lambda a, b: signed(a) >= signed(b),
}


@pytest.fixture(scope="module")
def slices() -> BitSlices:
    xs, ys = [n & 255 for n in range(65536)], [n >> 8 for n in range(65536)]
    return BitSlices(65536, {"|x#1|": input_tables(xs, 8), "|y[1]#2|": input_tables(ys, 8)})


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_on_all_pairs_of_bytes(slices: BitSlices, operation: str) -> None:
    bits = slices.value(Reader().read(HEADER + f"(assert ({operation} |x#1| |y[1]#2|))").assertions[0])
    assert isinstance(bits, list)
    for n in random.Random(operation).sample(range(65536), 3000):
        got = sum((table >> n & 1) << k for k, table in enumerate(bits))
        assert got == OPERATIONS[operation](n & 255, n >> 8) & 255, (n & 255, n >> 8)


@pytest.mark.parametrize("operation", COMPARISONS)
def test_every_comparison(slices: BitSlices, operation: str) -> None:
    table = slices.table(Reader().read(HEADER + f"(assert ({operation} |x#1| |y[1]#2|))").assertions[0])
    for n in random.Random(operation).sample(range(65536), 3000):
        assert bool(table >> n & 1) == COMPARISONS[operation](n & 255, n >> 8)


def test_definitions_lets_and_widths(slices: BitSlices) -> None:
    script = Reader().read(
        HEADER + "(define-fun t () (_ BitVec 8) (bvadd |x#1| |y[1]#2|))\n"
        "(assert (let ((s ((_ sign_extend 8) t))) (bvslt (concat ((_ extract 7 0) s) t) #x0005)))"
    )
    table = slices.table(script.assertions[0])
    for n in range(0, 65536, 97):
        t = ((n & 255) + (n >> 8)) & 255
        whole = t << 8 | t
        assert bool(table >> n & 1) == ((whole - 65536 if whole & 32768 else whole) < 5)


def test_floating_point(slices: BitSlices) -> None:
    script = Reader().read(
        HEADER + "(define-fun f () (_ FloatingPoint 8 24) (fp.mul RNE ((_ to_fp 8 24) RNE |x#1|)"
        " ((_ to_fp 8 24) (_ bv1036831949 32))))\n(declare-const bits7 (_ BitVec 32))\n"
        "(assert (or (fp.isNaN f) (= ((_ to_fp 8 24) bits7) f)))\n"
        "(assert (= ((_ extract 31 31) bits7) #b1))\n"
        "(assert (fp.lt f ((_ to_fp 8 24) RNE (_ bv253 8))))"
    )
    defined = bits_of_float(script.assertions[0])
    assert defined is not None and defined[0] == "bits7"
    slices.define_bits(*defined)
    negative, small = slices.table(script.assertions[1]), slices.table(script.assertions[2])
    for n in range(256):
        assert bool(negative >> n & 1) == (signed(n) < 0)
        assert bool(small >> n & 1) == (signed(n) * 0.1 < -3.0)


def test_places_of_variables() -> None:
    script = Reader().read(HEADER + "(assert (= |x#1| |y[1]#2|))")
    places = [place_of(name, sort) for name, sort in script.constants.items()]
    assert [(p.name, p.offset, p.bits) for p in places] == [("x", 0, 8), ("y", 1, 8)]


@pytest.mark.parametrize("text", ["(assert", "(assert true))", "(frobnicate)"])
def test_malformed_scripts(text: str) -> None:
    with pytest.raises(SmtError):
        Reader().read(text)


C, D, E = "(bvult (bvadd |x#1| |y[1]#2|) #x0a)", "(= |x#1| #x03)", "(bvult |x#1| #x02)"


def partition(*paths: tuple[str, ...], domain: str = "true") -> Proof:
    reader = Reader()
    scripts: list[Script] = [reader.read(HEADER + "".join(f"(assert {c})" for c in path)) for path in paths]
    limits = list(reader.read(HEADER + f"(assert {domain})").assertions)
    return Partition(reader, scripts, limits).check()


def no(condition: str) -> str:
    return f"(not {condition})"


def test_a_partition_is_accepted() -> None:
    assert not partition((C,), (no(C), D), (no(C), no(D))).problems
    # conjuncts left out because others imply them
    assert not partition((E,), (D,), (no(D), no(E))).problems
    assert not partition((E,), domain=E).problems


def test_a_gap_is_found() -> None:
    assert "no path covers" in partition((C,), (no(C), D)).problems[0]
    assert partition((E,), (D,), (no(E), no(D), C)).problems


def test_an_overlap_is_found() -> None:
    assert "same input" in partition((C,), (no(C), D), (no(D),)).problems[0]
    assert partition((C,), (no(C),), (no(C), D)).problems


def test_text_keeps_the_meaning() -> None:
    reader = Reader()
    script = reader.read(HEADER + f"(assert (and {C} (or {C} {D})))")
    again = Reader().read(to_text(list(script.assertions), script.constants))
    assert len(again.assertions) == 2 and again.constants.keys() == script.constants.keys()


def test_bits_of_two_terms_are_not_confused() -> None:
    slices = BitSlices(4, {"|x#1|": input_tables([0, 1, 2, 3], 8)})
    reader = Reader()
    text = "(assert ((_ to_fp 8 24) RNE |x#1|)) (assert (fp.neg ((_ to_fp 8 24) RNE |x#1|)))"
    terms = reader.read(text).assertions
    slices.define_bits("bits1", terms[0])
    slices.define_bits("bits1", terms[0])
    with pytest.raises(Unsupported):
        slices.define_bits("bits1", terms[1])
