"""How often a loop runs, where that is a matter of constants: one counting phi, stepped until the test
fails."""

from __future__ import annotations

from anabranch.analysis.cfg import CFG
from anabranch.analysis.loops import Loop
from anabranch.ir.lexer import words
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import IntType
from anabranch.ir.values import ConstInt, Local, Operand
from anabranch.semantics.conditions import possible_faults
from anabranch.semantics.elements import Value
from anabranch.semantics.operations import result

_MAX_NODES = 64
"""Instructions looked at for one test; a counter needs a handful."""


_COUNTING = words("add sub mul and or xor udiv shl lshr ashr icmp zext sext trunc freeze")
"""Instructions that counters and their tests are made of."""


class _NotConstant(Exception):
    """The expression depends on something other than the counter and constants."""


class _Expression:
    """An integer expression over one counter: instructions in the order of evaluation."""

    def __init__(self, root: Operand, counter: Local, definitions: dict[int, Instruction]) -> None:
        self.root = root
        self.counter = counter
        self.steps: list[Instruction] = []
        done = {counter.index}
        stack: list[tuple[Operand, bool]] = [(root, False)]
        while stack:
            operand, finished = stack.pop()
            if isinstance(operand, ConstInt):
                continue
            if not isinstance(operand, Local) or operand.index not in definitions | {counter.index: None}:
                raise _NotConstant
            if operand.index in done:
                continue
            instruction = definitions[operand.index]
            if finished:
                done.add(operand.index)
                self.steps.append(instruction)
                continue
            if instruction.opcode == "phi" or len(self.steps) + len(stack) > _MAX_NODES:
                raise _NotConstant
            stack.append((operand, True))
            stack.extend((o, False) for o in instruction.operands)

    def at(self, counter: Value) -> Value:
        values = {self.counter.index: counter}
        for step in self.steps:
            assert step.result is not None
            values[step.result.index] = _evaluate(step, [_value(o, values) for o in step.operands])
        return _value(self.root, values)


def _value(operand: Operand, values: dict[int, Value]) -> Value:
    if isinstance(operand, ConstInt):
        return bool(operand.value) if operand.type.width == 1 else operand.value
    assert isinstance(operand, Local)
    return values[operand.index]


def _evaluate(step: Instruction, values: list[Value]) -> Value:
    plain = isinstance(step.type, IntType) and isinstance(step.operands[0].type, IntType)
    if not plain or step.opcode not in _COUNTING or any(possible_faults(step, values, False)):
        raise _NotConstant
    return result(step, values)


def trip_count(function: Function, cfg: CFG, loop: Loop, limit: int = 1024) -> int | None:
    """How often the loop's body runs if no other exit is taken; `limit` if at least so often.

    Known if a test in the header or at the end of the loop compares an expression of one phi of the header,
    which starts at a constant and is stepped by constants. None if not known.
    """
    definitions = {
        i.result.index: i
        for b in loop.blocks
        for i in function.blocks[b].instructions
        if i.result is not None
    }
    latches = {source for source, _ in loop.back_edges}
    if len(latches) != 1:
        return None
    (latch,) = latches
    found = [
        count
        for exiting in {loop.header, latch}
        for phi in function.blocks[loop.header].instructions
        if phi.opcode == "phi"
        and (count := _count(function, loop, phi, exiting, latch, definitions, limit)) is not None
    ]
    return min(found, default=None)


def _count(
    function: Function,
    loop: Loop,
    phi: Instruction,
    exiting: int,
    latch: int,
    definitions: dict[int, Instruction],
    limit: int,
) -> int | None:
    branch = function.blocks[exiting].instructions[-1]
    if branch.opcode != "br" or len(branch.targets) != 2 or phi.result is None:
        return None
    stays = [target in loop.blocks for target in branch.targets]
    if stays[0] == stays[1]:
        return None
    starts = {v for v, s in zip(phi.operands, phi.targets, strict=True) if s not in loop.blocks}
    steps = [v for v, s in zip(phi.operands, phi.targets, strict=True) if s == latch]
    if len(starts) != 1 or len(steps) != 1:
        return None
    try:
        counter = _start(function, starts.pop())
        test = _Expression(branch.operands[0], phi.result, definitions)
        step = _Expression(steps[0], phi.result, definitions)
        if not test.steps or isinstance(steps[0], ConstInt):
            return None
        stay_value = 1 if stays[0] else 0
        # A test at the end comes after the body, one in the header before it.
        for count in range(limit):
            if test.at(counter) != stay_value:
                return count + 1 if exiting == latch else count
            counter = step.at(counter)
    except _NotConstant:
        return None
    return limit


def _start(function: Function, operand: Operand) -> Value:
    """A constant, or what a few instructions before the loop make of constants."""
    if isinstance(operand, ConstInt):
        return _value(operand, {})
    if not isinstance(operand, Local):
        raise _NotConstant
    definitions = {i.result.index: i for b in function.blocks for i in b.instructions if i.result is not None}
    nothing = Local("", operand.type, -1)
    return _Expression(operand, nothing, definitions).at(0)
