"""A read at a symbolic offset gives what each place holds."""

from __future__ import annotations

import random

from anabranch import expr as X
from anabranch.expr import Expr, evaluate
from anabranch.expr.tables import read_table
from anabranch.expr.variables import postorder

OFFSET8: Expr
OFFSET: Expr
C: Expr
D: Expr


def setup_function() -> None:
    """Nodes are made anew: a run in another test may have given up those of before, and their numbers."""
    global OFFSET8, OFFSET, C, D
    OFFSET8 = X.var("tables.offset", 8)
    OFFSET = X.zext(OFFSET8, 8, 64)
    C, D = X.var("tables.c", 8), X.var("tables.d", 8)


def expected(data: list[X.Value], place: int, size: int, model: dict[int, int]) -> int:
    return int.from_bytes([evaluate(b, model) for b in data[place : place + size]], "little")


def check(data: list[X.Value], places: range, size: int, rng: random.Random) -> X.Value:
    value = read_table(data[places[0] :], places, size, OFFSET)
    for place in places:
        for _ in range(4):
            chosen = {
                OFFSET8.a: place,
                C.a: rng.choice([place, rng.randrange(256)]),
                D.a: rng.choice([place, rng.randrange(256)]),
            }
            assert evaluate(value, chosen) == expected(data, place, size, chosen)
    return value


def written(data: list[X.Value], where: Expr, value: X.Value) -> list[X.Value]:
    """The bytes after a write at a symbolic offset."""
    return [X.ite(X.eq(where, place, 8), value, old, 8) for place, old in enumerate(data)]


def test_numbers_that_grow_with_the_place_are_a_function_of_it() -> None:
    rng = random.Random(1)
    assert check(list(range(256)), range(256), 1, rng) is OFFSET8
    falling = [(255 - i) & 255 for i in range(256)]
    assert len(postorder([check(falling, range(256), 1, rng)])) <= 6
    upper = [i - 32 if 97 <= i <= 122 else i for i in range(256)]
    assert len(postorder([check(upper, range(256), 1, rng)])) <= 12


def test_a_table_written_at_symbolic_places_is_read_as_a_choice() -> None:
    rng = random.Random(2)
    data = written(written(list(range(256)), C, D), D, 7)
    assert len(postorder([check(data, range(256), 1, rng)])) <= 40
    marks = written(written([0] * 256, C, 1), D, 1)
    assert len(postorder([check(marks, range(256), 1, rng)])) <= 12
    data[100] = 3  # and then at a place that is known
    data[200] = C
    assert len(postorder([check(data, range(256), 1, rng)])) <= 80


def test_any_contents_sizes_and_steps() -> None:
    rng = random.Random(3)
    for _ in range(150):
        size = rng.choice([1, 2, 4])
        step = rng.choice([1, 2, 4, 3, 6])
        count = rng.randrange(1, 12)
        first = rng.randrange(5)
        length = first + step * count + size + 1
        data: list[X.Value] = [
            rng.choice([0, 0, i & 255, 3 * i & 255, rng.randrange(256)]) for i in range(length)
        ]
        for _ in range(rng.randrange(3)):
            data = written(data, rng.choice([C, D]), rng.choice([C, D, 9]))
        for _ in range(rng.randrange(3)):
            data[rng.randrange(length)] = rng.choice([C, D, 1])
        check(data, range(first, first + step * count, step), size, rng)


def test_places_told_one_by_one() -> None:
    rng = random.Random(4)
    data: list[X.Value] = [rng.randrange(256) for _ in range(200)]
    places = [3, 50, 51, 199]
    value = read_table(data[3:], places, 1, OFFSET)
    assert [evaluate(value, {OFFSET8.a: place}) for place in places] == [data[place] for place in places]


def test_numbers_in_floating_point_comparisons_keep_their_width() -> None:
    """The constant of a comparison has the width of what it is compared with, not that of the truth value."""
    x = X.var("tables.f", 32)
    limits = [0x3F800000 + 0x100000 * place for place in range(8)]
    data = [X.ite(X.fcmp("olt", x, limit, 32), 1, 0, 8) for limit in limits]
    value = read_table(data, range(8), 1, OFFSET)
    for place, limit in enumerate(limits):
        for bits in (limit - 1, limit, limit + 1):
            assert evaluate(value, {OFFSET8.a: place, x.a: bits}) == (bits < limit)
