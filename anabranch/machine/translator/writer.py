"""Writes the control flow of a function as Python text.

The main function is a loop over *arms* (`while True: if b == 0: ...`); blocks with one predecessor are
written in line. Entries (after a fork, after a call, at a block) are small functions of their own that
run to the next arm and go on in the main function from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch.ir.module import Instruction
from anabranch.ir.values import Local
from anabranch.machine.layout import LABEL_OFFSET
from anabranch.machine.translator.calls import CallWriter
from anabranch.machine.translator.emit import Emitter
from anabranch.machine.translator.sites import Target
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.switches import Case, switch_cases

MAX_INDENT = 70  # Python's tokenizer stops at 100 levels
SHORT_SWITCH = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """What a generated line stands for."""

    kind: str  # "branch", "point", "start" or "after" (a call)
    block: int
    position: int
    targets: tuple[tuple[Any, ...], ...] = ()  # keys of the two targets of a branch


class TooDeep(Exception):
    """A block is nested too deeply to be written in line."""

    def __init__(self, block: int) -> None:
        super().__init__()
        self.block = block


class Writer:
    """One Python function: lines of text with their marks."""

    def __init__(self, emitter: Emitter, calls: CallWriter, arms: dict[int, int], main: str | None) -> None:
        self.emitter = emitter
        self.calls = calls
        self.plan = emitter.plan
        self.namespace = emitter.namespace
        self.counters = calls.counters
        self.arms = arms
        self.main = main  # name of the main function if this is an entry, None if this is the main function
        self.lines: list[tuple[str, Mark | None]] = []
        self.loop: int | None = None  # the arm whose inner loop is being written
        self.hand_over: dict[int, Target] = {}  # blocks too deep to be written in line, in an entry

    def line(self, indent: int, text: str, mark: Mark | None = None) -> None:
        self.lines.append((" " * indent + text, mark))

    # ---- control flow --------------------------------------------------------------------------------

    def goto(self, source: int, target: int, indent: int) -> None:
        """Leave `source` for `target`: phi assignments, then the target in line or its arm."""
        pairs = []
        for local, value in self.plan.incoming(source, target):
            text = self.emitter.operand(value)
            if text != f"v{local.index}":
                pairs.append((f"v{local.index}", text))
        if pairs:
            left, right = ", ".join(p[0] for p in pairs), ", ".join(p[1] for p in pairs)
            self.line(indent, f"{left} = {right}")
        edge = self.counters.edges.get((source, target))
        if edge is not None:
            self.line(indent, f"N[{edge}] += 1")
        arm = self.arms.get(target)
        if arm is None and target in self.hand_over:
            entry = self.hand_over[target]
            self.line(
                indent,
                f"return {self.namespace.constant(entry)}(K, ({''.join(n + ', ' for n in entry.names)}))",
            )
        elif arm is None:
            if indent > MAX_INDENT:
                raise TooDeep(target)
            self.block(target, indent)
        elif self.main is not None:
            names = self.plan.names(self.plan.live_in[target])
            self.line(indent, f"return {self.main}(K, b={arm}, R=({''.join(n + ', ' for n in names)}))")
        elif target == self.loop:
            self.line(indent, "continue")
        else:
            self.line(indent, f"b = {arm}")
            self.line(indent, "break" if self.loop is not None else "continue")

    def block(self, index: int, indent: int, start: int = 0) -> None:
        """The instructions of a block from `start` on, and where they lead."""
        instructions = self.plan.blocks[index].instructions
        if start == 0:
            number = self.counters.segments[index, 0]
            self.line(indent, f"N[{number}] += 1", Mark("start", index, 0))
        self.emitter.begin_block(instructions[start:])
        unit, first = self.calls.unit, start
        tape = unit.program.tape
        for position in range(start, len(instructions)):
            instruction = instructions[position]
            if tape is not None and tape.ends_segment(unit, instruction):
                text = tape.text(unit, index, first, position)
                self.line(indent, text, Mark("point", index, position))
                first = position + 1
            if instruction.opcode == "phi" or self.plan.is_virtual(instruction):
                continue
            mark = Mark("point", index, position)
            try:
                if instruction.is_terminator:
                    self.terminator(index, position, instruction, indent)
                    return
                if instruction.opcode == "call":
                    texts = self.calls.call(index, position, instruction)
                else:
                    texts = self.emitter.instruction(index, instruction)
            except Unsupported as missing:
                # The reason is met when the path gets here, not before.
                self.line(indent, f"raise Loss('unsupported', {str(missing)!r})", mark)
                return
            for text in texts:
                self.line(indent, text, mark)
            number = self.counters.segments.get((index, position + 1), -1)
            if number >= 0:
                self.line(indent, f"N[{number}] += 1", Mark("after", index, position))

    def terminator(self, block: int, position: int, instruction: Instruction, indent: int) -> None:
        opcode = instruction.opcode
        mark = Mark("point", block, position)
        if opcode == "ret":
            self._return(instruction, indent, mark)
        elif opcode == "br" and len(instruction.targets) == 1:
            self.goto(block, instruction.targets[0], indent)
        elif opcode == "br":
            self._branch(block, position, instruction, indent)
        elif opcode == "switch":
            self._switch(block, position, instruction, indent)
        elif opcode == "indirectbr":
            self._indirect(block, position, instruction, indent)
        elif opcode == "unreachable":
            self.line(indent, "unreachable()", mark)
            self.line(indent, "return")
        else:
            raise Unsupported(f"instruction {opcode}")

    def _return(self, instruction: Instruction, indent: int, mark: Mark) -> None:
        static = self.plan.static_allocas
        result = self.emitter.operand(instruction.operands[0]) if instruction.operands else ""
        if self.plan.function.name == "main" and result and not result.isdigit():
            self.line(indent, f"status = exit_status({result})", mark)
            result = "status"
        if static and self.plan.function.name == "main" and not self.calls.unit.program.release_at_end:
            # When the program itself ends, its locals need not be taken down one by one.
            self.line(
                indent, f"if K[1] is not None: release_stack(({''.join(f'v{i}, ' for i in static)}))", mark
            )
        elif static:
            self.line(indent, f"release_stack(({''.join(f'v{i}, ' for i in static)}))", mark)
        if self.plan.has_dynamic:
            self.line(indent, "release_stack(D)", mark)
        self.line(indent, f"return {result}".rstrip())

    def _branch(self, block: int, position: int, instruction: Instruction, indent: int) -> None:
        condition = instruction.operands[0]
        if_true, if_false = instruction.targets
        if if_true == if_false:
            self.goto(block, if_true, indent)
            return
        text, inverted = self._condition(condition)
        if inverted:
            if_true, if_false = if_false, if_true
        keys = (("edge", block, if_true), ("edge", block, if_false))
        self.line(indent, f"if {text}:", Mark("branch", block, position, keys))
        self.goto(block, if_true, indent + 1)
        self.goto(block, if_false, indent)

    def _condition(self, condition: Any) -> tuple[str, bool]:
        if isinstance(condition, Local) and self.plan.index_of(condition) in self.plan.virtual:
            return self.emitter.compare(self.plan.definition[self.plan.index_of(condition)][1])
        return self.emitter.operand(condition), False

    def _switch(self, block: int, position: int, instruction: Instruction, indent: int) -> None:
        cases, default = switch_cases(instruction)
        if not cases:
            self.goto(block, default, indent)
        elif len(cases) <= SHORT_SWITCH:
            self.switch_chain(block, position, instruction, 0, indent)
        else:
            self._switch_table(block, position, instruction, cases, default, indent)

    def switch_chain(
        self, block: int, position: int, instruction: Instruction, first: int, indent: int
    ) -> None:
        """Tests of the cases from `first` on, one after another."""
        cases, default = switch_cases(instruction)
        value = self.emitter.operand(instruction.operands[0])
        for number in range(first, len(cases)):
            case = cases[number]
            if len(case.values) == 1:
                literal = case.values[0]
                test = f"{value} == {bool(literal) if instruction.operands[0].type.bits == 1 else literal}"
            else:
                table = self.namespace.constant(case)
                test = f"in_case({value}, {table}, {instruction.operands[0].type.bits})"
            keys = (("edge", block, case.target), ("cases", block, number + 1))
            self.line(indent, f"if {test}:", Mark("branch", block, position, keys))
            self.goto(block, case.target, indent + 1)
        self.goto(block, default, indent)

    def _switch_table(
        self,
        block: int,
        position: int,
        instruction: Instruction,
        cases: list[Case],
        default: int,
        indent: int,
    ) -> None:
        """A table look-up for known values; the function `choose_case` decides symbolic ones."""
        table = {value: number for number, case in enumerate(cases) for value in case.values}
        value = self.emitter.operand(instruction.operands[0])
        known, all_cases = self.namespace.constant(table), self.namespace.constant(cases)
        width = instruction.operands[0].type.bits
        mark = Mark("point", block, position)
        self.line(
            indent,
            f"c = {known}.get({value}, {len(cases)}) if {value}.__class__ is int"
            f" else choose_case({value}, {all_cases}, {width})",
            mark,
        )
        self._choose(block, [*(case.target for case in cases), default], indent)

    def _choose(self, block: int, targets: list[int], indent: int) -> None:
        """Branch on `c` by bisection."""

        def half(low: int, high: int, indent: int) -> None:
            if high - low == 1:
                self.goto(block, targets[low], indent)
                return
            middle = (low + high) // 2
            self.line(indent, f"if c < {middle}:")
            half(low, middle, indent + 1)
            half(middle, high, indent)

        half(0, len(targets), indent)

    def _indirect(self, block: int, position: int, instruction: Instruction, indent: int) -> None:
        targets = list(dict.fromkeys(instruction.targets))
        labels = self.namespace.layout.address(self.plan.function.name) + LABEL_OFFSET
        table = self.namespace.constant([Case((labels + target,), target) for target in targets])
        value = self.emitter.operand(instruction.operands[0])
        self.line(indent, f"c = choose_label({value}, {table})", Mark("point", block, position))
        if targets:
            self._choose(block, targets, indent)
        else:
            self.line(indent, "return")  # no address is a label here: choosing one is an error
