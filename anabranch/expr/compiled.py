"""Evaluators as generated Python, for expressions that are evaluated many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .evaluate import evaluate
from .node import MASK, VAR, Expr, Value
from .registry import OPERATORS
from .select import Table
from .variables import postorder


def compile_evaluator(exprs: Sequence[Value]) -> Callable[[Mapping[int, int]], tuple[Any, ...]]:
    """A function from a model to the tuple of values, equal to `evaluate` of each expression."""
    roots = [e for e in exprs if e.__class__ is Expr]
    names: dict[Expr, str] = {}
    space: dict[str, Any] = {}
    lines = ["def evaluator(model):", " get = model.get"]

    def name(x: Any) -> str:
        if x.__class__ is Expr:
            return names[x]
        if x.__class__ is not Table:
            return repr(x)
        space[f"table{x.id}"] = x
        return f"table{x.id}"

    for i, n in enumerate(postorder(roots)):
        if n.op == VAR:
            text = f"bool(get({n.a}, 0))" if n.w == 1 else f"get({n.a}, 0)"
        else:
            text = _line(n, i, name, space)
        names[n] = f"t{i}"
        lines.append(f" t{i} = {text}")
    lines.append(f" return ({''.join(name(e) + ', ' for e in exprs)})")
    exec("\n".join(lines), space)
    function: Callable[[Mapping[int, int]], tuple[Any, ...]] = space["evaluator"]
    return function


def _line(n: Expr, i: int, name: Callable[[Any], str], space: dict[str, Any]) -> str:
    """The expression of one node in Python."""
    operator = OPERATORS[n.op]
    if operator.python is None:
        space[f"n{i}"] = n
        if operator.binds:
            space[f"f{i}"] = evaluate
            return f"f{i}(n{i}, model)"
        space[f"f{i}"] = operator.evaluate
        return f"f{i}(n{i}, {name(n.a)}, {name(n.b)}, {name(n.c)})"
    widths = operator.widths(n)
    return operator.python.format(
        a=name(n.a),
        b=name(n.b),
        c=name(n.c),
        m=MASK[n.w],
        w=n.w,
        s=1 << (widths[0] - 1),
        last=widths[-1],
        truth=" == 1" if n.w == 1 else "",
    )


def evaluate_columns(n: Expr, columns: Sequence[list[Any]]) -> list[Any]:
    """The values of one node for lists of values of `a`, `b` and `c`."""
    operator = OPERATORS[n.op]
    if operator.python is None:
        f = operator.evaluate
        return [f(n, a, b, c) for a, b, c in zip(*columns, strict=True)]
    widths = operator.widths(n)
    run = _comprehension(operator.python, len(widths), n.w == 1)
    return run(*columns, n.c, MASK[n.w], n.w, 1 << (widths[0] - 1), widths[-1])


@cache
def _comprehension(python: str, arity: int, boolean: bool) -> Callable[..., list[Any]]:
    text = python.format(
        a="a", b="b", c="c", m="m", w="w", s="s", last="last", truth=" == 1" if boolean else ""
    )
    each, lists = ", ".join("abc"[:arity]), ", ".join("ABC"[:arity])
    source = f"zip({lists}, strict=True)" if arity > 1 else lists
    function: Callable[..., list[Any]] = eval(
        f"lambda A, B, C, c, m, w, s, last: [{text} for {each} in {source}]"
    )
    return function
