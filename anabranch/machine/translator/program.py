"""The whole program under translation: functions by number, callees by name and by address."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from anabranch.ir.module import Function, Instruction, Module
from anabranch.ir.types import VOID, FunctionType, Type
from anabranch.ir.values import ConstExpr, GlobalRef
from anabranch.machine.constants import undefined_value
from anabranch.machine.counters import Counters
from anabranch.machine.ends import Fault, Loss, ProgramError
from anabranch.machine.translator.namespace import Namespace
from anabranch.machine.translator.unit import Unit
from anabranch.machine.translator.writer import Mark
from anabranch.machine.values import coerce

if TYPE_CHECKING:
    from anabranch.machine.interpreter import Interpreter

Model = Callable[..., Any]
ModelFinder = Callable[[str], Model | None]
IntrinsicFinder = Callable[[str, Instruction], Callable[..., Any]]


class CallTable(dict[int, Any]):
    """Function pointers of one call signature -> what to call with `(continuation, arguments...)`."""

    def __init__(self, program: TranslatedProgram, seen: tuple[Type, ...], named: int, result: Type) -> None:
        super().__init__()
        self._program = program
        self._seen = seen
        self._named = named
        self._result = result

    def __missing__(self, address: Any) -> Any:
        if address.__class__ is not int:
            address = self._program.choose_callee(address)
            return self[address]
        function = self[address] = self._program.callee(address, self._seen, self._result)
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
    ) -> None:
        self.module = module
        self.namespace = namespace
        self.counters = counters
        self.overridden = overridden
        self.check_overflow = check_overflow
        self.keep_source = keep_source
        self.codes: dict[CodeType, tuple[Unit, dict[int, Mark]]] = {}
        self.units: dict[str, Unit] = {}
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
        """The program's own function of that name, unless a model takes its place."""
        function = self.module.functions.get(name)
        if function is None or function.is_declaration or name in self.overridden:
            return None
        return function

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
        return unit

    def ensure(self, unit: Unit) -> None:
        """Translate a function if that has not happened yet."""
        if unit.name not in self._compiled:
            main = self._interpreted(unit) if self.only_interpret else unit.compile_main()
            self._compiled[unit.name] = self.namespace.names[unit.name] = main

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
            self._models[name] = self._find_model(name)
        return self._models[name]

    def intrinsic(self, name: str, instruction: Instruction) -> Callable[..., Any]:
        found = self._intrinsics.get(id(instruction))
        if found is None:
            found = self._intrinsics[id(instruction)] = self._find_intrinsic(name, instruction)
        return found

    # ---- function pointers ---------------------------------------------------------------------------

    def call_table(self, type: FunctionType, seen: tuple[Type, ...], result: Type) -> CallTable:
        key = (type, seen, result)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = CallTable(self, seen, len(type.params), result)
        return table

    def callee(self, address: int, seen: tuple[Type, ...], result: Type) -> Callable[..., Any]:
        """What a call through a pointer runs, its arguments fitted to the function's own parameters."""
        function = self.namespace.layout.functions.get(address)
        if function is None:
            raise ProgramError(Fault("bad-call", "call through a bad function pointer", {"address": address}))
        own = self.find(function.name)
        if own is None:
            model = self.model(function.name)
            if model is None:
                raise Loss("unsupported", f"external function {function.name}")
            return lambda _, *arguments: model(*arguments)
        name = f"f{self.number(own)}"
        self.ensure(self.unit(own))
        params = own.type.params
        if own.type.ret is not VOID and result is VOID:
            result = own.type.ret
        exact = len(seen) == len(params) and all(a.bits == b.bits for a, b in zip(seen, params, strict=True))
        if exact and not own.vararg and own.type.ret is result:
            function_object: Callable[..., Any] = self.namespace.names[name]
            return function_object
        return self._fitted(own, name, seen, result)

    def _fitted(self, own: Function, name: str, seen: tuple[Type, ...], result: Type) -> Callable[..., Any]:
        params, names = own.type.params, self.namespace.names
        returned = own.type.ret

        def call(continuation: Any, *arguments: Any) -> Any:
            fitted = [
                coerce(arguments[i], seen[i].bits, type.bits) if i < len(seen) else undefined_value(type)
                for i, type in enumerate(params)
            ]
            more = {}
            if own.vararg:
                more["va"] = tuple((seen[i], arguments[i], False) for i in range(len(params), len(seen)))
            value = names[name](continuation, *fitted, **more)
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
                self.namespace.numbers.new_site("stack", what, type, loc)
            )
        return name
