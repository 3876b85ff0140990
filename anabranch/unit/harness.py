"""The C program that makes one call fail: sets up objects and globals, answers for unknown functions, calls.

The source of the function is included, so that its static functions and its types are there. Objects are
plain bytes, written one scalar at a time, each with the C expression that names it. Unknown functions are
defined under their symbols by assembler names, so that no prototype has to be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.contracts import NOTHING_KNOWN, Contract
from anabranch.environment.failing import ALLOCATORS, failing_calls, renamed
from anabranch.environment.unknown import (
    Answer,
    Contents,
    Place,
    UnknownFunctions,
    UnknownObject,
    contents_of,
    scalars_of,
)
from anabranch.expr import Expr, evaluate
from anabranch.ir.module import Function, Module
from anabranch.ir.types import VOID, FloatType, IntType, PointerType, StructType, Type
from anabranch.semantics.addresses import MASK64
from anabranch.unit.arguments import Argument, Parameter, UnitInput
from anabranch.unit.ranks import Ranked

_TOP = """\
typedef unsigned long long anabranch_word;
extern void *anabranch_new(unsigned long, unsigned long) __asm__("calloc");
extern void anabranch_exit(int) __asm__("exit");
extern void anabranch_abort(void) __asm__("abort");

static void anabranch_put(void *object, unsigned long offset, unsigned long size, anabranch_word value) {
  unsigned char *at = (unsigned char *)object + offset;
  for (unsigned long i = 0; i < size; i++) at[i] = (unsigned char)(i < 8 ? value >> 8 * i : 0);
}
"""


class NoHarness(Exception):
    """The call cannot be written down in C; the message says why."""


@dataclass(slots=True)
class _Stub:
    """The definition of an unknown function."""

    number: int
    symbol: str  # "" for what only a pointer leads to
    shown: str
    result: Type
    parameters: tuple[Type, ...] = ()
    variadic: bool = False
    contract: Contract = NOTHING_KNOWN
    noreturn: bool = False
    answers: list[Answer] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"anabranch_unknown_{self.number}"

    @property
    def most_written(self) -> int:
        """The last parameter that any answer writes through, counted from 1."""
        return max((number for answer in self.answers for number, _ in answer.writes), default=0)


class HarnessWriter:
    """Writes the harness of one failing path."""

    def __init__(
        self, module: Module, call: UnitInput, unknown: UnknownFunctions, ranked: Ranked, included: str
    ) -> None:
        self.module = module
        self.call = call
        self.unknown = unknown
        self.model = ranked.model
        self.included = included
        self.inputs = ranked.failure.record(ranked.model)
        self.failing = failing_calls(self.inputs, lambda holds: evaluate(holds, self.model) is True)
        """Calls of allocators that fail, by function. These functions have another name in the sources."""
        self.contents = contents_of(self.inputs)
        self.objects: dict[int, str] = {}  # unknown objects met, by number -> name in C
        self.waiting: list[UnknownObject] = []
        self.stubs: dict[str, _Stub] = {}
        self.globals: dict[int, str] = {}

    def text(self, heading: Sequence[str], command: str) -> str:
        """The whole file."""
        self._define_unknown()
        called = self._call()
        setup = [*self._set_globals(), *self._set_objects()]
        functions: list[str] = []
        written = 0
        while written < len(self.stubs):
            # Answers may lead to objects of their own, and these to functions.
            stubs = list(self.stubs.values())[written:]
            written = len(self.stubs)
            functions += [line for stub in stubs for line in self._stub(stub)]
            setup += self._set_objects()
        lines = ["/*", *(f" * {line}" for line in heading), " *", f" * {command}", " */"]
        lines += self._include()
        lines += [_TOP, *self._global_declarations()]
        lines += [f"static void *{name};" for name in self.objects.values()]
        lines += [f"{self._head(stub)};" for stub in self.stubs.values() if not stub.symbol]
        lines += ["", *self._allocators(), *functions, "int main(void) {"]
        lines += self._allocations()
        lines += [f"  {line}" for line in (*setup, *called)]
        return "\n".join([*lines, "  return 0;", "}", ""])

    def _include(self) -> Iterator[str]:
        if not self.included:
            return
        own = self.call.function.name == "main"
        yield "#define main anabranch_main_of_the_source"
        yield f'#include "{self.included}"'
        if not own:
            yield "#undef main"
        else:
            yield "#undef main\n#define ANABRANCH_CALLED anabranch_main_of_the_source"
        for function in self.module.functions.values():
            if function.linkage == "available_externally":
                # Inline in one file, defined in another: such a declaration makes it the definition.
                yield f"extern __typeof__({function.name}) {function.name};"
        yield ""

    # ---- unknown functions ---------------------------------------------------------------------------

    def _define_unknown(self) -> None:
        """A stub for every function that is declared only: the source may mention them all."""
        for function in self.module.functions.values():
            if self.unknown.stands_for(function):
                stub = self._add_stub(function.name, function.name, function.type.ret, function.type.params)
                stub.contract = self.unknown.contract(function.name)
                stub.noreturn = function.noreturn or stub.contract.noreturn
                stub.variadic = function.vararg
        for item in self.inputs:
            answer = item.about
            if isinstance(answer, Answer):
                if answer.function not in self.stubs:
                    self._add_stub(answer.function, "", answer.type, ())
                self.stubs[answer.function].answers.append(answer)

    def _add_stub(self, name: str, symbol: str, result: Type, given: tuple[Type, ...]) -> _Stub:
        stub = self.stubs[name] = _Stub(len(self.stubs) + 1, symbol, name, result, given)
        return stub

    def _head(self, stub: _Stub) -> str:
        listed = ", ".join(f"{c_type(type)} a{n}" for n, type in enumerate(stub.parameters, 1))
        if not stub.parameters and not stub.symbol:
            # Through a pointer: as many words as any answer writes through.
            listed = ", ".join(f"void *a{n}" for n in range(1, stub.most_written + 1))
        if stub.variadic and stub.parameters:
            listed += ", ..."
        return f"{result_type(stub)} {stub.name}({listed or 'void'})"

    def _stub(self, stub: _Stub) -> Iterator[str]:
        if isinstance(stub.result, StructType):
            yield f"{result_type(stub)} {{ {' '.join(_fields(stub.result))} }};"
        head = self._head(stub)
        yield f"/* {stub.shown.replace('*/', '')} */"
        if stub.symbol:
            yield f'{head} __asm__("{stub.symbol}");'
        yield f"{head} {{"
        yield from self._given(stub)
        if stub.noreturn or stub.contract.fails:
            yield "  anabranch_abort();" if stub.contract.fails else "  anabranch_exit(0);"
            yield "  __builtin_unreachable();\n}"
            return
        yield "  static unsigned long calls;"
        if stub.result is not VOID:
            yield f"  {result_type(stub)} result;"
            yield "  anabranch_put(&result, 0, sizeof result, 0);"
        yield "  switch (calls++) {"
        for number, answer in enumerate(stub.answers):
            yield f"  case {number}:"
            for parameter, places in answer.writes:
                yield from (f"    {self._put(f'(void *)a{parameter}', place)}" for place in places)
            if self._is_argument(stub, answer):
                assert answer.same_as is not None
                yield f"    result = ({result_type(stub)})a{answer.same_as + 1};"
            elif stub.result is not VOID:
                for offset, size, value, is_pointer in scalars_of(answer.type, answer.value):
                    yield f"    {self._fill('&result', offset, size, value, is_pointer)}"
            yield "    break;"
        yield "  }"
        if stub.result is not VOID:
            yield "  return result;"
        yield "}"
        yield ""

    def _is_argument(self, stub: _Stub, answer: Answer) -> bool:
        """Is the result one of the arguments?"""
        given = answer.same_as is not None and answer.same_as < len(stub.parameters)
        return given and self._number(answer.value) != 0

    def _given(self, stub: _Stub) -> Iterator[str]:
        """Arguments without a declaration as pointers, and accesses to what the function has to read."""
        fixed = len(stub.parameters)
        if stub.variadic and stub.most_written > fixed > 0:
            yield f"  __builtin_va_list more;\n  __builtin_va_start(more, a{fixed});"
            for number in range(fixed + 1, stub.most_written + 1):
                yield f"  void *a{number} = __builtin_va_arg(more, void *);"
            yield "  __builtin_va_end(more);"
        for number in stub.contract.reads:
            if number < fixed and isinstance(stub.parameters[number], PointerType):
                yield f"  (void)*(volatile char *)a{number + 1};"

    def _allocators(self) -> Iterator[str]:
        """Allocators that fail at certain calls, under the names that the sources have for them."""
        for name, calls in self.failing.items():
            allocator = ALLOCATORS[name]
            types = ", ".join(f"{type} a{n}" for n, type in enumerate(allocator.parameters))
            passed = ", ".join(f"a{n}" for n in range(len(allocator.parameters)))
            real = f"anabranch_real_{name}"
            yield f'extern {allocator.result} {real}({types}) __asm__("{name}");'
            yield f'{allocator.result} anabranch_failing_{name}({types}) __asm__("{renamed(name)}");'
            yield f"{allocator.result} anabranch_failing_{name}({types}) {{"
            yield "  static unsigned long calls;"
            yield "  switch (calls++) {"
            yield from (f"  case {number}:" for number in calls)
            yield f"    return ({allocator.result}){allocator.failure};\n  }}"
            yield f"  return {real}({passed});\n}}\n"

    # ---- objects -------------------------------------------------------------------------------------

    def _object(self, made: UnknownObject) -> str:
        name = self.objects.get(made.number)
        if name is None:
            name = self.objects[made.number] = f"anabranch_object_{len(self.objects) + 1}"
            self.waiting.append(made)
        return name

    def _allocations(self) -> Iterator[str]:
        for number, name in self.objects.items():
            made = self.unknown.objects.by_number[number]
            size = max((part.size for part in self._filled(number)), default=made.size)
            yield f"  {name} = anabranch_new(1, {size});  /* *{made.pointer} */"

    def _set_objects(self) -> list[str]:
        """Contents of all objects that pointers lead to, as far as the path looked at them."""
        lines: list[str] = []
        while self.waiting:
            made = self.waiting.pop(0)
            places = [place for part in self._filled(made.number) for place in part.places]
            name = self.objects[made.number]
            lines += [self._put(name, place) for place in places if self._number(place.value)]
        return lines

    def _filled(self, number: int) -> list[Contents]:
        """What an object was filled with: on this path, or on one that was joined to it."""
        other = self.unknown.objects.contents.get(number)
        return self.contents.get(number) or ([other] if other is not None else [])

    def _put(self, target: str, place: Place) -> str:
        filled = self._fill(target, place.offset, place.size, place.value, place.kind == "pointer")
        name = place.name.replace("*/", "")
        return f"{filled}  /* {name} */"

    def _fill(self, target: str, offset: int, size: int, value: Any, is_pointer: bool) -> str:
        """A statement that writes a value into an object; two if it has more than eight bytes."""
        number = self._number(value)
        low = f"anabranch_put({target}, {offset}, {size}, {self._value(number & MASK64, is_pointer)});"
        if not number >> 64:
            return low
        high = self._value(number >> 64, False)
        return f"{low} anabranch_put({target}, {offset + 8}, {size - 8}, {high});"

    def _number(self, value: Any) -> int:
        return int(evaluate(value, self.model)) if value.__class__ is Expr else int(value)

    def _value(self, value: Any, is_pointer: bool) -> str:
        number = self._number(value)
        if not is_pointer:
            return f"{number}ULL" if number < 1 << 16 else f"{number:#x}ULL"
        if not number:
            return "0"
        return f"(anabranch_word)(unsigned long){self._address(number)}"

    def _address(self, address: int) -> str:
        made = self.unknown.objects.by_number.get(address >> 32)
        if made is None:
            raise NoHarness(f"the address {address:#x} belongs to no unknown object")
        if made.function is not None:
            stub = self.stubs.get(made.pointer)
            if stub is None:
                stub = self._add_stub(made.pointer, "", VOID, ())
            return stub.name
        if made.origin == "global" and not made.depth:
            return self.globals.setdefault(made.number, f"anabranch_global_{len(self.globals) + 1}")
        name, offset = self._object(made), address & 0xFFFFFFFF
        return f"((char *){name} + {offset})" if offset else name

    # ---- globals -------------------------------------------------------------------------------------

    def _set_globals(self) -> list[str]:
        lines: list[str] = []
        for variable in self.call.globals:
            number = self.unknown.objects.machine.layout.address(variable.name) >> 32
            places = [place for part in self._filled(number) for place in part.places]
            if not places:
                continue
            name = self.globals.setdefault(number, f"anabranch_global_{len(self.globals) + 1}")
            lines += [self._put(name, place) for place in places if place.kind != "gap"]
        return lines

    def _global_declarations(self) -> Iterator[str]:
        """Variables under their symbols; those that nobody defines are defined here."""
        for variable in self.call.globals:
            number = self.unknown.objects.machine.layout.address(variable.name) >> 32
            name = self.globals.get(number)
            if variable.declaration:
                name = name or f"anabranch_global_{len(self.globals) + 1}"
                self.globals.setdefault(number, name)
                size = self.unknown.objects.by_number[number].size
                yield f'unsigned char {name}[{size}] __asm__("{variable.name}") __attribute__((aligned(16)));'
            elif name is not None:
                yield f'extern unsigned char {name}[] __asm__("{variable.name}");'

    # ---- the call ------------------------------------------------------------------------------------

    def _call(self) -> list[str]:
        lines: list[str] = []
        given: dict[int, list[Argument]] = {}
        for argument in self.call.arguments:
            given.setdefault(argument.parameter.number, []).append(argument)
        given.pop(-1, None)
        passed = [self._argument(number, parts, lines) for number, parts in given.items()]
        function = self.call.function
        called = "ANABRANCH_CALLED" if function.name == "main" else f"({source_name(function)})"
        if not self.included:
            raise NoHarness("its C file was not given: name C files, not bitcode")
        return [*lines, f"{called}({', '.join(passed)});"]

    def _argument(self, number: int, parts: list[Argument], lines: list[str]) -> str:
        first = parts[0]
        source = first.parameter.source
        if source is not None and source.kind in ("struct", "union"):
            return self._struct(number, parts, lines)
        if len(parts) > 1:
            raise NoHarness(f"the parameter {first.parameter.name} is passed in pieces")
        comment = f" /* {first.parameter.name} */"
        type = first.parameter.type
        if isinstance(type, PointerType):
            value = self._number(first.value)
            return (f"(void *){self._address(value)}" if value else "0") + comment
        if isinstance(type, FloatType):
            name = f"anabranch_argument_{number + 1}"
            lines.append(f"{c_type(type)} {name};")
            lines.append(self._fill(f"&{name}", 0, type.size, first.value, False))
            return name + comment
        signed = source is not None and source.signed
        return signed_text(self._number(first.value), type.bits, signed) + comment

    def _struct(self, number: int, parts: list[Argument], lines: list[str]) -> str:
        source = parts[0].parameter.source
        assert source is not None
        if not source.name:
            raise NoHarness(f"the type of the parameter {parts[0].parameter.name} has no name")
        if parts[0].parameter.attrs is not None and parts[0].parameter.attrs.byval is not None:
            return f"*({source.name} *){self._address(self._number(parts[0].value))}"
        name = f"anabranch_argument_{number + 1}"
        lines.append(f"{source.name} {name};")
        for argument in parts:
            for offset, size, value, is_pointer in _pieces(argument):
                size = min(size, source.size - offset)
                lines.append(self._fill(f"&{name}", offset, size, value, is_pointer))
        return name


def source_name(function: Function) -> str:
    """What the source calls a function."""
    subprogram = function.subprogram
    return subprogram.name if subprogram is not None and subprogram.name else function.name


def signed_text(value: int, width: int, signed: bool) -> str:
    """A number as C takes it for a parameter of this width."""
    if signed and value >> (width - 1):
        value -= 1 << width
        return f"({value + 1}LL - 1)" if value == -(1 << 63) else f"{value}LL" if width > 32 else str(value)
    if width > 64:
        raise NoHarness("a parameter of 128 bits")
    return str(value) if value < 1 << 31 else f"{value:#x}ULL"


def c_type(type: Type) -> str:
    """A C type that is passed and returned as LLVM's."""
    if type is VOID:
        return "void"
    if isinstance(type, PointerType):
        return "void *"
    if isinstance(type, FloatType):
        return {32: "float", 64: "double"}.get(type.bits, "long double")
    if isinstance(type, IntType) and type.width <= 64:
        sizes = ((8, "unsigned char"), (16, "unsigned short"), (32, "unsigned int"), (64, "anabranch_word"))
        return next(name for width, name in sizes if type.width <= width)
    raise NoHarness(f"an unknown function with a value of type {type}")


def result_type(stub: _Stub) -> str:
    if isinstance(stub.result, StructType):
        return f"struct anabranch_result_{stub.number}"
    return c_type(stub.result)


def _fields(type: StructType) -> list[str]:
    return [f"{c_type(part)} f{n};" for n, part in enumerate(type.fields or ())]


def _pieces(argument: Argument) -> Iterator[tuple[int, int, Any, bool]]:
    """Offset, size and value of what one of LLVM's arguments holds of a struct."""
    parameter: Parameter = argument.parameter
    if isinstance(argument.value, tuple):
        size = parameter.type.size // len(argument.value)
        for lane, value in enumerate(argument.value):
            yield parameter.offset + lane * size, size, value, False
        return
    yield parameter.offset, parameter.type.size, argument.value, isinstance(parameter.type, PointerType)
