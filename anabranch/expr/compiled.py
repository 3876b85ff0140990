"""Evaluators as generated Python, for expressions that are evaluated many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .evaluate import evaluate
from .node import MASK, VAR, Expr, Value
from .registry import OPERATORS
from .variables import postorder


def compile_evaluator(exprs: Sequence[Value]) -> Callable[[Mapping[int, int]], tuple[Any, ...]]:
    """A function from a model to the tuple of values, equal to `evaluate` of each expression."""
    roots = [e for e in exprs if e.__class__ is Expr]
    names: dict[Expr, str] = {}
    space: dict[str, Any] = {}
    lines = ["def evaluator(model):", " get = model.get"]

    def name(x: Any) -> str:
        return names[x] if x.__class__ is Expr else repr(x)

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
