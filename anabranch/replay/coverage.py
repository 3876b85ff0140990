"""Line and branch coverage from the counters of native runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.replay.instrument import CoverageMap
from anabranch.report.result import Ratio


@dataclass
class FileCoverage:
    """One source file: all lines with code, those reached, and sides of branches."""

    lines: set[int] = field(default_factory=set)
    covered: set[int] = field(default_factory=set)
    sides: int = 0
    sides_covered: int = 0

    @property
    def line_ratio(self) -> Ratio:
        return Ratio(len(self.covered), len(self.lines))

    @property
    def branch_ratio(self) -> Ratio:
        return Ratio(self.sides_covered, self.sides)


class Gathered:
    """The counters of all runs so far, combined."""

    def __init__(self, map: CoverageMap) -> None:
        self.map = map
        self.reached: set[int] = set()

    def add(self, counters: bytes) -> int:
        """Take in one run; returns how many counters were new."""
        before = len(self.reached)
        self.reached.update(i for i, byte in enumerate(counters[: self.map.size]) if byte)
        return len(self.reached) - before

    def add_file(self, path: Path) -> int:
        try:
            return self.add(path.read_bytes())
        except FileNotFoundError:
            return 0

    def files(self) -> dict[str, FileCoverage]:
        """Coverage by source file."""
        found: dict[str, FileCoverage] = {}
        for number, lines in self.map.pieces.items():
            for file, line in lines:
                entry = found.setdefault(file, FileCoverage())
                entry.lines.add(line)
                if number in self.reached:
                    entry.covered.add(line)
        for file, _, sides in self.map.branches:
            entry = found.setdefault(file, FileCoverage())
            entry.sides += len(sides)
            entry.sides_covered += sum(side in self.reached for side in sides)
        return dict(sorted(found.items()))

    def branches(self) -> Iterable[tuple[str, int, tuple[bool, ...]]]:
        """(file, line, side by side whether it was taken) of every branch."""
        for file, line, sides in self.map.branches:
            yield file, line, tuple(side in self.reached for side in sides)


def total(files: dict[str, FileCoverage]) -> tuple[Ratio, Ratio]:
    """Lines and branch sides of all files together."""
    lines = Ratio(sum(len(f.covered) for f in files.values()), sum(len(f.lines) for f in files.values()))
    return lines, Ratio(sum(f.sides_covered for f in files.values()), sum(f.sides for f in files.values()))


def coverage_json(files: dict[str, FileCoverage]) -> dict[str, Any]:
    """In the form that `run.json` has."""
    lines, branches = total(files)

    def ratio(value: Ratio) -> dict[str, int]:
        return {"covered": value.covered, "total": value.total}

    return {
        "lines": ratio(lines),
        "branches": ratio(branches),
        "files": {
            name: {
                "lines": ratio(file.line_ratio),
                "branches": ratio(file.branch_ratio),
                "lines_covered": sorted(file.covered),
                "lines_total": sorted(file.lines),
            }
            for name, file in files.items()
        },
    }
