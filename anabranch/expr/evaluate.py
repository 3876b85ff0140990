"""The meaning of expressions: evaluation under a model, and substitution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from .node import AND, ITE, OR, VAR, Expr, Value, operands
from .registry import OPERATORS
from .variables import expr_vars, postorder_within


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
                if c.__class__ is Expr:
                    if OPERATORS[op].binds:
                        b = _function(b, c, model)
                    else:
                        c = memo[c]
                if b.__class__ is Expr:
                    b = memo[b]
                f = OPERATORS[op].evaluate
                memo[n] = f(n, a, b, c)
        except KeyError as missing:
            if limit is not None and len(memo) > limit:
                raise TooLong from None
            stack.append(missing.args[0])
            continue
        stack.pop()
    return memo[e]


def _function(e: Expr, bound: Expr, model: Mapping[int, int]) -> Callable[[int], Any]:
    """The value of an expression as a function of a variable."""
    return lambda value: evaluate(e, {**model, bound.a: value})


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
            memo[n] = n if same else OPERATORS[n.op].rebuild(n, a, b, c)
    return [memo[e] if e.__class__ is Expr else e for e in roots]


def specialise(
    e: Expr, kept: Set[int], value: Callable[[Expr], Any], known: dict[Expr, Value] | None = None
) -> Value:
    """The expression with all variables but some replaced by their values; `value`: of a node without any
    that is kept. Of a choice whose guard is known, only the side that is taken is built. `known`: takes what
    every node that was met becomes."""
    if known is None:
        known = {}
    stack = [e]
    while stack:
        n = stack[-1]
        if n in known:
            stack.pop()
        elif kept.isdisjoint(expr_vars(n)):
            known[n] = value(n)
        elif n.op == VAR:
            known[n] = n
        elif n.op == ITE and n.a not in known:
            stack.append(n.a)
        elif n.op == ITE and known[n.a].__class__ is not Expr:
            taken = n.b if known[n.a] else n.c
            if taken.__class__ is Expr and taken not in known:
                stack.append(taken)
            else:
                known[n] = known.get(taken, taken)
        elif missing := [child for child in operands(n) if child not in known]:
            stack += missing
        else:
            a = known[n.a] if n.a.__class__ is Expr else n.a
            b = known[n.b] if n.b.__class__ is Expr else n.b
            c = known[n.c] if n.c.__class__ is Expr else n.c
            same = a is n.a and b is n.b and c is n.c
            known[n] = n if same else OPERATORS[n.op].rebuild(n, a, b, c)
    return known[e]


class Substitution:
    """A substitution for variables that is used many times: what expressions share is built once for all."""

    __slots__ = ("_known", "_of")

    def __init__(self, of: Callable[[int], Value]) -> None:
        self._of = of
        self._known: dict[Expr, Value] = {}

    def __call__(self, e: Value) -> Value:
        if e.__class__ is not Expr:
            return e
        known = self._known
        stack = [e]
        while stack:
            n = stack[-1]
            if n in known:
                stack.pop()
                continue
            if n.op == VAR:
                known[n] = self._of(n.a)
                continue
            missing = [child for child in operands(n) if child not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            a = known[n.a] if n.a.__class__ is Expr else n.a
            b = known[n.b] if n.b.__class__ is Expr else n.b
            c = known[n.c] if n.c.__class__ is Expr else n.c
            same = a is n.a and b is n.b and c is n.c
            known[n] = n if same else OPERATORS[n.op].rebuild(n, a, b, c)
        return known[e]
