"""Uses of what only a caller can have made bad: memory that it freed, values that it never wrote.

Such a condition holds in the function itself, whatever it computes. It is kept beside the function, and
becomes a condition where a caller has something that may be bad; until then it costs no query and is no
requirement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.leaves import Freed, Leaves, Undefined
from anabranch.expr import Expr, Value, bool_and, not_, substitute

if TYPE_CHECKING:
    from anabranch.check.conditions import Condition

MAX_USES = 60
"""Uses of one function; those of further pointers are counted and left out."""
MAX_DEPTH = 3
"""Calls between a use and the caller that it is checked in."""


class Uses:
    """The uses of one function, in terms of its leaves; those of the same value are one."""

    def __init__(self) -> None:
        self.conditions: list[Condition] = []
        self._by_value: dict[tuple[str, int], Condition] = {}

    def add(self, condition: Condition) -> bool:
        """False if there is no room for it."""
        key = (condition.property.name, condition.bad.id)
        known = self._by_value.get(key)
        if known is not None:
            known.others.append(condition.antecedents)
        elif len(self.conditions) >= MAX_USES or condition.depth() > MAX_DEPTH:
            return False
        else:
            self._by_value[key] = condition
            self.conditions.append(condition)
        return True


def split(leaves: Leaves, bad: Value) -> tuple[Value, Value]:
    """What is bad by what happens in the function itself, and what only by what its caller has done."""
    if bad.__class__ is not Expr:
        return bad, False
    callers = {
        leaf.var: False
        for leaf in leaves.support(bad)
        if isinstance(leaf, Freed | Undefined) and leaves.visible(leaf.var.a)
    }
    if not callers:
        return bad, False
    here = substitute(bad, callers)
    return here, bool_and(bad, not_(here))
