"""A state's stack as query count estimation sees it: locations, and the counts of values in each frame."""

from __future__ import annotations

from typing import Any

from anabranch.ir.values import Local
from anabranch.machine.state import State, frames
from anabranch.machine.translator.plan import Plan
from anabranch.machine.translator.sites import PointSite, StartSite, Target
from anabranch.reduce.qce import GlobalCounts, Location, QueryCounts

Values = tuple[Any, ...]


def stack_frames(state: State) -> list[tuple[Any, Values]]:
    """The sites of all frames with their live values, outermost first."""
    return [*frames(state)][::-1]


def location(site: Any) -> Location:
    """Where a frame goes on."""
    if isinstance(site, Target):
        kind, block = site.key[0], site.key[1]
        if kind == "block":
            return site.block
        if kind == "edge":
            return int(site.key[2])
        last = len(site.unit.plan.blocks[block].instructions) - 1
        return (block, last - 1) if last else int(block)
    if isinstance(site, PointSite):
        return (site.block, site.position - 1) if site.position else site.block
    if isinstance(site, StartSite):
        return 0
    return (site.block, site.position)  # after a call


class StackCounts:
    """Counts of one stack of sites: the total, and those of each live value."""

    __slots__ = ("counts", "memory", "registers", "total")

    def __init__(self, sites: list[Any], estimator: QueryCounts) -> None:
        where = [(site.unit.function.name, location(site)) for site in sites]
        self.counts: GlobalCounts = estimator.global_counts(where)
        self.total = self.counts.total
        self.registers = [self._register_counts(number, site) for number, site in enumerate(sites)]
        self._count_result(sites)
        self.memory: dict[tuple[Any, ...], float] = {}
        """Counts of bytes by the bases that name them, as far as they were asked for."""

    def _count_result(self, sites: list[Any]) -> None:
        """A value that the innermost frame is about to return counts as what it becomes in the caller."""
        site = sites[-1]
        if len(sites) == 1 or not isinstance(site, Target) or site.key[0] != "block":
            return
        last = site.unit.plan.blocks[site.block].instructions[-1]
        caller = sites[-2]
        result = caller.unit.plan.blocks[caller.block].instructions[caller.position].result
        if last.opcode != "ret" or result is None or not isinstance(last.operands[0], Local):
            return
        name = f"v{site.unit.plan.index_of(last.operands[0])}"
        if name in site.names:
            position = site.names.index(name)
            own = self.registers[-1]
            own[position] = max(own[position], self.counts.of(len(sites) - 2, result.index))

    def _register_counts(self, frame: int, site: Any) -> list[float]:
        """Aligned with the names of the site."""
        plan: Plan = site.unit.plan
        passed = phi_inputs(plan, site)
        found = []
        for name in site.names:
            if name in ("D", "va"):
                found.append(0.0)
                continue
            index = int(name[1:])
            indices = (index, *passed.get(index, ()))
            found.append(max(self.counts.of(frame, i) for i in indices))
        return found


def phi_inputs(plan: Plan, site: Any) -> dict[int, list[int]]:
    """On an edge, the phis are not yet assigned: the indices of the phis that each value goes to."""
    if not isinstance(site, Target) or site.key[0] != "edge":
        return {}
    passed: dict[int, list[int]] = {}
    for phi, operand in plan.incoming(site.key[1], site.key[2]):
        if isinstance(operand, Local):
            passed.setdefault(plan.index_of(operand), []).append(phi.index)
    return passed
