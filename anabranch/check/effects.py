"""The effects of a function: what its callers see of a call (section 4.2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.events import GHOST, Event, Extent, Store
from anabranch.check.freeing import Free
from anabranch.check.leaves import Explicit, GlobalObject, LocalObject, Parameter, Unknown
from anabranch.check.summaries import RETURNED, RETURNS, WRITES_ANYTHING, Effect, needed_leaves
from anabranch.check.walk import either
from anabranch.expr import Expr, Value, bool_and, eq, ne, substitute
from anabranch.ir.types import IntType, PointerType

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class Effects:
    """Worked out when asked for, in terms of the function's own leaves."""

    def __init__(self, gated: Gated) -> None:
        self.gated = gated
        self.always_accessed: set[int] = set()
        """Parameters that every call dereferences: they are not NULL after the call."""
        self.not_null: list[Expr] = []
        """Pointers of the caller that were not NULL if the call came back."""
        self.frees: set[Expr] = set()
        """Bases of objects that callers may find freed."""
        self._known: dict[Effect, Value] = {}
        self._operands: dict[Effect, tuple[int, ...] | None] = {}
        self._extents: dict[Expr, Extent] = {}
        self.writes_blocks = False
        """Does it write blocks that it, or what it calls, has allocated?"""

    def collect(self) -> None:
        self._count_aliasing()
        for node in self.gated.graph.cfg.order:
            if not self.gated.dead[node]:
                for event in self.gated.memory.events[node]:
                    self._add(event)
        self.writes_blocks |= any(is_heap(self.gated.program.leaves.of(base)) for base in self._extents)
        # Parameters that were dereferenced on every way to the return.
        exit_ = self.gated.graph.exit
        if self.gated.graph.cfg.reachable(exit_):
            ends = [self.gated.facts[source] for source in self.gated.graph.predecessors(exit_)]
            facts = set(ends[0]).intersection(*ends[1:])
            for parameter in self.gated.function.params:
                value = self.gated.parameter_value(parameter.index)
                if value.__class__ is Expr and ("access", value.id) in facts:
                    self.always_accessed.add(parameter.index)
            leaves = self.gated.program.leaves
            self.not_null = [
                base
                for base in sorted(self.gated.memory.accessed, key=lambda base: base.id)
                if ("null", base.id) in facts
                and leaves.visible(base.a)
                and not isinstance(leaves.of(base), GlobalObject)
            ]

    def _add(self, event: Event) -> None:
        from anabranch.check.calls import CallEvent

        if isinstance(event, Store):
            for place in event.places:
                if place.base is not None:
                    self._write(place.base, place.offset, (event.width + 7) // 8)
        elif isinstance(event, CallEvent):
            for base, mapped in event.table.items():
                for part in mapped:
                    if part.extent is None or part.offset.__class__ is Expr:
                        self._extents[base] = None
                    else:
                        for start, size in part.extent:
                            self._write(base, start + part.offset, size)
            self.frees.update(event.freed)
            self.writes_blocks |= event.site.callee.effects.writes_blocks
        elif isinstance(event, Free):
            self.frees.update(event.bases())
        else:
            for base in event.bases():
                self._extents[base] = None

    def _write(self, base: Expr, offset: Value, size: int) -> None:
        extent = self._extents.setdefault(base, set())
        if extent is not None:
            if offset.__class__ is Expr or len(extent) > 256:
                self._extents[base] = None
            else:
                extent.add((offset & ((1 << 64) - 1), size))

    def written(self) -> dict[Expr, Extent]:
        """What callers may see change of what they gave."""
        leaves = self.gated.program.leaves
        return {base: extent for base, extent in self._extents.items() if leaves.visible(base.a)}

    def written_of(self, block: Expr) -> Extent:
        """What is written of a block that the function, or one that it calls, has allocated."""
        found = self._extents.get(block, set())
        site = self.gated.blocks.get(block)
        inner = set() if site is None else site.callee.effects.written_of(site.blocks[block])
        return None if found is None or inner is None else found | inner

    @property
    def returns(self) -> bool:
        """Can a call come back?"""
        exit_ = self.gated.graph.exit
        return self.gated.graph.cfg.reachable(exit_) and not self.gated.dead[exit_]

    def value(self, effect: Effect) -> Value:
        """The expression of one effect, in terms of the function's own leaves."""
        found = self._known.get(effect)
        if found is None:
            with self.gated.program.leaves.within(self.gated.name, effect):
                found = self._effect(effect)
            self._known[effect] = found
        return found

    def _effect(self, effect: Effect) -> Value:
        exit_ = self.gated.graph.exit
        if effect == RETURNED:
            results = self.gated.results
            return self.gated.merge(
                exit_, lambda source: results.get(source, self._no_result(source)), self.gated.returned_type
            )
        if effect == RETURNS:
            return bool_and(self.gated.relative(exit_, 0), self.gated.assume[0]) if self.returns else False
        if effect == WRITES_ANYTHING:
            return either(
                bool_and(bool_and(self.gated.relative(node, 0), self.gated.assume[0]), condition)
                for node, condition in self.gated.wild
            )
        if effect[0] == "memory":
            _, base, offset, width = effect
            assert isinstance(base, Expr) and isinstance(width, int)
            return self.gated.memory.read(exit_, 0, base, offset, width)
        if effect[0] == "null":
            inner = effect[1]
            assert isinstance(inner, tuple)
            null = self._null_result() if inner == RETURNED else None
            return self._tested(self.gated.program.nullness(self.value(inner)) if null is None else null)
        if effect[0] == "freed":
            base = effect[1]
            assert isinstance(base, Expr)
            return ne(self.gated.memory.read(exit_, 0, base, GHOST, 8), 0, 8)
        assert effect[0] == "path"
        return self.gated.paths[effect[1]].path()

    def _null_result(self) -> Value | None:
        """Is the result NULL, if some returns are of a pointer that was dereferenced on every way to them?"""
        gated, program = self.gated, self.gated.program
        checked = {
            source
            for source, result in gated.results.items()
            if (about := program.places.subject(result)).__class__ is Expr
            and ("null", about.id) in gated.facts[source]
        }
        if not checked or not isinstance(gated.returned_type, PointerType):
            return None

        def null(source: int) -> Value:
            return False if source in checked else program.nullness(self._result(source))

        return gated.merge(gated.graph.exit, null, IntType(1))

    def _result(self, source: int) -> Value:
        found = self.gated.results.get(source)
        return self._no_result(source) if found is None else found

    def _tested(self, null: Value) -> Value:
        """A pointer that only the function knows, and compares with NULL, may be NULL to its callers: the end
        of a list that was searched."""
        leaves, tests = self.gated.program.leaves, self.gated.tests
        found = {
            leaf.var: eq(leaf.of, 0, 64)
            for leaf in leaves.support(null)
            if isinstance(leaf, Explicit) and leaf.of in tests and isinstance(leaves.of(leaf.of), Unknown)
        }
        return substitute(null, found) if found else null

    def _no_result(self, source: int) -> Value:
        return self.gated.program.unknown(self.gated.returned_type, "unreachable code", None)

    def operands(self, effect: Effect) -> tuple[int, ...] | None:
        """The leaves that decide an effect, if it is deterministic."""
        if effect not in self._operands:
            self._operands[effect] = needed_leaves(self.gated.program.leaves, self.value(effect))
        return self._operands[effect]

    def _count_aliasing(self) -> None:
        """Terminal pointers are assumed not to alias: count where one that may is written."""
        leaves, memory = self.gated.program.leaves, self.gated.memory
        written = set().union(*memory.written) if memory.written else set()
        open_written = [b for b in written if self._may_alias(b)]
        if not open_written:
            return
        others = [
            b
            for b in memory.accessed | written
            if self._may_alias(b) or isinstance(leaves.of(b), GlobalObject)
        ]
        if len(others) > 1:
            self.gated.lose("pointers are assumed not to alias")

    def _may_alias(self, base: Expr) -> bool:
        leaf = self.gated.program.leaves.of(base)
        if isinstance(leaf, Parameter) and leaf.function == self.gated.name:
            attributes = self.gated.function.param_attrs[leaf.index]
            if attributes is not None and (attributes.byval or attributes.sret):
                return False  # an object that the compiler made for this call
        return not isinstance(leaf, GlobalObject | LocalObject)


def is_heap(leaf: object) -> bool:
    return isinstance(leaf, LocalObject) and leaf.heap
