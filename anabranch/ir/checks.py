"""Checks that clang's UndefinedBehaviorSanitizer compiled in, as one instruction each.

In the text a check is a branch around a block that calls a handler of the sanitizer's run-time library:

    %ok = icmp ult i64 %i, 8, !nosanitize            %ok = icmp ult i64 %i, 8
    br i1 %ok, label %cont, label %handler     ->    check %ok, %i      ; extra: a CheckSite
  cont:                                              ...

The program has no such branch: as an instruction the check neither counts as a path nor as a branch to
cover, and the blocks before and behind it are one again, as they are without it. A handler that is called
otherwise, which optimised bitcode may have, is left as it is: it is a call like others.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from anabranch.ir.debug import DebugLoc
from anabranch.ir.lexer import words
from anabranch.ir.module import Block, Instruction
from anabranch.ir.types import VOID, IntType
from anabranch.ir.values import ConstInt, GlobalRef, Local, Operand

CHECK = "check"
MARK = "!nosanitize"
NOT_CHECKED = frozenset((MARK[1:],))
"""Flag of instructions that belong to a check: they have no errors of their own."""

FUNCTION_SIGNATURE = 0xC105CAFE
"""Stands before the code of functions that were compiled with a check of calls by pointer."""
HANDLER, TRAP = "__ubsan_handle_", "llvm.ubsantrap"
_SHIFTS = frozenset(("shl", "lshr", "ashr"))
_CASTS = frozenset(("zext", "sext", "trunc", "ptrtoint", "bitcast"))
_PURE = _CASTS | words("icmp fcmp add sub mul and or xor lshr ashr shl select extractvalue getelementptr")
_TRAPS = (
    "add_overflow", "builtin_unreachable", "cfi_check_fail", "divrem_overflow", "dynamic_type_cache_miss",
    "float_cast_overflow", "function_type_mismatch", "implicit_conversion", "invalid_builtin",
    "invalid_objc_cast", "load_invalid_value", "missing_return", "mul_overflow", "negate_overflow",
    "nullability_arg", "nullability_return_v1", "nonnull_arg", "nonnull_return_v1", "out_of_bounds",
    "pointer_overflow", "shift_out_of_bounds", "sub_overflow", "type_mismatch_v1", "alignment_assumption",
    "vla_bound_not_positive",
)  # fmt: skip
"""The handlers by the number that `llvm.ubsantrap` is given for them."""


@dataclass(frozen=True, slots=True)
class CheckSite:
    """What a check knows beyond its operands (the condition that must hold, and values for the message)."""

    handler: str
    """Name of the handler, without what it has in common with the others: "out_of_bounds"."""
    data: Operand | None
    """Address of the record that describes the place and the types; None where there is none."""


def handler_name(callee: str) -> str:
    """The handler that a function of the run-time library is: "" if it is none."""
    if not callee.startswith(HANDLER):
        return ""
    return callee.removeprefix(HANDLER).removesuffix("_abort").removesuffix("_minimal")


def is_handler(callee: str) -> bool:
    """Is a function what a check calls if it fails?"""
    return callee.startswith((HANDLER, TRAP))


def trap_name(number: int) -> str:
    return _TRAPS[number] if number < len(_TRAPS) else "trap"


def fold_checks(blocks: list[Block]) -> list[Block]:
    """The blocks of a function with its checks as instructions."""
    calls = (i.operands[0] for block in blocks for i in block.instructions if i.opcode == "call")
    if not any(isinstance(callee, GlobalRef) and is_handler(callee.name) for callee in calls):
        return blocks
    if any(block.instructions[-1].opcode == "indirectbr" for block in blocks):
        return blocks  # labels are values there
    return _Folder(blocks).fold()


class _Folder:
    """Rewrites the blocks of one function."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.predecessors: list[set[int]] = [set() for _ in blocks]
        for block in blocks:
            for target in block.instructions[-1].targets:
                self.predecessors[target].add(block.index)
        self.definition = {i.result.index: i for b in blocks for i in b.instructions if i.result is not None}
        self.shifted_by = {
            amount.index
            for block in blocks
            for i in block.instructions
            if i.opcode in _SHIFTS and isinstance(amount := i.operands[1], Local)
        }
        self.merged_into: dict[int, int] = {}
        self.gone: set[int] = set()

    def fold(self) -> list[Block]:
        for block in self.blocks:
            while block.index not in self.gone and (
                self._function_type(block) or self._guard(block) or self._check(block)
            ):
                pass
        self._remove_unused()
        return self._renumbered()

    # ---- the branch of a check -----------------------------------------------------------------------

    def _check(self, block: Block) -> bool:
        """Replace the branch at the end of a block if it is that of a check."""
        last = block.instructions[-1]
        if last.opcode != "br" or len(last.targets) != 2 or last.targets[0] == last.targets[1]:
            return False
        behind, handler = last.targets
        found = self._handler(self.blocks[handler], behind)
        if found is None:
            return False
        site, values, loc = found
        ok = last.operands[0]
        block.instructions.pop()
        if not (isinstance(ok, ConstInt) and ok.value) and not self._made_by_machine(site.handler, ok):
            check = Instruction(CHECK, VOID, (self._narrowed(ok), *values), (), NOT_CHECKED, site)
            check.loc, check.text_line = loc or last.loc, last.text_line
            block.instructions.append(check)
        jump = Instruction("br", VOID, (), (behind,), NOT_CHECKED)
        jump.loc, jump.text_line = last.loc, last.text_line
        block.instructions.append(jump)
        self.predecessors[handler].discard(block.index)
        if not self.predecessors[handler]:
            self._leave_out(handler)
        self._merge_with_next(block)
        return True

    def _handler(
        self, block: Block, behind: int
    ) -> tuple[CheckSite, tuple[Operand, ...], DebugLoc | None] | None:
        """What a block reports, if it does nothing but that."""
        if len(block.instructions) < 2:
            return None
        *before, call, last = block.instructions
        ends = last.opcode == "unreachable" or (last.opcode == "br" and last.targets == (behind,))
        if call.opcode != "call" or not ends or not isinstance(call.operands[0], GlobalRef):
            return None
        if any(step.opcode not in _CASTS and step.opcode != "store" for step in before):
            return None
        name, arguments = call.operands[0].name, call.operands[1:]
        if name.startswith(TRAP):
            number = arguments[0]
            assert isinstance(number, ConstInt)
            return CheckSite(trap_name(number.value), None), (), call.loc
        handler = handler_name(name)
        if not handler:
            return None
        data = arguments[0] if arguments else None
        return CheckSite(handler, data), tuple(_source(before, a) for a in arguments[1:]), call.loc

    def _made_by_machine(self, handler: str, ok: Operand) -> bool:
        """Does the machine check the operation itself? It does so with each division, and with shifts by the
        number that is compared; but a number may be cut to the width of the shift behind its check."""
        compare = self._definition(ok)
        if compare is None:
            return False
        if handler == "divrem_overflow":
            return True
        amount = compare.operands[0]
        return (
            handler == "shift_out_of_bounds"
            and compare.opcode == "icmp"
            and isinstance(amount, Local)
            and amount.index in self.shifted_by
        )

    def _narrowed(self, ok: Operand) -> Operand:
        """A compare of a widened index with a constant becomes one of the index itself, which is cheaper."""
        compare = self._definition(ok)
        if compare is None or compare.opcode != "icmp" or compare.extra not in ("ult", "ule"):
            return ok
        index, limit = compare.operands
        widened = self._definition(index)
        if widened is None or widened.opcode not in ("zext", "sext") or not isinstance(limit, ConstInt):
            return ok
        source = widened.operands[0]
        if (
            "nosanitize" not in compare.flags
            or not isinstance(source.type, IntType)
            or source.type.width == 1
        ):
            return ok
        # A negative index is a large one in either width, as long as the limit itself is no such number.
        if limit.value < 1 << (source.type.width - 1):
            compare.operands = (source, ConstInt(source.type, limit.value))
        return ok

    # ---- blocks --------------------------------------------------------------------------------------

    def _definition(self, operand: Operand) -> Instruction | None:
        return self.definition.get(operand.index) if isinstance(operand, Local) else None

    def _leave_out(self, index: int) -> None:
        """A block that nothing leads to any more, and what only it leads to."""
        self.gone.add(index)
        for target in dict.fromkeys(self.blocks[index].instructions[-1].targets):
            self.predecessors[target].discard(index)
            if not self.predecessors[target] and target not in self.gone:
                self._leave_out(target)
            for phi in _phis(self.blocks[target]):
                kept = [p for p in zip(phi.operands, phi.targets, strict=True) if p[1] != index]
                phi.operands, phi.targets = tuple(p[0] for p in kept), tuple(p[1] for p in kept)

    def _merge_with_next(self, block: Block) -> None:
        """Append the only successor of a block if it has no other predecessor."""
        (target,) = block.instructions[-1].targets
        following = self.blocks[target]
        if target == 0 or target == block.index or self.predecessors[target] != {block.index}:
            return
        if _phis(following):
            return
        block.instructions.pop()
        block.instructions += following.instructions
        following.instructions = []
        self.gone.add(target)
        self.merged_into[target] = block.index
        for after in block.instructions[-1].targets:
            self.predecessors[after].discard(target)
            self.predecessors[after].add(block.index)
            for phi in _phis(self.blocks[after]):
                phi.targets = tuple(block.index if t == target else t for t in phi.targets)

    def _function_type(self, block: Block) -> bool:
        """Leave out the check of a call by pointer: it reads what the compiler puts before a function's code,
        which is no memory here. The machine compares types of its own at such calls."""
        last = block.instructions[-1]
        if last.opcode != "br" or len(last.targets) != 2 or last.targets[0] == last.targets[1]:
            return False
        compare = self._definition(last.operands[0])
        if compare is None or compare.opcode != "icmp":
            return False
        signature, expected = compare.operands
        load = self._definition(signature)
        if not isinstance(expected, ConstInt) or expected.value != FUNCTION_SIGNATURE:
            return False
        if load is None or load.opcode != "load" or not load.flags & NOT_CHECKED:
            return False
        checked, called = last.targets
        jump = Instruction("br", VOID, (), (called,), NOT_CHECKED)
        jump.loc, jump.text_line = last.loc, last.text_line
        block.instructions = [i for i in block.instructions if i not in (load, compare, last)] + [jump]
        self.predecessors[checked].discard(block.index)
        if not self.predecessors[checked]:
            self._leave_out(checked)
        self._merge_with_next(block)
        return True

    # ---- what a check computes -----------------------------------------------------------------------

    def _guard(self, block: Block) -> bool:
        """Undo a branch inside a check, around what must not be computed natively: all of it can be here.

        The check of a left shift computes which bits get lost only if the number of bits is in range.
        """
        last = block.instructions[-1]
        if last.opcode != "br" or len(last.targets) != 2 or not last.flags & NOT_CHECKED:
            return False
        side, meeting = last.targets
        if side == meeting or self.predecessors[side] != {block.index}:
            return False
        *steps, jump = self.blocks[side].instructions
        if jump.opcode != "br" or jump.targets != (meeting,):
            return False
        if self.predecessors[meeting] != {block.index, side}:
            return False
        if any(step.opcode not in _PURE or not step.flags & NOT_CHECKED for step in steps):
            return False
        block.instructions.pop()
        block.instructions += steps
        for phi in _phis(self.blocks[meeting]):
            chosen = dict(zip(phi.targets, phi.operands, strict=True))
            phi.opcode, phi.targets, phi.flags = "select", (), NOT_CHECKED
            phi.operands = (last.operands[0], chosen[side], chosen[block.index])
        jump = Instruction("br", VOID, (), (meeting,), NOT_CHECKED)
        jump.loc, jump.text_line = last.loc, last.text_line
        block.instructions.append(jump)
        self.blocks[side].instructions = []
        self.gone.add(side)
        self.predecessors[meeting].discard(side)
        self._merge_with_next(block)
        return True

    def _remove_unused(self) -> None:
        """Leave out what was computed for handlers only."""
        kept = [block for block in self.blocks if block.index not in self.gone]
        uses = Counter(
            o.index for b in kept for i in b.instructions for o in i.operands if isinstance(o, Local)
        )
        unused: set[int] = set()
        pending = [i for b in kept for i in b.instructions if i.opcode in _PURE and i.flags & NOT_CHECKED]
        while pending:
            instruction = pending.pop()
            assert instruction.result is not None
            if uses[instruction.result.index] or instruction.result.index in unused:
                continue
            unused.add(instruction.result.index)
            for operand in instruction.operands:
                if isinstance(operand, Local):
                    uses[operand.index] -= 1
                    definition = self.definition.get(operand.index)
                    if (
                        definition is not None
                        and definition.opcode in _PURE
                        and definition.flags & NOT_CHECKED
                    ):
                        pending.append(definition)
        for block in kept:
            block.instructions = [
                i for i in block.instructions if i.result is None or i.result.index not in unused
            ]

    def _renumbered(self) -> list[Block]:
        kept = [block for block in self.blocks if block.index not in self.gone]
        number = {block.index: new for new, block in enumerate(kept)}
        for block in kept:
            block.index = number[block.index]
            for instruction in block.instructions:
                if instruction.targets:
                    instruction.targets = tuple(number[target] for target in instruction.targets)
        return kept


def _phis(block: Block) -> list[Instruction]:
    return [i for i in block.instructions if i.opcode == "phi"]


def _source(steps: list[Instruction], operand: Operand) -> Operand:
    """The value that was made to fit the argument of a handler: widened, or stored and passed by address."""
    for step in reversed(steps):
        if step.result is None or step.result is not operand:
            continue
        source = step.operands[0]
        if step.opcode == "ptrtoint":
            stored = [s.operands[0] for s in steps if s.opcode == "store" and s.operands[1] is source]
            return stored[-1] if stored else source
        return _source(steps, source)
    return operand
