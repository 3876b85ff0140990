"""How often each block runs after a location: path weights along the unrolled graph (equation 6).

A branch gives each of its sides the weight beta. `q(l, c)` of the paper is linear in c, so it is enough to
know, for a location, the weight with which every block is visited. Loops are not unrolled: with w the
weight of coming back to the header, n iterations visit the body 1 + w + ... + w**(n-1) times as often as
one; after the last one the loop is left where its test leaves it, without another query, as in the paper's
example.

Weights grow beyond any float (beta > 0.5 means more paths than one after each branch), so that every set of
weights has a power of two apart from them.
"""

from __future__ import annotations

from math import inf, log2
from typing import cast

from anabranch.analysis.cfg import CFG
from anabranch.analysis.loops import Loop, LoopForest
from anabranch.ir.module import Block, Instruction
from anabranch.ir.values import ConstInt

_BIG = 2.0**300
_SHIFT = 300
_DOWN = 2.0**-_SHIFT

Edges = tuple[tuple[int, float], ...]


def edge_weights(block: Block, beta: float) -> Edges:
    """Successors of a block, each once, with the probability that they are feasible.

    A switch with d targets is a balanced tree of branches: beta ** log2(d) each.
    """
    last = block.instructions[-1]
    targets = known_targets(last)
    if last.opcode in ("invoke", "callbr"):
        return ((targets[0], 1.0),)
    if len(targets) < 2:
        return tuple((target, 1.0) for target in targets)
    weight = beta if len(targets) == 2 else beta ** log2(len(targets))
    return tuple((target, weight) for target in targets)


def known_targets(last: Instruction) -> tuple[int, ...]:
    """Different targets of a terminator, only one if its condition is a constant."""
    condition = last.operands[0] if last.operands else None
    if isinstance(condition, ConstInt):
        if last.opcode == "br":
            return last.targets[:1] if condition.value else last.targets[1:]
        if last.opcode == "switch":
            cases = cast(tuple[int, ...], last.extra)
            taken = cases.index(condition.value) + 1 if condition.value in cases else 0
            return last.targets[taken : taken + 1]
    return tuple(dict.fromkeys(last.targets))


class Visits:
    """Weights of blocks and of what lies outside the region, times 2 ** exponent."""

    __slots__ = ("back", "blocks", "exits", "exponent")

    def __init__(self) -> None:
        self.blocks: dict[int, float] = {}
        self.exits: dict[int, float] = {}
        self.back = 0.0
        self.exponent = 0

    def scale(self, factor: float) -> None:
        for part in (self.blocks, self.exits):
            for key in part:
                part[key] *= factor
        self.back *= factor

    def fit(self) -> None:
        """Take out powers of two until every weight is an ordinary number."""
        while True:
            largest = max(self.back, *self.blocks.values(), *self.exits.values(), 0.0)
            if largest < _BIG:
                return
            self.scale(_DOWN)
            self.exponent += _SHIFT

    def add(self, other: Visits, weight: float, exponent: int) -> None:
        """Add the blocks and exits (not the way back) of another set, times weight * 2 ** exponent."""
        ahead = other.exponent + exponent - self.exponent
        if ahead > 0:
            self.scale(2.0**-ahead)
            self.exponent += ahead
        else:
            weight *= 2.0**ahead
        for mine, theirs in ((self.blocks, other.blocks), (self.exits, other.exits)):
            for key, value in theirs.items():
                mine[key] = mine.get(key, 0.0) + weight * value
        self.fit()


class Scaled:
    """A number that is not negative, as value * 2 ** exponent, however large."""

    __slots__ = ("exponent", "value")

    def __init__(self, value: float, exponent: int = 0) -> None:
        while value >= _BIG:
            value, exponent = value * _DOWN, exponent + _SHIFT
        self.value = value
        self.exponent = exponent

    def times(self, other: Scaled) -> Scaled:
        return Scaled(self.value * other.value, self.exponent + other.exponent)

    def plus(self, other: Scaled) -> Scaled:
        exponent = max(self.exponent, other.exponent)
        return Scaled(self.at(exponent) + other.at(exponent), exponent)

    def at(self, exponent: int) -> float:
        """The number as a multiple of 2 ** exponent; 0 where it is too small for that."""
        return self.value * 2.0 ** (self.exponent - exponent)


def _rescale(result: Visits, pending: dict[int, float], power: int) -> None:
    factor = 2.0**-power
    result.scale(factor)
    result.exponent += power
    for key in pending:
        pending[key] *= factor


class PathWeights:
    """Weights in one function; `trips[header]` is the number of iterations of each loop, `growth` the largest
    weight with which an iteration may lead to the next."""

    def __init__(
        self, cfg: CFG, forest: LoopForest, edges: list[Edges], trips: dict[int, int], growth: float = inf
    ) -> None:
        self.cfg = cfg
        self.forest = forest
        self.edges = edges
        self.trips = trips
        self.growth = growth
        self._regions = self._order_regions()
        self._once: dict[int, Visits] = {}
        self._full: dict[tuple[int, int], Visits] = {}
        # Inner loops first, so that an outer one finds them done.
        for header in reversed(list(forest.loops)):
            self._once[header] = self._run_once(header)

    def _run_once(self, header: int) -> Visits:
        """One iteration: the header, then what its edges lead to in the loop."""
        result = self._pass(header, self.edges[header], self.cfg.number[header])
        result.blocks[header] = 2.0**-result.exponent
        return result

    def _order_regions(self) -> dict[int, list[int]]:
        """The nodes of each loop (and of the function, -1) in topological order; an inner loop is its
        header."""
        regions: dict[int, list[int]] = {-1: []}
        loops = self.forest.loops
        for block in self.cfg.order:
            region = self.forest.innermost[block]
            if region == block:
                regions[block] = []
                regions[loops[block].parent].append(block)
            else:
                regions[region].append(block)
        return regions

    def _node(self, block: int, region: int) -> int:
        """The node that stands for a block in a region: itself or the header of the loop it is in."""
        node = self.forest.innermost[block]
        if node == region:
            return block
        loops = self.forest.loops
        while loops[node].parent != region:
            node = loops[node].parent
        return node

    def _pass(self, region: int, arrivals: Edges, position: int) -> Visits:
        """Weights of one run through a region, inner loops in full.

        `arrivals`: edges with weights that come from the block numbered `position` in reverse postorder.
        """
        result = Visits()
        loops, number, visited = self.forest.loops, self.cfg.number, result.blocks
        inside = loops[region].blocks if region >= 0 else None
        pending: dict[int, float] = {}

        def leave(edges: Edges, weight: float, position: int) -> None:
            for target, share in edges:
                if target == region:
                    result.back += weight * share
                elif inside is not None and target not in inside:
                    result.exits[target] = result.exits.get(target, 0.0) + weight * share
                else:
                    node = self._node(target, region)
                    # An edge of an irreducible cycle leads back; what follows it is not counted.
                    if number[node] > position:
                        pending[node] = pending.get(node, 0.0) + weight * share

        leave(arrivals, 1.0, position)
        for node in self._regions[region]:
            weight = pending.pop(node, None)
            if weight is None:
                continue
            if node not in loops:
                visited[node] = visited.get(node, 0.0) + weight
                leave(self.edges[node], weight, number[node])
            else:
                loop = self._loop(node, self.trips[node])
                if loop.exponent:
                    _rescale(result, pending, loop.exponent)
                for key, value in loop.blocks.items():
                    visited[key] = visited.get(key, 0.0) + weight * value
                leave(tuple(loop.exits.items()), weight, number[node])
            if (weight >= _BIG or node in loops) and pending:
                while max(pending.values()) >= _BIG:
                    _rescale(result, pending, _SHIFT)
        result.fit()
        return result

    def _loop(self, header: int, iterations: int) -> Visits:
        """Weights of entering a loop at its header with so many iterations to go."""
        key = (header, iterations)
        found = self._full.get(key)
        if found is not None:
            return found
        once = self._once[header]
        weight = Scaled(once.back, once.exponent)
        if weight.exponent or weight.value > self.growth:
            weight = Scaled(self.growth) if self.growth < inf else weight
        power, total = Scaled(1.0, 0), Scaled(0.0, 0)
        for _ in range(iterations):
            total = total.plus(power)
            power = power.times(weight)
        result = Visits()
        result.exponent = total.exponent + once.exponent if iterations else 0
        result.blocks = {block: total.value * share for block, share in once.blocks.items()}
        result.exits = {target: total.value * share for target, share in once.exits.items()}
        last = power.at(result.exponent)
        for target, share in self._last_exits(self.forest.loops[header]).items():
            result.exits[target] = result.exits.get(target, 0.0) + last * share
        result.fit()
        self._full[key] = result
        return result

    def _last_exits(self, loop: Loop) -> dict[int, float]:
        """Where the loop is left when its iterations are used up: by the header's test, by the one at its
        end, by any other; in equal shares if there are several."""
        ends = {source for source, _ in loop.back_edges}
        for sources in ({loop.header}, ends, loop.blocks):
            targets = list(dict.fromkeys(t for s, t in loop.exits if s in sources))
            if targets:
                return dict.fromkeys(targets, 1.0 / len(targets))
        return {}

    def from_entry(self, block: int) -> Visits:
        """Weights of all blocks from the entry of a block on, itself included."""
        forest = self.forest
        region = forest.loops[block].parent if block in forest.loops else forest.innermost[block]
        return self._onward(region, ((block, 1.0),), self.cfg.number[block] - 1)

    def from_exit(self, block: int) -> Visits:
        """Weights of all blocks from the end of a block on; the block itself only if it is run again."""
        return self._onward(self.forest.innermost[block], self.edges[block], self.cfg.number[block])

    def _onward(self, region: int, arrivals: Edges, position: int) -> Visits:
        """From a region outwards to the function's end.

        The location is in the first iteration of every loop around it, as in the paper's recurrence: what is
        left of a loop is the rest of this iteration and one iteration less.
        """
        result = Visits()
        while True:
            part = self._pass(region, arrivals, position)
            part.exponent += result.exponent
            result.exits.clear()
            result.add(part, 1.0, 0)
            if region < 0:
                return result
            if part.back:
                result.add(self._loop(region, self.trips[region] - 1), part.back, part.exponent)
            arrivals = tuple(result.exits.items())
            position = self.cfg.number[region]
            region = self.forest.loops[region].parent
