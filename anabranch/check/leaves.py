"""The leaves of the maximally-shared graph: what a variable of an expression stands for.

Expressions are over bare variables (`expr.var`); this table says for each what it is: a parameter, memory
as the caller left it, an object, a value that is not known, a summary operator. Parameters, memory that is
reached from them and globals are *visible*: a caller gives them values. All others are new in every
calling context.

The name of a variable is a digest of what it stands for, or of the computation that made it and its number
there (`Leaves.within`). A function thereby has the same expressions whatever else was checked before it, in
this process or in another: what is known of it can be kept, and functions can be checked in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from anabranch.expr import Expr, Value, expr_vars, var, variable
from anabranch.expr.node import VAR, digest
from anabranch.ir.debug import DebugLoc

if TYPE_CHECKING:
    from anabranch.check.summaries import Expansion

OBJECT_SHIFT = 32
"""Objects lie this many bits apart, so that two of them are never equal and none is NULL."""


@dataclass(eq=False, slots=True)
class Leaf:
    """Base of all kinds."""

    var: Expr


@dataclass(eq=False, slots=True)
class Parameter(Leaf):
    """A terminal pointer or a number that the caller passes."""

    function: str
    index: int
    pointer: bool


@dataclass(eq=False, slots=True)
class Memory(Leaf):
    """What the memory at a visible pointer holds when the function is called: `*(base + offset)`."""

    base: Expr
    offset: int
    depth: int
    """Number of dereferences from a parameter or a global."""


@dataclass(eq=False, slots=True)
class GlobalObject(Leaf):
    """The address of a global variable or function."""

    name: str


@dataclass(eq=False, slots=True)
class LocalObject(Leaf):
    """The address of a local variable, or of a block of an allocation."""

    name: str
    size: int | None
    """Bytes; None if not constant."""
    heap: bool
    zeroed: bool
    """It holds zeros when it is new (`calloc`)."""
    loc: DebugLoc | None


@dataclass(eq=False, slots=True)
class Unknown(Leaf):
    """A value that nothing is known of but, perhaps, its range."""

    reason: str
    """In words for a report: `result of getc`, `later iteration of a loop`."""
    loc: DebugLoc | None
    pointer: bool = False
    bound: int = 0
    """The value is less than this; 0: no bound."""
    input: bool = False
    """It really can be anything: what the world answers. Else it stands for something that was given up."""


@dataclass(eq=False, slots=True)
class Failure(Leaf):
    """Boolean: a function that may return NULL did so."""

    function: str
    loc: DebugLoc | None
    because: str = ""
    """What was taken as unknown if it is not plain that it can."""


@dataclass(eq=False, slots=True)
class Uninitialised(Leaf):
    """The content of a local variable or a block that was never written."""

    name: str
    loc: DebugLoc | None
    part: bool
    """It is a part of an array or a struct: that nothing was written there is often not seen."""


@dataclass(eq=False, slots=True)
class Explicit(Leaf):
    """Boolean: the caller's value of a visible pointer is an explicit NULL."""

    of: Expr


@dataclass(eq=False, slots=True)
class Freed(Leaf):
    """Boolean: the caller has freed the object that a visible pointer leads to."""

    of: Expr


@dataclass(eq=False, slots=True)
class Undefined(Leaf):
    """Boolean: the caller has never written the memory that a visible value was read from."""

    of: Expr


@dataclass(eq=False, slots=True)
class Operator(Leaf):
    """A summary operator `function:effect`: one effect of a call, not opened (section 4.2.1)."""

    function: str
    effect: tuple[object, ...]
    expansion: Expansion
    operands: tuple[Value, ...] | None
    """What the effect depends on, in the order of the callee's leaves; None if that is not deterministic, or
    too much to compare: then the operator is not merged with others."""
    pointer: bool


def content(value: object) -> object:
    """Something that names a leaf, with ids in place of nodes: see `digest`."""
    if value.__class__ is Expr:
        return ("node", value.id)
    return tuple(map(content, value)) if isinstance(value, tuple) else value


def in_order(value: Expr) -> list[int]:
    """The variables of an expression in an order that is the same in every process."""
    return sorted(expr_vars(value), key=lambda index: variable(index).id)


class _Within:
    """A computation in which leaves get numbers."""

    __slots__ = ("_before", "_label", "_leaves", "_made", "_what")

    def __init__(self, leaves: Leaves, what: tuple[object, ...]) -> None:
        self._leaves = leaves
        self._what = what
        self._label: int | None = None
        self._made: dict[object, int] = {}

    def number(self, kind: object) -> tuple[int, int]:
        """The digest of the computation, which most need not know, and the number of a leaf among those of
        its kind."""
        if self._label is None:
            self._label = digest(content(self._what))
        number = self._made[kind] = self._made.get(kind, 0) + 1
        return self._label, number

    def __enter__(self) -> None:
        self._before = self._leaves.context
        self._leaves.context = self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaves.context = self._before


class Leaves:
    """All leaves of a program, by variable."""

    def __init__(self) -> None:
        self._by_index: dict[int, Leaf] = {}
        self._visible: dict[int, bool] = {}
        self._supports: dict[Expr, tuple[Leaf, ...]] = {}
        self._integers: set[int] = set()
        """Input memory that its function loads as a number only."""
        self._pointers: set[int] = set()
        """Input memory that its function loads as a pointer."""
        self.holds_integer: Callable[[str, int], bool] = lambda name, offset: False
        """Does a global variable, by its type, hold a number at an offset?"""
        self.context = _Within(self, ())
        """The computation that new leaves belong to."""

    def __len__(self) -> int:
        return len(self._by_index)

    def of(self, variable_: Expr) -> Leaf | None:
        return self._by_index.get(variable_.a)

    def at(self, index: int) -> Leaf | None:
        return self._by_index.get(index)

    def within(self, *what: object) -> _Within:
        """A computation whose result is kept, and what tells it from all others. Leaves that it makes are the
        same ones whenever it is done, and whoever asks for it first."""
        return _Within(self, what)

    def add(self, name: str, width: int, *what: object) -> Expr:
        """The variable of something."""
        return var(f"{name}!{digest(content(what)):x}", width)

    def new(self, name: str, width: int, *what: object) -> Expr:
        """A new variable of the computation at hand, by all that is known of it and its number among those
        of which the same is."""
        kind = (name, width, *what)
        label, number = self.context.number(kind)
        return self.add(name, width, label, kind, number)

    def register(self, leaf: Leaf) -> Expr:
        self._by_index[leaf.var.a] = leaf
        return leaf.var

    # -- visible leaves ---------------------------------------------------------------------------------

    def parameter(self, function: str, index: int, width: int, pointer: bool) -> Expr:
        found = self.add(f"{function}.{index}", width, "parameter", pointer)
        if found.a not in self._by_index:
            self.register(Parameter(found, function, index, pointer))
        return found

    def memory(self, base: Expr, offset: int, width: int) -> Expr:
        """Input memory."""
        found = self.add("*", width, base, offset, width)
        if found.a not in self._by_index:
            outer = self.of(base)
            depth = outer.depth + 1 if isinstance(outer, Memory) else 1
            self.register(Memory(found, base, offset, depth))
        return found

    def global_object(self, name: str, label: str | None = None) -> Expr:
        """The address of a symbol; symbols of one label are one."""
        found = self.add("@", 64, "global", name if label is None else label)
        if found.a not in self._by_index:
            self.register(GlobalObject(found, name))
        return found

    def explicit(self, of: Expr) -> Expr:
        return self._boolean("null", of, Explicit)

    def freed(self, of: Expr) -> Expr:
        return self._boolean("freed", of, Freed)

    def undefined(self, of: Expr) -> Expr:
        return self._boolean("undefined", of, Undefined)

    def _boolean(
        self, kind: str, of: Expr, leaf_class: type[Explicit] | type[Freed] | type[Undefined]
    ) -> Expr:
        found = self.add(kind, 1, of)
        if found.a not in self._by_index:
            self.register(leaf_class(found, of))
        return found

    def visible(self, index: int) -> bool:
        """Does a caller give the variable its value?"""
        known = self._visible.get(index)
        if known is None:
            leaf = self._by_index.get(index)
            if isinstance(leaf, Memory):
                known = self.visible(leaf.base.a)
            elif isinstance(leaf, Explicit | Freed | Undefined):
                known = self.visible(leaf.of.a)
            else:
                known = isinstance(leaf, Parameter | GlobalObject)
            self._visible[index] = known
        return known

    # -- leaves of one calling context ------------------------------------------------------------------

    def unknown(
        self,
        width: int,
        reason: str,
        loc: DebugLoc | None = None,
        pointer: bool = False,
        bound: int = 0,
        input: bool = False,
    ) -> Expr:
        return self.register(
            Unknown(self.new("?", width, reason, pointer, bound, input), reason, loc, pointer, bound, input)
        )

    def failure(self, function: str, loc: DebugLoc | None, because: str = "") -> Expr:
        return self.register(Failure(self.new(f"{function}.fails", 1, because), function, loc, because))

    def uninitialised(self, width: int, name: str, loc: DebugLoc | None, part: bool) -> Expr:
        return self.register(Uninitialised(self.new("uninitialised", width, name, part), name, loc, part))

    def local_object(
        self, name: str, size: int | None, loc: DebugLoc | None, heap: bool = False, zeroed: bool = False
    ) -> Expr:
        return self.register(
            LocalObject(self.new(f"&{name}", 64, size, heap, zeroed), name, size, heap, zeroed, loc)
        )

    def renamed(self, leaf: Leaf) -> Expr:
        """A leaf of a callee as another one: of another calling context."""
        width = leaf.var.w
        if isinstance(leaf, LocalObject):
            return self.local_object(leaf.name, leaf.size, leaf.loc, leaf.heap, leaf.zeroed)
        if isinstance(leaf, Failure):
            return self.failure(leaf.function, leaf.loc, leaf.because)
        if isinstance(leaf, Uninitialised):
            return self.uninitialised(width, leaf.name, leaf.loc, leaf.part)
        assert isinstance(leaf, Unknown)
        return self.unknown(width, leaf.reason, leaf.loc, leaf.pointer, leaf.bound, leaf.input)

    # -- questions about expressions --------------------------------------------------------------------

    def support(self, value: Value) -> tuple[Leaf, ...]:
        """The leaves that an expression mentions, those inside operators left out."""
        if value.__class__ is not Expr:
            return ()
        known = self._supports.get(value)
        if known is None:
            found = (self._by_index.get(index) for index in in_order(value))
            known = self._supports[value] = tuple(leaf for leaf in found if leaf is not None)
        return known

    def left_open(self, values: Iterable[Value]) -> str:
        """What of unknown callers has a say in some values, operands of operators included: "parameters",
        only "globals", or nothing."""
        stack: list[Value] = list(values)
        seen: set[Expr] = set()
        followed: set[int] = set()
        found = ""
        while stack:
            current = stack.pop()
            if current.__class__ is not Expr or current in seen:
                continue
            seen.add(current)
            new = [index for index in expr_vars(current) if index not in followed]
            followed.update(new)
            for index in new:
                leaf = self._by_index.get(index)
                if isinstance(leaf, Operator):
                    known = leaf.operands
                    stack.extend(leaf.expansion.dependencies() if known is None else known)
                elif self.visible(index) and not isinstance(leaf, GlobalObject):
                    if not self._in_global(leaf):
                        return "parameters"
                    found = "globals"
        return found

    def _start(self, leaf: Leaf | None) -> Leaf | None:
        """Where the pointers begin that lead to it."""
        while isinstance(leaf, Memory | Explicit | Freed | Undefined):
            leaf = self.of(leaf.base if isinstance(leaf, Memory) else leaf.of)
        return leaf

    def _in_global(self, leaf: Leaf | None) -> bool:
        """Is it memory that is reached from a global?"""
        return isinstance(self._start(leaf), GlobalObject)

    def from_parameter(self, leaf: Leaf) -> bool:
        """Is it memory that is reached from a parameter?"""
        return isinstance(self._start(leaf), Parameter)

    def given_up(self, value: Value) -> bool:
        """Does anything have a say in a value that was taken as unknown, or never written? Operators are
        looked into, in terms of their callees."""
        stack, seen = [value], set()
        while stack:
            current = stack.pop()
            for leaf in self.support(current):
                if leaf.var in seen:
                    continue
                seen.add(leaf.var)
                if isinstance(leaf, Operator):
                    stack.append(leaf.expansion.inside())
                    stack.extend(leaf.operands or leaf.expansion.dependencies())
                elif isinstance(leaf, Uninitialised) or (isinstance(leaf, Unknown) and not leaf.input):
                    return True
        return False

    def is_pointer(self, index: int) -> bool:
        leaf = self._by_index.get(index)
        if isinstance(leaf, Parameter | Unknown | Operator):
            return leaf.pointer
        if isinstance(leaf, Memory) and self._is_integer(leaf):
            return False
        return isinstance(leaf, Memory | GlobalObject | LocalObject) and variable(index).w == 64

    def loaded(self, value: Value, pointer: bool) -> None:
        """A function loads a value as a pointer, or as a number of 64 bits: `buffer[size]` has both."""
        if value.__class__ is Expr and value.op == VAR:
            if pointer:
                self._pointers.add(value.a)
            else:
                self._integers.add(value.a)

    def _is_integer(self, leaf: Memory) -> bool:
        """What only one function loads is as it loads it. Memory of globals belongs to all functions, which
        must not have a say in what others see: there the type of the variable decides."""
        root = self.of(leaf.base)
        while isinstance(root, Memory):
            root = self.of(root.base)
        if isinstance(root, GlobalObject):
            return leaf.depth == 1 and self.holds_integer(root.name, leaf.offset)
        return leaf.var.a in self._integers and leaf.var.a not in self._pointers
