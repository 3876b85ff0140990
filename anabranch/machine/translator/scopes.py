"""Where the locals of a function come to life and die: `llvm.lifetime.start` and `llvm.lifetime.end`.

A local with markers is alive between them only, and undefined again after each start: a variable of a loop's
body is a new one in each iteration. Markers count if they name a static alloca directly, as those of C do;
other locals live as long as their frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.ir.module import Block, Instruction
from anabranch.ir.values import GlobalRef, Local

_START, _END = "llvm.lifetime.start", "llvm.lifetime.end"
_TOUCHES_NO_MEMORY = frozenset(
    ("add", "sub", "mul", "and", "or", "xor", "icmp", "select", "zext", "sext", "trunc", "getelementptr")
)


@dataclass(frozen=True, slots=True)
class Scopes:
    """The life of a function's locals, by the index of their alloca and by position (block, instruction)."""

    late: frozenset[int]
    """Locals that are not alive yet where they are made: a marker begins their life."""
    starts: dict[tuple[int, int], int]
    """Markers at which a local comes to life."""
    ends: dict[tuple[int, int], int]
    """Markers at which a local dies; not those behind which nothing can happen but the frame's return."""


def find_scopes(blocks: Sequence[Block], allocas: Sequence[int]) -> Scopes:
    known = frozenset(allocas)
    starts: dict[tuple[int, int], int] = {}
    ends: dict[tuple[int, int], int] = {}
    for block in blocks:
        for position, instruction in enumerate(block.instructions):
            name = _callee(instruction)
            if not name.startswith((_START, _END)):
                continue
            local = instruction.operands[-1]
            if not isinstance(local, Local) or local.index not in known:
                continue
            if name.startswith(_START):
                starts[block.index, position] = local.index
            elif not _returns_at_once(block.instructions[position + 1 :]):
                ends[block.index, position] = local.index
    # The entry block runs once: a local whose life begins there may as well be made alive.
    at_once: dict[int, tuple[int, int]] = {}
    for at, index in starts.items():
        if at[0] == 0:
            at_once.setdefault(index, at)
    late = frozenset(starts.values()) - frozenset(at_once)
    for at in at_once.values():
        del starts[at]
    return Scopes(late, starts, ends)


def _callee(instruction: Instruction) -> str:
    if instruction.opcode != "call" or not isinstance(instruction.operands[0], GlobalRef):
        return ""
    return instruction.operands[0].name


def _returns_at_once(rest: Sequence[Instruction]) -> bool:
    """Does the frame end before anything is accessed?"""
    return rest[-1].opcode == "ret" and all(
        i.opcode in _TOUCHES_NO_MEMORY or _callee(i).startswith(_END) for i in rest[:-1]
    )
