"""Checks of small C programs."""

from __future__ import annotations

from pathlib import Path

from anabranch.check.conditions import Condition
from anabranch.check.driver import Checker
from anabranch.check.records import CheckResult
from anabranch.check.refine import Answer
from anabranch.check.settings import CheckSettings
from anabranch.frontend import FrontendOptions, load_program
from anabranch.ir.module import Module

SUBJECTS = Path(__file__).parent / "subjects"


def module_of(path: Path) -> Module:
    return load_program([path], FrontendOptions(entry="*")).module


def checked(path: Path, settings: CheckSettings | None = None) -> tuple[Checker, CheckResult]:
    checker = Checker(module_of(path), settings)
    return checker, checker.run()


def answers(path: Path, settings: CheckSettings) -> list[tuple[Condition, Answer]]:
    """Every condition of every function, decided in its own function."""
    checker, _ = checked(path, settings)
    return [
        (condition, checker.refinement(condition, False).check())
        for gated in checker.program.functions.values()
        for condition in gated.conditions
    ]


def opened(answer: Answer) -> list[str]:
    """The operators that were opened, as function:effect."""
    return [str(variable.b).split("!")[0] for variable in answer.opened]
