"""Verdicts about pointers on a generated program, against exhaustive exploration by the engine."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.check.settings import CheckSettings
from tests.check.generate_pointers import program
from tests.check.support import checked

SETTINGS = CheckSettings(allocations_fail=False, polls=200_000, condition_polls=400_000, function_polls=10**9)
PROPERTIES = {
    "null-pointer": "null",
    "use-after-free": "freed",
    "double-free": "freed",
    "out-of-bounds": "bounds",
    "uninitialised": "uninitialised",
}
"""Kinds of errors of the engine -> properties."""

Places = set[tuple[str, int]]
"""Properties with lines."""


@dataclass(frozen=True, slots=True)
class Comparison:
    failing: Places
    found: Places
    missed: Places
    """Failing lines without a report, though everything was decided and no unsound choice was made."""
    false: Places
    """Certain reports of a program in which nothing fails. (After one error others may follow that no run
    comes to: the checker does not assume that a dereference which it has reported went well.)"""
    open: bool
    """Something is undecided, or rests on an unsound choice."""


def explored(source: Path, out: Path) -> Places:
    command = [sys.executable, "-m", "anabranch.cli.main", "run", str(source), "--output-dir", str(out)]
    subprocess.run([*command, "--all-errors", "--no-progress", "-q"], check=True, capture_output=True)
    document: dict[str, Any] = json.loads((out / "run.json").read_text())
    assert document["complete"], f"{source}: the exploration is not complete"
    return {(PROPERTIES[error["kind"]], error["line"]) for error in document["errors"]}


def compare(seed: int, directory: Path) -> Comparison:
    source = directory / f"{seed}.c"
    source.write_text(program(seed))
    _, result = checked(source, SETTINGS)
    failing = explored(source, directory / f"{seed}.out")
    found, certain = set(), set()
    for finding in result.findings:
        assert finding.condition.loc is not None
        place = (finding.condition.property.name, finding.condition.loc.line)
        found.add(place)
        if not finding.approximate and not finding.open_to:
            certain.add(place)
    open_ = bool(result.verdicts["undecided"] or result.losses)
    missed = set() if open_ else failing - found
    if any("index" in reason for reason in result.imprecise):
        missed = {place for place in missed if place[0] != "bounds"}  # an index that is not checked
    return Comparison(failing, found, missed, set() if failing else certain, open_)
