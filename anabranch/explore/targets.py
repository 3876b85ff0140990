"""A run that aims at lines (`--target`): distances to them, who can still get there, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.distance import DistanceGraph
from anabranch.analysis.reach import MayReach
from anabranch.explore.coverage import BlockTable
from anabranch.explore.distance import MAX_FRAMES
from anabranch.explore.library import error_place
from anabranch.explore.limits import Losses
from anabranch.explore.search.context import UNREACHABLE
from anabranch.explore.target_lines import TargetLine
from anabranch.ir.module import Module
from anabranch.machine import Fault, Path, State, Where
from anabranch.machine.state import callers
from anabranch.report.result import TargetResult

STOPPED = "target"
"""Why a run ends that has found an error at every target, or has followed all paths to them."""

Accepts = Callable[[Path, Fault], bool]
"""Is this failing path, at a target, one that the run is for?"""


def _any(path: Path, fault: Fault) -> bool:
    return True


@dataclass(slots=True)
class _Known:
    """By counter number of the blocks translated so far."""

    to_target: list[int] = field(default_factory=list)
    to_return: list[int] = field(default_factory=list)
    reaches: list[bool] = field(default_factory=list)


class Targets:
    """What a run knows of its targets. `stop` ends the run; whoever runs it sets it."""

    def __init__(self, lines: Sequence[TargetLine], module: Module, entry: str, table: BlockTable) -> None:
        self.lines = tuple(lines)
        self.accepts: Accepts = _any
        self.stop: Callable[[str], None] = lambda why: None
        self.all_followed = False
        """Can no state that still waits reach a target?"""
        self._table = table
        self._found: dict[tuple[str, int], str] = {}
        self._other_errors: set[tuple[str, int]] = set()
        self._wanted = {(line.file, line.line) for line in lines}
        blocks: dict[str, set[int]] = {}
        for line in lines:
            for name, numbers in line.blocks.items():
                blocks.setdefault(name, set()).update(numbers)
        self._graph = DistanceGraph(build_call_graph(module, [entry]))
        self._distances = self._graph.to_targets(blocks)
        self._reach = MayReach(module, blocks)
        self._known = _Known()

    # ---- where states are ----------------------------------------------------------------------------

    def distance(self, state: State) -> int:
        """Instructions to the nearest target: from the block of a state, or from a caller after returning."""
        known = self._measured(state.place)
        nearest, way = known.to_target[state.place], known.to_return[state.place]
        for block in islice(_calling_blocks(state), MAX_FRAMES):
            if way >= nearest:
                break
            known = self._measured(block)
            nearest = min(nearest, way + known.to_target[block])
            way += known.to_return[block]
        return min(nearest, UNREACHABLE)

    def may_reach(self, state: State) -> bool:
        """May a path from here come to a target? False only if that is certain."""
        if self._measured(state.place).reaches[state.place]:
            return True
        return any(self._measured(block).reaches[block] for block in _calling_blocks(state))

    def _measured(self, number: int) -> _Known:
        """What is known of blocks, with this number among them."""
        known, table = self._known, self._table
        for new in range(len(known.reaches), number + 1):
            name, block = table.function_of(new).name, table.block_of(new)
            if block is None or name not in self._distances:
                known.to_target.append(UNREACHABLE)
                known.to_return.append(UNREACHABLE)
            else:
                known.to_target.append(min(self._distances[name][block], UNREACHABLE))
                known.to_return.append(min(self._graph.to_return[name][block], UNREACHABLE))
            known.reaches.append(True if block is None else self._reach.function(name)[block])
        return known

    # ---- what happens --------------------------------------------------------------------------------

    def exhausted(self) -> None:
        """No state that waits can reach a target."""
        self.all_followed = True
        self.stop(STOPPED)

    def failed(self, path: Path, key: Hashable, fault: Fault, where: Where | None) -> None:
        """A path ends in an error; once there was one at every target, the run is over."""
        place = error_place(fault, where)
        if place not in self._wanted or place in self._found:
            return
        if not self.accepts(path, fault):
            self._other_errors.add(place)
        else:
            self._found[place] = fault.kind
            if len(self._found) == len(self._wanted):
                self.stop(STOPPED)

    def results(self, counters: Sequence[int], losses: Losses) -> list[TargetResult]:
        """What came of each target, when the run is over and its losses are known."""
        ended = {STOPPED} if self.all_followed else set()
        followed = ended.issuperset(losses.as_dict())
        covered = self._table.lines_covered(counters)
        found = []
        for line in self.lines:
            place = (line.file, line.line)
            kind = self._found.get(place)
            if kind is not None:
                status = "error"
            elif place in self._other_errors:
                status = "reached"
            elif place in covered:
                status = "no error" if followed else "reached"
            else:
                status = "unreachable" if followed else "not reached"
            found.append(TargetResult(line.file, line.line, status, kind))
        return found


def _calling_blocks(state: State) -> Iterator[int]:
    """The blocks of a state's pending calls, innermost first."""
    for continuation in callers(state.continuation):
        site = continuation[1]
        yield site.unit.counters.segments[site.block, 0]
