"""Verification conditions: an antecedent list and a consequent, never one expression (Definition 5).

`bad` is the negated consequent: what must not be. The antecedents say under which conditions the place is
reached, nearest first: those inside the callee that the condition was lifted from, then those of the
function that it is checked in, up the dominator tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anabranch.expr import Value, bool_and, bool_or
from anabranch.ir.debug import DebugLoc

if TYPE_CHECKING:
    from anabranch.check.gate import Gated
    from anabranch.check.properties.base import Property


@dataclass(frozen=True, slots=True)
class Call:
    """A call between the function that a condition is checked in and the place that it is about."""

    caller: str
    callee: str
    loc: DebugLoc | None


@dataclass(eq=False, slots=True)
class Condition:
    property: Property
    function: Gated
    """The function that it is checked in."""
    node: int
    bad: Value
    antecedents: tuple[Value, ...]
    """All of them; see `Gated.path`."""
    loc: DebugLoc | None
    """The place that it is about, which may be in a callee."""
    message: str
    key: object
    """What it is about, for reports that are the same."""
    calls: tuple[Call, ...] = ()
    """From `function` down to the place."""
    origin: Condition | None = None
    """The condition of the callee that this one was lifted from."""
    others: list[tuple[Value, ...]] = field(default_factory=list)
    """Antecedents of further places where the same must not be: as a requirement they are one condition."""
    evidence: object = field(default=None)
    """The value that is bad, for the report."""
    kind: str = ""
    """The kind of error, a row of `error_kinds`, if it is not the property's."""

    def path(self) -> Value:
        """The condition under which one of its places is reached."""
        result: Value = False
        for antecedents in (self.antecedents, *self.others):
            way: Value = True
            for antecedent in antecedents:
                way = bool_and(way, antecedent)
            result = bool_or(result, way)
        return result

    def depth(self) -> int:
        return len(self.calls)

    def root(self) -> Condition:
        condition = self
        while condition.origin is not None:
            condition = condition.origin
        return condition
