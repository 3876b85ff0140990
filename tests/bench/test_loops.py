"""The measurements of merged loops: every case has its subject, a bar is missed for the right reason."""

from __future__ import annotations

import pytest

from bench.loops import CASES, CBMC, GROWTH, SUBJECTS, Case, Measured, measure, verdict

NAMES = sorted(path.stem for path in SUBJECTS.glob("*.c"))
QUICK = Measured(True, 0.2, 0.9, 2, 40)
SLOW = Measured(True, 5.0, 6.0, 30, 400)
STOPPED = Measured(False, 5.0, 6.0, 0, 400)
VERDICTS = {
    "all is well": (Case("strlen", 200, 0.6, 3), SLOW, QUICK, "pass"),
    "slow, and many paths": (Case("strlen", 200, 0.6, 3), QUICK, SLOW, "miss: time, paths"),
    "stopped": (Case("trim", 500, 2), SLOW, STOPPED, "miss: not complete"),
    "faster than in pairs": (Case("url", 50, None), SLOW, QUICK, "pass"),
    "slower than in pairs": (Case("url", 50, None), QUICK, SLOW, "miss: time"),
    "in pairs it does not end": (Case("url", 50, None), STOPPED, SLOW, "pass"),
    "neither ends": (Case("url", 50, None), STOPPED, STOPPED, "undecided: neither ends"),
}


def test_every_case_has_a_subject() -> None:
    used = {case.subject for case in CASES} | {name for name, _ in CBMC} | set(GROWTH)
    assert used == set(NAMES)


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(name: str) -> None:
    case, old, new, expected = VERDICTS[name]
    assert verdict(case, old, new, 1.0) == expected


@pytest.mark.parametrize("name", NAMES)
def test_subjects_are_explored_to_the_end(name: str) -> None:
    run = measure(Case(name, 4, None), ("--merge", "qce"), 30)
    assert run.complete and run.paths > 0 and run.explore > 0
