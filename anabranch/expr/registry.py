"""The registry of operators: all that is known of a kind of node, in one entry.

`specification.py` has the built-in entries. Code that treats all nodes alike reads this table; code about
particular shapes (a rule that simplifies sums) compares `n.op` with a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .node import MASK, Expr, Value, nary
from .variables import expr_vars

if TYPE_CHECKING:
    from .smtlib import Script

Widths: TypeAlias = Callable[[Expr], tuple[int, ...]]
Meaning: TypeAlias = Callable[[Expr, Any, Any, Any], Any]
Writer: TypeAlias = "Callable[[Expr, Script], str]"


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of node.

    A node has up to three operands `a`, `b`, `c`, each a node or a constant. What stands behind the operands
    is a parameter (the low bit of an extraction, in `c`), or None.
    """

    name: str
    """What `Expr.op` is."""
    widths: Widths
    """The width of each operand of a node."""
    evaluate: Meaning
    """(node, a, b, c): the value (an int; a bool for width 1) from the values of the operands."""
    rebuild: Meaning
    """(node, a, b, c): the node over other operands of the same widths, simplified."""
    smtlib: Writer
    """The node as SMT-LIB text; definitions that it needs are added to the script."""
    python: str | None = None
    """The meaning as Python text, for generated evaluators; without it they call `evaluate`. Filled in are
    {a}, {b} and {c}, the width {w}, its mask {m}, the sign bit {s} of the first operand, the width {last} of
    the last one, and {truth}: nothing, or a comparison with 1 if the width is 1."""
    commutative: bool = False
    """The two operands can be exchanged."""
    lower: Callable[[Expr], Value | None] | None = None
    """The node by operators that the solvers know; None if they know this one. An operator that is always
    lowered needs no terms in the solvers' tables."""
    binds: bool = False
    """`c` is a variable that only `b` sees (a quantifier): `evaluate` gets `b` as a function of its value.
    Such nodes are made by `binder`."""


OPERATORS: dict[str, Operator] = {}


def register(operator: Operator) -> None:
    """Makes a kind of node known."""
    if operator.name in OPERATORS:
        raise ValueError(f"the operator {operator.name} is registered twice")
    OPERATORS[operator.name] = operator


def build(op: str, w: int, parts: Sequence[tuple[Value, int | None]]) -> Value:
    """The value of an operator over operands as its constructor makes it: each with its width, or with None
    if it is a constant or a parameter in the node. One that has a width may be a constant all the same."""
    shape = _shape(op, w)  # tells widths, as the node would that is rebuilt over other operands
    missing = [None] * (3 - len(parts))
    sized = [value if width is None else _shape(op, width) for value, width in parts]
    for name, operand in zip("abc", [*sized, *missing], strict=True):
        setattr(shape, name, operand)
    return OPERATORS[op].rebuild(shape, *(value for value, _ in parts), *missing)


def _shape(op: str, w: int) -> Expr:
    """Something with an operator and a width; no node, since it is not interned."""
    shape: Expr = object.__new__(Expr)
    shape.op, shape.w = op, w
    return shape


def meaning(python: str) -> Meaning:
    """The function that a text says, which has neither {last} nor {truth}."""
    text = python.format(a="a", b="b", c="c", w="n.w", m="MASK[n.w]", s="(1 << n.a.w - 1)")
    function: Meaning = eval(f"lambda n, a, b, c: {text}", {"MASK": MASK})
    return function


def binder(op: str, w: int, a: Value, b: Expr, c: Expr) -> Expr:
    """A node that binds the variable `c` in `b`; nothing but `b` may be about that variable."""
    n = nary(op, w, a, b, c)
    if n.vs is None:  # said here, since the operands know nothing of what is bound
        free = {*expr_vars(b), *(expr_vars(a) if a.__class__ is Expr else ())} - {c.a}
        n.vs = tuple(sorted(free))
    return n
