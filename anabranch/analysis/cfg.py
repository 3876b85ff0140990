"""Control flow graph of a function: plain lists indexed by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anabranch.ir.module import Block, Function
from anabranch.ir.values import GlobalRef

Edges = Sequence[Sequence[int]]


def block_successors(block: Block) -> tuple[int, ...]:
    """Blocks that may come next, each once, in the order of the terminator."""
    targets = block.instructions[-1].targets
    if len(targets) < 2 or (len(targets) == 2 and targets[0] != targets[1]):
        return targets
    return tuple(dict.fromkeys(targets))


@dataclass(frozen=True, slots=True)
class CFG:
    """`order`: reverse postorder of the reachable blocks; `number[b]`: its inverse, -1 if unreachable."""

    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    number: tuple[int, ...]

    def reachable(self, block: int) -> bool:
        return self.number[block] >= 0


def build_cfg(function: Function) -> CFG:
    """The graph of a defined function; block 0 is the entry."""
    return graph([block_successors(block) for block in function.blocks])


def graph(successors: Edges, entry: int = 0) -> CFG:
    """A CFG from bare successor lists."""
    forward = tuple(map(tuple, successors))
    order = reverse_postorder(forward, entry)
    number = [-1] * len(forward)
    for position, block in enumerate(order):
        number[block] = position
    return CFG(forward, reverse_edges(forward), tuple(order), tuple(number))


def returns_at_once(functions: Mapping[str, Function], function: Function, block: int, position: int) -> bool:
    """Is there one way only from an instruction to the function's return, without calls into the program?"""
    seen: set[int] = set()
    while block not in seen:
        seen.add(block)
        for instruction in function.blocks[block].instructions[position:]:
            if instruction.opcode == "call":
                called = instruction.operands[0]
                known = functions.get(called.name) if isinstance(called, GlobalRef) else None
                if known is None or not known.is_declaration:
                    return False
        end = function.blocks[block].instructions[-1]
        if end.opcode != "br" or end.operands:
            return end.opcode == "ret"
        block, position = end.targets[0], 0
    return False


def reverse_edges(successors: Edges) -> tuple[tuple[int, ...], ...]:
    predecessors: list[list[int]] = [[] for _ in successors]
    for source, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(source)
    return tuple(map(tuple, predecessors))


def reverse_postorder(successors: Edges, entry: int = 0) -> list[int]:
    """Blocks reachable from `entry`, every block before its successors except along back edges."""
    if not successors:
        return []
    seen = {entry}
    postorder: list[int] = []
    # Iterators are kept on a stack of our own: functions of thousands of blocks would overflow the recursion.
    stack = [(entry, iter(successors[entry]))]
    while stack:
        block, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors[target])))
                break
        else:
            postorder.append(block)
            stack.pop()
    postorder.reverse()
    return postorder


def reachable_from(successors: Edges, starts: Sequence[int]) -> set[int]:
    """Every block on a path from `starts`, themselves included."""
    seen = set(starts)
    stack = list(seen)
    while stack:
        for target in successors[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen
