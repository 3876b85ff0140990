"""Reads of the caller's memory that overlap."""

from __future__ import annotations

from anabranch.check.settings import CheckSettings
from tests.check.support import SUBJECTS, checked


def test_reads_of_different_widths_agree() -> None:
    _, result = checked(SUBJECTS / "overlapping.c", CheckSettings(properties=("assert",)))
    assert [finding.condition.function.name for finding in result.findings] == ["both_sides"]
    assert result.verdicts["undecided"] == 0
