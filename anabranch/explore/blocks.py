"""What coverage reads off the IR of a function: pieces of blocks with their lines, and branches."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.ir.checks import NOT_CHECKED
from anabranch.ir.module import Block, Function, Instruction
from anabranch.ir.values import GlobalRef

BRANCHING = frozenset(("br", "switch", "indirectbr"))
_MARKERS = ("llvm.dbg.", "llvm.lifetime.", "anabranch.undef.")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block, or the rest of one after a call: instructions that run together unless a path ends.

    `lines` are ((file, line), position of its first instruction in the block), in order of position.
    """

    block: int
    start: int
    instructions: int
    lines: tuple[tuple[tuple[str, int], int], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A conditional branch or switch: target block -> its positions among the successors, and the targets
    that other blocks lead to as well."""

    block: int
    sides: dict[int, tuple[int, ...]]
    shared: frozenset[int]
    line: int = 0
    """In the source, 0 if it has none."""


def callee_name(instruction: Instruction) -> str:
    """Name of the function that a call calls directly, or ""."""
    if instruction.opcode == "call" and isinstance(instruction.operands[0], GlobalRef):
        return instruction.operands[0].name
    return ""


def _has_line(instruction: Instruction) -> bool:
    """Does the instruction count as executing its source line? Markers, phis and `unreachable` do not."""
    loc = instruction.loc
    if loc is None or loc.line <= 0 or instruction.opcode in ("phi", "unreachable"):
        return False
    return not callee_name(instruction).startswith(_MARKERS)


def line_at(function: Function, block: int, position: int) -> tuple[str, int] | None:
    """The source line that executing an instruction executes, if any."""
    instruction = function.blocks[block].instructions[position]
    if not _has_line(instruction) or instruction.loc is None:
        return None
    return instruction.loc.file, instruction.loc.line


def _may_not_return(instruction: Instruction) -> bool:
    return instruction.opcode == "call" and not callee_name(instruction).startswith(("llvm.", "anabranch."))


def _split_points(block: Block, every_call: bool) -> list[int]:
    """Where a new piece begins: behind a call that is followed by a line not seen in the block before, or
    behind every call."""
    if every_call:
        return [at + 1 for at, instruction in enumerate(block.instructions) if _may_not_return(instruction)]
    seen: set[tuple[str, int]] = set()
    points: list[int] = []
    candidate = 0
    for position, instruction in enumerate(block.instructions):
        if _has_line(instruction) and instruction.loc is not None:
            line = (instruction.loc.file, instruction.loc.line)
            if line not in seen:
                seen.add(line)
                if candidate:
                    points.append(candidate)
                    candidate = 0
        if _may_not_return(instruction):
            candidate = position + 1
    return points


def _piece(block: Block, start: int, end: int) -> Piece:
    lines: dict[tuple[str, int], int] = {}
    for position in range(start, end):
        instruction = block.instructions[position]
        if _has_line(instruction) and instruction.loc is not None:
            lines.setdefault((instruction.loc.file, instruction.loc.line), position)
    return Piece(block.index, start, end - start, tuple(lines.items()))


def pieces_of(function: Function, after_calls: bool, every_call: bool = False) -> list[Piece]:
    """All blocks in order, then, if wanted, the rests of blocks after calls that may not come back: where
    that tells about lines, or wherever there is one."""
    heads: list[Piece] = []
    rests: list[Piece] = []
    for block in function.blocks:
        points = _split_points(block, every_call) if after_calls else []
        starts = [0, *points]
        ends = [*points, len(block.instructions)]
        pieces = [_piece(block, start, end) for start, end in zip(starts, ends, strict=True)]
        heads.append(pieces[0])
        rests += pieces[1:]
    return heads + rests


def branches_of(function: Function) -> list[Branch]:
    """The branches with at least two different targets."""
    predecessors: dict[int, set[int]] = {}
    for block in function.blocks:
        for target in _successors(block):
            predecessors.setdefault(target, set()).add(block.index)
    found = []
    for block in function.blocks:
        if not block.instructions or block.instructions[-1].opcode not in BRANCHING:
            continue
        if block.instructions[-1].flags & NOT_CHECKED:
            continue  # a sanitizer's, not the program's
        sides: dict[int, tuple[int, ...]] = {}
        for position, target in enumerate(_successors(block)):
            sides[target] = (*sides.get(target, ()), position)
        if len(sides) > 1:
            shared = frozenset(target for target in sides if len(predecessors[target]) > 1)
            loc = block.instructions[-1].loc
            found.append(Branch(block.index, sides, shared, 0 if loc is None else loc.line))
    return found


def _successors(block: Block) -> tuple[int, ...]:
    if not block.instructions or not block.instructions[-1].is_terminator:
        return ()
    return block.instructions[-1].targets
