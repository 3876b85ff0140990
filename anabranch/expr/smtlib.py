"""Expressions as SMT-LIB 2 text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .lowering import for_solvers
from .node import VAR, Expr, Value
from .registry import OPERATORS
from .variables import postorder


class Script:
    """A script in the making."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Expr, str] = {}
        """The text that stands for a node."""

    def text(self, x: Value, w: int) -> str:
        """An operand of width w."""
        return self.names[x] if x.__class__ is Expr else constant(x, w)

    def vector(self, x: Value, w: int) -> str:
        """An operand as a bit vector, which a Boolean is not."""
        return f"(ite {self.text(x, w)} #b1 #b0)" if w == 1 else self.text(x, w)

    def operands(self, n: Expr) -> str:
        """All operands of a node."""
        return " ".join(map(self.text, (n.a, n.b, n.c), OPERATORS[n.op].widths(n)))


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


def to_smtlib(constraints: Iterable[Expr], status: str | None = None, comment: str = "") -> str:
    """A script that asks whether the constraints have a common model.

    Nodes used more than once, and every tenth level of a deep one, are defined by name, so that size and
    nesting stay small. What solvers do not know is written lowered.
    """
    roots = [for_solvers(e) for e in constraints]
    order = postorder([e for e in roots if e.__class__ is Expr])
    uses: dict[Expr, int] = {}
    for n in order:
        for child in (n.a, n.b, n.c):
            if child.__class__ is Expr:
                uses[child] = uses.get(child, 0) + 1
    script = Script()
    lines, names = script.lines, script.names
    depth: dict[Expr, int] = {}
    lines.extend(f"; {line}" for line in comment.splitlines())
    if status is not None:
        lines.append(f"(set-info :status {status})")
    lines.append("(set-logic ALL)")
    for n in order:
        if n.op == VAR:
            names[n] = symbol(n)
            depth[n] = 0
            lines.append(f"(declare-const {names[n]} {sort(n.w)})")
            continue
        names[n] = OPERATORS[n.op].smtlib(n, script)
        depth[n] = 1 + max(depth[c] for c in (n.a, n.b, n.c) if c.__class__ is Expr)
        if uses.get(n, 0) > 1 or depth[n] >= 10:
            lines.append(f"(define-fun t{n.id} () {sort(n.w)} {names[n]})")
            names[n], depth[n] = f"t{n.id}", 0
    lines.extend(f"(assert {script.text(e, 1)})" for e in roots)
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
