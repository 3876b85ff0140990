"""What was found in a function, while its gated form is there: reports are made of it at once."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.check.conditions import Condition
from anabranch.check.refine import Answer
from anabranch.expr import Value


@dataclass(slots=True)
class Finding:
    """A condition that can be violated, with the values that do it."""

    condition: Condition
    answer: Answer
    bad: Value
    """The negated consequent as it was asked."""
    open_to: str
    """What it depends on of callers that are not known: "parameters", only "globals", "elsewhere" (globals
    that no function here writes hold other values than their first), or nothing."""
    approximate: tuple[str, ...]
    """Reasons why values that it depends on were taken as unknown: it may be impossible. Of a bad value that
    flows only its own: that the place is reached is for the reader to see."""
