"""The functions of a program, checked in order."""

from __future__ import annotations

from anabranch.check.driver import Checker
from anabranch.check.externals import Externals
from anabranch.check.records import CheckResult
from anabranch.check.settings import CheckSettings
from anabranch.ir.module import Module


class Progress:
    """Is told how far a check has come; the default does not care."""

    def function(self, number: int, total: int, name: str, conditions: int) -> None: ...


def check_module(
    module: Module,
    settings: CheckSettings | None = None,
    externals: Externals | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Check all functions of a program."""
    checker = Checker(module, settings, externals)
    result = CheckResult(checker.order)
    names = list(checker.order.names())
    for number, name in enumerate(names, 1):
        if progress is not None:
            progress.function(number, len(names), name, result.conditions)
        result.add(checker.check(name))
        checker.findings.clear()
    return result
