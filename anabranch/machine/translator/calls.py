"""Calls as lines of Python: functions of the program, intrinsics, models, function pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch.ir.module import CallInfo, Function, Instruction
from anabranch.ir.types import VOID, FunctionType, Type
from anabranch.ir.values import GlobalRef, InlineAsm, MetadataOperand
from anabranch.machine.counters import FunctionCounters
from anabranch.machine.translator.emit import Emitter, Lines
from anabranch.machine.translator.plan import UNDEF_CALL, static_size
from anabranch.machine.varargs import reads_what_it_was_passed, registers_taken
from anabranch.semantics.elements import undefined_local, undefined_value
from anabranch.semantics.faults import Unsupported

if TYPE_CHECKING:
    from anabranch.machine.translator.unit import Unit

SETJMP = frozenset(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"))
IGNORED = (
    "llvm.dbg.",
    "llvm.invariant.",
    "llvm.experimental.noalias",
    "llvm.va_end",
    "llvm.donothing",
    "llvm.annotation",
    "llvm.var.annotation",
    "llvm.prefetch",
    "llvm.assume",
    "llvm.sideeffect",
    "llvm.fake.use",
)


class CallWriter:
    """Writes the calls of one function."""

    def __init__(self, unit: Unit, emitter: Emitter, counters: FunctionCounters) -> None:
        self.unit = unit
        self.emitter = emitter
        self.namespace = emitter.namespace
        self.counters = counters

    def call(self, block: int, position: int, instruction: Instruction) -> Lines:
        callee, *arguments = instruction.operands
        if isinstance(callee, InlineAsm):
            if callee.text.strip() == "" and instruction.result is None:
                return ["pass"]
            raise Unsupported(f"inline assembly {callee.text.strip()[:40]!r}")
        if isinstance(callee, GlobalRef) and not self.unit.program.is_missing(callee.name):
            name = self.unit.program.resolve_alias(callee.name)
            if name in SETJMP and self.unit.program.find(name) is None:
                return self._setjmp(block, position, instruction)
            function = self.unit.program.find(name)
            if function is not None:
                return self._direct(block, position, instruction, function)
            if name.startswith("llvm.lifetime."):
                return self._lifetime(block, position)
            return self._outside(instruction, name, arguments)
        return self._indirect(block, position, instruction)

    def _lifetime(self, block: int, position: int) -> Lines:
        """A local comes to life or dies, unless the marker is of no consequence."""
        scopes = self.unit.plan.scopes
        if (local := scopes.starts.get((block, position))) is not None:
            alloca = self.unit.plan.definition[local][1]
            site = self.namespace.allocation(alloca, self.unit.function)
            return [f"begin_scope(v{local}, {site}, {static_size(alloca)})"]
        if (local := scopes.ends.get((block, position))) is not None:
            return [f"release_stack((v{local},))"]
        return ["pass"]

    def _assign(self, instruction: Instruction, text: str) -> str:
        return f"v{instruction.result.index} = {text}" if instruction.result is not None else text

    def _continuation(self, block: int, position: int) -> str:
        site = self.unit.call_site(block, position)
        live = "".join(f", {name}" for name in site.names)
        return f"(K, {self.namespace.constant(site)}, K[2] + 1{live})"

    # ---- functions of the program --------------------------------------------------------------------

    def _direct(self, block: int, position: int, instruction: Instruction, function: Function) -> Lines:
        info = instruction.extra
        assert isinstance(info, CallInfo)
        number = self.unit.program.number(function)
        arguments = self._arguments(instruction, function.type)
        extra = self._variadic(instruction, function.type) if function.vararg else ""
        text = f"f{number}({self._continuation(block, position)}{arguments}{extra})"
        if instruction.result is not None and function.type.ret is not instruction.type:
            if function.type.ret is VOID:
                value = self.namespace.constant(undefined_value(instruction.type))
                return [text, f"v{instruction.result.index} = {value}"]
            text = f"coerce({text}, {function.type.ret.bits}, {instruction.type.bits})"
        return [self._assign(instruction, text)]

    def _arguments(self, instruction: Instruction, wanted: FunctionType) -> str:
        """The named arguments, fitted to the parameters where the caller believed in another prototype."""
        info = instruction.extra
        assert isinstance(info, CallInfo)
        texts = []
        operands = instruction.operands[1:]
        for position, type in enumerate(wanted.params):
            if position >= len(operands):
                texts.append(self.namespace.constant(undefined_value(type)))
                continue
            operand = operands[position]
            text = self.emitter.operand(operand)
            attrs = info.arg_attrs[position] if position < len(info.arg_attrs) else None
            if attrs is not None and attrs.byval is not None:
                text = f"copy_argument({text}, {self._copy_site(instruction, position, attrs.byval)})"
            elif operand.type is not type and operand.type.bits != type.bits:
                text = f"coerce({text}, {operand.type.bits}, {type.bits})"
            texts.append(text)
        return "".join(f", {text}" for text in texts)

    def _copy_site(self, instruction: Instruction, position: int, type: Type) -> str:
        return self.unit.program.site_name(
            (id(instruction), position), "a copied argument", type, instruction.loc
        )

    def _variadic(self, instruction: Instruction, wanted: FunctionType) -> str:
        info = instruction.extra
        assert isinstance(info, CallInfo)
        items = []
        for position in range(len(wanted.params), len(instruction.operands) - 1):
            operand = instruction.operands[position + 1]
            attrs = info.arg_attrs[position] if position < len(info.arg_attrs) else None
            byval = attrs is not None and attrs.byval is not None
            kind = attrs.byval if byval and attrs is not None else operand.type
            items.append(f"({self.namespace.constant(kind)}, {self.emitter.operand(operand)}, {byval}), ")
        return f", va=({''.join(items)})"

    def _indirect(self, block: int, position: int, instruction: Instruction) -> Lines:
        pointer = self.emitter.operand(instruction.operands[0])
        table = self.namespace.constant(self.unit.program.call_table(instruction))
        arguments = "".join(f", {self.emitter.operand(a)}" for a in instruction.operands[1:])
        return [
            self._assign(instruction, f"{table}[{pointer}]({self._continuation(block, position)}{arguments})")
        ]

    def _setjmp(self, block: int, position: int, instruction: Instruction) -> Lines:
        buffer = self.emitter.operand(instruction.operands[1])
        return [self._assign(instruction, f"setjmp({self._continuation(block, position)}, {buffer})")]

    # ---- everything else -----------------------------------------------------------------------------

    def _outside(self, instruction: Instruction, name: str, arguments: list[Any]) -> Lines:
        if name.startswith(IGNORED):
            return ["pass"]
        if name.startswith(UNDEF_CALL):
            first = self.unit.program.first_value
            if first is not None:
                return [self._assign(instruction, f"{self.namespace.constant(first(instruction))}()")]
            return [self._assign(instruction, self.namespace.constant(undefined_local(instruction)))]
        kept = [a for a in arguments if not isinstance(a, MetadataOperand)]
        texts = [self.emitter.operand(a) for a in kept]
        if name.startswith("llvm.va_start"):
            general, floating = registers_taken(self.unit.function)
            exact = reads_what_it_was_passed(self.unit.function)
            return [f"D = (*D, *va_start({texts[0]}, va, {general}, {floating}, {exact}))"]
        if name.startswith("llvm.stacksave"):
            return [self._assign(instruction, "len(D)")]
        if name.startswith("llvm.stackrestore"):
            return [f"D = stack_restore(D, {texts[0]})"]
        if name.startswith("llvm."):
            function = self.unit.program.intrinsic(name, instruction)
            return [self._assign(instruction, f"{self.namespace.constant(function)}({', '.join(texts)})")]
        model = self.unit.program.model(name)
        if model is None:
            raise Unsupported(f"external function {name}")
        call = f"{self.namespace.constant(model)}({', '.join(texts)})"
        if instruction.result is None:
            return [call]
        return [self._assign(instruction, f"fit({call}, {instruction.type.bits})")]
