"""For which inputs a value depends on uninitialised data."""

from __future__ import annotations

from anabranch.environment.api import Value
from anabranch.environment.ops import Condition, both, choice, either, negated
from anabranch.expr import Expr, operands
from anabranch.machine.undefined import has_undefined

NODES_LIMIT = 4000  # larger expressions may depend on uninitialised data anywhere


def is_tainted(value: Value) -> bool:
    """Whether uninitialised data occurs in a value."""
    return isinstance(value, Expr) and has_undefined(value)


def undefined_where(value: Value) -> Condition:
    """A condition without which uninitialised data has no influence on a value.

    Choices and connectives are followed: a copy that may be short leaves `ite(copied, source, unknown)`, a
    read at a symbolic place chooses among bytes. Any other operation counts as depending on its operands.
    """
    if not isinstance(value, Expr) or not has_undefined(value):
        return False
    known: dict[Expr, Condition] = {}
    stack = [value]
    while stack:
        if len(known) > NODES_LIMIT:
            return True
        node = stack[-1]
        parts = [part for part in operands(node) if has_undefined(part)]
        waiting = [part for part in parts if part not in known]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        known[node] = _of_node(node, parts, known)
    return known[value]


def _of_node(node: Expr, parts: list[Expr], known: dict[Expr, Condition]) -> Condition:
    if not parts:
        return True
    if node.op == "ite" and node.a not in known:
        left, right = (isinstance(part, Expr) and known.get(part, False) for part in (node.b, node.c))
        return choice(node.a, left, right)
    result: Condition = False
    for part in parts:
        result = either(result, known[part])
    if node.w == 1 and node.op in ("and", "or") and len(parts) == 1:
        other = node.b if parts[0] is node.a else node.a
        return both(result, other if node.op == "and" else negated(other))
    return result
