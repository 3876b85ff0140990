"""Which values may still be used: bit masks over `Local.index`, so that sets are united at machine speed."""

from __future__ import annotations

from collections.abc import Iterable

from anabranch.analysis.cfg import CFG, build_cfg
from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import Local, Operand


def local_mask(operands: Iterable[Operand]) -> int:
    mask = 0
    for operand in operands:
        if operand.__class__ is Local:
            mask |= 1 << operand.index
    return mask


class Liveness:
    """Live values of one function.

    - `entry[b]`: needed from block b on, once its phis have been assigned (their results included);
    - `exit[b]`: needed after the last instruction of b, phi operands of its successors included;
    - `edge(p, b)`: needed on that edge, before the phis of b are assigned;
    - `after(b, i)`: needed after instruction i of b, which is what a frame stopped there must keep.
    """

    __slots__ = ("_by_index", "_phi_results", "_phi_uses", "cfg", "entry", "exit", "function")

    def __init__(self, function: Function, cfg: CFG | None = None) -> None:
        self.function = function
        self.cfg = cfg or build_cfg(function)
        count = len(function.blocks)
        self.entry = [0] * count
        self.exit = [0] * count
        self._phi_results = [0] * count
        self._phi_uses: dict[tuple[int, int], int] = {}
        self._by_index: list[Local] | None = None
        self._solve()

    def _solve(self) -> None:
        uses, definitions = self._collect()
        entry, exits, phis, phi_uses = self.entry, self.exit, self._phi_results, self._phi_uses
        successors, predecessors = self.cfg.successors, self.cfg.predecessors
        pending = list(range(len(entry)))
        # Popped from the end: successors tend to come before their predecessors, as a backward problem wants.
        pending.sort(key=self.cfg.number.__getitem__)
        queued = set(pending)
        while pending:
            block = pending.pop()
            queued.discard(block)
            out = 0
            for target in successors[block]:
                out |= (entry[target] & ~phis[target]) | phi_uses.get((block, target), 0)
            exits[block] = out
            live = uses[block] | (out & ~definitions[block])
            if live != entry[block]:
                entry[block] = live
                for source in predecessors[block]:
                    if source not in queued:
                        queued.add(source)
                        pending.append(source)

    def _collect(self) -> tuple[list[int], list[int]]:
        """(uses before a definition, definitions) of each block without its phis, which are noted apart."""
        uses, definitions = [], []
        for block in self.function.blocks:
            used = defined = results = 0
            for instruction in reversed(block.instructions):
                bit = 1 << instruction.result.index if instruction.result is not None else 0
                if instruction.opcode == "phi":
                    results |= bit
                    self._note_phi(block.index, instruction)
                    continue
                defined |= bit
                used &= ~bit
                used |= local_mask(instruction.operands)
            uses.append(used)
            definitions.append(defined)
            self._phi_results[block.index] = results
        return uses, definitions

    def _note_phi(self, block: int, phi: Instruction) -> None:
        for value, source in zip(phi.operands, phi.targets, strict=True):
            if value.__class__ is Local:
                key = (source, block)
                self._phi_uses[key] = self._phi_uses.get(key, 0) | 1 << value.index

    def edge(self, source: int, target: int) -> int:
        return (self.entry[target] & ~self._phi_results[target]) | self._phi_uses.get((source, target), 0)

    def after(self, block: int, index: int) -> int:
        instructions = self.function.blocks[block].instructions
        live = self.exit[block]
        for instruction in reversed(instructions[index + 1 :]):
            if instruction.result is not None:
                live &= ~(1 << instruction.result.index)
            if instruction.opcode != "phi":
                live |= local_mask(instruction.operands)
        return live

    def locals(self, mask: int) -> list[Local]:
        """The values in a mask, by index."""
        if self._by_index is None:
            self._by_index = list(self.function.params)
            for block in self.function.blocks:
                self._by_index.extend(i.result for i in block.instructions if i.result is not None)
            self._by_index.sort(key=lambda local: local.index)
        found = []
        while mask:
            low = mask & -mask
            found.append(self._by_index[low.bit_length() - 1])
            mask ^= low
        return found
