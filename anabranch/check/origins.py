"""Where a bad value can come from, by form: from the function itself and what it calls, or from its callers.

A condition of a value that flows is a Boolean expression over *bad leaves*: the caller's pointer is an
explicit NULL, its object has been freed, its memory never written, or the same of an effect of a call. With
all of them false it is mostly false. Then no bad value arises here, which is known without a solver and
without opening anything; and an effect of a call whose bad leaves are all false at the call is false there.
"""

from __future__ import annotations

from typing import NamedTuple

from anabranch.check.leaves import Explicit, Freed, Leaf, Leaves, Operator, Undefined
from anabranch.expr import Expr, Value, variable
from anabranch.expr.evaluate import Substitution

FLOWING = ("null", "freed")
"""Effects that say that a value is bad."""
_BAD = (Explicit, Freed, Undefined)


class Origin(NamedTuple):
    own: bool
    """May it be true though no caller passes a bad value?"""
    passed: frozenset[Expr]
    """The leaves `Explicit`, `Freed` and `Undefined` by which callers may make it true. That an unknown value
    is an explicit NULL nobody says but a test in the same function."""

    def in_order(self) -> list[Expr]:
        """The leaves in an order that is the same in every process."""
        return sorted(self.passed, key=lambda leaf: leaf.id)


NOWHERE = Origin(False, frozenset())
HERE = Origin(True, frozenset())


def bad_leaves(leaves: Leaves, value: Value) -> list[Leaf]:
    return [leaf for leaf in leaves.support(value) if _is_bad(leaf)]


def _is_bad(leaf: Leaf) -> bool:
    return isinstance(leaf, _BAD) or (isinstance(leaf, Operator) and leaf.effect[0] in FLOWING)


class Origins:
    """The origins of Boolean expressions, each worked out once."""

    def __init__(self, leaves: Leaves) -> None:
        self.leaves = leaves
        self._known: dict[Expr, Origin] = {}
        self._without = Substitution(self._good)
        """An expression with all bad leaves false."""

    def of(self, value: Value) -> Origin:
        if value.__class__ is not Expr:
            return HERE if value else NOWHERE
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._of(value)
        return found

    def _of(self, value: Expr) -> Origin:
        bad = bad_leaves(self.leaves, value)
        own = not bad or self._without(value) is not False
        passed: set[Expr] = set()
        for leaf in bad:
            if isinstance(leaf, Operator):
                origin = self._operator(leaf)
                own = own or origin.own
                passed |= origin.passed
            elif self.leaves.visible(leaf.var.a):
                passed.add(leaf.var)
        return Origin(own, frozenset(passed))

    def _good(self, index: int) -> Value:
        leaf = self.leaves.at(index)
        return False if leaf is not None and _is_bad(leaf) else variable(index)

    def _operator(self, operator: Operator) -> Origin:
        found = self._known.get(operator.var)
        if found is None:
            found = self._known[operator.var] = operator.expansion.origin(self)
        return found
