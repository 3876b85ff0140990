"""Forward bounds: the unsigned range of an expression from the ranges of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from anabranch.expr import MASK, Expr
from anabranch.expr.fp import OPERATORS as FP_OPERATORS
from anabranch.expr.node import EQ, NOT, ULT, VAR, low_width
from anabranch.expr.variables import postorder_within, values_within

from .valuesets import ValueSet, highest, lowest

Range: TypeAlias = tuple[int, int]
NODES_LIMIT = 400  # larger conditions are left to the solver


def known_truth(cond: Expr, sets: Mapping[int, ValueSet]) -> bool | None:
    """The truth of a condition if the ranges of its variables force it."""
    n = cond.a if cond.op == NOT else cond
    if n.op == ULT and n.b.__class__ is Expr and n.a.op == VAR and n.b.op == VAR:
        truth = _less(sets[n.a.a], sets[n.b.a])
        return truth if n is cond or truth is None else not truth
    # Most often the values that may be chosen settle it, whatever the (large) conditions of the choices.
    for order in (values_within(cond, NODES_LIMIT), postorder_within([cond], NODES_LIMIT)):
        if order is not None:
            lo, hi = _range(order, sets)
            if lo == hi:
                return bool(lo)
    return None


def range_of(
    e: Expr, sets: Mapping[int, ValueSet], compared: Mapping[Expr, Range] | None = None
) -> Range | None:
    """A range that holds every value of an expression; None if it is too large to look at. `compared`: ranges
    of nodes, see `compared_nodes`."""
    order = postorder_within([e], NODES_LIMIT) or values_within(e, NODES_LIMIT)
    return None if order is None else _range(order, sets, compared)


def compared_nodes(constraints: Iterable[Expr]) -> dict[Expr, Range]:
    """The ranges of nodes that constraints compare with a number. `x + y < 6` says nothing of x or y alone,
    but it bounds an index that is made of the sum."""
    found: dict[Expr, Range] = {}
    for constraint in constraints:
        holds = constraint.op != NOT
        n = constraint if holds else constraint.a
        if n.op == ULT and n.b.__class__ is int:
            node, range = n.a, (0, n.b - 1) if holds else (n.b, MASK[n.a.w])
        elif n.op == ULT and n.a.__class__ is int:
            node, range = n.b, (n.a + 1, MASK[n.b.w]) if holds else (0, n.a)
        elif n.op == EQ and holds and n.b.__class__ is int:
            node, range = n.a, (n.b, n.b)
        else:
            continue
        found[node] = _both(range, found.get(node))
    return found


def _both(a: Range, b: Range | None) -> Range:
    """What is in two ranges that have something in common."""
    return a if b is None else (max(a[0], b[0]), min(a[1], b[1]))


def _range(
    order: list[Expr], sets: Mapping[int, ValueSet], compared: Mapping[Expr, Range] | None = None
) -> Range:
    """The range of the last of these nodes, which come after their operands; one that is left out can have
    any value."""
    memo: dict[Expr, Range] = {}
    for n in order:
        if n.op == VAR:
            s = sets.get(n.a)
            memo[n] = (0, MASK[n.w]) if s is None else (lowest(s), highest(s))
            continue
        rule = RULES.get(n.op)
        r = None
        if rule is not None:
            a, b, c = (
                (memo.get(x) or (0, MASK[x.w])) if x.__class__ is Expr else (x, x) for x in (n.a, n.b, n.c)
            )
            r = rule(n, a, b, c)
        memo[n] = (0, MASK[n.w]) if r is None else r
        if compared and n in compared:
            memo[n] = _both(memo[n], compared[n])
    return memo[order[-1]]


def _less(p: ValueSet, q: ValueSet) -> bool | None:
    if highest(p) < lowest(q):
        return True
    return False if lowest(p) >= highest(q) else None


def _add(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    m = MASK[n.w]
    lo, hi = a[0] + b[0], a[1] + b[1]
    if hi <= m:
        return lo, hi
    return (lo & m, hi & m) if lo > m else None


def _sub(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    m = MASK[n.w]
    lo, hi = a[0] - b[1], a[1] - b[0]
    if lo >= 0:
        return lo, hi
    return (lo & m, hi & m) if hi < 0 else None


def _mul(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    hi = a[1] * b[1]
    return (a[0] * b[0], hi) if hi <= MASK[n.w] else None


def _shl(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    if b[1] >= n.w or a[1] << b[1] > MASK[n.w]:
        return None
    return a[0] << b[0], a[1] << b[1]


def _and(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    if n.w == 1:
        return a[0] & b[0], a[1] & b[1]
    return 0, min(a[1], b[1])


def _xor(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    if n.w > 1 and b[0] == b[1] == 1 << (n.w - 1) and (a[0] ^ a[1]) >> (n.w - 1) == 0:
        return a[0] ^ b[0], a[1] ^ b[0]
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] ^ b[0], a[0] ^ b[0]
    return 0, MASK[max(a[1].bit_length(), b[1].bit_length())]


def _urem(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    if b[0] == 0:
        return 0, a[1]
    return a if a[1] < b[0] else (0, min(a[1], b[1] - 1))


def _sext(n: Expr, a: Range, b: Any, c: Any) -> Range | None:
    s = 1 << (n.a.w - 1)
    if a[1] < s:
        return a
    high = MASK[n.w] ^ MASK[n.a.w]
    return (a[0] | high, a[1] | high) if a[0] >= s else None


def _extract(n: Expr, a: Range, b: Any, c: Any) -> Range | None:
    lo, hi = a[0] >> n.c, a[1] >> n.c
    if lo >> n.w == hi >> n.w:
        return lo & MASK[n.w], hi & MASK[n.w]
    return None


def _ite(n: Expr, a: Range, b: Range, c: Range) -> Range | None:
    if a[0] == a[1]:
        return b if a[0] else c
    return min(b[0], c[0]), max(b[1], c[1])


def _select(n: Expr, a: Range, b: Any, c: Any) -> Range | None:
    t = n.c
    if a[0] == 0 and a[1] >= t.cuts[-1]:
        return t.low, t.high
    met = t.between(*a)
    return min(met), max(met)


def _eq(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    if a[1] < b[0] or b[1] < a[0]:
        return 0, 0
    return (1, 1) if a[0] == a[1] == b[0] == b[1] else None


def _ult(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    if a[1] < b[0]:
        return 1, 1
    return (0, 0) if a[0] >= b[1] else None


def _slt(n: Expr, a: Range, b: Range, c: Any) -> Range | None:
    s = 1 << (n.a.w - 1)
    p = (0, MASK[n.a.w]) if a[0] < s <= a[1] else (a[0] ^ s, a[1] ^ s)
    q = (0, MASK[n.a.w]) if b[0] < s <= b[1] else (b[0] ^ s, b[1] ^ s)
    return _ult(n, p, q, c)


# Ranges by operator; None: they say nothing.
RULES: dict[str, Callable[[Expr, Any, Any, Any], Range | None] | None] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "shl": _shl,
    "lshr": lambda n, a, b, c: (a[0] >> min(b[1], n.w), a[1] >> min(b[0], n.w)),
    "and": _and,
    "or": lambda n, a, b, c: (max(a[0], b[0]), MASK[max(a[1].bit_length(), b[1].bit_length())]),
    "xor": _xor,
    "udiv": lambda n, a, b, c: (a[0] // b[1], a[1] // b[0]) if b[0] else None,
    "urem": _urem,
    "zext": lambda n, a, b, c: a,
    "sext": _sext,
    "extract": _extract,
    "concat": lambda n, a, b, c: (a[0] << low_width(n) | b[0], a[1] << low_width(n) | b[1]),
    "ite": _ite,
    "select": _select,
    "not": lambda n, a, b, c: (1 - a[1], 1 - a[0]),
    "eq": _eq,
    "ult": _ult,
    "slt": _slt,
    **dict.fromkeys(("ashr", "sdiv", "srem", *FP_OPERATORS)),
}
