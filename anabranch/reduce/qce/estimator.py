"""Query counts of a module: summaries bottom-up over the call graph, on demand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from anabranch.analysis.addresses import Base
from anabranch.analysis.callgraph import CallGraph, build_call_graph
from anabranch.analysis.components import named_components
from anabranch.analysis.escapes import Escapes
from anabranch.ir.module import CallInfo, Module
from anabranch.ir.types import Type
from anabranch.reduce.qce.counts import NO_COUNTS, Counts, GlobalCounts, Location
from anabranch.reduce.qce.function import FunctionCounts, Shape
from anabranch.reduce.qce.parameters import QceParameters
from anabranch.reduce.qce.summaries import NOTHING, Summary, external_summary, mixed


class QueryCounts:
    """The estimator. Everything is worked out when first asked for and kept; asking again is a lookup.

    A recursion is kappa deep: the functions of a cycle of direct calls start from nothing and are
    summarised kappa times, each round with the summaries of the one before. Calls through pointers that
    would close a cycle count nothing, because their callees are known by type only.
    """

    def __init__(self, module: Module, parameters: QceParameters | None = None) -> None:
        self.module = module
        self.parameters = parameters or QceParameters()
        self._graph: CallGraph | None = None
        self._component: dict[str, int] = {}
        self._members: list[list[str]] = []
        self._indirect: dict[str, int] = {}
        self._sites: dict[str, dict[tuple[int, int], tuple[tuple[str, ...], bool]]] = {}
        self._shapes: dict[str, Shape] = {}
        self._functions: dict[str, FunctionCounts] = {}
        self._summaries: dict[str, Summary] = {}
        self._counts: dict[tuple[str, Location], Counts] = {}
        self._escapes: Escapes | None = None
        self._stacks: dict[tuple[tuple[str, Location], ...], GlobalCounts] = {}

    def at(self, function: str, location: Location) -> Counts:
        """Local counts: from a location to the return of its function."""
        key = (function, location)
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = self._local(function, location)
        return found

    def _local(self, function: str, location: Location) -> Counts:
        body = self.module.functions.get(function)
        if body is None or body.is_declaration:
            return NO_COUNTS
        self.summary(function)
        counts = self._function(function)
        block = location if isinstance(location, int) else location[0]
        return counts.at(location) if counts.shape.cfg.reachable(block) else NO_COUNTS

    def global_counts(self, stack: Sequence[tuple[str, Location]]) -> GlobalCounts:
        """Counts of a stack, outermost frame first: the points after the calls of the callers, and the
        location of the innermost frame. See `GlobalCounts` for how they are added."""
        key = tuple(stack)
        found = self._stacks.get(key)
        if found is None:
            found = self._stacks[key] = GlobalCounts([self.at(*frame) for frame in key])
        return found

    def escapes(self, function: str, base: Base) -> bool:
        """May memory of this base be reached through pointers in memory? Then it has the count `heap` too.

        `function` is the one whose local the base is; a global has none.
        """
        if self._escapes is None:
            self._link()
            assert self._graph is not None
            self._escapes = Escapes(self._graph, lambda name: self._shape(name).addresses)
        return (function, base) in self._escapes

    def allocated_type(self, function: str, local: int) -> Type:
        """The type of a local variable, by the value that is its address."""
        allocation = self._shape(function).addresses.definitions[local]
        assert isinstance(allocation.extra, Type)
        return allocation.extra

    def summary(self, function: str) -> Summary:
        """What a call of a defined function brings to its caller."""
        found = self._summaries.get(function)
        if found is not None:
            return found
        self._link()
        # Callees first, with a stack of our own: call chains are as long as programs make them.
        pending = [self._component[function]]
        while pending:
            component = pending[-1]
            members = self._members[component]
            if members[0] in self._summaries:
                pending.pop()
                continue
            missing = {self._component[c] for m in members for c in self._callees(m)}
            missing = {c for c in missing if self._members[c][0] not in self._summaries}
            missing.discard(component)
            if missing:
                pending.extend(sorted(missing))
            else:
                pending.pop()
                self._summarise(members)
        return self._summaries[function]

    def _link(self) -> None:
        if self._graph is not None:
            return
        graph = self._graph = build_call_graph(self.module)
        defined = list(graph.sites)
        names = set(defined)
        every = {f: [c for c in graph.callees(f) if c in names] for f in defined}
        for number, members in enumerate(named_components(every)):
            self._indirect.update(dict.fromkeys(members, number))
        # Within a component of all calls, those through pointers are cut.
        kept = {
            f: [
                c
                for site in graph.sites[f]
                for c in site.callees
                if c in names and not (site.indirect and self._indirect[c] == self._indirect[f])
            ]
            for f in defined
        }
        self._members = named_components(kept)
        for number, members in enumerate(self._members):
            self._component.update(dict.fromkeys(members, number))
        for function in defined:
            self._sites[function] = {
                (s.block, s.index): (self._reached(function, s.callees, s.indirect), s.indirect)
                for s in graph.sites[function]
            }

    def _reached(self, function: str, callees: tuple[str, ...], indirect: bool) -> tuple[str, ...]:
        if not indirect:
            return callees
        own = self._indirect[function]
        return tuple(c for c in callees if self._indirect.get(c) != own)

    def _callees(self, function: str) -> list[str]:
        return [c for names, _ in self._sites[function].values() for c in names if c in self._component]

    def _summarise(self, members: list[str]) -> None:
        recursive = len(members) > 1 or members[0] in self._callees(members[0])
        if not recursive:
            self._summaries[members[0]] = self._function(members[0]).summary()
            return
        current = dict.fromkeys(members, NOTHING)
        for _ in range(self.parameters.kappa):
            self._summaries.update(current)
            for member in members:
                self._functions.pop(member, None)
            current = {member: self._function(member).summary() for member in members}
        # The counts of each function were made with the summaries of the last round but one, as its own.
        self._summaries.update(current)

    def _function(self, name: str) -> FunctionCounts:
        found = self._functions.get(name)
        if found is not None:
            return found
        sites, function = self._sites[name], self.module.functions[name]

        def callees(block: int, index: int) -> Summary:
            names, _ = sites.get((block, index), ((), False))
            info = function.blocks[block].instructions[index]
            assert isinstance(info.extra, CallInfo)
            return mixed([self._callee(callee, len(info.operands) - 1) for callee in names])

        found = self._functions[name] = FunctionCounts(
            self.module, self._shape(name), callees, partial(self.escapes, name), self.parameters
        )
        return found

    def _shape(self, name: str) -> Shape:
        found = self._shapes.get(name)
        if found is None:
            found = self._shapes[name] = Shape(self.module, self.module.functions[name], self.parameters)
        return found

    def _callee(self, name: str, arguments: int) -> Summary:
        if self.module.functions[name].is_declaration:
            return external_summary(name, arguments, self.parameters)
        return self._summaries[name]
