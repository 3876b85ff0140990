"""Templates for people: `n > i and s[i] == 'a'`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anabranch.expr import Expr
from anabranch.expr.node import (
    ADD,
    AND,
    CONCAT,
    EQ,
    EXTRACT,
    MASK,
    MUL,
    NOT,
    OR,
    SEXT,
    SLT,
    SUB,
    ULT,
    VAR,
    XOR,
    ZEXT,
)

from .synthesis import Cell, Hole, Shape

SIGNS = {ADD: "+", SUB: "-", MUL: "*", XOR: "^", EQ: "==", ULT: "<", SLT: "<"}
OPPOSITE = {"==": "!=", "<": ">="}


def linear_text(a: int, b: int, index: str) -> str:
    """a*index+b."""
    if not a:
        return str(b)
    if a == -1 and b:
        return f"{b} - {index}"
    head = index if a == 1 else f"{a}*{index}"
    return head if not b else f"{head} {'+' if b > 0 else '-'} {abs(b)}"


def text(body: Any, index: str, shift: int = 0) -> str:
    """A template whose free number is named index + shift."""
    if body.__class__ is Hole:
        half = MASK[body.width] // 2 + 1
        return linear_text(body.a, (body.b + body.a * shift + half) % (2 * half) - half, index)
    if body.__class__ is Cell:
        return f"{body.array}[{linear_text(body.a, body.b + body.a * shift, index)}]"
    op, parts = _opened(body)
    if op is None:
        return str(body).lower() if body.__class__ is bool else str(body)
    if op == VAR:
        return str(body.b)
    if op in (ZEXT, SEXT, EXTRACT):
        return text(parts[0], index, shift)
    if op == NOT:
        inner, inner_parts = _opened(parts[0])
        if inner in (EQ, ULT, SLT):
            return _comparison(OPPOSITE[SIGNS[inner]], inner_parts, index, shift)
        return f"not ({text(parts[0], index, shift)})"
    if op in (EQ, ULT, SLT):
        return _comparison(SIGNS[op], parts, index, shift)
    if op in (AND, OR) and _width(body) == 1:
        return f" {op} ".join(_grouped(part, index, shift) for part in parts[:2])
    if op in SIGNS:
        return f"({text(parts[0], index, shift)} {SIGNS[op]} {text(parts[1], index, shift)})"
    sides = ", ".join(text(part, index, shift) for part in parts if part is not None)
    return f"{'join' if op == CONCAT else op}({sides})"


def conjunction_text(bodies: Iterable[Any], index: str, shift: int = 0) -> str:
    """Several templates that all hold."""
    parts = list(bodies)
    if len(parts) == 1:
        return text(parts[0], index, shift)
    grouped = [_grouped(p, index, shift) if _opened(p)[0] == OR else text(p, index, shift) for p in parts]
    return " and ".join(grouped) or "true"


def _comparison(sign: str, parts: tuple[Any, Any, Any], index: str, shift: int) -> str:
    left, right = parts[:2]
    if right.__class__ is Hole and right.a > 0 and sign in ("<", ">=") and right.b + right.a * shift > 0:
        right = right._replace(b=right.b - 1)  # x < i + 1 is x <= i: there is no round in which this wraps
        sign = "<=" if sign == "<" else ">"
    if right.__class__ is int and _width(left) == 8 and sign in ("==", "!=") and 32 < right < 127:
        return f"{text(left, index, shift)} {sign} {chr(right)!r}"
    return f"{text(left, index, shift)} {sign} {text(right, index, shift)}"


def _grouped(part: Any, index: str, shift: int) -> str:
    inner = text(part, index, shift)
    return f"({inner})" if _opened(part)[0] in (AND, OR) else inner


def _opened(body: Any) -> tuple[str | None, tuple[Any, Any, Any]]:
    if body.__class__ is Shape:
        return body.node.op, body.parts
    if body.__class__ is Expr:
        return body.op, (body.a, body.b, body.c)
    return None, (None, None, None)


def _width(body: Any) -> int:
    if body.__class__ is Cell or body.__class__ is Hole:
        return int(body.width)
    return int(body.node.w if body.__class__ is Shape else body.w)
