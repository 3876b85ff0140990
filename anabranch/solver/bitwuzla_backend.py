"""Bitwuzla: the default backend."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import bitwuzla
from bitwuzla import Kind, Option, Options, Result, TermManager

from anabranch.expr import Expr, variable
from anabranch.expr.evaluate import low_width
from anabranch.expr.node import AND, CONCAT, EXTRACT, ITE, NOT, OR, SEXT, VAR, XOR, ZEXT, operands

from .backend import UNKNOWN, UNSAT, Answer, Model

# One manager for the whole process: a manager that only a reference cycle can reach crashes when collected.
TERMS = TermManager()
_BOOL = TERMS.mk_bool_sort()
_sorts: dict[int, Any] = {}
_ONE = TERMS.mk_bv_value(TERMS.mk_bv_sort(1), 1)
_ZERO = TERMS.mk_bv_value(TERMS.mk_bv_sort(1), 0)
_TRUE = TERMS.mk_true()
_FALSE = TERMS.mk_false()
_mk = TERMS.mk_term

_KINDS = {
    "add": Kind.BV_ADD,
    "sub": Kind.BV_SUB,
    "mul": Kind.BV_MUL,
    "shl": Kind.BV_SHL,
    "lshr": Kind.BV_SHR,
    "ashr": Kind.BV_ASHR,
    "udiv": Kind.BV_UDIV,
    "urem": Kind.BV_UREM,
    "sdiv": Kind.BV_SDIV,
    "srem": Kind.BV_SREM,
    "eq": Kind.EQUAL,
    "ult": Kind.BV_ULT,
    "slt": Kind.BV_SLT,
}
_BIT_KINDS = {
    AND: (Kind.AND, Kind.BV_AND),
    OR: (Kind.OR, Kind.BV_OR),
    XOR: (Kind.XOR, Kind.BV_XOR),
}


def sort(w: int) -> Any:
    """The sort of values of width w: Booleans for 1."""
    if w == 1:
        return _BOOL
    s = _sorts.get(w)
    if s is None:
        s = _sorts[w] = TERMS.mk_bv_sort(w)
    return s


def value_term(v: int, w: int) -> Any:
    """A constant of width w."""
    if w == 1:
        return _TRUE if v else _FALSE
    return TERMS.mk_bv_value(sort(w), v)


def _operand(x: Any, w: int) -> Any:
    return x.term if x.__class__ is Expr else value_term(x, w)


def _vector(x: Any, w: int) -> Any:
    """An operand as a bit vector."""
    t = _operand(x, w)
    return _mk(Kind.ITE, [t, _ONE, _ZERO]) if w == 1 else t


def _build(n: Expr) -> Any:
    """The term of a node whose operands have theirs."""
    op, w = n.op, n.w
    if op == VAR:
        return TERMS.mk_const(sort(w), f"{n.b}#{n.a}")
    if op in _KINDS:
        k = n.a.w if n.a.__class__ is Expr else n.b.w
        return _mk(_KINDS[op], [_operand(n.a, k), _operand(n.b, k)])
    if op in _BIT_KINDS:
        return _mk(_BIT_KINDS[op][w > 1], [n.a.term, _operand(n.b, w)])
    if op == NOT:
        return _mk(Kind.NOT, [n.a.term])
    if op == ZEXT:
        return _mk(Kind.BV_ZERO_EXTEND, [_vector(n.a, n.a.w)], [w - n.a.w])
    if op == SEXT:
        return _mk(Kind.BV_SIGN_EXTEND, [_vector(n.a, n.a.w)], [w - n.a.w])
    if op == EXTRACT:
        t = _mk(Kind.BV_EXTRACT, [n.a.term], [n.c + w - 1, n.c])
        return _mk(Kind.EQUAL, [t, _ONE]) if w == 1 else t
    if op == CONCAT:
        k = low_width(n)
        return _mk(Kind.BV_CONCAT, [_vector(n.a, w - k), _vector(n.b, k)])
    if op == ITE:
        return _mk(Kind.ITE, [n.a.term, _operand(n.b, w), _operand(n.c, w)])
    raise NotImplementedError(op)


def term(e: Expr) -> Any:
    """The Bitwuzla term of a node, kept on it."""
    t = e.term
    if t is not None:
        return t
    stack = [e]
    while stack:
        n = stack[-1]
        if n.term is None:
            waiting = [child for child in operands(n) if child.term is None]
            if waiting:
                stack.extend(waiting)
                continue
            n.term = _build(n)
        stack.pop()
    return e.term


class Limit:
    """Ends a query after a number of polls of the solver (repeatable) or, if asked for, after some seconds."""

    __slots__ = ("deadline", "left", "polls", "seconds")

    def __init__(self, polls: int, seconds: float | None) -> None:
        self.polls = polls
        self.seconds = seconds
        self.left = polls
        self.deadline = 0.0

    def start(self) -> None:
        """A new query begins."""
        self.left = self.polls
        if self.seconds is not None:
            self.deadline = monotonic() + self.seconds

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0 or (self.seconds is not None and monotonic() > self.deadline)


class BitwuzlaBackend:
    """Keeps the asserted prefix that two queries share; starts afresh now and then, which is quicker."""

    name = "bitwuzla"

    def __init__(self, polls: int = 60_000, seconds: float | None = None, rebuild: int = 100) -> None:
        self._options = Options()
        self._options.set(Option.PRODUCE_MODELS, True)
        self._limit = Limit(polls, seconds)
        self._rebuild = rebuild
        self._solver: Any = None
        self._asked = 0
        self._asserted: list[Expr] = []

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        solver = self._prepare(constraints)
        self._limit.start()
        result = solver.check_sat()
        if result == Result.UNSAT:
            return UNSAT
        if result != Result.SAT:
            self._solver = None
            return UNKNOWN
        model: Model = {}
        for v in variables:
            x = variable(v)
            text = solver.get_value(term(x)).value(10)
            model[v] = int(text)
        return model

    def _prepare(self, constraints: Sequence[Expr]) -> Any:
        """A solver in which exactly the constraints are asserted."""
        asserted = self._asserted
        if self._solver is None or self._asked >= self._rebuild:
            self._solver = bitwuzla.Bitwuzla(TERMS, self._options)
            self._solver.configure_terminator(self._limit)
            self._asked = 0
            asserted.clear()
        self._asked += 1
        solver = self._solver
        common = 0
        for old, new in zip(asserted, constraints, strict=False):
            if old is not new:
                break
            common += 1
        if len(asserted) > common:
            solver.pop(len(asserted) - common)
            del asserted[common:]
        for c in constraints[common:]:
            solver.push(1)
            solver.assert_formula(term(c))
            asserted.append(c)
        return solver
