"""The table of `--zeq-report`."""

from __future__ import annotations

from anabranch.cli.zeq_report import zeq_report


def test_table() -> None:
    row = {"function": "probe", "states": 1200, "kept": 3, "paths": 10**30, "orders": 29.5, "seconds": 0.25}
    found = {
        "functions": [row],
        "removed": 1197,
        "seconds": 0.25,
        "opened calls": 1,
        "given up call sites": 0,
        "exact checks": 5,
        "not answered": 2,
        "verified": 1197,
        "wrong": 0,
        "not decided": 1,
    }
    text = zeq_report({"zequivalence": found})
    assert "1,197 states removed" in text
    assert "Callers of 1 call went on" in text and "Given up" not in text
    assert "5, of which 2 not answered" in text
    assert "Explored 1,197 removed states; 0 wrong, 1 not decided." in text
    assert text.splitlines()[-1].split() == ["1,200", "3", "10^30", "29.5", "0.250", "probe"]


def test_without_the_technique() -> None:
    assert "no --zeq" in zeq_report({"merges": 3})
