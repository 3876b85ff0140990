"""What the translator decides about a function before it writes any code.

- *Arms*: blocks that need a name of their own in the generated `while` loop, because control reaches
  them from several blocks. All others are written in line where control comes from.
- *Virtual* values: results that are never kept, because every use can be written directly in terms of
  their operands (a compare that only its branch uses, a widening that only compares use).
- *Aliases*: an instruction that computes again what its block has computed already is the same value.
- *Liveness* on what is really kept, as bit masks over local indices.
"""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.ir.module import Block, Function, Instruction
from anabranch.ir.types import IntType, Type
from anabranch.ir.values import ConstInt, GlobalRef, Local, Operand
from anabranch.machine.translator.scopes import find_scopes
from anabranch.semantics.integers import SIGNED

# Instructions without effects and errors, whose value depends on nothing but their operands.
REPEATABLE = frozenset(
    (
        "getelementptr",
        "zext",
        "sext",
        "trunc",
        "add",
        "sub",
        "and",
        "or",
        "xor",
        "icmp",
        "bitcast",
        "ptrtoint",
    )
)
UNDEF_CALL = "anabranch.undef."


def callee_name(instruction: Instruction) -> str | None:
    """The name of the function that a call names directly."""
    callee = instruction.operands[0]
    return callee.name if isinstance(callee, GlobalRef) else None


def static_size(alloca: Instruction) -> int:
    """The bytes of a local whose size is known at translation."""
    count = alloca.operands[0]
    assert isinstance(alloca.extra, Type) and isinstance(count, ConstInt)
    return alloca.extra.size * count.value


class Plan:
    """Decisions and liveness for one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.blocks: list[Block] = function.blocks
        count = len(self.blocks)
        self.locals: dict[int, Local] = {p.index: p for p in function.params}
        self.definition: dict[int, tuple[int, Instruction]] = {}
        for block in self.blocks:
            for instruction in block.instructions:
                if instruction.result is not None:
                    self.locals[instruction.result.index] = instruction.result
                    self.definition[instruction.result.index] = (block.index, instruction)
        self.dynamic_index = function.local_count  # the tuple D of objects made by dynamic allocas
        self.varargs_index = function.local_count + 1
        self.successors: list[tuple[int, ...]] = [
            tuple(dict.fromkeys(b.instructions[-1].targets)) for b in self.blocks
        ]
        self.predecessors: list[list[int]] = [[] for _ in range(count)]
        self.edges_in = [0] * count
        for block in self.blocks:
            for target in block.instructions[-1].targets:
                self.edges_in[target] += 1
            for target in self.successors[block.index]:
                self.predecessors[target].append(block.index)
        self.static_allocas = self._static_allocas()
        self.scopes = find_scopes(self.blocks, self.static_allocas)
        self.has_dynamic = self._has_dynamic()
        self.alias = self._aliases()
        self.uses = self._uses()
        self.virtual = self._virtual()
        self.signed_offsets = self._signed_offsets()
        self.phi_mask = [
            sum(1 << i.result.index for i in phis(block) if i.result is not None) for block in self.blocks
        ]
        self.live_in = self._liveness()

    # ---- shape ---------------------------------------------------------------------------------------

    def arms(self, forced: frozenset[int] = frozenset()) -> list[int]:
        """Blocks with an arm: the entry, whatever has several predecessors, and `forced` ones."""
        depth = self._loop_depth()
        chosen = [
            b.index for b in self.blocks if b.index == 0 or self.edges_in[b.index] > 1 or b.index in forced
        ]
        return sorted(chosen, key=lambda b: (-depth[b], b))

    def _loop_depth(self) -> list[int]:
        """How many loops of the block order contain each block; good enough to put hot arms first."""
        change = [0] * (len(self.blocks) + 1)
        for block in self.blocks:
            for target in self.successors[block.index]:
                if target <= block.index:
                    change[target] += 1
                    change[block.index + 1] -= 1
        depth, total = [], 0
        for step in change[:-1]:
            total += step
            depth.append(total)
        return depth

    # ---- frames --------------------------------------------------------------------------------------

    def _static_allocas(self) -> tuple[int, ...]:
        """Locals that hold objects which die when the function returns: one a frame each."""
        found = [
            param.index
            for param, attrs in zip(self.function.params, self.function.param_attrs, strict=True)
            if attrs is not None and attrs.byval is not None
        ]
        for instruction in self.blocks[0].instructions if self.blocks else ():
            if instruction.opcode == "alloca" and isinstance(instruction.operands[0], ConstInt):
                assert instruction.result is not None
                found.append(instruction.result.index)
        return tuple(found)

    def is_static_alloca(self, block: int, instruction: Instruction) -> bool:
        return block == 0 and isinstance(instruction.operands[0], ConstInt)

    def _has_dynamic(self) -> bool:
        for block in self.blocks:
            for instruction in block.instructions:
                if instruction.opcode == "alloca" and not self.is_static_alloca(block.index, instruction):
                    return True
                if instruction.opcode == "call":
                    name = callee_name(instruction)
                    if name is not None and name.startswith(("llvm.va_start", "llvm.stack")):
                        return True
        return False

    # ---- uses ----------------------------------------------------------------------------------------

    def _aliases(self) -> dict[int, int]:
        """Results that equal an earlier one of their block, by local index."""
        alias: dict[int, int] = {}

        def name(operand: Operand) -> object:
            if isinstance(operand, Local):
                return ("local", alias.get(operand.index, operand.index))
            if isinstance(operand, ConstInt):
                return (operand.type, operand.value)
            return operand.name if isinstance(operand, GlobalRef) else id(operand)

        for block in self.blocks:
            seen: dict[object, int] = {}
            for instruction in block.instructions:
                if instruction.opcode not in REPEATABLE or instruction.result is None:
                    continue
                key = (
                    instruction.opcode,
                    instruction.type,
                    instruction.extra,
                    instruction.flags,
                    tuple(map(name, instruction.operands)),
                )
                first = seen.setdefault(key, instruction.result.index)
                if first != instruction.result.index:
                    alias[instruction.result.index] = first
        return alias

    def is_repetition(self, instruction: Instruction) -> bool:
        """Does it compute what is there already? Its operands need not be there any more."""
        return instruction.result is not None and instruction.result.index in self.alias

    def index_of(self, local: Local) -> int:
        """The index under which a local's value is kept."""
        return self.alias.get(local.index, local.index)

    def _uses(self) -> dict[int, list[tuple[int, Instruction]]]:
        uses: dict[int, list[tuple[int, Instruction]]] = {}
        for block in self.blocks:
            for instruction in block.instructions:
                for operand in instruction.operands:
                    if isinstance(operand, Local):
                        uses.setdefault(self.index_of(operand), []).append((block.index, instruction))
        return uses

    def _virtual(self) -> frozenset[int]:
        virtual: set[int] = set(self.alias)
        for index, (block, instruction) in self.definition.items():
            if index in self.alias:
                continue
            uses = self.uses.get(index, [])
            if (
                instruction.opcode == "icmp"
                and len(uses) == 1
                and uses[0][1].opcode == "br"
                and uses[0][0] == block
            ) or (
                instruction.opcode in ("zext", "sext")
                and uses
                and all(use.opcode == "icmp" and self.narrowed(use) is not None for _, use in uses)
            ):
                virtual.add(index)
        return frozenset(virtual | self._unused(virtual))

    def _unused(self, virtual: set[int]) -> set[int]:
        """Results that nobody uses, of instructions that cannot fail, and what only those use."""
        unused: set[int] = set()
        pending = [index for index in self.definition if index not in self.uses]
        while pending:
            index = pending.pop()
            instruction = self.definition[index][1]
            if index in virtual or index in unused or not self._cannot_fail(instruction):
                continue
            unused.add(index)
            for operand in instruction.operands:
                if isinstance(operand, Local):
                    kept = self.index_of(operand)
                    users = self.uses.get(kept, ())
                    if kept in self.definition and all(self._is_unused(user, unused) for _, user in users):
                        pending.append(kept)
        return unused

    def _is_unused(self, instruction: Instruction, unused: set[int]) -> bool:
        return instruction.result is not None and instruction.result.index in unused

    def _cannot_fail(self, instruction: Instruction) -> bool:
        if instruction.opcode == "call":
            return (callee_name(instruction) or "").startswith(UNDEF_CALL)
        return instruction.opcode in REPEATABLE and "nsw" not in instruction.flags

    def narrowed(self, compare: Instruction) -> tuple[str, Local, int] | None:
        """`(predicate, narrow value, constant)` equal to a compare of a widened value with a constant."""
        left, right = compare.operands
        if not isinstance(left, Local) or not isinstance(right, ConstInt):
            return None
        found = self.definition.get(self.index_of(left))
        if found is None or found[1].opcode not in ("zext", "sext"):
            return None
        widening = found[1]
        source = widening.operands[0]
        if not isinstance(source, Local) or not isinstance(source.type, IntType):
            return None
        predicate, constant = str(compare.extra), right.value
        narrow, wide = source.type.width, right.type.width
        if narrow == 1:
            if widening.opcode == "zext" and predicate in ("eq", "ne") and constant in (0, 1):
                return predicate, source, constant
            return None
        if widening.opcode == "zext":
            if constant >> narrow or (predicate in SIGNED and constant >> (wide - 1)):
                return None
            return predicate.replace("s", "u") if predicate in SIGNED else predicate, source, constant
        low = constant & ((1 << narrow) - 1)
        again = low | (((1 << wide) - 1) ^ ((1 << narrow) - 1)) if low >> (narrow - 1) else low
        if again != constant or predicate not in ("eq", "ne", *SIGNED):
            return None
        return predicate, source, low

    def _signed_offsets(self) -> frozenset[int]:
        """Sign extensions to 64 bits that only address computations use: kept as signed Python ints."""
        found = set()
        for index, (_, instruction) in self.definition.items():
            if instruction.opcode != "sext" or instruction.type.bits != 64:
                continue
            if instruction.operands[0].type.bits == 1 or not isinstance(instruction.type, IntType):
                continue
            uses = self.uses.get(index, [])
            if all(
                use.opcode == "getelementptr"
                and not (isinstance(use.operands[0], Local) and self.index_of(use.operands[0]) == index)
                for _, use in uses
            ):
                found.add(index)
        return frozenset(found)

    # ---- liveness ------------------------------------------------------------------------------------

    def reads(self, instruction: Instruction) -> Iterator[Local]:
        """The kept locals that an instruction reads when it runs (phis read on edges instead)."""
        opcode = instruction.opcode
        if opcode == "phi":
            return
        for operand in instruction.operands:
            if isinstance(operand, Local):
                index = self.index_of(operand)
                if index in self.virtual:
                    yield from self.reads(self.definition[index][1])
                else:
                    yield self.locals[index]

    def read_mask(self, instruction: Instruction) -> int:
        mask = 0
        for local in self.reads(instruction):
            mask |= 1 << local.index
        if instruction.opcode == "ret":
            for index in self.static_allocas:
                mask |= 1 << index
        return mask

    @property
    def always_live(self) -> int:
        mask = 0
        if self.has_dynamic:
            mask |= 1 << self.dynamic_index
        if self.function.vararg:
            mask |= 1 << self.varargs_index
        return mask

    def is_virtual(self, instruction: Instruction) -> bool:
        return instruction.result is not None and instruction.result.index in self.virtual

    def _liveness(self) -> list[int]:
        """Live at the start of each block, after its phis."""
        live = [0] * len(self.blocks)
        self.live_in = live
        gen_kill = []
        for block in self.blocks:
            gen = kill = 0
            for instruction in reversed(block.instructions):
                if instruction.opcode == "phi" or self.is_virtual(instruction):
                    continue
                if instruction.result is not None:
                    bit = 1 << instruction.result.index
                    kill |= bit
                    gen &= ~bit
                gen |= self.read_mask(instruction)
            gen_kill.append((gen, kill))
        pending = list(range(len(self.blocks)))
        waiting = set(pending)
        while pending:
            index = pending.pop()
            waiting.discard(index)
            gen, kill = gen_kill[index]
            now = gen | (self.live_out(index) & ~kill)
            if now != live[index]:
                live[index] = now
                for predecessor in self.predecessors[index]:
                    if predecessor not in waiting:
                        waiting.add(predecessor)
                        pending.append(predecessor)
        always = self.always_live
        return [mask | always for mask in live]

    def incoming(self, source: int, target: int) -> list[tuple[Local, Operand]]:
        """The phi assignments of an edge."""
        assignments = []
        for phi in phis(self.blocks[target]):
            assert phi.result is not None
            assignments.append((phi.result, phi.operands[phi.targets.index(source)]))
        return assignments

    def live_edge(self, source: int, target: int) -> int:
        """Live on an edge, before the phi assignments."""
        mask = self.live_in[target] & ~self.phi_mask[target]
        for _, value in self.incoming(source, target):
            if isinstance(value, Local):
                mask |= 1 << self.index_of(value)
        return mask

    def live_out(self, block: int) -> int:
        mask = 0
        for target in self.successors[block]:
            mask |= self.live_edge(block, target)
        return mask

    def live_before(self, block: int, position: int) -> int:
        """Live just before an instruction of a block runs (phis count as already run)."""
        mask = self.live_out(block)
        instructions = self.blocks[block].instructions
        for instruction in reversed(instructions[position:]):
            if instruction.opcode == "phi" or self.is_virtual(instruction):
                continue
            if instruction.result is not None:
                mask &= ~(1 << instruction.result.index)
            mask |= self.read_mask(instruction)
        return mask | self.always_live

    def live_after(self, block: int, position: int) -> int:
        """Live just after an instruction, its own result excluded."""
        mask = self.live_before(block, position + 1)
        result = self.blocks[block].instructions[position].result
        return mask & ~(1 << result.index) if result is not None else mask

    def names(self, mask: int) -> tuple[str, ...]:
        """The Python names of a set of locals, in a fixed order."""
        names = []
        while mask:
            low = mask & -mask
            mask ^= low
            names.append(self.name(low.bit_length() - 1))
        return tuple(names)

    def name(self, index: int) -> str:
        if index == self.dynamic_index:
            return "D"
        if index == self.varargs_index:
            return "va"
        return f"v{index}"


def phis(block: Block) -> Iterator[Instruction]:
    for instruction in block.instructions:
        if instruction.opcode != "phi":
            return
        yield instruction
