"""The meaning of expressions: evaluation under a model, and substitution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .arith import add, ashr, lshr, mul, shl, sub
from .bits import and_, or_, xor
from .boolean import ite, not_
from .casts import concat, extract, sext, zext
from .compare import eq, slt, ult
from .division import fold_sdiv, fold_srem, fold_udiv, fold_urem, sdiv, srem, udiv, urem
from .node import (
    ADD,
    AND,
    ASHR,
    CONCAT,
    EQ,
    EXTRACT,
    ITE,
    LSHR,
    MASK,
    MUL,
    NOT,
    OR,
    SDIV,
    SEXT,
    SHL,
    SLT,
    SREM,
    SUB,
    UDIV,
    ULT,
    UREM,
    VAR,
    XOR,
    ZEXT,
    Expr,
    Value,
    operands,
)
from .variables import postorder_within

# Concrete semantics by operator: (node, values of a, b, c) -> int or bool.
SEMANTICS: dict[str, Callable[[Expr, Any, Any, Any], Any]] = {
    NOT: lambda n, a, b, c: not a,
    ZEXT: lambda n, a, b, c: int(a),
    SEXT: lambda n, a, b, c: sext(a, n.a.w, n.w),
    EXTRACT: lambda n, a, b, c: extract(a, n.c, n.w),
    CONCAT: lambda n, a, b, c: a << low_width(n) | b,
    ITE: lambda n, a, b, c: b if a else c,
    ADD: lambda n, a, b, c: (a + b) & MASK[n.w],
    SUB: lambda n, a, b, c: (a - b) & MASK[n.w],
    MUL: lambda n, a, b, c: a * b & MASK[n.w],
    AND: lambda n, a, b, c: a & b,
    OR: lambda n, a, b, c: a | b,
    XOR: lambda n, a, b, c: a ^ b,
    SHL: lambda n, a, b, c: a << b & MASK[n.w] if b < n.w else 0,
    LSHR: lambda n, a, b, c: a >> b if b < n.w else 0,
    ASHR: lambda n, a, b, c: ashr(a, b, n.w),
    UDIV: lambda n, a, b, c: fold_udiv(a, b, n.w),
    UREM: lambda n, a, b, c: fold_urem(a, b, n.w),
    SDIV: lambda n, a, b, c: fold_sdiv(a, b, n.w),
    SREM: lambda n, a, b, c: fold_srem(a, b, n.w),
    EQ: lambda n, a, b, c: a == b,
    ULT: lambda n, a, b, c: a < b,
    SLT: lambda n, a, b, c: slt(a, b, n.a.w),
}

# How a node is built again over other operands: (node, a, b, c) -> value.
REBUILD: dict[str, Callable[[Expr, Any, Any, Any], Any]] = {
    NOT: lambda n, a, b, c: not_(a),
    ZEXT: lambda n, a, b, c: zext(a, n.a.w, n.w),
    SEXT: lambda n, a, b, c: sext(a, n.a.w, n.w),
    EXTRACT: lambda n, a, b, c: extract(a, n.c, n.w),
    CONCAT: lambda n, a, b, c: concat(a, n.w - low_width(n), b, low_width(n)),
    ITE: lambda n, a, b, c: ite(a, b, c, n.w),
    ADD: lambda n, a, b, c: add(a, b, n.w),
    SUB: lambda n, a, b, c: sub(a, b, n.w),
    MUL: lambda n, a, b, c: mul(a, b, n.w),
    AND: lambda n, a, b, c: and_(a, b, n.w),
    OR: lambda n, a, b, c: or_(a, b, n.w),
    XOR: lambda n, a, b, c: xor(a, b, n.w),
    SHL: lambda n, a, b, c: shl(a, b, n.w),
    LSHR: lambda n, a, b, c: lshr(a, b, n.w),
    ASHR: lambda n, a, b, c: ashr(a, b, n.w),
    UDIV: lambda n, a, b, c: udiv(a, b, n.w),
    UREM: lambda n, a, b, c: urem(a, b, n.w),
    SDIV: lambda n, a, b, c: sdiv(a, b, n.w),
    SREM: lambda n, a, b, c: srem(a, b, n.w),
    EQ: lambda n, a, b, c: eq(a, b, n.a.w),
    ULT: lambda n, a, b, c: ult(a, b, n.a.w),
    SLT: lambda n, a, b, c: slt(a, b, n.a.w),
}


def low_width(n: Expr) -> int:
    """Width of the low part of a concatenation."""
    w: int = n.w - n.a.w if n.a.__class__ is Expr else n.b.w
    return w


def evaluate(e: Value, model: Mapping[int, int]) -> Any:
    """The value under a model (variable index -> value, 0 if missing): an int, or a bool for width 1."""
    return evaluate_with(e, model, {}) if e.__class__ is Expr else e


class TooLong(Exception):
    """An evaluation has come to its limit."""


def evaluate_with(e: Expr, model: Mapping[int, int], memo: dict[Expr, Any], limit: int | None = None) -> Any:
    """The value, given and adding to the values of nodes known under the model.

    Of a choice only the side that is taken, of a connective only as much as decides it.
    """
    stack = [e]
    while stack:
        n = stack[-1]
        if n in memo:
            stack.pop()
            continue
        op = n.op
        if op == VAR:
            v = model.get(n.a, 0)
            memo[n] = bool(v) if n.w == 1 else v
            stack.pop()
            continue
        a, b, c = n.a, n.b, n.c
        try:
            if a.__class__ is Expr:
                a = memo[a]
            if op == ITE:
                taken = b if a else c
                memo[n] = memo[taken] if taken.__class__ is Expr else taken
            elif n.w == 1 and ((op == AND and a is False) or (op == OR and a is True)):
                memo[n] = a
            else:
                if b.__class__ is Expr:
                    b = memo[b]
                if c.__class__ is Expr:
                    c = memo[c]
                memo[n] = SEMANTICS[op](n, a, b, c)
        except KeyError as missing:
            if limit is not None and len(memo) > limit:
                raise TooLong from None
            stack.append(missing.args[0])
            continue
        stack.pop()
    return memo[e]


def substitute(e: Value, mapping: Mapping[Expr, Value]) -> Value:
    """The expression with nodes replaced by values of the same width, simplified again."""
    return substitute_all([e], mapping)[0]


def substitute_all(roots: Sequence[Value], mapping: Mapping[Expr, Value]) -> list[Value]:
    """Several expressions; what they share is built once, and what is below a replaced node is left alone."""
    memo: dict[Expr, Value] = dict(mapping)
    variables = {v.a for v in mapping} if all(v.op == VAR for v in mapping) else None

    def below(n: Expr) -> Iterable[Expr]:
        if n in mapping or (variables is not None and n.vs is not None and variables.isdisjoint(n.vs)):
            return ()
        return operands(n)

    for n in postorder_within([e for e in roots if e.__class__ is Expr], None, below) or ():
        if n not in memo:
            a = memo.get(n.a, n.a) if n.a.__class__ is Expr else n.a
            b = memo.get(n.b, n.b) if n.b.__class__ is Expr else n.b
            c = memo.get(n.c, n.c) if n.c.__class__ is Expr else n.c
            same = a is n.a and b is n.b and c is n.c
            memo[n] = n if same else REBUILD[n.op](n, a, b, c)
    return [memo[e] if e.__class__ is Expr else e for e in roots]
