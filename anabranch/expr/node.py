"""Expression nodes: interning, variables and the collection of dead nodes.

A node is an operator over operands that are other nodes or plain integers. Structurally equal nodes are one
object, so identity is equality. `==`, `<`, `+` and the other operators build expressions (`operators.py`);
`bool()` asks the hook that the machine installs. Width 1 is the Boolean sort: no width-1 node has a constant
operand, and the arithmetic of single bits is expressed by and, or, xor, not.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import count
from sys import getrefcount
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from weakref import WeakValueDictionary

MAX_WIDTH = 1024
MASK: list[int] = [(1 << w) - 1 for w in range(MAX_WIDTH + 1)]

# Operators. A node's shape by operator (operands marked * may be an integer instead of a node):
#   var a=index b=name | not a | zext/sext a | extract a c=low bit | concat a* b* | ite a b* c*
#   select a c=table | add/mul/and/or/xor a b* | sub/shl/lshr/ashr/udiv/urem/sdiv/srem a* b* | eq/ult/slt a b*
VAR, NOT, ZEXT, SEXT, EXTRACT, CONCAT = "var", "not", "zext", "sext", "extract", "concat"
ITE, SELECT = "ite", "select"
ADD, SUB, MUL, AND, OR, XOR = "add", "sub", "mul", "and", "or", "xor"
SHL, LSHR, ASHR, UDIV, UREM, SDIV, SREM = "shl", "lshr", "ashr", "udiv", "urem", "sdiv", "srem"
EQ, ULT, SLT = "eq", "ult", "slt"
EXTENSIONS = frozenset((ZEXT, SEXT))


class UndecidedError(RuntimeError):
    """A symbolic expression was used as a truth value while nobody decides branches."""


def _undecided(e: Expr) -> bool:
    raise UndecidedError(f"truth value of a symbolic expression of width {e.w}")


class Expr:
    """One interned node. Made by the constructors only."""

    __slots__ = (
        "a",
        "b",
        "bytes",
        "c",
        "eqm",
        "id",
        "ltm",
        "neg",
        "op",
        "opm",
        "term",
        "truth",
        "vs",
        "w",
    )
    op: str
    w: int
    a: Any
    b: Any
    c: Any
    id: int  # creation number, or digest of the structure; see `reset`
    vs: tuple[int, ...] | None  # variable indices, ascending; see variables.expr_vars
    neg: Expr | None  # cached negation of a Boolean
    bytes: tuple[Any, ...] | None  # cached bytes, low first
    term: Any  # cache of the solver backend
    truth: Any  # cache of the solver: values of its one variable that make it true
    eqm: dict[int, Any]  # constant -> (self == constant), ~constant -> (self != constant)
    ltm: dict[int, Any]  # constant -> (self < constant), ~constant -> (self >= constant)
    opm: dict[int, Any]  # other operations with a constant; see operators.py

    decide: ClassVar[Callable[[Expr], bool]] = staticmethod(_undecided)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return Expr.decide(self)

    def __index__(self) -> int:
        raise TypeError("a symbolic value is no index")

    def __repr__(self) -> str:
        from .smtlib import short_text

        return short_text(self)

    if TYPE_CHECKING:  # see operators.py

        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __invert__(self) -> Any: ...
        def __lt__(self, other: Value) -> Any: ...

        __le__ = __gt__ = __ge__ = __lt__
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __lt__
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__
        __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __lt__


# int | Expr (bool | Expr for width 1). Any, because type checkers do not narrow by `x.__class__ is Expr`, the
# one test that is quick and never calls an operator of Expr.
Value: TypeAlias = Any

# The intern table. Keys hold operator, ids and constants, never nodes: a lookup can compare keys without ever
# calling Expr.__eq__. Shapes (of different lengths or marked, so that an id is never taken for a constant):
#   (op, id, id)   (op, id, constant, 0)   (op, constant, id, 1)   and longer ones for concat and ite
NODES: dict[tuple[Any, ...], Expr] = {}
VARIABLES: list[Expr] = []
ROUND_NUMBERS: set[int] = set()
"""Indices of the variables that are no inputs: see `round_number`."""
TABLES: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()  # of nodes; see select.py
_UNDEFINED: dict[int, Expr] = {}
_UNDEFINED_BYTES: dict[int, list[Expr]] = {}  # by block
_EMPTY: dict[int, Any] = {}  # stands for "no memo yet"; never written
_new = object.__new__
_next_id = count(1).__next__
_structural = False  # are ids digests of the structure? See `reset`.


def digest(content: Any) -> int:
    """A number that stands for some content: numbers, strings, None and tuples of these. The same in every
    process; two contents with one digest are not to be expected (128 bits)."""
    # `marshal` writes numbers of 128 bits twice as fast as `repr`; its version 2 writes equal contents alike.
    return int.from_bytes(blake2b(marshal.dumps(content, 2), digest_size=16).digest())


def new_id(content: object) -> int:
    """A number for something interned with this content: see `reset`."""
    return digest(content) if _structural else _next_id()


def make(key: tuple[Any, ...], op: str, w: int, a: Any, b: Any = None, c: Any = None) -> Expr:
    """A new node; the caller has looked for `key` in NODES."""
    n = _new(Expr)
    n.op = op
    n.w = w
    n.a = a
    n.b = b
    n.c = c
    n.id = digest(key) if _structural else _next_id()
    n.vs = n.neg = n.bytes = n.term = n.truth = None
    n.eqm = n.ltm = n.opm = _EMPTY
    NODES[key] = n
    return n


def unary(op: str, w: int, a: Expr) -> Expr:
    """A node over one operand."""
    key = (op, a.id, w)
    n = NODES.get(key)
    return make(key, op, w, a) if n is None else n


def binary(op: str, w: int, a: Expr, b: Expr) -> Expr:
    """A node over two nodes."""
    key = (op, a.id, b.id)
    n = NODES.get(key)
    return make(key, op, w, a, b) if n is None else n


def binary_const(op: str, w: int, a: Expr, b: int) -> Expr:
    """A node whose right operand is a constant."""
    key = (op, a.id, b, 0)
    n = NODES.get(key)
    return make(key, op, w, a, b) if n is None else n


def const_binary(op: str, w: int, a: int, b: Expr) -> Expr:
    """A node whose left operand is a constant."""
    key = (op, a, b.id, 1)
    n = NODES.get(key)
    return make(key, op, w, a, b) if n is None else n


def ternary(op: str, w: int, a: Expr, b: Value, c: Value) -> Expr:
    """A node over a node and two operands that may be constants."""
    key: tuple[Any, ...]
    if b.__class__ is Expr:
        key = (op, a.id, b.id, c.id, 2) if c.__class__ is Expr else (op, a.id, b.id, c, 3)
    else:
        key = (op, a.id, b, c.id, 4) if c.__class__ is Expr else (op, a.id, b, c, w, 5)
    n = NODES.get(key)
    return make(key, op, w, a, b, c) if n is None else n


def nary(op: str, w: int, *parts: Value) -> Expr:
    """A node over up to three operands of any kind: for operators that are rare."""
    key = (op, w, *((x.id,) if x.__class__ is Expr else (x, None) for x in parts))
    n = NODES.get(key)
    return make(key, op, w, *parts) if n is None else n


def var(name: str, width: int) -> Expr:
    """The variable of that name and width."""
    key = (VAR, name, width)
    n = NODES.get(key)
    if n is None:
        if not 1 <= width <= MAX_WIDTH:
            raise ValueError(f"width {width} of {name} is not in 1..{MAX_WIDTH}")
        index = len(VARIABLES)
        n = make(key, VAR, width, index, name)
        n.vs = (index,)
        VARIABLES.append(n)
    return n


def round_number(width: int) -> Expr:
    """A fresh variable that is no input: the number of one of several histories that became one."""
    index = len(VARIABLES)
    n = make((VAR, "round", index, "round"), VAR, width, index, f"round{index}")
    n.vs = (index,)
    VARIABLES.append(n)
    ROUND_NUMBERS.add(index)
    return n


INSTANCE = 1 << 12  # more than any width
UNDEFINED_BLOCKS = 251  # a prime, so that neighbours in any regular numbering differ
UNDEFINED_REGISTERS = 1 << 20  # the first instance that is in no block


def undefined(width: int, instance: int = 0) -> Expr:
    """A value that was never written: a variable with a negative index, one for each width and instance.

    Two of them need not be equal, so data from different places has different instances.
    """
    index = -(width + instance * INSTANCE)
    n = _UNDEFINED.get(index)
    if n is None:
        name = f"undefined{width}" + (f".{instance}" if instance else "")
        n = _UNDEFINED[index] = make((VAR, "undefined", index, "undefined"), VAR, width, index, name)
        n.vs = (index,)
    return n


def is_undefined(value: Value) -> bool:
    """Is this data that was never written, and nothing else?"""
    return value.__class__ is Expr and value.op == VAR and value.a < 0


def instance_of(unknown: Expr) -> int:
    """Which one of its width a value that was never written is."""
    return int(-unknown.a // INSTANCE)


def undefined_bytes(block: int, size: int) -> list[Expr]:
    """Bytes that were never written, at least `size`: those of one block differ, and those of any two of
    `UNDEFINED_BLOCKS` blocks. The list is kept and must not be changed."""
    block %= UNDEFINED_BLOCKS
    known = _UNDEFINED_BYTES.setdefault(block, [])
    if len(known) < size:
        first = 1 + (block << 12)
        known += [undefined(8, first + i) for i in range(len(known), size)]
    return known


def variable(index: int) -> Expr:
    """The variable with that index, undefined data included."""
    return VARIABLES[index] if index >= 0 else undefined(-index % INSTANCE, -index // INSTANCE)


def operands(n: Expr) -> Iterator[Expr]:
    """The operands that are nodes, left to right."""
    if n.op == VAR:
        return
    if n.a.__class__ is Expr:
        yield n.a
    if n.b.__class__ is Expr:
        yield n.b
    if n.c.__class__ is Expr:
        yield n.c


def low_width(n: Expr) -> int:
    """Width of the low part of a concatenation."""
    w: int = n.w - n.a.w if n.a.__class__ is Expr else n.b.w
    return w


def operand_width(n: Expr) -> int:
    """Width of the operands of a node over two values of one width."""
    w: int = n.a.w if n.a.__class__ is Expr else n.b.w
    return w


def forget_memos() -> None:
    """Drops every cached result; what is still needed is built or found again.

    Terms of variables stay: another one of that name would be another constant, and what is asserted in a
    solver is about this one.
    """
    for n in NODES.values():
        n.neg = n.bytes = n.truth = None
        if n.op != VAR:
            n.term = None
        n.eqm = n.ltm = n.opm = _EMPTY


def collect() -> int:
    """Removes the nodes that only the intern table and the caches keep; returns how many.

    Operands are older than the nodes over them and the table is in order of creation, so one pass from the
    newest node backwards finds all of them by their reference counts.
    """
    forget_memos()
    dead = 0
    keys = list(NODES)
    while keys:
        key = keys.pop()
        n = NODES[key]
        # references: the table, the local variable, getrefcount's argument
        if getrefcount(n) == 3 and n.op != VAR:
            del NODES[key]
            dead += 1
    return dead


def reset(structural: bool = False) -> None:
    """Forgets all nodes and variables: the next run numbers them from the start.

    With `structural` the id of a node is a digest of its structure and of the names of its variables, so that
    ids, and the order of operands that follows from them, do not depend on what else was built before.
    """
    global _next_id, _structural
    _structural = structural
    NODES.clear()
    VARIABLES.clear()
    ROUND_NUMBERS.clear()
    TABLES.clear()
    _UNDEFINED.clear()
    _UNDEFINED_BYTES.clear()
    _next_id = count(1).__next__
