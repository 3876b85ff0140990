"""Summary operators: the effects of a call, closed until somebody opens them (section 4.2).

An effect of a function is one root of its graph: the returned value, the memory at a place, the condition
under which it returns, the path to a condition. At a call site it is an *operator*, a variable that stands
for the effect's expression with the callee's leaves replaced: parameters by arguments, input memory by the
caller's memory at the call, inner operators by operators, all other leaves by new ones. Deterministic
operators of equal effect and equal operands are one (merging of common summary operators, section 4.2.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from anabranch.check.leaves import (
    Explicit,
    Freed,
    GlobalObject,
    Leaf,
    Leaves,
    LocalObject,
    Memory,
    Operator,
    Parameter,
    Undefined,
    in_order,
)
from anabranch.check.origins import FLOWING, NOWHERE, Origin, Origins
from anabranch.expr import Expr, Value, add, variable
from anabranch.expr.evaluate import Substitution
from anabranch.expr.variables import postorder_within
from anabranch.ir.debug import DebugLoc
from anabranch.semantics.casts import coerce

if TYPE_CHECKING:
    from anabranch.check.conditions import Condition
    from anabranch.check.gate import Gated

Effect = tuple[object, ...]
"""`("ret",)`, `("memory", base, offset, width)`, `("returns",)`, `("path", number)`, `("null", effect)`
and so on."""

RETURNED: Effect = ("ret",)
RETURNS: Effect = ("cfc",)
"""The effect on the control-flow context: the call comes back."""
WRITES_ANYTHING: Effect = ("wild",)

MAX_OPERANDS = 32
"""Operators that depend on more are not merged: their operands would have to be read at every call."""


class Expansion(Protocol):
    """What an operator stands for."""

    def value(self) -> Value: ...

    def inside(self) -> Value:
        """The value in terms of the callee."""
        ...

    def small(self, nodes: int) -> bool:
        """Has it at most so many nodes in terms of the callee? To know what it is in terms of the caller
        costs as much as to open it."""
        ...

    def derived(self, effect: Effect) -> Value:
        """Another effect of the same call, as a value beside the operator."""
        ...

    def dependencies(self) -> list[Value]:
        """Values of the caller that have a say in it."""
        ...

    def origin(self, origins: Origins) -> Origin:
        """Where the bad value can come from, of an effect that says that a value is bad."""
        ...


class Site:
    """One call of a function that has a summary."""

    __slots__ = (
        "_facts",
        "_values",
        "arguments",
        "blocks",
        "callee",
        "caller",
        "guard",
        "instantiate",
        "label",
        "lifted",
        "loc",
        "node",
        "operators",
        "path",
        "position",
    )

    def __init__(
        self,
        caller: Gated,
        node: int,
        position: int,
        callee: Gated,
        arguments: tuple[Value, ...],
        loc: DebugLoc | None,
        label: tuple[str, int],
        guard: Value = True,
    ) -> None:
        self.caller = caller
        self.guard = guard
        """The condition under which an indirect call is one of the callee."""
        self.label = label
        """The name of the caller and the number of the call in it."""
        self.node = node
        self.position = position
        """Events of the node before the call."""
        self.callee = callee
        self.arguments = arguments
        self.loc = loc
        self._values: dict[int, Value] = {}
        self.instantiate = Substitution(self.value)
        """An expression of the callee in terms of the caller."""
        self._facts = caller.facts_now()
        self.path = caller.path(node) if guard is True else (guard, *caller.path(node))
        """The conditions under which the call is reached."""
        self.lifted: dict[Condition, Condition] = {}
        """Conditions of the callee in terms of the caller."""
        self.blocks: dict[Expr, Expr] = {}
        """Blocks of the callee that somebody asked for, by the caller's name for them. What a function calls
        has many, and pointers to few are ever seen."""
        self.operators: dict[Effect, Value] = {}
        """Effects of the call that somebody asked for. Every read behind the call asks again."""

    def value(self, index: int) -> Value:
        """What a variable of the callee is in terms of the caller."""
        found = self._values.get(index)
        if found is None:
            leaves = self.caller.program.leaves
            leaf = leaves.at(index)
            if leaf is None:
                found = variable(index)
            else:
                with leaves.within("site", self.label, leaf.var):
                    found = self._value(leaf)
            self._values[index] = found
        return found

    def _value(self, leaf: Leaf) -> Value:
        caller = self.caller
        leaves = caller.program.leaves
        if isinstance(leaf, GlobalObject):
            return leaf.var
        if isinstance(leaf, Parameter):
            return self._argument(leaf)
        if isinstance(leaf, Memory) and leaves.visible(leaf.var.a):
            address = add(self.value(leaf.base.a), leaf.offset, 64)
            return caller.memory.read_address(self.node, self.position, address, leaf.var.w)
        if isinstance(leaf, Explicit):
            pointer = self.value(leaf.of.a)
            return False if self._not_null(pointer) else caller.program.nullness(pointer)
        if isinstance(leaf, Freed):
            return caller.freed(self.node, self.position, self.value(leaf.of.a))
        if isinstance(leaf, Undefined):
            return self._undefined(leaf.of)
        if isinstance(leaf, Operator):
            return caller.program.summaries.moved(leaf, self)
        found = leaves.renamed(leaf)
        if isinstance(leaf, LocalObject) and leaf.heap:
            self.blocks[found] = leaf.var
            caller.blocks[found] = self
            caller.memory.written[self.node].add(found)
        return found

    def _undefined(self, value: Expr) -> Value:
        """Did the caller never write a value that the callee reads from memory?"""
        caller, leaf = self.caller, self.caller.program.leaves.of(value)
        assert isinstance(leaf, Memory)
        places = caller.program.places.of(add(self.value(leaf.base.a), leaf.offset, 64))
        return caller.memory.undefined(self.node, self.position, places, value.w)

    def _not_null(self, pointer: Value) -> bool:
        """Was a pointer dereferenced or tested on every way to the call?"""
        return pointer.__class__ is Expr and self._facts.has(
            "null", self.caller.program.places.pointer(pointer)
        )

    def origin(self, origins: Origins, inside: Origin) -> Origin:
        """An origin in terms of the callee, seen by the caller."""
        parts = [origins.of(self.value(leaf.a)) for leaf in inside.in_order()]
        own = inside.own or any(part.own for part in parts)
        return Origin(own, frozenset().union(*(part.passed for part in parts)))

    def _argument(self, leaf: Parameter) -> Value:
        width = leaf.var.w
        if leaf.index >= len(self.arguments):
            return self.caller.program.leaves.unknown(width, "an argument that is not passed", self.loc)
        value = self.arguments[leaf.index]
        if isinstance(value, tuple) or value is None:
            return self.caller.program.leaves.unknown(width, "an aggregate argument", self.loc)
        given = value.w if value.__class__ is Expr else width
        return value if given == width else coerce(value, given, width)


class AtSite:
    """An effect of the callee, at a call."""

    __slots__ = ("effect", "site", "summaries")

    def __init__(self, summaries: Summaries, site: Site, effect: Effect) -> None:
        self.summaries = summaries
        self.site = site
        self.effect = effect

    def value(self) -> Value:
        return self.site.instantiate(self.inside())

    def inside(self) -> Value:
        return self.site.callee.effects.value(self.effect)

    def small(self, nodes: int) -> bool:
        return self.summaries.is_small(self.inside(), nodes)

    def derived(self, effect: Effect) -> Value:
        return self.summaries.operator(self.site, effect, 1)

    def dependencies(self) -> list[Value]:
        return _dependencies(self.site, [self.inside()])

    def origin(self, origins: Origins) -> Origin:
        return self.site.origin(origins, origins.of(self.inside()))


def _dependencies(site: Site, inside: Iterable[Value]) -> list[Value]:
    """What visible leaves, and operators, of values of the callee are to the caller."""
    leaves = site.caller.program.leaves
    found: dict[int, Value] = {}
    for value in inside:
        for leaf in leaves.support(value):
            index = leaf.var.a
            if index not in found and (isinstance(leaf, Operator) or leaves.visible(index)):
                found[index] = site.value(index)
    return list(found.values())


class Moved:
    """An operator that occurs in an effect of a callee, seen by the caller."""

    __slots__ = ("inner", "site", "summaries")

    def __init__(self, summaries: Summaries, inner: Operator, site: Site) -> None:
        self.summaries = summaries
        self.inner = inner
        self.site = site

    def value(self) -> Value:
        return self.site.instantiate(self.summaries.expanded(self.inner))

    def inside(self) -> Value:
        return self.inner.var

    def small(self, nodes: int) -> bool:
        known = self.summaries
        return known.small(self.inner, nodes) and known.is_small(known.expanded(self.inner), nodes)

    def derived(self, effect: Effect) -> Value:
        return self.site.instantiate(self.inner.expansion.derived(effect))

    def dependencies(self) -> list[Value]:
        operands = self.inner.operands
        inside = self.inner.expansion.dependencies() if operands is None else operands
        return _dependencies(self.site, inside)

    def origin(self, origins: Origins) -> Origin:
        return self.site.origin(origins, origins.of(self.inner.var))


class Summaries:
    """All operators of a program."""

    def __init__(self, leaves: Leaves) -> None:
        self.leaves = leaves
        self.origins = Origins(leaves)
        self._known: dict[Operator, Value] = {}
        self._small: dict[tuple[Operator | Expr, int], bool] = {}
        """Of operators and expressions whose size was asked for: effects are the same at many calls."""

    def operator(self, site: Site, effect: Effect, width: int, pointer: bool = False) -> Value:
        """An effect of a call. One that is a number is not hidden behind an operator, nor is a bad value that
        can come from nowhere."""
        found = site.operators.get(effect)
        if found is None:
            found = site.operators[effect] = self._operator(site, effect, width, pointer)
        return found

    def _operator(self, site: Site, effect: Effect, width: int, pointer: bool) -> Value:
        value = site.callee.effects.value(effect)
        if value.__class__ is not Expr:
            return value
        if effect[0] in FLOWING and site.origin(self.origins, self.origins.of(value)) == NOWHERE:
            return False
        needed = site.callee.effects.operands(effect)
        operands = None if needed is None else tuple(map(site.value, needed))
        return self._find(
            site, site.callee.name, effect, operands, (), width, pointer, AtSite(self, site, effect)
        )

    def moved(self, inner: Operator, site: Site) -> Value:
        """An operator of the callee at a call of that callee."""
        if inner.effect[0] in FLOWING and site.origin(self.origins, self.origins.of(inner.var)) == NOWHERE:
            return False
        operands = None if inner.operands is None else tuple(map(site.instantiate, inner.operands))
        return self._find(
            site,
            inner.function,
            inner.effect,
            operands,
            (inner.var,),
            inner.var.w,
            inner.pointer,
            Moved(self, inner, site),
        )

    def _find(
        self,
        site: Site,
        function: str,
        effect: Effect,
        operands: tuple[Value, ...] | None,
        inner: tuple[Expr, ...],
        width: int,
        pointer: bool,
        expansion: Expansion,
    ) -> Expr:
        name = f"{function}:{effect[0]}"
        if operands is None:
            found = self.leaves.add(name, width, "at", site.label, effect, inner)
        else:
            found = self.leaves.add(name, width, "of", site.caller.name, effect, operands)
        if self.leaves.of(found) is None:
            self.leaves.register(Operator(found, function, effect, expansion, operands, pointer))
        return found

    def small(self, operator: Operator, nodes: int) -> bool:
        """See `Expansion.small`."""
        found = self._small.get((operator, nodes))
        if found is None:
            found = self._small[operator, nodes] = operator.expansion.small(nodes)
        return found

    def is_small(self, value: Value, nodes: int) -> bool:
        if value.__class__ is not Expr:
            return True
        found = self._small.get((value, nodes))
        if found is None:
            found = self._small[value, nodes] = postorder_within([value], nodes) is not None
        return found

    def expanded(self, operator: Operator) -> Value:
        """The expression that an operator stands for."""
        found = self._known.get(operator)
        if found is None:
            found = self._known[operator] = operator.expansion.value()
        return found


def needed_leaves(leaves: Leaves, value: Value) -> tuple[int, ...] | None:
    """The visible leaves that decide a value; None if others do too, or if they are many."""
    if value.__class__ is not Expr:
        return ()
    needed: dict[int, None] = {}
    stack, seen = [value], {value}
    while stack:
        for index in in_order(stack.pop()):
            leaf = leaves.at(index)
            if isinstance(leaf, Operator):
                if leaf.operands is None:
                    return None
                for operand in leaf.operands:
                    if operand.__class__ is Expr and operand not in seen:
                        seen.add(operand)
                        stack.append(operand)
            elif isinstance(leaf, GlobalObject):
                continue
            elif leaf is None or not leaves.visible(index):
                return None
            else:
                needed[index] = None
                if len(needed) > MAX_OPERANDS:
                    return None
    return tuple(needed)
