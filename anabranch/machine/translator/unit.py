"""One LLVM function as Python functions: the main one, and entries compiled when first needed."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any

from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import Function
from anabranch.machine.state import Continuation, Entry
from anabranch.machine.translator.calls import CallWriter
from anabranch.machine.translator.emit import Emitter
from anabranch.machine.translator.plan import Plan
from anabranch.machine.translator.sites import BranchSite, CallSite, PointSite, ReturnSite, Target
from anabranch.machine.translator.writer import Mark, TooDeep, Writer

if TYPE_CHECKING:
    from anabranch.machine.translator.program import TranslatedProgram

LINEAR_ARMS = 3  # the hottest arms are tested one by one, the others by bisection


class Unit:
    """A function of the program, translated."""

    def __init__(self, program: TranslatedProgram, function: Function, number: int) -> None:
        self.program = program
        self.function = function
        self.name = f"f{number}"
        self.plan = Plan(function)
        self.counters = program.counters.register(function)
        self.emitter = Emitter(self.plan, program.namespace, program.check_overflow)
        self.calls = CallWriter(self, self.emitter, self.counters)
        self._targets: dict[tuple[Any, ...], Target] = {}
        self._points: dict[tuple[int, int], PointSite] = {}
        self._calls: dict[tuple[int, int], CallSite] = {}
        self._returns: dict[tuple[int, int], ReturnSite] = {}
        self._branches: dict[tuple[tuple[Any, ...], ...], BranchSite] = {}
        self.arms: dict[int, int] = {}
        self.source = ""
        known = function.subprogram
        self.loc = None if known is None else DebugLoc(known.file, known.line, 0, known.name)

    # ---- sites ---------------------------------------------------------------------------------------

    def target(self, key: tuple[Any, ...]) -> Target:
        """`("edge", a, b)`, `("cases", block, number)` or `("block", b)` as something to enter."""
        found = self._targets.get(key)
        if found is None:
            kind, block = key[0], key[1]
            if kind == "block":
                names = self.plan.names(self.plan.live_in[block])
                going_to = block
            else:
                names = self.plan.names(self._branch_mask(block))
                going_to = key[2] if kind == "edge" else block
            found = self._targets[key] = Target(self, key, names, going_to)
        return found

    def _branch_mask(self, block: int) -> int:
        last = self.plan.blocks[block].instructions[-1]
        mask = self.plan.live_out(block) | self.plan.always_live
        if last.opcode == "switch":
            mask |= self.plan.read_mask(last)
        return mask

    def branch(self, mark: Mark) -> BranchSite:
        found = self._branches.get(mark.targets)
        if found is None:
            if_true, if_false = map(self.target, mark.targets)
            found = self._branches[mark.targets] = BranchSite(self, mark.block, if_true, if_false)
        return found

    def point(self, block: int, position: int) -> PointSite:
        found = self._points.get((block, position))
        if found is None:
            names = self.plan.names(self.plan.live_before(block, position))
            found = self._points[block, position] = PointSite(self, block, position, names)
        return found

    def call_site(self, block: int, position: int) -> CallSite:
        found = self._calls.get((block, position))
        if found is None:
            names = self.plan.names(self.plan.live_after(block, position))
            found = self._calls[block, position] = CallSite(self, block, position, names)
        return found

    def return_site(self, block: int, position: int) -> ReturnSite:
        """Behind the call at a position."""
        found = self._returns.get((block, position))
        if found is None:
            found = self._returns[block, position] = ReturnSite(self.call_site(block, position))
        return found

    # ---- code ----------------------------------------------------------------------------------------

    def forget_code(self) -> None:
        """Sites are compiled again when they are next entered."""
        for target in self._targets.values():
            target.forget_code()
        for call in self._calls.values():
            call.forget_code()

    def compile_main(self) -> Any:
        """The Python function that runs this function from its start or from any arm."""
        forced: frozenset[int] = frozenset()
        while True:
            arms = self.plan.arms(forced)
            self.arms = {block: number for number, block in enumerate(arms)}
            try:
                return self._main(arms)
            except TooDeep as deep:
                forced |= {deep.block}

    def _main(self, arms: list[int]) -> Any:
        params = "".join(f", v{p.index}=None" for p in self.function.params)
        if self.function.vararg:
            params += ", va=()"
        writer = Writer(self.emitter, self.calls, self.arms, None)
        writer.line(0, f"def {self.name}(K{params}, b={self.arms[0]}, R=None):")
        if self.plan.has_dynamic:
            writer.line(1, "if R is None: D = ()")
        others = [block for block in arms if block != 0]
        if others:
            writer.line(1, "if R is not None:")
            self._unpack_arms(writer, others, 2)
        writer.line(1, "while True:")
        linear = arms if len(arms) <= LINEAR_ARMS + 2 else arms[:LINEAR_ARMS]
        for block in linear:
            if len(arms) > 1:
                writer.line(2, f"if b == {self.arms[block]}:")
            self._arm(writer, block, 3 if len(arms) > 1 else 2)
        if len(linear) < len(arms):
            self._bisect(writer, arms, len(linear), len(arms), 2)
        return self._compile(writer)

    def _unpack_arms(self, writer: Writer, arms: list[int], indent: int) -> None:
        for block in arms:
            names = self.plan.names(self.plan.live_in[block])
            if names:
                writer.line(indent, f"if b == {self.arms[block]}: ({''.join(n + ', ' for n in names)}) = R")
        writer.line(indent, "pass")

    def _arm(self, writer: Writer, block: int, indent: int) -> None:
        """An arm's body; a loop that stays within its arm gets a Python loop of its own."""
        if block in self._closed_by(block):
            writer.loop = block
            writer.line(indent, "while True:")
            writer.block(block, indent + 1)
            writer.loop = None
            writer.line(indent, "continue")
        else:
            writer.block(block, indent)

    def _closed_by(self, arm: int) -> set[int]:
        """The arms that control can reach next from an arm."""
        reached: set[int] = set()
        seen = {arm}
        pending = [arm]
        while pending:
            for target in self.plan.successors[pending.pop()]:
                if target in self.arms:
                    reached.add(target)
                elif target not in seen:
                    seen.add(target)
                    pending.append(target)
        return reached

    def _bisect(self, writer: Writer, arms: list[int], low: int, high: int, indent: int) -> None:
        if high - low == 1:
            self._arm(writer, arms[low], indent)
            return
        middle = (low + high) // 2
        writer.line(indent, f"if b < {middle}:")
        self._bisect(writer, arms, low, middle, indent + 1)
        self._bisect(writer, arms, middle, high, indent)

    def _main_function(self) -> str:
        """The name of the compiled main function, which entries go on in."""
        self.program.ensure(self)
        return self.name

    def compile_target(self, target: Target) -> Entry:
        writer = Writer(self.emitter, self.calls, self.arms, self._main_function())
        writer.arms = self.arms
        writer.line(0, f"def {self.name}_{'_'.join(map(str, target.key))}(K, R):")
        if target.names:
            writer.line(1, f"({', '.join(target.names)},) = R")
        kind, block, *rest = target.key
        if kind == "edge":
            self._in_entry(writer, lambda: writer.goto(block, rest[0], 1))
        elif kind == "cases":
            position = len(self.plan.blocks[block].instructions) - 1
            last = self.plan.blocks[block].instructions[-1]
            self._in_entry(writer, lambda: writer.switch_chain(block, position, last, rest[0], 1))
        elif block == 0:  # the start of the function: as if called
            given = "".join(f", {name}={name}" for name in target.names if name != "D")
            writer.line(1, f"return {self._main_function()}(K{given})")
        elif block in self.arms:
            writer.line(1, f"return {self.name}(K, b={self.arms[block]}, R=R)")
        else:
            self._in_entry(writer, lambda: writer.block(block, 1))
        entry: Entry = self._compile(writer)
        return entry

    def compile_resume(self, site: CallSite) -> Any:
        writer = Writer(self.emitter, self.calls, self.arms, self._main_function())
        writer.arms = self.arms
        writer.line(0, f"def {self.name}_after_{site.block}_{site.position}(K, R, r):")
        if site.names:
            writer.line(1, f"(_, _, _, {', '.join(site.names)},) = R")
        instruction = self.plan.blocks[site.block].instructions[site.position]
        if instruction.result is not None:
            writer.line(1, f"v{instruction.result.index} = r")
        number = self.counters.segments.get((site.block, site.position + 1))
        if number is not None:
            writer.line(1, f"N[{number}] += 1", Mark("after", site.block, site.position))
        self._in_entry(writer, lambda: writer.block(site.block, 1, site.position + 1))
        return self._compile(writer)

    def _in_entry(self, writer: Writer, write: Any) -> None:
        """Write an entry's body; where it nests too deeply, the block is entered separately."""
        start = len(writer.lines)
        while True:
            try:
                write()
                return
            except TooDeep as deep:
                del writer.lines[start:]
                writer.hand_over[deep.block] = self.target(("block", deep.block))

    def _compile(self, writer: Writer) -> Any:
        text = "\n".join(line for line, _ in writer.lines) + "\n"
        name = writer.lines[0][0].split("(")[0][4:]
        names = self.program.namespace.names
        scope: dict[str, Any] = {}
        exec(compile(text, f"<{self.function.name}>", "exec"), names, scope)
        function = scope[name]
        code: CodeType = function.__code__
        marks = {number: mark for number, (_, mark) in enumerate(writer.lines, 1) if mark is not None}
        self.program.add_code(code, self, marks)
        if self.program.keep_source:
            self.source += text
        return function

    # ---- by the interpreter --------------------------------------------------------------------------

    def interpret(self, site: PointSite, continuation: Continuation, values: tuple[Any, ...]) -> Any:
        registers = dict(zip(site.names, values, strict=True))
        return self.program.interpreter.run(self, site.block, site.position, registers, continuation, True)

    def interpret_after(
        self, site: CallSite, continuation: Continuation, values: tuple[Any, ...], returned: Any
    ) -> Any:
        """Go on behind a call that has returned."""
        registers = dict(zip(site.names, values, strict=True))
        instruction = self.plan.blocks[site.block].instructions[site.position]
        if instruction.result is not None:
            registers[f"v{instruction.result.index}"] = returned
        return self.program.interpreter.run(self, site.block, site.position + 1, registers, continuation)
