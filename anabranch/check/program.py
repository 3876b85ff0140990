"""What the functions of one program share: leaves, operators, constants, contracts, counts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from anabranch.analysis.callgraph import resolve_alias
from anabranch.check.calls import Calls
from anabranch.check.gate import Gated
from anabranch.check.leaves import GlobalObject, Leaf, Leaves, LocalObject, Memory, Operator
from anabranch.check.places import Places
from anabranch.check.properties.base import Property
from anabranch.check.properties.null import Nullness
from anabranch.check.properties.uninitialised import Undefinedness
from anabranch.check.settings import CheckSettings
from anabranch.check.summaries import Summaries
from anabranch.contracts import Externals
from anabranch.expr import MASK, Expr, Value, add
from anabranch.expr.node import MAX_WIDTH, VAR
from anabranch.ir.debug import DebugLoc
from anabranch.ir.module import GlobalVariable, Module
from anabranch.ir.types import ArrayType, FunctionType, IntType, PointerType, StructType, Type
from anabranch.ir.values import BlockAddress, ConstBytes, ConstInt, Operand, Poison, Undef
from anabranch.semantics.constants import Constants
from anabranch.semantics.elements import element_types, is_scalar
from anabranch.semantics.faults import Unsupported

if TYPE_CHECKING:
    from anabranch.check.records import FunctionRecord

MAX_OPENED = 4
"""Operators that are opened one inside the other where a pointer is dereferenced."""


class ProgramConstants(Constants):
    """Symbols are objects; what is undefined is a value of its own."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def address(self, name: str) -> Value:
        target = self.program.module.aliases.get(name)
        if target is not None:
            resolved = resolve_alias(self.program.module, name)
            if resolved == name:
                return self.value(target)
            name = resolved
        return self.program.global_object(name)

    def label_address(self, label: BlockAddress) -> Value:
        return self.program.leaves.global_object(f"{label.function}:{label.block}")

    def value(self, operand: Operand) -> Value:
        if isinstance(operand, Undef | Poison):
            return self.program.unknown(operand.type, "an undefined value", None)
        return super().value(operand)


class Program:
    """A program under check."""

    def __init__(
        self, module: Module, settings: CheckSettings, externals: Externals, properties: tuple[Property, ...]
    ) -> None:
        self.module = module
        self.settings = settings
        self.externals = externals
        self.properties = properties
        self.leaves = Leaves()
        self.leaves.holds_integer = self._holds_integer
        self.summaries = Summaries(self.leaves)
        self.places = Places(self.leaves, self.opened)
        self.nullness = Nullness(self.leaves)
        self.undefinedness = Undefinedness(self.leaves)
        self.undefined_data = Undefinedness(self.leaves, choices=False)
        self.calls = Calls()
        self.functions: dict[str, Gated] = {}
        self.never_return: frozenset[str] = frozenset()
        """Functions that never come back."""
        self.callees: Mapping[str, Collection[str]] = {}
        """Functions whose summaries a function may use."""
        self.targets: Mapping[FunctionType, tuple[str, ...]] = {}
        """Type of an indirect call -> the functions that it may reach, where they are few."""
        self.unwritten: frozenset[str] = frozenset()
        """Globals that keep their initial values."""
        self.unwritten_here: frozenset[str] = frozenset()
        """Globals that keep them as long as code that is not here does not write them."""
        self.entry: str | None = "main" if "main" in module.functions else None
        self.losses: Counter[str] = Counter()
        """Unsound choices by kind: a verdict may be wrong because of them."""
        self.imprecise: Counter[str] = Counter()
        """Values taken as unknown, by reason: these make reports of what cannot happen, not missed errors."""
        self.undecided: Counter[str] = Counter()
        """Conditions without a verdict, by reason."""
        self.counts: Counter[str] = Counter()
        """How conditions were decided."""
        self.unknown_externals: Counter[str] = Counter()
        self.spend: Callable[[str, float], None] = lambda what, seconds: None
        """Notes CPU time."""
        self._constants = ProgramConstants(self)
        self._known_constants: dict[int, tuple[Operand, Value]] = {}
        self._images: dict[str, tuple[bytes, dict[int, Value]] | None] = {}
        self._opened: dict[Expr, Value] = {}
        self._opening = 0

    def summary(self, caller: str, name: str) -> Gated | None:
        """The gated form of a function, if a caller may use it: what else happens to be there must not
        matter."""
        return self.functions.get(name) if name in self.callees[caller] else None

    def count_in(self, record: FunctionRecord) -> None:
        """From now on choices are counted for this function."""
        self.losses = record.losses
        self.imprecise = record.imprecise
        self.undecided = record.undecided
        self.unknown_externals = record.unknown_externals
        self.spend = record.spend

    # -- values -----------------------------------------------------------------------------------------

    def unknown(self, type: Type, reason: str, loc: DebugLoc | None, input: bool = False) -> Value:
        """A value of a type that nothing is known of."""
        if is_scalar(type) and type.bits <= MAX_WIDTH:
            return self.leaves.unknown(type.bits, reason, loc, isinstance(type, PointerType), input=input)
        if not type.bits:
            return None
        return tuple(self.unknown(part, reason, loc, input) for part in element_types(type))

    def constant(self, operand: Operand) -> Value:
        if operand.__class__ is ConstInt:
            value = operand.value
            return bool(value) if operand.type.bits == 1 else value
        if isinstance(operand, Undef | Poison):
            return self._constants.value(operand)
        known = self._known_constants.get(id(operand))
        if known is None:
            try:
                value = self._constants.value(operand)
            except (Unsupported, ValueError):
                self.imprecise["a constant expression"] += 1
                value = self.unknown(operand.type, "a constant expression", None)
            # The operand is kept as well, or its identity could become another's.
            known = self._known_constants[id(operand)] = (operand, value)
        return known[1]

    def forget_constants(self) -> None:
        """Undefined parts of constants are leaves of the function that uses them."""
        self._known_constants.clear()

    def shifted(self, address: Value, offset: int) -> Value:
        return add(address, offset & MASK[64], 64)

    def opened(self, variable: Expr) -> Value:
        """What a summary operator stands for where it is dereferenced, if that is small (section 4.2.1)."""
        known = self._opened.get(variable)
        if known is not None:
            return known
        leaf = self.leaves.of(variable)
        if not isinstance(leaf, Operator) or self._opening >= MAX_OPENED:
            return variable
        limit = self.settings.expand_nodes
        value: Value = variable
        self._opening += 1
        try:
            if self.summaries.small(leaf, limit):
                expanded = self.summaries.expanded(leaf)
                value = expanded if self.summaries.is_small(expanded, limit) else variable
        finally:
            self._opening -= 1
        self._opened[variable] = value
        return value

    def is_operator(self, base: Expr | None) -> bool:
        return base is not None and isinstance(self.leaves.of(base), Operator)

    # -- globals ----------------------------------------------------------------------------------------

    def global_object(self, name: str) -> Expr:
        """The address of a global variable or function."""
        return self.leaves.global_object(name, symbol_label(self.module, name))

    def is_global(self, base: Expr) -> bool:
        return isinstance(self.leaves.of(base), GlobalObject)

    def size_of(self, base: Expr) -> int | None:
        """The size of the object that a base is the address of, if it is constant."""
        leaf = self.leaves.of(base)
        if isinstance(leaf, LocalObject):
            return leaf.size
        if isinstance(leaf, GlobalObject):
            variable = self.module.globals.get(leaf.name)
            if variable is not None and not variable.declaration:
                return variable.value_type.size
        return None

    def _holds_integer(self, name: str, offset: int) -> bool:
        variable = self.module.globals.get(name)
        type: Type | None = None if variable is None else variable.value_type
        while isinstance(type, ArrayType | StructType) and 0 <= offset < type.size:
            if isinstance(type, ArrayType):
                type = type.element
                offset %= type.size
            else:
                number = bisect_right(type.offsets, offset) - 1
                offset -= type.offsets[number]
                type = element_types(type)[number]
        return isinstance(type, IntType) and offset == 0

    def initial_value(self, function: str, name: str, offset: int, width: int) -> Value | None:
        """What a global holds when a function starts, if that is known."""
        variable = self.module.globals.get(name)
        if variable is None or variable.declaration:
            return None
        if not (variable.constant or name in self.unwritten or function == self.entry):
            return None
        return self._first_value(variable, offset, width)

    def initial_of(self, leaf: Leaf | None) -> Value | None:
        """The first value of a global that only code which is not here could have changed."""
        if not isinstance(leaf, Memory):
            return None
        base = self.leaves.of(leaf.base)
        if not isinstance(base, GlobalObject) or base.name not in self.unwritten_here:
            return None
        return self._first_value(self.module.globals[base.name], leaf.offset, leaf.var.w)

    def _first_value(self, variable: GlobalVariable, offset: int, width: int) -> Value | None:
        if variable.name not in self._images:
            self._images[variable.name] = self._image(variable)
        image = self._images[variable.name]
        return None if image is None else _part(image, offset, (width + 7) // 8)

    def text(self, address: Value) -> str | None:
        """The string, of plain or wide characters, at the address of a constant."""
        leaf = self.leaves.of(address) if address.__class__ is Expr and address.op == VAR else None
        variable = self.module.globals.get(leaf.name) if isinstance(leaf, GlobalObject) else None
        if variable is None or not variable.constant or not isinstance(variable.value_type, ArrayType):
            return None
        if variable.name not in self._images:
            self._images[variable.name] = self._image(variable)
        image = self._images[variable.name]
        unit = variable.value_type.element.size
        if image is None or image[1] or unit not in (1, 4):
            return None
        return image[0].decode("utf-8" if unit == 1 else "utf-32-le", "replace").split("\0")[0]

    def _image(self, variable: GlobalVariable) -> tuple[bytes, dict[int, Value]] | None:
        """The bytes of an initialiser, and the pointers in it by offset."""
        initializer = variable.initializer
        if initializer is None:
            return None
        pointers: dict[int, Value] = {}
        data = bytearray(variable.value_type.size)
        try:
            with self.leaves.within("image", variable.name):
                cells = list(self._constants.cells(initializer))
            for offset, length, value in cells:
                if value.__class__ is bytes:
                    data[offset : offset + length] = value
                elif value.__class__ is Expr:
                    pointers[offset] = value
                else:
                    data[offset : offset + length] = int(value).to_bytes(length, "little")
        except (Unsupported, ValueError, OverflowError):
            return None
        return bytes(data), pointers


def symbol_label(module: Module, name: str) -> str:
    """What a symbol is called in names of leaves: a string by its text, because compilers and linkers number
    the strings of a program."""
    variable = module.globals.get(name)
    if variable is not None and variable.linkage == "private" and variable.constant:
        initializer = variable.initializer
        if isinstance(initializer, ConstBytes):
            return f"{initializer.data!r}"
    return name


def _part(image: tuple[bytes, dict[int, Value]], offset: int, size: int) -> Value | None:
    data, pointers = image
    if offset in pointers and pointers[offset].w == size * 8:
        return pointers[offset]
    if not 0 <= offset <= len(data) - size:
        return None
    if pointers and any(start < offset + size and offset < start + p.w // 8 for start, p in pointers.items()):
        return None
    return int.from_bytes(data[offset : offset + size], "little")
