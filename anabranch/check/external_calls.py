"""Calls of functions without a body, as their contracts say; copies and fills of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.check.events import Copy, Fill, Havoc
from anabranch.check.formats import string_arguments
from anabranch.check.freeing import Free
from anabranch.check.leaves import Unknown
from anabranch.contracts import Contract
from anabranch.expr import Expr, Value, add, bool_and, bool_or, extract, ite, ne, sge, sle, slt, zext
from anabranch.ir.module import Instruction
from anabranch.ir.types import PointerType
from anabranch.semantics.elements import is_scalar

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class ExternalCalls:
    """Executes calls of functions that have a contract, or nothing at all."""

    def __init__(self) -> None:
        self._answers: dict[tuple[object, ...], Value] = {}

    def external(
        self, gated: Gated, node: int, instruction: Instruction, name: str, arguments: tuple[Value, ...]
    ) -> None:
        program = gated.program
        contract = program.externals.get(name)
        if not contract.known:
            program.unknown_externals[name] += 1
            gated.lose("an unknown function is assumed to write only what its arguments point to")
        for position in contract.reads:
            if position < len(arguments) and isinstance(instruction.operands[1 + position].type, PointerType):
                gated.access(node, arguments[position], None, instruction, f"access by {name}")
        if contract.format is not None and contract.format < len(arguments):
            self._printed(gated, node, instruction, arguments, contract.format)
        if "returns_twice" in program.module.functions[name].attributes or "setjmp" in name:
            gated.lose("the second return of setjmp is not followed")
        if contract.fails:
            for property in program.properties:
                property.failure(gated, node, instruction, f"assertion fails{_asserted(gated, instruction)}")
        if contract.noreturn or program.module.functions[name].noreturn:
            gated.assume[node] = False
            return
        if contract.assumes and arguments:
            held = ne(arguments[0], 0, instruction.operands[1].type.bits)
            gated.assume[node] = bool_and(gated.assume[node], held)
        result = self._answer(gated, node, instruction, name, contract, arguments)
        if contract.frees is not None and contract.frees < len(arguments):
            self._free(gated, node, instruction, arguments[contract.frees], True)
        if contract.moves is not None and contract.moves < len(arguments) and result.__class__ is Expr:
            self._free(gated, node, instruction, arguments[contract.moves], ne(result, 0, 64))
        if name in ("memcpy", "memmove") and len(arguments) == 3:
            self.copy(gated, node, instruction, arguments)
        elif name == "memset" and len(arguments) == 3:
            byte = arguments[1] & 255 if arguments[1].__class__ is int else _low_byte(arguments[1])
            self.fill(gated, node, instruction, arguments[0], byte, arguments[2])
        else:
            self.write_arguments(gated, node, instruction, arguments, contract, f"memory written by {name}")
        if instruction.result is not None:
            gated.define(node, instruction, result)

    def _printed(
        self, gated: Gated, node: int, instruction: Instruction, arguments: tuple[Value, ...], position: int
    ) -> None:
        text = gated.program.text(arguments[position])
        for number in string_arguments(text or ""):
            index = position + 1 + number
            if index >= len(arguments) or not isinstance(instruction.operands[1 + index].type, PointerType):
                return
            for property in gated.program.properties:
                property.string(gated, node, arguments[index], instruction)

    def _answer(
        self,
        gated: Gated,
        node: int,
        instruction: Instruction,
        name: str,
        contract: Contract,
        arguments: tuple[Value, ...],
    ) -> Value:
        program, type, loc = gated.program, instruction.type, instruction.loc
        if instruction.result is None:
            return None
        if contract.same_as is not None and contract.same_as < len(arguments):
            result = arguments[contract.same_as]
            return ite(program.leaves.failure(name, loc), 0, result, 64) if contract.may_be_null else result
        if contract.block:
            size = self._size(contract, instruction, arguments)
            block = program.leaves.local_object(name, size, loc, heap=True, zeroed=contract.zeroed)
            if not program.settings.allocations_fail:
                return block
            return ite(program.leaves.failure(name, loc), 0, block, 64)
        reason = f"the result of {name}"
        if contract.same and all(a.__class__ is Expr or a.__class__ is int for a in arguments):
            # A pointer argument stands for memory: an answer is the same while no event came between.
            version = gated.memory.version(node, self._pointed(gated, instruction, contract, arguments))
            key = (gated.name, name, version, *(a.id if a.__class__ is Expr else (a,) for a in arguments))
            found = self._answers.get(key)
            if found is None:
                found = self._answers[key] = self._new_answer(
                    gated, node, instruction, name, contract, arguments
                )
            return found
        if contract.may_be_null or contract.range is not None or contract.within is not None:
            return self._new_answer(gated, node, instruction, name, contract, arguments)
        return program.unknown(type, reason, loc, input=True)

    def _new_answer(
        self,
        gated: Gated,
        node: int,
        instruction: Instruction,
        name: str,
        contract: Contract,
        arguments: tuple[Value, ...],
    ) -> Value:
        program, type, loc = gated.program, instruction.type, instruction.loc
        reason = f"the result of {name}"
        if isinstance(type, PointerType):
            if contract.within is not None and contract.within < len(arguments):
                where = program.leaves.unknown(64, f"where {name} finds it", loc)
                value = add(arguments[contract.within], where, 64)
            else:
                value = program.unknown(type, reason, loc, input=True)
            if not contract.may_be_null:
                return value
            fails = program.leaves.failure(name, loc, self._doubt(gated, node, name, contract, arguments))
            return ite(fails, 0, value, 64)
        if contract.range is None or not is_scalar(type):
            return program.unknown(type, reason, loc, input=True)
        low, high = contract.range
        width = type.bits
        mask = (1 << width) - 1
        limit: Value = high & mask
        if contract.up_to is not None:
            last = arguments[contract.up_to] if contract.up_to < len(arguments) else None
            given = instruction.operands[1 + contract.up_to].type.bits if last is not None else 0
            limit = last if given == width else mask >> 1
        elif low == 0:
            room = self._room(gated, contract, arguments)
            known = room is None or room > 0
            return program.leaves.unknown(width, reason, loc, False, room or high + 1, input=known)
        value = program.leaves.unknown(width, reason, loc, input=True)
        below = sle(value, limit, width)
        if contract.up_to is not None:  # a size beyond the signed numbers is no limit
            below = bool_or(below, slt(limit, 0, width))
        held = bool_and(sge(value, low & mask, width), below)
        gated.assume[node] = bool_and(gated.assume[node], held)
        return value

    def _room(self, gated: Gated, contract: Contract, arguments: tuple[Value, ...]) -> int | None:
        """Characters up to the end of the object that a string is in, one of which is its end; 0 if there is
        a limit that is not followed, None if there is none."""
        if contract.length_of is None or contract.length_of >= len(arguments):
            return None
        program = gated.program
        places = program.places.of(arguments[contract.length_of])
        sizes = [None if place.base is None else program.size_of(place.base) for place in places]
        if all(size is None for size in sizes):
            return None
        offset = places[0].offset
        if len(places) > 1 or sizes[0] is None or offset.__class__ is not int:
            return 0
        return max(sizes[0] - offset, 0)

    def _pointed(
        self, gated: Gated, instruction: Instruction, contract: Contract, arguments: tuple[Value, ...]
    ) -> set[Expr] | None:
        """The objects that an answer depends on; None if it depends on more, or they are not known."""
        if not contract.by_content:
            return None
        found: set[Expr] = set()
        for value, operand in zip(arguments, instruction.operands[1:], strict=True):
            if isinstance(operand.type, PointerType):
                for place in gated.program.places.of(value):
                    if place.base is None:
                        return None
                    found.add(place.base)
        return found

    def _doubt(
        self, gated: Gated, node: int, name: str, contract: Contract, arguments: tuple[Value, ...]
    ) -> str:
        """Why a NULL is not as plain as one of `malloc`. A search finds what the program has put there, which
        is not followed; of an input of the program nothing is sure."""
        if contract.rarely:
            return f"{name} returns NULL, which is rare"
        if contract.searches is None or contract.searches >= len(arguments):
            return ""
        position = len(gated.memory.events[node])
        content = gated.memory.read_address(node, position, arguments[contract.searches], 8)
        leaves = gated.program.leaves.support(content)
        if leaves and all(isinstance(leaf, Unknown) and leaf.input for leaf in leaves):
            return ""
        return f"{name} does not find it in a string that the program made"

    def _size(self, contract: Contract, instruction: Instruction, arguments: tuple[Value, ...]) -> int | None:
        size: int | None = 1 if contract.size else None
        for position in contract.size:
            value = arguments[position] if position < len(arguments) else None
            if size is None or value.__class__ is not int:
                return None
            size *= value
        return size

    def _free(
        self, gated: Gated, node: int, instruction: Instruction, pointer: Value, succeeds: Value
    ) -> None:
        for property in gated.program.properties:
            property.release(gated, node, pointer, instruction)
        places = gated.program.places.of(pointer)
        if succeeds is not True:
            places = tuple(p._replace(condition=bool_and(succeeds, p.condition)) for p in places)
        gated.memory_is_freed = True
        gated.memory.append(node, Free(places, instruction.loc))

    def write_arguments(
        self,
        gated: Gated,
        node: int,
        instruction: Instruction,
        arguments: tuple[Value, ...],
        contract: Contract | None,
        reason: str,
    ) -> None:
        """Unknown values in the objects that arguments lead to."""
        bases = set()
        for position, (value, operand) in enumerate(zip(arguments, instruction.operands[1:], strict=True)):
            if not isinstance(operand.type, PointerType):
                continue
            if contract is not None and not contract.may_write(position):
                continue
            for place in gated.program.places.of(value):
                if place.base is not None:
                    bases.add(place.base)
                elif place.offset is None:
                    gated.lose("a store to an unknown address is left out")
        if bases:
            known = contract is not None and contract.known and not contract.made
            event = Havoc(frozenset(bases), False, True, reason, instruction.loc, known)
            gated.memory.append(node, event)

    def copy(self, gated: Gated, node: int, instruction: Instruction, arguments: tuple[Value, ...]) -> None:
        places = gated.program.places
        size = _wide(arguments[2], instruction.operands[3].type.bits)
        event = Copy(places.of(arguments[0]), places.of(arguments[1]), size, instruction.loc)
        gated.memory.append(node, event)

    def fill(
        self, gated: Gated, node: int, instruction: Instruction, address: Value, byte: Value, size: Value
    ) -> None:
        length = _wide(size, instruction.operands[3].type.bits)
        gated.memory.append(node, Fill(gated.program.places.of(address), length, byte, instruction.loc))


def _wide(value: Value, width: int) -> Value:
    return value if width == 64 else zext(value, width, 64)


def _low_byte(value: Expr) -> Value:
    return extract(value, 0, 8)


def _asserted(gated: Gated, instruction: Instruction) -> str:
    """The text of an assertion, which is the first argument of the function that reports it."""
    if len(instruction.operands) < 2:
        return ""
    text = gated.program.text(gated.program.constant(instruction.operands[1]))
    return f": {text}" if text else ""
