"""What callers see of a function, as a digest: if it is what it was, nobody who calls it is checked again.

Names of leaves and ids of nodes are digests, so that those of the conditions, values and events of a gated
form stand for all that effects are worked out of. Places in the source are left out: a record says which
functions its reports mention (`cache`). Callees are told by name; what is known of them is their own
interface (`keys`).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import fields

from anabranch.check.calls import Mapped
from anabranch.check.conditions import Call, Condition
from anabranch.check.effects import Effects
from anabranch.check.events import Event
from anabranch.check.gate import FactsAt, Gated
from anabranch.check.graph import AcyclicGraph, Node
from anabranch.check.memory import MemoryOf
from anabranch.check.properties.base import Property
from anabranch.check.requirements import Requirement
from anabranch.check.summaries import Site
from anabranch.expr import Expr
from anabranch.expr.node import digest
from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import Function, Instruction

_NOT_SEEN: dict[type, frozenset[str]] = {
    Gated: frozenset(
        (
            "program",
            "function",
            "name",
            "conditions",
            "paths",
            "facts",
            "edge_facts",
            "tests",
            "blocks",
            "null_places",
            "current",
            "returned_type",
            "_now",
            "_relative",
            "_single",
            "_copied",
            "_definitions",
            "_copies",
            "_allocas",
            "_loops",
            "_firsts",
            "_labels",
            "_uses",
        )
    ),
    MemoryOf: frozenset(
        (
            "leaves",
            "places",
            "graph",
            "initial_global",
            "size_of",
            "name",
            "joins",
            "written",
            "accessed",
            "complete",
            "values",
            "_undefined",
            "_initial",
            "_unknown",
            "_next",
        )
    ),
    Effects: frozenset(
        (
            "gated",
            "_known",
            "_operands",
        )
    ),
    AcyclicGraph: frozenset(
        (
            "cfg",
            "tree",
            "post",
            "loops",
        )
    ),
    Site: frozenset(
        (
            "caller",
            "loc",
            "blocks",
            "_values",
            "instantiate",
            "lifted",
        )
    ),
    Condition: frozenset(
        (
            "function",
            "loc",
            "origin",
            "passing",
        )
    ),
}
"""Fields that callers do not look at, that follow from others, or that keep what was worked out before. All
others are seen, those that somebody adds too."""


_ATOMS = frozenset((bool, int, str, type(None)))


def form_of(gated: Gated) -> str:
    """Of the function alone."""
    graph = gated.graph
    shape = [(node, graph.tree.parent[node], graph.predecessors(node)) for node in graph.cfg.order]
    beside = (
        str(gated.returned_type),
        told_attributes(gated.function),
        bool(gated.null_places),
        bool(gated.tests),
    )
    return f"{digest((_fields(gated), _plain(shape), beside)):x}"


def told_attributes(function: Function) -> tuple[object, ...]:
    """The attributes of the parameters, the same in every process."""
    return tuple(
        None
        if attributes is None
        else tuple(
            sorted(part) if isinstance(part, Set) else str(part)
            for part in (getattr(attributes, f.name) for f in fields(attributes))
        )
        for attributes in function.param_attrs
    )


def _plain(value: object) -> object:
    """Something without identities and places in the source."""
    if value.__class__ in _ATOMS:
        return value
    if isinstance(value, Expr):
        return value.id
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return tuple((_plain(key), _plain(part)) for key, part in value.items())
    if isinstance(value, Set):
        return tuple(sorted(map(_plain, value), key=repr))
    if isinstance(value, DebugLoc | Instruction):
        return None
    if isinstance(value, Gated | Property):
        return value.name
    if isinstance(value, FactsAt):
        return tuple(sorted(value.all()))
    if isinstance(value, Requirement):
        inner = [(site.label, requirement.leaf) for site, requirement in value.passed_on]
        return _plain((value.leaf, value.property, value.depth, value.conditions, inner))
    if isinstance(value, Condition):
        return (*_fields(value), value.root().function.name)
    if isinstance(value, MemoryOf | Effects | AcyclicGraph | Event | Mapped | Call | Node):
        return _fields(value)
    if isinstance(value, Site):
        return value.label
    raise TypeError(f"{type(value).__name__} in a gated form")


def _fields(value: object) -> tuple[object, ...]:
    hidden = _NOT_SEEN.get(type(value), frozenset())
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    names += getattr(value, "__dict__", ())
    shown = [name for name in names if name not in hidden]
    found: list[object] = [type(value).__name__]
    for name in shown:
        part = getattr(value, name)
        sites = name == "calls" and isinstance(value, Gated)
        found.append((name, tuple(map(_fields, part)) if sites else _plain(part)))
    return tuple(found)
