"""Copies from page to page: what the quick way does is what the careful way does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from anabranch import expr
from anabranch.machine.memory import Memory
from anabranch.machine.objects import ObjectNumbers

SIZES = (3, 40, 256, 700)


@pytest.fixture(autouse=True)
def fresh_expressions() -> Iterator[None]:
    expr.reset()
    yield
    expr.reset()


def twin(seed: int) -> tuple[Memory, list[int]]:
    """A memory with objects of known, symbolic and undefined bytes; the same for the same seed."""
    rng = random.Random(seed)
    numbers = ObjectNumbers()
    memory = Memory(numbers)
    bases = []
    for number, size in enumerate(SIZES):
        site = numbers.new_site("heap", f"o{number}")
        content = bytes(rng.randrange(256) for _ in range(size)) if rng.random() < 0.6 else None
        bases.append(memory.allocate(site, size, content))
        for _ in range(rng.randrange(4)):
            memory.store(bases[-1] + rng.randrange(size), 1, expr.var(f"v{rng.randrange(9)}", 8))
    if rng.random() < 0.5:
        memory.freeze()
        for base in bases:
            if rng.random() < 0.7:
                memory.store(base, 1, 7)
    return memory, bases


def contents(memory: Memory, bases: list[int]) -> list[list[Any]]:
    return [memory.read_bytes(base, size) for base, size in zip(bases, SIZES, strict=True)]


def same(one: list[list[Any]], other: list[list[Any]]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert all(x is y or (x.__class__ is int and x == y) for x, y in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("seed", range(200))
def test_copied_equals_read_and_write(seed: int) -> None:
    quick, bases = twin(seed)
    careful, _ = twin(seed)
    rng = random.Random(-seed)
    done = 0
    for _ in range(12):
        a, b = rng.randrange(len(SIZES)), rng.randrange(len(SIZES))
        size = rng.randrange(1, min(SIZES[a], SIZES[b]) + 1)
        to = bases[a] + rng.randrange(SIZES[a] - size + 1)
        source = bases[b] + rng.randrange(SIZES[b] - size + 1)
        before = contents(quick, bases)
        if quick.copied(to, source, size):
            done += 1
            careful.write_bytes(to, careful.read_bytes(source, size))
        else:
            same(contents(quick, bases), before)
    same(contents(quick, bases), contents(careful, bases))
    if not seed:
        assert done


def test_what_is_not_this_path_s_own_is_left_to_others() -> None:
    numbers = ObjectNumbers()
    memory = Memory(numbers)
    known = memory.allocate(numbers.new_site("heap", "k"), 8, b"abcdefgh")
    constant = memory.allocate(numbers.new_site("constant", "c"), 8, b"ABCDEFGH")
    memory.freeze()
    assert not memory.copied(known, constant, 4)  # shared with other paths so far
    assert not memory.copied(constant, known, 4)
    memory.store(known, 1, 0)
    assert memory.copied(known, constant, 4)
    assert bytes(memory.read_bytes(known, 8)) == b"ABCDefgh"
    assert not memory.copied(constant, known, 4)
    assert not memory.copied(known + 5, constant, 4)  # beyond the end: an error, for others to tell
    assert not memory.copied(known, constant + 5, 4)
    assert not memory.copied(expr.var("p", 64), constant, 4)
