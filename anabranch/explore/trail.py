"""The decisions that led a path to an error, with their locations in the user's source."""

from __future__ import annotations

from anabranch.explore.coverage import BlockTable
from anabranch.explore.tree import Node, decisions
from anabranch.expr import Expr, short_text
from anabranch.report.errors import Step

LONGEST = 200  # decisions that are told of a path
CONDITION = 80  # characters of a condition


def trail(node: Node, table: BlockTable, longest: int = LONGEST) -> tuple[tuple[Step, ...], int]:
    """The last decisions of a path in the user's code, in order, and how many before them are left out.

    Decisions inside of the C library are not told: it is the calls of the user's own code that explain them.
    """
    steps: list[Step] = []
    untold = 0
    for location, side, condition in reversed(decisions(node)):
        if condition.__class__ is not Expr or not table.is_user_code(location):
            continue
        line = table.decision_line(location)
        if line is None:
            continue
        if len(steps) == longest:
            untold += 1
            continue
        function = table.function_of(location)
        name = function.subprogram.name if function.subprogram is not None else function.name
        steps.append(Step(*line, name, short_text(condition, CONDITION), side))
    return tuple(reversed(steps)), untold
