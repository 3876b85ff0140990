"""The free variables of an expression, found when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .node import ITE, SELECT, VAR, Expr, operands

# Sets up to this size are kept on every node met; larger ones only where asked for (a chain of n nodes that
# each add a variable would else keep n**2 / 2 entries).
KEEP = 32


def expr_vars(e: Expr) -> tuple[int, ...]:
    """Variable indices in ascending order; negative ones (undefined data) first."""
    vs = e.vs
    if vs is None:
        vs = _small(e)
        if vs is None:
            # ask the operands first: they are what a longer chain goes on from
            parts = [_large(n) for n in operands(e)]
            vs = tuple(sorted(set().union(*parts)))
        e.vs = vs
    return vs


def _union(p: tuple[int, ...], q: tuple[int, ...]) -> tuple[int, ...]:
    if p is q or not q:
        return p
    if not p:
        return q
    s = set(p)
    n = len(s)
    s.update(q)
    if len(s) == n:
        return p
    return q if len(s) == len(q) else tuple(sorted(s))


def _small(e: Expr) -> tuple[int, ...] | None:
    """The variables if they are few, kept on all nodes below; None if they are many."""
    stack = [e]
    while stack:
        n = stack[-1]
        if n.vs is not None:
            stack.pop()
            continue
        vs: tuple[int, ...] = ()
        ready = True
        for child in operands(n):
            if child.vs is None:
                stack.append(child)
                ready = False
            elif ready:
                vs = _union(vs, child.vs)
        if ready:
            if len(vs) > KEEP:
                if n is not e:
                    return None
                return vs
            n.vs = vs
            stack.pop()
    return e.vs


def _large(e: Expr) -> tuple[int, ...]:
    """The variables by one walk over the nodes whose variables are not known, kept on `e` only."""
    if e.vs is not None:
        return e.vs
    found: set[int] = set()
    seen = {e}
    stack = [e]
    while stack:
        for child in operands(stack.pop()):
            if child.vs is not None:
                found.update(child.vs)
            elif child not in seen:
                seen.add(child)
                stack.append(child)
    e.vs = tuple(sorted(found))
    return e.vs


def postorder(roots: list[Expr]) -> list[Expr]:
    """All nodes below the roots, operands before the nodes over them."""
    order = postorder_within(roots, None)
    assert order is not None
    return order


def values_within(root: Expr, limit: int) -> list[Expr] | None:
    """As `postorder_within`, but of a choice between values only those that are nodes, not what decides."""
    return postorder_within([root], limit, _values)


def _values(e: Expr) -> Iterable[Expr]:
    if e.op == ITE and e.w > 1:
        return [x for x in (e.b, e.c) if x.__class__ is Expr]
    return () if e.op == SELECT else operands(e)


def postorder_within(
    roots: list[Expr], limit: int | None, below: Callable[[Expr], Iterable[Expr]] = operands
) -> list[Expr] | None:
    """As `postorder`, or None if there are more than `limit` nodes."""
    order: list[Expr] = []
    opened: set[Expr] = set()  # whose operands are on the stack, or done
    done: set[Expr] = set()
    stack: list[Expr] = list(reversed(roots))
    pop, push = stack.pop, stack.append
    while stack:
        n = stack[-1]
        if n in opened:
            pop()
            if n not in done:
                done.add(n)
                order.append(n)
                if len(order) == limit and stack:
                    return None
            continue
        opened.add(n)
        if below is not operands:
            stack.extend([child for child in below(n) if child not in done][::-1])
        elif n.op != VAR:  # as `operands`, without a generator for every node: this is 2.6 times as fast
            a, b, c = n.a, n.b, n.c
            if c.__class__ is Expr and c not in done:
                push(c)
            if b.__class__ is Expr and b not in done:
                push(b)
            if a.__class__ is Expr and a not in done:
                push(a)
    return order
