"""Which objects an address is based on."""

from __future__ import annotations

from anabranch.expr import add, eq, ite, sub, var, zext
from anabranch.machine.bases import MAX_BASES, base_numbers

ROOM, TEXT = 7 << 32, 12 << 32


def choice(n: int, x: int, y: int) -> object:
    return ite(eq(var(f"base.{n}", 8), 1, 8), x, y, 64)


def index(n: int) -> object:
    return zext(var(f"index.{n}", 8), 8, 64)


def test_a_constant_names_its_object() -> None:
    assert base_numbers(add(index(0), ROOM, 64)) == [7]
    assert base_numbers(add(index(0), ROOM - 8, 64)) == [7]
    assert base_numbers(index(0)) == [0]


def test_choices_name_all_of_theirs() -> None:
    assert base_numbers(add(choice(0, ROOM, TEXT + 4), index(0), 64)) == [7, 12]
    assert base_numbers(add(add(choice(0, ROOM, ROOM + 1), index(0), 64), 9, 64)) == [7]


def test_a_part_that_is_taken_away_again_names_nothing() -> None:
    q = add(choice(0, TEXT, TEXT + 3), index(0), 64)
    p = add(choice(1, ROOM, ROOM + 9), index(1), 64)
    assert base_numbers(add(p, sub(TEXT + 12, q, 64), 64)) == [7]


def test_too_many_are_not_told() -> None:
    address = ROOM
    for n in range(MAX_BASES + 1):
        address = choice(n, (20 + n) << 32, address)
    assert base_numbers(address) is None
