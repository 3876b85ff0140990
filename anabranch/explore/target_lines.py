"""Lines of the source that a run aims at, `--target FILE:LINE`: the blocks that have their code."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anabranch.explore.blocks import line_at
from anabranch.ir.module import Module


class TargetError(Exception):
    """There is no such line; the message is one line that says what there is."""


@dataclass(frozen=True, slots=True)
class TargetLine:
    """A line with code: the file as debug information names it, and the blocks by function."""

    file: str
    line: int
    blocks: Mapping[str, tuple[int, ...]]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def parse_target(text: str) -> tuple[str, int]:
    """`FILE:LINE`."""
    file, _, line = text.rpartition(":")
    if not file or not line.isdigit() or int(line) < 1:
        raise ValueError(f"{text!r} is not a line of a file: write FILE:LINE, for example parse.c:41")
    return file, int(line)


def find_lines(module: Module, wanted: Iterable[tuple[str, int]]) -> tuple[TargetLine, ...]:
    """The lines in the order given, each once. Raises TargetError."""
    wanted = tuple(dict.fromkeys(wanted))
    if not wanted:
        return ()
    code = _lines_with_code(module)
    found = [_find(code, file, line) for file, line in wanted]
    return tuple({(target.file, target.line): target for target in found}.values())


Code = dict[str, dict[int, dict[str, tuple[int, ...]]]]
"""File -> line -> function -> its blocks that have code of the line."""


def _lines_with_code(module: Module) -> Code:
    code: Code = {}
    for function in module.defined_functions():
        for block in function.blocks:
            for position in range(len(block.instructions)):
                place = line_at(function, block.index, position)
                if place is None:
                    continue
                blocks = code.setdefault(place[0], {}).setdefault(place[1], {})
                known = blocks.get(function.name, ())
                if block.index not in known:
                    blocks[function.name] = (*known, block.index)
    return code


def _find(code: Code, file: str, line: int) -> TargetLine:
    names = _matching(code, file)
    if not names:
        known = ", ".join(sorted(os.path.basename(name) for name in code)[:8]) or "no file: compile with -g"
        raise TargetError(f"there is no code of a file {file}, but of {known}")
    if len(names) > 1:
        raise TargetError(f"{file} may be {' or '.join(sorted(names))}: write more of the path")
    lines = code[names[0]]
    if line not in lines:
        near = _nearest(sorted(lines), line)
        raise TargetError(f"{file}:{line} has no code; the nearest lines with code are {near}")
    return TargetLine(names[0], line, lines[line])


def _matching(code: Code, file: str) -> list[str]:
    """The file itself, or those whose path ends so."""
    real = os.path.realpath(file)
    exact = [name for name in code if name == file or os.path.realpath(name) == real]
    if exact:
        return exact[:1]
    ending = os.sep + os.path.normpath(file).lstrip(os.sep)
    return [name for name in code if (os.sep + name).endswith(ending)]


def _nearest(lines: Sequence[int], line: int) -> str:
    at = bisect_left(lines, line)
    return " and ".join(str(number) for number in lines[max(0, at - 1) : at + 1])
