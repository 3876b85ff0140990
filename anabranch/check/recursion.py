"""Recursion, by the form of the code: tail recursion is a loop; may a function of a cycle return NULL?

A call of the function itself whose result is only returned needs no frame of its own: the parameters take the
values of the arguments, and the body begins again (section 4.1.4). Other cycles of calls stay; what a call
inside one does is not known.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from anabranch.analysis.callgraph import direct_callee
from anabranch.ir.module import Block, Function, Instruction, Module
from anabranch.ir.types import VOID
from anabranch.ir.values import ConstInt, Local, Null, Operand

_WITHOUT_EFFECT = ("llvm.dbg.", "llvm.lifetime.")


def tail_calls_as_loops(module: Module) -> Module:
    """The program with loops in the place of tail recursion; the same one if it has none."""
    changed: dict[str, Function] = {}
    for function in module.defined_functions():
        tails = _tails(module, function)
        if tails:
            changed[function.name] = _looping(function, tails)
    return replace(module, functions={**module.functions, **changed}) if changed else module


def may_return_null(function: Function) -> bool:
    """Does the constant NULL come to a return, over phis and selects?"""
    definitions = {
        instruction.result.index: instruction
        for block in function.blocks
        for instruction in block.instructions
        if instruction.result is not None and instruction.opcode in ("phi", "select")
    }
    stack: list[Operand] = [o for b in function.blocks for o in _returned(b)]
    seen: set[int] = set()
    while stack:
        operand = stack.pop()
        if isinstance(operand, Null):
            return True
        if isinstance(operand, Local) and operand.index in definitions and operand.index not in seen:
            seen.add(operand.index)
            stack += definitions[operand.index].operands
    return False


def _returned(block: Block) -> tuple[Operand, ...]:
    last = block.instructions[-1]
    return last.operands if last.opcode == "ret" else ()


def _tails(module: Module, function: Function) -> dict[int, int]:
    """Blocks that end in a tail call, with its number in the block. A function with objects of its own, which
    the next call must not share, has none."""
    if function.vararg or any(a is not None and (a.byval or a.sret) for a in function.param_attrs):
        return {}
    found: dict[int, int] = {}
    for block in function.blocks:
        for number, instruction in enumerate(block.instructions):
            if instruction.opcode == "alloca":
                return {}
            if instruction.opcode != "call" or direct_callee(module, instruction) != function.name:
                continue
            same = len(instruction.operands) == 1 + len(function.params)
            if same and _only_returned(module, function, block, number):
                found[block.index] = number
    return found


def _only_returned(module: Module, function: Function, block: Block, number: int) -> bool:
    """Does nothing happen after a call but that its result is returned? A scope that is left on the way ends
    in a switch over a phi of numbers, of which this way gives one."""
    value = block.instructions[number].result
    rest, seen = block.instructions[number + 1 :], {block.index}
    merged: dict[int, Operand] = {}
    while True:
        for instruction in rest[:-1]:
            if instruction.opcode != "call":
                return False
            if not (direct_callee(module, instruction) or "").startswith(_WITHOUT_EFFECT):
                return False
        last = rest[-1]
        if last.opcode == "ret":
            return not last.operands or _behind(last.operands[0], merged) is value
        target = _next(last, merged)
        if target is None or target in seen:
            return False
        before, block = block.index, function.blocks[target]
        seen.add(target)
        phis = [i for i in block.instructions if i.opcode == "phi"]
        for phi in phis:
            assert phi.result is not None
            incoming = dict(zip(phi.targets, phi.operands, strict=True))
            merged[phi.result.index] = incoming[before]
        rest = block.instructions[len(phis) :]


def _behind(operand: Operand, merged: dict[int, Operand]) -> Operand:
    """What a phi is on a way."""
    while isinstance(operand, Local) and operand.index in merged:
        operand = merged[operand.index]
    return operand


def _next(last: Instruction, merged: dict[int, Operand]) -> int | None:
    """The block that a jump leads to, if that is plain."""
    if last.opcode == "br" and len(last.targets) == 1:
        return last.targets[0]
    chosen = _behind(last.operands[0], merged) if last.opcode == "switch" else None
    if not isinstance(chosen, ConstInt):
        return None
    assert isinstance(last.extra, tuple)
    cases: dict[int, int] = dict(zip(last.extra, last.targets[1:], strict=True))
    return cases.get(chosen.value, last.targets[0])


def _looping(function: Function, tails: dict[int, int]) -> Function:
    """The entry becomes a block of its own, the body begins behind it, with a phi for each parameter."""
    header = len(function.blocks)
    count = function.local_count
    phis = {p.index: Local(p.name, p.type, count + number) for number, p in enumerate(function.params)}

    def replaced(operand: Operand) -> Operand:
        return phis.get(operand.index, operand) if isinstance(operand, Local) else operand

    def moved(instruction: Instruction) -> Instruction:
        result = copy(instruction)
        result.operands = tuple(map(replaced, instruction.operands))
        if instruction.opcode == "phi":
            incoming = zip(result.operands, instruction.targets, strict=True)
            kept = [(value, header if at == 0 else at) for value, at in incoming if at not in tails]
            result.operands, result.targets = tuple(v for v, _ in kept), tuple(at for _, at in kept)
        return result

    blocks: list[Block] = []
    for block in function.blocks:
        body = Block(block.name, block.index or header)
        instructions = block.instructions[: tails.get(block.index)]
        body.instructions = list(map(moved, instructions))
        if block.index in tails:
            body.instructions.append(_jump(header, block.instructions[tails[block.index]]))
        blocks.append(body)
    first, entry = blocks[0], Block("entry", 0)
    entry.instructions.append(_jump(header, function.blocks[0].instructions[0]))
    for number, parameter in enumerate(function.params):
        given = {0: parameter} | {
            (at or header): replaced(function.blocks[at].instructions[call].operands[1 + number])
            for at, call in tails.items()
        }
        phi = Instruction("phi", parameter.type, tuple(given.values()), tuple(given))
        phi.result = phis[parameter.index]
        phi.loc = first.instructions[0].loc
        first.instructions.insert(number, phi)
    result = copy(function)
    result._blocks = [entry, *blocks[1:], first]
    result._variables = None  # of the phis too, which have the names of the parameters
    result.local_count = count + len(phis)
    return result


def _jump(target: int, at: Instruction) -> Instruction:
    jump = Instruction("br", VOID, (), (target,))
    jump.loc, jump.text_line = at.loc, at.text_line
    return jump
