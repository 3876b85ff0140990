"""Runs programs with and without removal of z-equivalent states and compares what they found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.reduce.merging.harness import Found, explore

DECLARED = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
"""


def plain(directory: Path, source: str, *options: str) -> Found:
    return explore(directory, DECLARED + source, "--tests", "covering", *options)


def removing(directory: Path, source: str, *options: str) -> Found:
    how = () if "--zeq" in options else ("--zeq", "rules")
    return explore(directory, DECLARED + source, "--tests", "covering", *how, *options)


def figures(found: Found) -> dict[str, Any]:
    known: dict[str, Any] = found.result.reductions["zequivalence"]
    return known


def kept(found: Found) -> dict[str, tuple[int, int]]:
    """States that came back from each function, and those that went on."""
    return {row["function"]: (row["states"], row["kept"]) for row in figures(found)["functions"]}


def same_findings(one: Found, other: Found) -> None:
    """Reached lines, errors and verdicts agree."""
    assert one.result.complete and other.result.complete
    assert one.lines() == other.lines()
    assert one.errors() == other.errors()
