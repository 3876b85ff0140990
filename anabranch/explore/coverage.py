"""Line and branch coverage of the user's source, read off the counters that translated code increments.

Every block of a translated function has a number; `counters[number]` is how often it was executed. A side of
a conditional branch or switch is counted by its target where the branch is the only way there; only the other
sides need a counter of their own. So coverage costs translated code one addition a block.

A path that ends in the middle of a block has not executed the lines behind: `stopped` tells the table, and,
with `after_calls`, calls that may not come back get a counter for their return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from anabranch.explore.blocks import BRANCHING, Branch, Piece, branches_of, pieces_of
from anabranch.ir.module import Function, Module
from anabranch.report.result import Coverage, FileCoverage, Ratio

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class FunctionCounters:
    """The counters that the translation of one function increments.

    `edge_numbers[block, successor position]` is None where the count of the successor serves. `call_numbers`
    has the calls to count when they have returned, by block and position of the instruction.
    """

    first_block_number: int
    block_numbers: range
    edge_numbers: Mapping[tuple[int, int], int | None]
    call_numbers: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class BranchCount:
    """Branch instructions with all sides taken, with some, and all there are; and the same by sides."""

    full: int = 0
    partial: int = 0
    total: int = 0
    sides_covered: int = 0
    sides_total: int = 0


@dataclass(frozen=True, slots=True)
class FileLines:
    """Executions by line, ascending (0 for lines not covered), and branches of one source file."""

    lines: Mapping[int, int]
    branches: BranchCount
    branch_hits: Mapping[int, tuple[tuple[int, ...], ...]]
    """By line: how often each side of each of its branches was taken."""


class _Shape:
    """What coverage needs to know of one function, whether it was translated or not."""

    __slots__ = ("branches", "file", "first", "name", "pieces", "serving")

    def __init__(self, function: Function, after_calls: bool, every_call: bool) -> None:
        subprogram = function.subprogram
        self.name = function.name
        self.file = subprogram.file if subprogram is not None else ""
        self.pieces: list[Piece] = pieces_of(function, after_calls, every_call)
        self.branches: list[Branch] = branches_of(function)
        self.first: int | None = None
        # counter of every side of every branch, once the function is registered
        self.serving: list[list[int]] = []


class BlockTable:
    """Numbers of all blocks, sides and returns of the functions translated so far.

    `is_user` tells which functions are the user's own: only these count in the coverage, all of them,
    translated or not.
    """

    def __init__(
        self, module: Module, is_user: Callable[[Function], bool], after_calls: bool = False
    ) -> None:
        self._module = module
        self._is_user = is_user
        self._after_calls = after_calls
        self._every_call = False
        self._shapes: dict[str, _Shape] = {}
        self._counters: dict[str, FunctionCounters] = {}
        self._functions: list[Function] = []  # owner of every number
        self._pieces: list[Piece | None] = []  # None for the counters of sides
        self._stops: dict[int, dict[int, int]] = {}  # number -> instruction -> paths that ended there
        self._user: list[_Shape] | None = None

    @property
    def size(self) -> int:
        """Numbers given so far: the length that the list of counters must have."""
        return len(self._pieces)

    def count_every_call(self) -> None:
        """Give the return of every call a counter, for somebody who wants to stop there."""
        if self._shapes:
            raise ValueError("some functions have their numbers already")
        self._after_calls = self._every_call = True

    def register(self, function: Function) -> FunctionCounters:
        """Number the blocks, sides and returns of a function that is about to be translated."""
        known = self._counters.get(function.name)
        if known is not None:
            return known
        shape = self._shape(function)
        first = shape.first = self.size
        count = len(function.blocks)
        self._pieces += shape.pieces
        calls = {
            (piece.block, piece.start - 1): first + position
            for position, piece in enumerate(shape.pieces)
            if piece.start
        }
        edges: dict[tuple[int, int], int | None] = {}
        for branch in shape.branches:
            serving = []
            for target, positions in branch.sides.items():
                number: int | None = None
                if target in branch.shared:
                    number = self.size
                    self._pieces.append(None)
                serving.append(first + target if number is None else number)
                edges |= {(branch.block, position): number for position in positions}
            shape.serving.append(serving)
        self._functions += [function] * (self.size - first)
        counters = FunctionCounters(first, range(first, first + count), edges, calls)
        self._counters[function.name] = counters
        return counters

    def stopped(self, number: int, instruction: int) -> None:
        """A path ended at this instruction of the block (or of the rest of a block after a call) that the
        number counts, and no other path goes on from there."""
        stops = self._stops.setdefault(number, {})
        stops[instruction] = stops.get(instruction, 0) + 1

    def function_of(self, number: int) -> Function:
        return self._functions[number]

    def block_of(self, number: int) -> int | None:
        """Index of the block within its function; None for the counter of a side."""
        piece = self._pieces[number]
        return None if piece is None else piece.block

    def instructions(self, number: int) -> int:
        """Instructions that one increment of the counter stands for."""
        piece = self._pieces[number]
        return 0 if piece is None else piece.instructions

    def is_user_code(self, number: int) -> bool:
        """Whether a counter counts something of the user's."""
        return self._is_user(self._functions[number])

    def text_line(self, number: int) -> int:
        """The line of the module's text where the counted instructions begin; 0 for the counter of a side."""
        piece = self._pieces[number]
        if piece is None:
            return 0
        return self._functions[number].blocks[piece.block].instructions[piece.start].text_line

    def describe(self, number: int) -> str:
        """A location for people: `file:line` of the block, or function and block where there is none."""
        piece = self._pieces[number]
        if piece is not None and piece.lines:
            file, line = piece.lines[0][0]
            return f"{file}:{line}"
        return f"{self._functions[number].name}:{'side' if piece is None else piece.block}"

    def decision_line(self, number: int) -> Line | None:
        """The line of a decision within the counted instructions: that of the branch that they end with, if
        they do, else the first one."""
        piece = self._pieces[number]
        if piece is None:
            return None
        block = self._functions[number].blocks[piece.block]
        last = block.instructions[-1]
        if last.opcode in BRANCHING and len(last.targets) > 1 and last.loc is not None and last.loc.line:
            return last.loc.file, last.loc.line
        return piece.lines[0][0] if piece.lines else None

    def lines_covered(self, counters: Sequence[int]) -> set[Line]:
        """The user's lines of which an instruction was executed."""
        return {line for line, count in self._line_counts(counters) if count}

    def lines_total(self) -> int:
        """The user's lines that have instructions."""
        return len(
            {line for shape in self._user_shapes() for piece in shape.pieces for line, _ in piece.lines}
        )

    def branches(self, counters: Sequence[int]) -> BranchCount:
        """Branches of the user's functions."""
        return _count_branches(self._user_shapes(), counters)

    def by_file(self, counters: Sequence[int]) -> dict[str, FileLines]:
        """Coverage of every file that has the user's code, by path."""
        lines: dict[str, dict[int, int]] = {}
        for (file, line), count in self._line_counts(counters):
            in_file = lines.setdefault(file, {})
            in_file[line] = max(in_file.get(line, 0), count)
        shapes: dict[str, list[_Shape]] = {}
        for shape in self._user_shapes():
            shapes.setdefault(shape.file, []).append(shape)
        return {
            file: FileLines(
                dict(sorted(lines.get(file, {}).items())),
                _count_branches(shapes.get(file, ()), counters),
                _branch_hits(shapes.get(file, ()), counters),
            )
            for file in sorted({*lines, *shapes})
        }

    def report(self, counters: Sequence[int]) -> Coverage:
        """For the run's results; branches are counted by sides.

        Functions without debug information belong to no file, but their branches count in the sum.
        """
        by_file = self.by_file(counters)
        files = {
            file: FileCoverage(
                hits=found.lines,
                branches=Ratio(found.branches.sides_covered, found.branches.sides_total),
                branch_hits=found.branch_hits,
            )
            for file, found in by_file.items()
            if file
        }
        return Coverage(
            lines=_sum(file.lines for file in files.values()),
            branches=_sum(
                Ratio(found.branches.sides_covered, found.branches.sides_total) for found in by_file.values()
            ),
            files=files,
        )

    def instruction_coverage(self, counters: Sequence[int]) -> tuple[int, int]:
        """Instructions of the user's functions that were executed, and all there are."""
        covered = total = 0
        for shape in self._user_shapes():
            first = shape.first
            for position, piece in enumerate(shape.pieces):
                total += piece.instructions
                if first is not None and counters[first + position]:
                    covered += piece.instructions
        return covered, total

    def uncovered_blocks(self, counters: Sequence[int]) -> dict[str, list[int]]:
        """The blocks of the user's functions that were never entered, by function."""
        found: dict[str, list[int]] = {}
        for shape in self._user_shapes():
            first = shape.first
            heads = [piece.block for piece in shape.pieces if not piece.start]
            blocks = heads if first is None else [block for block in heads if not counters[first + block]]
            if blocks:
                found[shape.name] = blocks
        return found

    def unfinished_blocks(self, function: str, counters: Sequence[int], waiting: Mapping[int, int]) -> int:
        """Mask of the blocks of a function in which something was never executed, behind its calls, too.
        `waiting`: by number, paths that have been counted there and wait before the end."""
        shape = self._shape(self._module.functions[function])
        if shape.first is None:
            return sum(1 << piece.block for piece in shape.pieces if not piece.start)
        mask = 0
        for number, piece in enumerate(shape.pieces, shape.first):
            if not mask >> piece.block & 1 and not self._is_finished(
                number, counters, waiting.get(number, 0)
            ):
                mask |= 1 << piece.block
        return mask

    def finished_pieces(self, counters: Sequence[int]) -> Iterator[tuple[str, int, int]]:
        """Function, block and first instruction of the user's straight code that some path has executed to
        its end: blocks, or what lies between calls."""
        for shape in self._user_shapes():
            if shape.first is None:
                continue
            for number, piece in enumerate(shape.pieces, shape.first):
                if self._is_finished(number, counters, 0):
                    yield shape.name, piece.block, piece.start

    def _is_finished(self, number: int, counters: Sequence[int], waiting: int) -> bool:
        """Has a path come to the last instruction of what a number counts? Nobody comes to `unreachable`."""
        piece = self._pieces[number]
        assert piece is not None
        last = piece.start + piece.instructions - 1
        if self._functions[number].blocks[piece.block].instructions[last].opcode == "unreachable":
            last -= 1
            if last < piece.start:
                return True
        stops = self._stops.get(number)
        if stops is not None:
            waiting += sum(paths for stop, paths in stops.items() if stop < last)
        return counters[number] > waiting

    def lines_of(self, function: Function) -> set[Line]:
        """The lines of a function that have instructions."""
        return {line for piece in self._shape(function).pieces for line, _ in piece.lines}

    def user_functions(self) -> list[Function]:
        return [self._module.functions[shape.name] for shape in self._user_shapes()]

    def executed(self, function: Function, counters: Sequence[int]) -> Callable[[int, int], bool]:
        """`(block, position)`: did a path execute that instruction of a function?"""
        shape = self._shape(function)
        first = shape.first
        if first is None:
            return lambda block, position: False
        numbers: dict[int, list[tuple[int, int]]] = {}  # pieces of a block, the last one first
        for number, piece in enumerate(shape.pieces, first):
            numbers.setdefault(piece.block, []).insert(0, (piece.start, number))

        def executed(block: int, position: int) -> bool:
            number = next(number for start, number in numbers[block] if start <= position)
            stops = self._stops.get(number, {})
            return counters[number] > sum(paths for stop, paths in stops.items() if stop < position)

        return executed

    def _shape(self, function: Function) -> _Shape:
        shape = self._shapes.get(function.name)
        if shape is None:
            shape = self._shapes[function.name] = _Shape(function, self._after_calls, self._every_call)
        return shape

    def _user_shapes(self) -> list[_Shape]:
        if self._user is None:
            own = [f for f in self._module.functions.values() if not f.is_declaration and self._is_user(f)]
            self._user = [self._shape(function) for function in own]
        return self._user

    def _line_counts(self, counters: Sequence[int]) -> Iterator[tuple[Line, int]]:
        """Every line of every piece of the user's code, with the executions that got there."""
        for shape in self._user_shapes():
            first = shape.first
            for position, piece in enumerate(shape.pieces):
                if first is None:
                    yield from ((line, 0) for line, _ in piece.lines)
                    continue
                count = counters[first + position]
                stops = self._stops.get(first + position, {})
                for line, start in piece.lines:
                    lost = sum(paths for stop, paths in stops.items() if stop < start)
                    yield line, max(count - lost, 0)


def _count_branches(shapes: Iterable[_Shape], counters: Sequence[int]) -> BranchCount:
    full = partial = total = sides_covered = sides_total = 0
    for shape in shapes:
        total += len(shape.branches)
        sides_total += sum(len(branch.sides) for branch in shape.branches)
        for serving in shape.serving:
            taken = sum(1 for number in serving if counters[number])
            sides_covered += taken
            full += taken == len(serving)
            partial += 0 < taken < len(serving)
    return BranchCount(full, partial, total, sides_covered, sides_total)


def _branch_hits(shapes: Iterable[_Shape], counters: Sequence[int]) -> dict[int, tuple[tuple[int, ...], ...]]:
    found: dict[int, list[tuple[int, ...]]] = {}
    for shape in shapes:
        untaken = [(0,) * len(branch.sides) for branch in shape.branches]
        taken = [tuple(counters[number] for number in serving) for serving in shape.serving]
        for branch, sides in zip(shape.branches, taken or untaken, strict=True):
            if branch.line:
                found.setdefault(branch.line, []).append(sides)
    return {line: tuple(branches) for line, branches in sorted(found.items())}


def _sum(ratios: Iterable[Ratio]) -> Ratio:
    covered = total = 0
    for ratio in ratios:
        covered += ratio.covered
        total += ratio.total
    return Ratio(covered, total)
