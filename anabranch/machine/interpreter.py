"""The reference interpreter: the executable specification of the instructions.

One short function an opcode, registers in a dict, able to start at any instruction. It finishes the
block of a state that was taken in mid-block, then hands over to translated code; with `only` set (the
differential tests) it runs everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anabranch.ir.checks import CHECK, CheckSite
from anabranch.ir.module import CallInfo, Function, Instruction
from anabranch.ir.types import VOID, Type
from anabranch.ir.values import GlobalRef, InlineAsm, Local, MetadataOperand
from anabranch.machine.layout import LABEL_OFFSET
from anabranch.machine.objects import AllocationSite
from anabranch.machine.state import Continuation
from anabranch.machine.translator.calls import IGNORED, SETJMP
from anabranch.machine.translator.plan import UNDEF_CALL, static_size
from anabranch.machine.translator.program import TranslatedProgram
from anabranch.machine.values import load_value, store_value
from anabranch.machine.varargs import reads_what_it_was_passed, registers_taken
from anabranch.semantics.casts import coerce, fit
from anabranch.semantics.conditions import possible_faults
from anabranch.semantics.elements import Value, undefined_local, undefined_value
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.operations import result
from anabranch.semantics.switches import Case, switch_cases

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine
    from anabranch.machine.translator.unit import Unit

Registers = dict[str, Value]


class Frame:
    """An activation that the interpreter runs."""

    __slots__ = ("block", "continuation", "position", "registers", "unit")

    def __init__(self, unit: Unit, block: int, position: int, registers: Registers, k: Continuation) -> None:
        self.unit = unit
        self.block = block
        self.position = position
        self.registers = registers
        self.continuation = k


class Return:
    """A function returns; other terminators lead to a block, by its number."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Interpreter:
    """Runs frames instruction by instruction."""

    def __init__(self, machine: Machine, program: TranslatedProgram) -> None:
        self.machine = machine
        self.program = program
        self.layout = program.namespace.layout
        self._memory = machine.memory

    def run(
        self,
        unit: Unit,
        block: int,
        position: int,
        registers: Registers,
        k: Continuation,
        counted: bool = False,
    ) -> Value:
        """Run from an instruction on; the value that the function returns.

        `counted` says that the counters know already of the segment it starts in.
        """
        frame = Frame(unit, block, position, registers, k)
        names, counters = self.program.namespace.names, unit.counters
        while True:
            counts = names["N"]
            instructions = unit.plan.blocks[frame.block].instructions
            first = counters.segments.get((frame.block, frame.position))
            if first is not None and not counted:
                counts[first] += 1
            counted = False
            outcome = None
            while outcome is None:
                instruction = instructions[frame.position]
                if instruction.opcode != "phi" and not unit.plan.is_repetition(instruction):
                    outcome = self.step(frame, instruction)
                frame.position += 1
                number = counters.segments.get((frame.block, frame.position))
                if number is not None and outcome is None:
                    counts[number] += 1
            if isinstance(outcome, Return):
                return outcome.value
            self.take_edge(frame, frame.block, outcome)
            if not self.program.only_interpret:
                entry = unit.target(("block", frame.block))
                self.program.ensure(unit)
                return entry(k, tuple(registers[name] for name in entry.names))

    def take_edge(self, frame: Frame, source: int, target: int) -> None:
        """Assign the phis of the target, all at once."""
        assignments = frame.unit.plan.incoming(source, target)
        new = [(f"v{local.index}", self.value(frame, operand)) for local, operand in assignments]
        frame.registers.update(new)
        edge = frame.unit.counters.edges.get((source, target))
        if edge is not None:
            self.program.counters.N[edge] += 1
        frame.block, frame.position = target, 0

    def value(self, frame: Frame, operand: Any) -> Value:
        if not isinstance(operand, Local):
            return self.layout.value(operand)
        registers = frame.registers
        index = frame.unit.plan.index_of(operand)
        name = f"v{index}"
        if name not in registers:
            # Translated code does not keep values that it writes in line; they are made again here.
            _, definition = frame.unit.plan.definition[index]
            self.step(frame, definition)
        return registers[name]

    def step(self, frame: Frame, instruction: Instruction) -> int | Return | None:
        """Run one instruction: None to go on with the next one."""
        opcode = instruction.opcode
        if opcode in TERMINATORS:
            return TERMINATORS[opcode](self, frame, instruction)
        if opcode == "call":
            value = self.call(frame, instruction)
        else:
            arguments = [self.value(frame, operand) for operand in instruction.operands]
            if opcode == "alloca":
                value = self.alloca(frame, instruction, arguments[0])
            elif opcode in EFFECTS:
                value = EFFECTS[opcode](self.machine, instruction, *arguments)
            else:
                for bad, fault in possible_faults(instruction, arguments, self.program.check_overflow):
                    self.machine.check(bad, fault)
                value = result(instruction, arguments)
        if instruction.result is not None:
            frame.registers[f"v{instruction.result.index}"] = value
        return None

    def alloca(self, frame: Frame, instruction: Instruction, count: Value) -> Value:
        site = self.allocation_site(frame, instruction)
        assert isinstance(instruction.extra, Type) and instruction.result is not None
        size, static = instruction.extra.size, frame.unit.plan.is_static_alloca(frame.block, instruction)
        if instruction.result.index in frame.unit.plan.scopes.late:
            return self._memory.new_address(site)
        if static:
            return self._memory.allocate(site, size * count)
        address = self.machine.run_time.alloca_many(site, count, size, instruction.operands[0].type.bits)
        frame.registers["D"] = (*frame.registers["D"], address)
        return address

    def allocation_site(self, frame: Frame, alloca: Instruction) -> AllocationSite:
        namespace = self.program.namespace
        site: AllocationSite = namespace.names[namespace.allocation(alloca, frame.unit.function)]
        return site

    def lifetime(self, frame: Frame) -> None:
        """A marker: a local comes to life or dies."""
        plan, at = frame.unit.plan, (frame.block, frame.position)
        if (local := plan.scopes.starts.get(at)) is not None:
            _, alloca = plan.definition[local]
            site = self.allocation_site(frame, alloca)
            self._memory.begin_scope(frame.registers[f"v{local}"], site, static_size(alloca))
        elif (local := plan.scopes.ends.get(at)) is not None:
            self._memory.release_stack((frame.registers[f"v{local}"],))

    # ---- calls ---------------------------------------------------------------------------------------

    def call(self, frame: Frame, instruction: Instruction) -> Value:
        callee = instruction.operands[0]
        if isinstance(callee, InlineAsm):
            if callee.text.strip() == "" and instruction.result is None:
                return None
            raise Unsupported(f"inline assembly {callee.text.strip()[:40]!r}")
        if isinstance(callee, GlobalRef) and not self.program.is_missing(callee.name):
            name = self.program.resolve_alias(callee.name)
            function = self.program.find(name)
            if function is not None:
                return self.call_program(frame, instruction, function)
            return self.call_outside(frame, instruction, name)
        pointer = self.value(frame, callee)
        table = self.program.call_table(instruction)
        arguments = [self.value(frame, operand) for operand in instruction.operands[1:]]
        return table[pointer](self.continuation(frame), *arguments)

    def continuation(self, frame: Frame) -> Continuation:
        site = frame.unit.call_site(frame.block, frame.position)
        live = tuple(self.register(frame, name) for name in site.names)
        return (frame.continuation, site, frame.continuation[2] + 1, *live)

    def register(self, frame: Frame, name: str) -> Value:
        if name not in frame.registers:
            return self.value(frame, frame.unit.plan.locals[int(name[1:])])
        return frame.registers[name]

    def call_program(self, frame: Frame, instruction: Instruction, function: Function) -> Value:
        info = instruction.extra
        assert isinstance(info, CallInfo)
        operands, wanted = instruction.operands[1:], function.type
        arguments = []
        for position, type in enumerate(wanted.params):
            if position >= len(operands):
                arguments.append(undefined_value(type))
                continue
            value = self.value(frame, operands[position])
            attrs = info.arg_attrs[position] if position < len(info.arg_attrs) else None
            if attrs is not None and attrs.byval is not None:
                name = self.program.site_name(
                    (id(instruction), position), "a copied argument", attrs.byval, instruction.loc
                )
                value = self.machine.run_time.copy_argument(value, self.program.namespace.names[name])
            else:
                value = coerce(value, operands[position].type.bits, type.bits)
            arguments.append(value)
        more = {"va": self.variadic(frame, instruction, len(wanted.params))} if function.vararg else {}
        number = self.program.number(function)
        called = self.program.namespace.names[f"f{number}"]
        value = called(self.continuation(frame), *arguments, **more)
        if instruction.result is None:
            return None
        if wanted.ret is VOID:
            return undefined_value(instruction.type)
        return (
            value if wanted.ret is instruction.type else coerce(value, wanted.ret.bits, instruction.type.bits)
        )

    def variadic(self, frame: Frame, instruction: Instruction, named: int) -> tuple[Any, ...]:
        info = instruction.extra
        assert isinstance(info, CallInfo)
        items = []
        for position in range(named, len(instruction.operands) - 1):
            operand = instruction.operands[position + 1]
            attrs = info.arg_attrs[position] if position < len(info.arg_attrs) else None
            copied = attrs.byval if attrs is not None else None
            items.append((copied or operand.type, self.value(frame, operand), copied is not None))
        return tuple(items)

    def call_outside(self, frame: Frame, instruction: Instruction, name: str) -> Value:
        if name.startswith("llvm.lifetime."):
            self.lifetime(frame)
            return None
        if name.startswith(IGNORED):
            return None
        if name.startswith(UNDEF_CALL):
            first = self.program.first_value
            return first(instruction)() if first is not None else undefined_local(instruction)
        kept = [o for o in instruction.operands[1:] if not isinstance(o, MetadataOperand)]
        arguments = [self.value(frame, operand) for operand in kept]
        registers = frame.registers
        if name in SETJMP:
            return self.machine.setjmp(self.continuation(frame), arguments[0])
        if name.startswith("llvm.va_start"):
            taken = registers_taken(frame.unit.function)
            exact = reads_what_it_was_passed(frame.unit.function)
            made = self.machine.run_time.va_start(arguments[0], registers["va"], *taken, exact)
            registers["D"] = (*registers["D"], *made)
            return None
        if name.startswith("llvm.stacksave"):
            return len(registers["D"])
        if name.startswith("llvm.stackrestore"):
            registers["D"] = self.machine.run_time.stack_restore(registers["D"], arguments[0])
            return None
        if name.startswith("llvm."):
            return self.program.intrinsic(name, instruction)(*arguments)
        model = self.program.model(name)
        if model is None:
            raise Unsupported(f"external function {name}")
        value = model(*arguments)
        return fit(value, instruction.type.bits) if instruction.result is not None else None

    # ---- terminators ---------------------------------------------------------------------------------

    def ret(self, frame: Frame, instruction: Instruction) -> Return:
        value = self.value(frame, instruction.operands[0]) if instruction.operands else None
        plan = frame.unit.plan
        if plan.function.name == "main":
            value = self.machine.run_time.exit_status(value)
        self._memory.release_stack(tuple(frame.registers[f"v{i}"] for i in plan.static_allocas))
        if plan.has_dynamic:
            self._memory.release_stack(frame.registers["D"])
        return Return(value)

    def br(self, frame: Frame, instruction: Instruction) -> int:
        if len(instruction.targets) == 1 or instruction.targets[0] == instruction.targets[1]:
            return instruction.targets[0]
        condition = self.value(frame, instruction.operands[0])
        return instruction.targets[0] if condition else instruction.targets[1]

    def switch(self, frame: Frame, instruction: Instruction) -> int:
        cases, default = switch_cases(instruction)
        value = self.value(frame, instruction.operands[0])
        number = self.machine.run_time.choose_case(value, cases, instruction.operands[0].type.bits)
        return cases[number].target if number < len(cases) else default

    def indirectbr(self, frame: Frame, instruction: Instruction) -> int:
        labels = self.layout.address(frame.unit.function.name) + LABEL_OFFSET
        targets = list(dict.fromkeys(instruction.targets))
        value = self.value(frame, instruction.operands[0])
        cases = [Case((labels + target,), target) for target in targets]
        return targets[self.machine.run_time.choose_label(value, cases)]

    def unreachable(self, frame: Frame, instruction: Instruction) -> Return:
        self.machine.run_time.unreachable()
        return Return(None)


TERMINATORS: dict[str, Callable[[Interpreter, Frame, Instruction], int | Return]] = {
    "ret": Interpreter.ret,
    "br": Interpreter.br,
    "switch": Interpreter.switch,
    "indirectbr": Interpreter.indirectbr,
    "unreachable": Interpreter.unreachable,
}


def check(machine: Machine, instruction: Instruction, ok: Value, *arguments: Value) -> None:
    if ok is not True:
        assert isinstance(instruction.extra, CheckSite)
        widths = (operand.type.bits for operand in instruction.operands[1:])
        machine.sanitizer.failed(ok, instruction.extra, *zip(arguments, widths, strict=True))


EFFECTS: dict[str, Callable[..., Value]] = {
    CHECK: check,
    "fence": lambda m, i: None,
    "load": lambda m, i, p: load_value(m.memory, p, i.type),
    "store": lambda m, i, v, p: store_value(m.memory, p, i.operands[0].type, v),
    "cmpxchg": lambda m, i, p, e, n: m.run_time.cmpxchg(p, e, n, i.operands[1].type),
    "atomicrmw": lambda m, i, p, v: m.run_time.atomicrmw(i.extra, p, v, i.operands[1].type),
}
"""Opcode -> what it does to the machine; all others only compute."""
