"""Places in the source relative to functions: they stay what they are when lines elsewhere are added."""

from __future__ import annotations

from bisect import bisect_right

from anabranch.ir.module import Module

Place = list[str | int]
"""The symbol of a function and the lines from its start; or a file and a line, and then a zero."""


class Anchors:
    """Where the functions of a program start."""

    def __init__(self, module: Module) -> None:
        self._starts: dict[str, tuple[str, int]] = {}
        by_file: dict[str, list[tuple[int, str]]] = {}
        for function in module.defined_functions():
            start = function.subprogram
            if start is not None and start.line:
                self._starts[function.name] = (start.file, start.line)
                by_file.setdefault(start.file, []).append((start.line, function.name))
        self._by_file = {file: sorted(starts) for file, starts in by_file.items()}

    def anchored(self, file: str, line: int) -> Place:
        """Relative to the last function that starts before the line."""
        starts = self._by_file.get(file, [])
        number = bisect_right(starts, (line, "\U0010ffff")) - 1
        if number < 0 or not line:
            return [file, line, 0]
        start, name = starts[number]
        return [name, line - start]

    def found(self, place: Place) -> tuple[str, int]:
        """Where a place is now; KeyError if its function is gone."""
        if len(place) == 3:
            return str(place[0]), int(place[1])
        file, start = self._starts[str(place[0])]
        return file, start + int(place[1])
