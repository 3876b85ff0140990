"""Answers that the C library gives on its own: those of its functions that a program has called."""

from __future__ import annotations

from collections.abc import Collection

from anabranch.report.result import FixedAnswer

_ANSWERS = {
    "getenv": ("the environment", "holds what was given and nothing else"),
    "rand": ("rand", "gives the numbers of musl"),
    "random": ("random", "gives the numbers of musl"),
    "setlocale": ("the locale", "is C or C.UTF-8"),
}


def library_answers(called: Collection[str]) -> dict[str, FixedAnswer]:
    """Assumptions for functions of the library, by what is asked."""
    return {asked: FixedAnswer(answer, "") for name, (asked, answer) in _ANSWERS.items() if name in called}
