"""The whole program under translation: functions by number, callees by name and by address."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from types import CodeType
from typing import TYPE_CHECKING, Any

from anabranch.analysis.abstract_objects import COPIED
from anabranch.ir.module import CallInfo, Function, Instruction, Module
from anabranch.ir.types import VOID, Type
from anabranch.ir.values import ConstExpr, GlobalRef
from anabranch.machine.counters import Counters
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.translator.namespace import Namespace
from anabranch.machine.translator.unit import Unit
from anabranch.machine.translator.writer import Mark
from anabranch.semantics.casts import coerce, fit
from anabranch.semantics.elements import undefined_value
from anabranch.semantics.faults import Unsupported

if TYPE_CHECKING:
    from anabranch.machine.interpreter import Interpreter
    from anabranch.machine.tape import Tape

Model = Callable[..., Any]
ModelFinder = Callable[[str], Model | None]
IntrinsicFinder = Callable[[str, Instruction], Callable[..., Any]]
Passed = tuple[tuple[Type, bool], ...]  # types of the arguments of a call; True: of a struct passed by value


class CallTable(dict[int, Any]):
    """Function pointers of one call signature -> what to call with `(continuation, arguments...)`."""

    def __init__(self, program: TranslatedProgram, passed: Passed, result: Type) -> None:
        super().__init__()
        self._program = program
        self._passed = passed
        self._result = result

    def __missing__(self, address: Any) -> Any:
        if address.__class__ is not int:
            address = self._program.choose_callee(address)
            return self[address]
        function = self[address] = self._program.callee(address, self._passed, self._result)
        return function


class TranslatedProgram:
    """Lazily translated functions and everything their code refers to."""

    def __init__(
        self,
        module: Module,
        namespace: Namespace,
        counters: Counters,
        *,
        overridden: frozenset[str],
        models: ModelFinder,
        intrinsics: IntrinsicFinder,
        check_overflow: bool,
        keep_source: bool = False,
        tape: Tape | None = None,
    ) -> None:
        self.module = module
        self.namespace = namespace
        self.counters = counters
        self.overridden = overridden
        self.check_overflow = check_overflow
        self.keep_source = keep_source
        # By id: hashing or comparing a code object reads all of it. `_kept` keeps the ids from being reused.
        self.codes: dict[int, tuple[Unit, dict[int, Mark]]] = {}
        self._kept: list[CodeType] = []
        self.units: dict[str, Unit] = {}
        self.new_units: list[Callable[[Unit], None]] = []
        """Told of functions that are about to run for the first time."""
        self.interpreter: Interpreter
        self.choose_callee: Callable[[Any], int]
        self._numbers: dict[str, int] = {}
        self._models: dict[str, Model | None] = {}
        self._find_model = models
        self._intrinsics: dict[int, Callable[..., Any]] = {}
        self._find_intrinsic = intrinsics
        self._sites: dict[tuple[int, int], str] = {}
        self._tables: dict[tuple[Any, ...], CallTable] = {}
        self._compiled: dict[str, Any] = {}
        self.only_interpret = False
        self.release_at_end = False
        self.first_value: Callable[[Instruction], Callable[[], Any]] | None = None
        """What makes the value of a local in a register that was not written; None: it is undefined."""
        self.unknown_model: ModelFinder | None = None
        """What stands for functions that have neither a body nor a model."""
        self.unknown_callee: Callable[[int, Type], Model | None] | None = None
        """What a pointer to no function of the program calls, by the type of the result."""
        self.first_called: dict[str, float] = {}  # by time.monotonic
        self.tape = tape
        """What translated code writes its segments to, if somebody wants a tape."""

    def add_code(self, code: CodeType, unit: Unit, marks: dict[int, Mark]) -> None:
        """Remember what the lines of a generated function stand for."""
        self._kept.append(code)
        self.codes[id(code)] = (unit, marks)

    # ---- callees -------------------------------------------------------------------------------------

    def resolve_alias(self, name: str) -> str:
        seen = set()
        while name in self.module.aliases and name not in seen:
            seen.add(name)
            target = self.module.aliases[name]
            while isinstance(target, ConstExpr):
                target = target.operands[0]
            if isinstance(target, GlobalRef):
                name = target.name
        return name

    def find(self, name: str) -> Function | None:
        """The program's own function of that name, unless a model replaces it."""
        function = self.module.functions.get(name)
        if function is None or function.is_declaration or name in self.overridden:
            return None
        return function

    def is_missing(self, name: str) -> bool:
        """Is it a weak function that nobody defines, whose address is null?"""
        return self.namespace.layout.addresses.get(name) == 0

    def number(self, function: Function) -> int:
        """The number of a function; its name `f<number>` translates it when first called."""
        number = self._numbers.get(function.name)
        if number is None:
            number = self._numbers[function.name] = len(self._numbers)
            self.namespace.names[f"f{number}"] = self._stub(function, f"f{number}")
        return number

    def _stub(self, function: Function, name: str) -> Callable[..., Any]:
        def first_call(*arguments: Any, **keywords: Any) -> Any:
            self.ensure(self.unit(function))
            return self.namespace.names[name](*arguments, **keywords)

        return first_call

    def unit(self, function: Function) -> Unit:
        unit = self.units.get(function.name)
        if unit is None:
            unit = self.units[function.name] = Unit(self, function, self.number(function))
            for hear in self.new_units:
                hear(unit)
        return unit

    def ensure(self, unit: Unit) -> None:
        """Translate a function if that has not happened yet."""
        if unit.name not in self._compiled:
            self.first_called.setdefault(unit.function.name, monotonic())
            main = self._interpreted(unit) if self.only_interpret else unit.compile_main()
            self._compiled[unit.name] = self.namespace.names[unit.name] = main

    def translate_anew(self) -> None:
        """Forget all code, because it is to do something else from now on. No path may be running."""
        self._compiled.clear()
        for unit in self.units.values():
            self.namespace.names[unit.name] = self._stub(unit.function, unit.name)
            unit.forget_code()
        self._models.clear()
        self._intrinsics.clear()
        for table in self._tables.values():
            table.clear()

    def _interpreted(self, unit: Unit) -> Callable[..., Any]:
        """The reference: every call of the function goes to the interpreter."""

        def call(continuation: Any, *arguments: Any, va: tuple[Any, ...] = ()) -> Any:
            registers = {f"v{p.index}": a for p, a in zip(unit.function.params, arguments, strict=True)}
            registers["va"] = va
            registers["D"] = ()
            return self.interpreter.run(unit, 0, 0, registers, continuation)

        return call

    def model(self, name: str) -> Model | None:
        if name not in self._models:
            found = self._find_model(name)
            if found is None and self.unknown_model is not None:
                found = self.unknown_model(name)
            self._models[name] = found
        return self._models[name]

    def intrinsic(self, name: str, instruction: Instruction) -> Callable[..., Any]:
        found = self._intrinsics.get(id(instruction))
        if found is None:
            found = self._intrinsics[id(instruction)] = self._find_intrinsic(name, instruction)
        return found

    # ---- function pointers ---------------------------------------------------------------------------

    def call_table(self, instruction: Instruction) -> CallTable:
        """The table for calls that pass what this one passes."""
        info = instruction.extra
        assert isinstance(info, CallInfo)
        passed = []
        for operand, attrs in zip(instruction.operands[1:], info.arg_attrs, strict=True):
            copied = attrs.byval if attrs is not None else None
            passed.append((copied or operand.type, copied is not None))
        key = (tuple(passed), instruction.type)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = CallTable(self, *key)
        return table

    def callee(self, address: int, passed: Passed, result: Type) -> Callable[..., Any]:
        """What a call through a pointer runs, its arguments fitted to the function's own parameters."""
        function = self.namespace.layout.functions.get(address)
        if function is None:
            unknown = None if self.unknown_callee is None else self.unknown_callee(address, result)
            if unknown is not None:
                return lambda _, *arguments: unknown(*arguments)
            what = "bad" if address else "null"
            raise ProgramError(
                Fault("bad-call", f"call through a {what} function pointer", {"address": address})
            )
        own = self.find(function.name)
        if own is None:
            model = self.model(function.name)
            if model is None:
                raise Unsupported(f"external function {function.name}")
            if result is VOID:
                return lambda _, *arguments: model(*arguments)
            return lambda _, *arguments: fit(model(*arguments), result.bits)
        name = f"f{self.number(own)}"
        self.ensure(self.unit(own))
        if own.type.ret is not VOID and result is VOID:
            result = own.type.ret
        exact = [(type.bits, False) for type in own.type.params]
        plain = not own.vararg and own.type.ret is result and not any(self._copied_parameters(own))
        if plain and exact == [(type.bits, copied) for type, copied in passed]:
            function_object: Callable[..., Any] = self.namespace.names[name]
            return function_object
        return self._fitted(own, name, passed, result)

    def _copied_parameters(self, own: Function) -> list[str | None]:
        """Allocation sites for the parameters that are copies of structs."""
        return [
            self.site_name((id(own), position), "a copied argument", attrs.byval, None)
            if attrs is not None and attrs.byval is not None
            else None
            for position, attrs in enumerate(own.param_attrs)
        ]

    def _fitted(self, own: Function, name: str, passed: Passed, result: Type) -> Callable[..., Any]:
        params, names = own.type.params, self.namespace.names
        returned, copies = own.type.ret, self._copied_parameters(own)

        def fitted(position: int, arguments: tuple[Any, ...]) -> Any:
            wanted, site = params[position], copies[position]
            if position >= len(passed):
                return undefined_value(wanted)
            if site is not None:
                return names["copy_argument"](arguments[position], names[site])
            type, copied = passed[position]
            return coerce(arguments[position], 64 if copied else type.bits, wanted.bits)

        def call(continuation: Any, *arguments: Any) -> Any:
            named = [fitted(position, arguments) for position in range(len(params))]
            more = {}
            if own.vararg:
                rest = zip(passed[len(params) :], arguments[len(params) :], strict=True)
                more["va"] = tuple((type, value, copied) for (type, copied), value in rest)
            value = names[name](continuation, *named, **more)
            if result is VOID:
                return None
            if returned is VOID:
                return undefined_value(result)
            return value if returned is result else coerce(value, returned.bits, result.bits)

        return call

    # ---- allocation sites ----------------------------------------------------------------------------

    def site_name(self, key: tuple[int, int], what: str, type: Type | None, loc: Any) -> str:
        """The name of an allocation site that is not an alloca."""
        name = self._sites.get(key)
        if name is None:
            name = self._sites[key] = self.namespace.constant(
                self.namespace.numbers.new_site("stack", what, type, loc, COPIED)
            )
        return name
