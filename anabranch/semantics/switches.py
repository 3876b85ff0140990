"""The cases of a switch, and whether a value is one of theirs."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch import expr
from anabranch.expr import Expr
from anabranch.ir.module import Instruction
from anabranch.semantics.elements import Value


@dataclass(frozen=True, slots=True)
class Case:
    """The values of a switch that lead to one block."""

    values: tuple[int, ...]
    target: int


def switch_cases(instruction: Instruction) -> tuple[list[Case], int]:
    """The cases of a switch by target, in order, and the default; cases that lead there are dropped."""
    default, *targets = instruction.targets
    assert isinstance(instruction.extra, tuple)
    groups: dict[int, list[int]] = {}
    for value, target in zip(instruction.extra, targets, strict=True):
        if target != default:
            groups.setdefault(target, []).append(value)
    return [Case(tuple(values), target) for target, values in groups.items()], default


def in_case(value: Value, case: Case, width: int) -> Value:
    """Is the value one of a switch case's?"""
    if value.__class__ is not Expr:
        return value in case.values
    condition: Value = False
    for literal in case.values:
        condition = expr.or_(condition, expr.eq(value, literal, width), 1)
    return condition
