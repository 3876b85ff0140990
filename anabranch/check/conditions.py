"""Verification conditions: an antecedent list and a consequent, never one expression (Definition 5).

`bad` is the negated consequent: what must not be. The antecedents say under which conditions the place is
reached, nearest first: those inside the callee that the condition was lifted from, then those of the
function that it is checked in, up the dominator tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anabranch.expr import Value, bool_and
from anabranch.ir.debug import DebugLoc

if TYPE_CHECKING:
    from anabranch.check.gate import Gated
    from anabranch.check.properties.base import Property
    from anabranch.check.requirements import Requirement
    from anabranch.check.summaries import Site


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
    evidence: object = field(default=None)
    """The value that is bad, for the report."""
    kind: str = ""
    """The kind of error, a row of `error_kinds`, if it is not the property's."""
    label: object = None
    """Tells it from others of its function, in every process alike."""
    passing: tuple[Site, Requirement] | None = None
    """It stands for all conditions that depend on what is passed at a call."""

    def path(self) -> Value:
        """The condition under which its place is reached."""
        result: Value = True
        for antecedent in self.antecedents:
            result = bool_and(result, antecedent)
        return result

    def depth(self) -> int:
        return len(self.calls)

    def place(self) -> object:
        """What it says of values of any kind, through whatever calls it was lifted."""
        root = self.root()
        return root.function.name, root.label

    def root(self) -> Condition:
        condition = self
        while condition.origin is not None:
            condition = condition.origin
        return condition
