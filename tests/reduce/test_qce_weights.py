"""Path weights against loops that are unrolled for real."""

from __future__ import annotations

import random
from math import log2

import pytest

from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.loops import LoopForest, find_loops
from anabranch.ir import read_module
from anabranch.reduce.qce.weights import PathWeights, Scaled, Visits, edge_weights

from .programs import random_function

Counters = tuple[tuple[int, int], ...]


class Unrolled:
    """Equation 6 by recursion: a state is a block and the iterations left of every loop around it."""

    def __init__(self, weights: PathWeights, forest: LoopForest) -> None:
        self.weights = weights
        self.forest = forest
        self.known: dict[tuple[int, Counters], dict[int, float]] = {}

    def start(self, block: int) -> dict[int, float]:
        counters = tuple(
            (header, self.weights.trips[header])
            for header, loop in self.forest.loops.items()
            if block in loop.blocks
        )
        return self.visits(block, counters)

    def visits(self, block: int, counters: Counters) -> dict[int, float]:
        key = (block, counters)
        if key not in self.known:
            total = {block: 1.0}
            for target, weight in self.weights.edges[block]:
                self.add(total, self.arrive(block, target, counters), weight)
            self.known[key] = total
        return self.known[key]

    def arrive(self, source: int, target: int, counters: Counters) -> dict[int, float]:
        left = {h: n for h, n in counters if target in self.forest.loops[h].blocks}
        if target in self.forest.loops:
            loop = self.forest.loops[target]
            if source in loop.blocks:
                left[target] -= 1
                if left[target] == 0:
                    total: dict[int, float] = {}
                    for out, share in self.last_exits(target).items():
                        self.add(total, self.arrive(target, out, tuple(left.items())), share)
                    return total
            else:
                left[target] = self.weights.trips[target]
        return self.visits(target, tuple(sorted(left.items())))

    def last_exits(self, header: int) -> dict[int, float]:
        """Written down again, from the rule: the header's exits, else the latches', else all."""
        loop = self.forest.loops[header]
        groups = [
            {t for s, t in loop.exits if s == header},
            {t for s, t in loop.exits if (s, header) in loop.back_edges},
            {t for _, t in loop.exits},
        ]
        chosen = next((g for g in groups if g), set())
        return {target: 1 / len(chosen) for target in chosen}

    @staticmethod
    def add(total: dict[int, float], part: dict[int, float], weight: float) -> None:
        for block, value in part.items():
            total[block] = total.get(block, 0.0) + weight * value


def positive(visits: Visits) -> dict[int, float]:
    return {block: weight for block, weight in visits.blocks.items() if weight}


@pytest.mark.parametrize("seed", range(60))
def test_weights_are_those_of_the_unrolled_function(seed: int) -> None:
    rng = random.Random(seed)
    function = read_module(random_function(rng)).functions["f"]
    cfg = build_cfg(function)
    forest = find_loops(cfg)
    edges = [edge_weights(block, 0.7) for block in function.blocks]
    trips = {header: rng.randint(1, 3) for header in forest.loops}
    weights = PathWeights(cfg, forest, edges, trips)
    unrolled = Unrolled(weights, forest)
    for block in cfg.order:
        visits = weights.from_entry(block)
        assert visits.exponent == 0
        assert positive(visits) == pytest.approx(unrolled.start(block))
        after = positive(weights.from_exit(block))
        after[block] = after.get(block, 0.0) + 1.0
        assert after == pytest.approx(unrolled.start(block))


def test_numbers_beyond_floats_keep_their_proportions() -> None:
    blocks = "".join(
        f"b{i}:\n  br i1 %c, label %t{i}, label %b{i + 1}\nt{i}:\n  br label %b{i + 1}\n" for i in range(2000)
    )
    text = f"define void @f(i1 %c) {{\n  br label %b0\n{blocks}b2000:\n  ret void\n}}\n"
    function = read_module(text).functions["f"]
    cfg = build_cfg(function)
    edges = [edge_weights(block, 0.8) for block in function.blocks]
    found = PathWeights(cfg, find_loops(cfg), edges, {}).from_entry(0)
    names = {block.name: block.index for block in function.blocks}
    assert found.exponent > 0
    # Each of the 2000 branches multiplies the paths by 2 * 0.8.
    last, before = found.blocks[names["b2000"]], found.blocks[names["b1990"]]
    assert last / before == pytest.approx(1.6**10)
    assert found.exponent + log2(last) == pytest.approx(2000 * log2(1.6))


def test_nested_loops_beyond_floats() -> None:
    depth = 5
    head = "".join(f"h{i}:\n  br i1 %c, label %{_inner(i, depth)}, label %x{i}\n" for i in range(depth))
    exits = "".join(f"x{i}:\n  br label %{'h' + str(i - 1) if i else 'end'}\n" for i in range(depth))
    body = "body:\n  br i1 %c, label %l, label %r\nl:\n  br label %j\nr:\n  br label %j\n"
    join = "j:\n  br i1 %c, label %k, label %m\nk:\n  br label %n\nm:\n  br label %n\n"
    join += f"n:\n  br label %h{depth - 1}\n"
    text = f"define void @f(i1 %c) {{\n  br label %h0\n{head}{body}{join}{exits}end:\n  ret void\n}}\n"
    function = read_module(text).functions["f"]
    cfg = build_cfg(function)
    forest = find_loops(cfg)
    edges = [edge_weights(block, 0.9) for block in function.blocks]
    found = PathWeights(cfg, forest, edges, dict.fromkeys(forest.loops, 10)).from_entry(0)
    assert found.exponent > 10_000
    assert all(0 <= w < 2.0**301 for w in found.blocks.values())
    assert max(found.blocks.values()) > 0
    limited = PathWeights(cfg, forest, edges, dict.fromkeys(forest.loops, 10), 1.0).from_entry(0)
    assert limited.exponent == 0


def _inner(level: int, depth: int) -> str:
    return f"h{level + 1}" if level + 1 < depth else "body"


def test_scaled_numbers() -> None:
    huge = Scaled(2.0**299).times(Scaled(2.0**299)).times(Scaled(2.0**299))
    assert huge.at(890) == 2.0**7
    assert huge.plus(Scaled(1.0)).at(890) == 2.0**7
    assert Scaled(3.0).plus(Scaled(4.0)).at(0) == 7.0


@pytest.mark.parametrize(("word", "expected"), [("true", 1), ("false", 2)])
def test_a_constant_condition_is_no_branch(word: str, expected: int) -> None:
    text = f"define void @f() {{\n  br i1 {word}, label %a, label %b\na:\n  ret void\nb:\n  ret void\n}}\n"
    block = read_module(text).functions["f"].blocks[0]
    assert edge_weights(block, 0.8) == ((expected, 1.0),)
