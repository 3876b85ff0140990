"""Expressions as SMT-LIB 2 text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .evaluate import low_width
from .node import ADD, AND, CONCAT, EQ, EXTENSIONS, EXTRACT, ITE, MUL, NOT, OR, SLT, SUB, VAR, XOR, ZEXT, Expr
from .variables import postorder
from .x87_bits import without_x87

NAMES = {
    ADD: "bvadd",
    SUB: "bvsub",
    MUL: "bvmul",
    "shl": "bvshl",
    "lshr": "bvlshr",
    "ashr": "bvashr",
    "udiv": "bvudiv",
    "urem": "bvurem",
    "sdiv": "bvsdiv",
    "srem": "bvsrem",
    EQ: "=",
    "ult": "bvult",
    SLT: "bvslt",
    NOT: "not",
    ITE: "ite",
}
BIT_NAMES = {AND: ("and", "bvand"), OR: ("or", "bvor"), XOR: ("xor", "bvxor")}
# Writers of further operators: (node, operand text) -> (side definitions, text).
MORE: dict[str, Callable[[Expr, Callable[[Any, int], str]], tuple[list[str], str]]] = {}


def symbol(n: Expr) -> str:
    """The name of a variable as an SMT-LIB symbol, unique by its index."""
    plain = "".join(ch if ch not in "|\\" else "_" for ch in n.b)
    return f"|{plain}#{n.a}|"


def sort(w: int) -> str:
    """The sort of values of width w."""
    return "Bool" if w == 1 else f"(_ BitVec {w})"


def constant(v: int, w: int) -> str:
    """A constant of width w."""
    if w == 1:
        return "true" if v else "false"
    return f"(_ bv{int(v)} {w})"


def _bv(text: str, w: int) -> str:
    """An operand as a bit vector."""
    return f"(ite {text} #b1 #b0)" if w == 1 else text


def _node_text(n: Expr, text: Callable[[Any, int], str]) -> str:
    op = n.op
    if op in EXTENSIONS:
        inner = n.a.w
        kind = "zero_extend" if op == ZEXT else "sign_extend"
        return f"((_ {kind} {n.w - inner}) {_bv(text(n.a, inner), inner)})"
    if op == EXTRACT:
        body = f"((_ extract {n.c + n.w - 1} {n.c}) {text(n.a, n.a.w)})"
        return f"(= {body} #b1)" if n.w == 1 else body
    if op == CONCAT:
        lw = low_width(n)
        hw = n.w - lw
        return f"(concat {_bv(text(n.a, hw), hw)} {_bv(text(n.b, lw), lw)})"
    if op == NOT:
        return f"(not {text(n.a, 1)})"
    if op == ITE:
        return f"(ite {text(n.a, 1)} {text(n.b, n.w)} {text(n.c, n.w)})"
    if op in BIT_NAMES:
        return f"({BIT_NAMES[op][n.w > 1]} {text(n.a, n.w)} {text(n.b, n.w)})"
    w = n.a.w if n.a.__class__ is Expr else n.w
    return f"({NAMES[op]} {text(n.a, w)} {text(n.b, w)})"


def to_smtlib(constraints: Iterable[Expr], status: str | None = None, comment: str = "") -> str:
    """A script that asks whether the constraints have a common model.

    Nodes used more than once, and every tenth level of a deep one, are defined by name, so that size and
    nesting stay small. Operations over 80-bit numbers are written by their bits.
    """
    roots = [without_x87(e) for e in constraints]
    order = postorder([e for e in roots if e.__class__ is Expr])
    uses: dict[Expr, int] = {}
    for n in order:
        for child in (n.a, n.b, n.c):
            if child.__class__ is Expr:
                uses[child] = uses.get(child, 0) + 1
    names: dict[Expr, str] = {}
    depth: dict[Expr, int] = {}

    def text(x: Any, w: int) -> str:
        return names[x] if x.__class__ is Expr else constant(x, w)

    lines = [f"; {line}" for line in comment.splitlines()]
    if status is not None:
        lines.append(f"(set-info :status {status})")
    lines.append("(set-logic ALL)")
    for n in order:
        if n.op == VAR:
            names[n] = symbol(n)
            depth[n] = 0
            lines.append(f"(declare-const {names[n]} {sort(n.w)})")
            continue
        if n.op in MORE:
            side, body = MORE[n.op](n, text)
            lines.extend(side)
        else:
            body = _node_text(n, text)
        depth[n] = 1 + max((depth[c] for c in (n.a, n.b, n.c) if c.__class__ is Expr), default=0)
        if uses.get(n, 0) > 1 or depth[n] >= 10:
            names[n], depth[n] = f"t{n.id}", 0
            lines.append(f"(define-fun t{n.id} () {sort(n.w)} {body})")
        else:
            names[n] = body
    lines.extend(f"(assert {text(e, 1)})" for e in roots)
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"


def short_text(e: Expr, limit: int = 200) -> str:
    """A prefix form for people, cut at about `limit` characters."""
    out: list[str] = []
    size = 0
    stack: list[Any] = [e]
    while stack:
        x = stack.pop()
        if x.__class__ is not Expr:
            piece = str(x)
        elif x.op == VAR:
            piece = x.b
        else:
            stack.append(")")
            stack.extend(child for child in (x.c, x.b, x.a) if child is not None)
            piece = f"({x.op}"
        size += len(piece) + 1
        if size > limit:
            out.append("...")
            break
        out.append(piece)
    return " ".join(out).replace(" )", ")")
