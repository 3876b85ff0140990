"""Evaluators as generated Python, for expressions that are evaluated many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .evaluate import SEMANTICS, low_width
from .node import MASK, VAR, Expr, Value
from .variables import postorder

_TEMPLATES = {
    "not": "not {a}",
    "zext": "+{a}",
    "extract": "{a} >> {lo} & {m}",
    "concat": "{a} << {lw} | {b}",
    "ite": "{b} if {a} else {c}",
    "add": "({a} + {b}) & {m}",
    "sub": "({a} - {b}) & {m}",
    "mul": "{a} * {b} & {m}",
    "and": "{a} & {b}",
    "or": "{a} | {b}",
    "xor": "{a} ^ {b}",
    "shl": "({a} << {b} & {m} if {b} < {w} else 0)",
    "lshr": "({a} >> {b} if {b} < {w} else 0)",
    "eq": "{a} == {b}",
    "ult": "{a} < {b}",
    "slt": "({a} ^ {s}) < ({b} ^ {s})",
}


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
    template = _TEMPLATES.get(n.op)
    if template is None:
        space[f"n{i}"] = n
        space[f"f{i}"] = SEMANTICS[n.op]
        return f"f{i}(n{i}, {name(n.a)}, {name(n.b)}, {name(n.c)})"
    if n.op == "extract" and n.w == 1:
        template = "{a} >> {lo} & 1 == 1"
    a_w = n.a.w if n.a.__class__ is Expr else n.w
    return template.format(
        a=name(n.a),
        b=name(n.b),
        c=name(n.c),
        m=MASK[n.w],
        w=n.w,
        s=1 << (a_w - 1),
        lo=n.c,
        lw=low_width(n) if n.op == "concat" else 0,
    )
