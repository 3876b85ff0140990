"""What an error assumes of the caller.

| rank | who fails |
|---|---|
| none | every caller (whose pointers lead to distinct objects), whatever unknown functions answer |
| argument | one that passes certain values (one object, not an array), whatever unknown functions answer |
| size | a caller whose buffer begins at the pointer, or whose string has nothing behind its NUL |
| answer | one for which an unknown function gives a certain answer, or writes nothing to what it is given |

A rank is proved, never guessed: where the solver gives up or too many paths fail, the next one is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch.environment.unknown import UnknownFunctions, UnknownObject, contents_of
from anabranch.expr import Expr, evaluate, expr_vars, not_, substitute, variable
from anabranch.machine.bases import nearest
from anabranch.solver import SliceSpace, SolverUnknown, conjunction, disjunction
from anabranch.unit.failures import Failure

NONE, ARGUMENT, SIZE, ANSWER = "none", "argument", "size", "answer"
RANKS = (NONE, ARGUMENT, SIZE, ANSWER)
TRIED = 8
"""Failing paths whose arguments are tried for all answers."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """The size of an unknown object, which an error depends on; invented, or that of its type."""

    made: UnknownObject
    size: int
    invented: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """An error's rank, the path that shows it, and values for that path."""

    rank: str
    failure: Failure
    model: dict[int, int]
    size: Assumed | None = None


def rank(
    failures: Sequence[Failure], rejected: Sequence[list[Any]], unknown: UnknownFunctions, space: SliceSpace
) -> Ranked:
    """The rank of an error that these paths show, the best of them as its witness."""
    free = [failure for failure in failures if not failure.leaves]
    found, witness = _proved(free or failures, rejected, unknown, space)
    if not free:
        found = ANSWER
    model = witness.model(space)
    size = outgrown(witness, model, unknown)
    if size is not None and found in (NONE, ARGUMENT):
        found = ANSWER if size.made.origin == ANSWER else SIZE if size.invented else ARGUMENT
    return Ranked(found, witness, model, size)


def _proved(
    failures: Sequence[Failure], rejected: Sequence[list[Any]], unknown: UnknownFunctions, space: SliceSpace
) -> tuple[str, Failure]:
    origins = unknown.objects.origins
    known = list(unknown.known)
    fails = disjunction([conjunction(failure.conditions) for failure in failures])
    allowed = disjunction([fails, *(conjunction(path) for path in rejected)])
    simplest = min(failures, key=lambda failure: len(failure.conditions))
    if _always(allowed, known, space):
        return NONE, simplest
    for failure in sorted(failures, key=lambda failure: len(failure.conditions)):
        if not any(_is_answer(index, origins) for c in failure.conditions for index in expr_vars(c)):
            return ARGUMENT, failure
    for failure in failures[:TRIED]:
        model = failure.model(space)
        fixed = substitute_arguments(fails, model, origins)
        if _always(fixed, known, space):
            return ARGUMENT, failure
    return ANSWER, simplest


def _is_answer(index: int, origins: Mapping[int, str]) -> bool:
    """Whatever is not known to come from the caller counts as an answer."""
    return origins.get(index, ANSWER) == ANSWER


def _always(condition: Any, known: list[Any], space: SliceSpace) -> bool:
    """Does a condition hold for all values that agree with what is known? Proved, or False."""
    if condition is True or condition is False:
        return bool(condition)
    try:
        return space.check([*known, not_(condition)]) is None
    except SolverUnknown:
        return False


def substitute_arguments(condition: Any, model: Mapping[int, int], origins: Mapping[int, str]) -> Any:
    """The condition for a caller that passes just these values."""
    if condition.__class__ is not Expr:
        return condition
    values = {
        variable(index): model.get(index, 0) if variable(index).w > 1 else bool(model.get(index, 0))
        for index in expr_vars(condition)
        if not _is_answer(index, origins)
    }
    return substitute(condition, values) if values else condition


def outgrown(failure: Failure, model: dict[int, int], unknown: UnknownFunctions) -> Assumed | None:
    """The unknown object that the path runs out of, if that is the error."""
    if failure.fault.kind != "out-of-bounds":
        return None
    address = failure.fault.info.get("address")
    if isinstance(address, Expr):
        address = evaluate(address, model)
    if not isinstance(address, int):
        return None
    made = unknown.objects.by_number.get(nearest(address))
    if made is None or (made.origin == "global" and not made.depth and not made.invented):
        return None
    parts = contents_of(failure.record(model)).get(made.number)
    if not parts:
        return Assumed(made, made.size, made.invented)
    return Assumed(made, parts[-1].size, parts[-1].invented)
