"""Line and branch coverage from the counters of native runs."""

from __future__ import annotations

from pathlib import Path

from anabranch.replay.instrument import CoverageMap
from anabranch.report.result import Coverage, FileCoverage, Ratio


class Gathered:
    """The counters of all runs so far, combined. A counter tells whether something ran, not how often."""

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

    def coverage(self) -> Coverage:
        """By source file, and of all together; what ran counts as run once."""
        hits: dict[str, dict[int, int]] = {}
        for number, lines in self.map.pieces.items():
            for file, line in lines:
                of_file = hits.setdefault(file, {})
                of_file[line] = max(of_file.get(line, 0), int(number in self.reached))
        branches: dict[str, dict[int, tuple[tuple[int, ...], ...]]] = {}
        for file, line, sides in self.map.branches:
            at = branches.setdefault(file, {})
            at[line] = (*at.get(line, ()), tuple(int(side in self.reached) for side in sides))
        files = {}
        for name in sorted({*hits, *branches}):
            taken = branches.get(name, {})
            every = [side for found in taken.values() for branch in found for side in branch]
            lines_hit = dict(sorted(hits.get(name, {}).items()))
            files[name] = FileCoverage(lines_hit, Ratio(sum(every), len(every)), taken)
        return Coverage.of(files)
