"""What each instruction does to the gated form of a function: the cases of Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anabranch.check.events import Store
from anabranch.check.order import is_external
from anabranch.expr import Expr, Value, bool_and, bool_or, eq, ite, not_
from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import Instruction
from anabranch.ir.types import FloatType, IntType, PointerType, Type, VectorType
from anabranch.ir.values import Null
from anabranch.semantics.elements import element_offsets, element_types, is_scalar
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.operations import OPERATIONS, updated
from anabranch.semantics.switches import in_case, switch_cases
from anabranch.semantics.vectors import vector_from_bits, vector_to_bits

if TYPE_CHECKING:
    from anabranch.check.gate import Gated

POINTER = 64


def execute(gated: Gated, node: int, instruction: Instruction) -> None:
    if instruction.opcode in ("phi", "store", "ret"):
        _note_nulls(gated, node, instruction)
    handler = _HANDLERS.get(instruction.opcode)
    if handler is not None:
        handler(gated, node, instruction)
    elif instruction.opcode in OPERATIONS:
        _compute(gated, node, instruction)
    elif instruction.result is not None:
        gated.give_up(node, instruction, f"instruction {instruction.opcode}")


def _note_nulls(gated: Gated, node: int, instruction: Instruction) -> None:
    if instruction.opcode != "phi":
        if instruction.loc is not None and any(isinstance(o, Null) for o in instruction.operands):
            gated.null_places.append((node, instruction.loc))
        return
    for operand, block in zip(instruction.operands, instruction.targets, strict=True):
        loc = gated.function.blocks[block].instructions[-1].loc
        if isinstance(operand, Null) and loc is not None:
            for source in gated.graph.predecessors(node):
                if gated.graph.nodes[source].block == block:
                    gated.null_places.append((source, loc))


def _compute(gated: Gated, node: int, instruction: Instruction) -> None:
    values = tuple(gated.value(node, operand) for operand in instruction.operands)
    for property in gated.program.properties:
        property.operation(gated, node, instruction, values)
    try:
        result = OPERATIONS[instruction.opcode](instruction, *values)
    except Unsupported as problem:
        gated.give_up(node, instruction, str(problem))
        return
    if instruction.opcode == "icmp":
        _note_test(gated, node, instruction, values)
    elif instruction.opcode == "select":
        gated.use(node, values[0], instruction, "branch on")
    gated.define(node, instruction, result)


def _note_test(gated: Gated, node: int, instruction: Instruction, values: tuple[Value, ...]) -> None:
    if not isinstance(instruction.operands[0].type, PointerType):
        return
    a, b = values
    if b.__class__ is int and b == 0 and a.__class__ is Expr:
        gated.tests.setdefault(a, []).append((node, instruction.loc))


def _phi(gated: Gated, node: int, instruction: Instruction) -> None:
    type, described = instruction.type, gated.graph.nodes[node]
    if described.unknown_entry and not described.first_possible:
        gated.define(node, instruction, _later(gated, instruction))
        return
    incoming = dict(zip(instruction.targets, instruction.operands, strict=True))
    nodes = gated.graph.nodes
    value = gated.merge(node, lambda source: gated.value(source, incoming[nodes[source].block]), type)
    if described.unknown_entry:
        value = gated.choose(gated.first_iteration(node), value, _later(gated, instruction), type)
    gated.define(node, instruction, value)


def _later(gated: Gated, instruction: Instruction) -> Value:
    return gated.program.unknown(instruction.type, "a later iteration of the loop", instruction.loc)


def _alloca(gated: Gated, node: int, instruction: Instruction) -> None:
    gated.define(node, instruction, gated.alloca(instruction))


def _load(gated: Gated, node: int, instruction: Instruction) -> None:
    address = gated.value(node, instruction.operands[0])
    gated.access(node, address, (instruction.type.bits + 7) // 8, instruction, "read")
    gated.define(node, instruction, load(gated, node, address, instruction.type, instruction.loc))


def load(gated: Gated, node: int, address: Value, type: Type, loc: DebugLoc | None) -> Value:
    position = len(gated.memory.events[node])
    if isinstance(type, IntType | PointerType | FloatType):
        value = gated.memory.read_places(node, position, gated.program.places.of(address), type.bits, loc)
        if type.bits == POINTER:
            gated.program.leaves.loaded(value, isinstance(type, PointerType))
        return value
    if isinstance(type, VectorType):
        bits = (type.bits + 7) // 8 * 8
        whole = gated.memory.read_places(node, position, gated.program.places.of(address), bits, loc)
        return vector_from_bits(whole, bits, type)
    return tuple(
        load(gated, node, gated.program.shifted(address, start), part, loc)
        for start, part in zip(element_offsets(type), element_types(type), strict=True)
    )


def _store(gated: Gated, node: int, instruction: Instruction) -> None:
    value, address = (gated.value(node, operand) for operand in instruction.operands)
    type = instruction.operands[0].type
    gated.access(node, address, (type.bits + 7) // 8, instruction, "write")
    store(gated, node, address, value, type, instruction.loc)


def store(gated: Gated, node: int, address: Value, value: Value, type: Type, loc: DebugLoc | None) -> None:
    if isinstance(type, VectorType):
        value = vector_to_bits(value, type)
    elif not is_scalar(type):
        for start, part, element in zip(element_offsets(type), element_types(type), value, strict=True):
            store(gated, node, gated.program.shifted(address, start), element, part, loc)
        return
    places = gated.program.places.of(address)
    if any(
        place.base is None and (place.offset is None or place.offset.__class__ is Expr) for place in places
    ):
        gated.lose("a store to an unknown address is left out")
    gated.memory.append(node, Store(places, type.bits, value, loc))


def _atomic(gated: Gated, node: int, instruction: Instruction) -> None:
    """Without concurrency an atomic operation is a load and a store."""
    address = gated.value(node, instruction.operands[0])
    if instruction.opcode == "atomicrmw":
        type = instruction.operands[1].type
        gated.access(node, address, type.size, instruction, "write")
        old = load(gated, node, address, type, instruction.loc)
        new = updated(str(instruction.extra), old, gated.value(node, instruction.operands[1]), type.bits)
        gated.define(node, instruction, old)
    else:
        type = instruction.operands[1].type
        gated.access(node, address, type.size, instruction, "write")
        old = load(gated, node, address, type, instruction.loc)
        same = eq(old, gated.value(node, instruction.operands[1]), type.bits)
        new = ite(same, gated.value(node, instruction.operands[2]), old, type.bits)
        gated.define(node, instruction, (old, same))
    store(gated, node, address, new, type, instruction.loc)


def _branch(gated: Gated, node: int, instruction: Instruction) -> None:
    if not instruction.operands or instruction.targets[0] == instruction.targets[1]:
        return
    condition = gated.value(node, instruction.operands[0])
    gated.use(node, condition, instruction, "branch on")
    yes, no = instruction.targets
    _take(gated, node, yes, condition)
    _take(gated, node, no, not_(condition))


def _take(gated: Gated, node: int, block: int, condition: Value) -> None:
    target = gated.graph.targets[node].get(block)
    if target is None:
        _take_dead(gated, node, condition)
        return
    before = gated.edges.get((node, target))
    gated.edges[node, target] = condition if before is None else bool_or(before, condition)
    facts = set(_not_null(condition))
    known = gated.edge_facts.get((node, target))
    gated.edge_facts[node, target] = facts if known is None else known & facts


def _take_dead(gated: Gated, node: int, condition: Value) -> None:
    edge = (node, gated.graph.dead)
    gated.edges[edge] = bool_or(gated.edges.get(edge, False), condition)


def _switch(gated: Gated, node: int, instruction: Instruction) -> None:
    value = gated.value(node, instruction.operands[0])
    gated.use(node, value, instruction, "switch on")
    cases, default = switch_cases(instruction)
    width = instruction.operands[0].type.bits
    none: Value = True
    for case in cases:
        condition = in_case(value, case, width)
        _take(gated, node, case.target, condition)
        none = bool_and(none, not_(condition))
    _take(gated, node, default, none)


def _jump(gated: Gated, node: int, instruction: Instruction) -> None:
    """A jump whose target is not known: any of them."""
    gated.program.imprecise[f"instruction {instruction.opcode}"] += 1
    if instruction.result is not None:
        gated.give_up(node, instruction, f"instruction {instruction.opcode}")
    targets = list(dict.fromkeys(instruction.targets))
    rest: Value = True
    for target in targets[:-1]:
        which = gated.program.leaves.unknown(1, "where a jump leads")
        _take(gated, node, target, bool_and(rest, which))
        rest = bool_and(rest, not_(which))
    if targets:
        _take(gated, node, targets[-1], rest)


def _return(gated: Gated, node: int, instruction: Instruction) -> None:
    if instruction.operands:
        result = gated.value(node, instruction.operands[0])
        if result.__class__ is Expr and is_external(gated.function):
            for property in gated.program.properties:
                property.result(gated, node, result, instruction)
        gated.results[node] = result


def _call(gated: Gated, node: int, instruction: Instruction) -> None:
    gated.program.calls.execute(gated, node, instruction)
    if instruction.targets:
        _jump_after_call(gated, node, instruction)


def _jump_after_call(gated: Gated, node: int, instruction: Instruction) -> None:
    """invoke, callbr: exceptions and jumps out of assembly are not followed."""
    if instruction.opcode == "callbr":
        gated.lose("a jump out of assembly is not followed")
    else:
        gated.lose("an exception is not followed")
    _take(gated, node, instruction.targets[0], True)
    for target in instruction.targets[1:]:
        _take(gated, node, target, False)


def _not_null(condition: Value) -> list[tuple[str, int]]:
    """Pointers that a branch has shown not to be NULL."""
    found = []
    stack = [condition]
    while stack:
        current = stack.pop()
        if current.__class__ is not Expr:
            continue
        if current.op == "and" and current.w == 1:
            stack += [current.a, current.b]
        elif current.op == "not" and current.a.op == "eq" and current.a.a.w == POINTER:
            zero = current.a.b.__class__ is int and current.a.b == 0
            found += [("null", current.a.a.id)] if zero else []
    return found


_HANDLERS: dict[str, Callable[[Gated, int, Instruction], None]] = {
    "phi": _phi,
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "call": _call,
    "invoke": _call,
    "callbr": _call,
    "indirectbr": _jump,
    "atomicrmw": _atomic,
    "cmpxchg": _atomic,
    "unreachable": lambda gated, node, instruction: None,
    "fence": lambda gated, node, instruction: None,
}
