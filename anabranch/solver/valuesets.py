"""Exact sets of values of one variable.

A variable of up to 8 bits has a bit mask over its values (an int); a wider one a tuple of disjoint ascending
ranges. `truth_set` gives the values that make a condition over one variable true, or None when the condition
has no shape that ranges can follow (masks always work: all values are tried).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from anabranch.expr import MASK, Expr, evaluate, expr_vars, operands, variable
from anabranch.expr.compiled import evaluate_columns
from anabranch.expr.node import AND, EQ, EXTRACT, NOT, OR, SELECT, SLT, ULT, VAR
from anabranch.expr.registry import OPERATORS
from anabranch.expr.variables import postorder_within

Ranges: TypeAlias = tuple[tuple[int, int], ...]
ValueSet: TypeAlias = int | Ranges
BYTE = 8
UNTRIED = "no ranges"  # in Expr.truth: looked at before, without result


def full_set(w: int) -> ValueSet:
    """All values of that width."""
    return (1 << (1 << w)) - 1 if w <= BYTE else ((0, MASK[w]),)


def listed(values: Iterable[int], w: int) -> ValueSet:
    """The set of some values of that width."""
    if w <= BYTE:
        mask = 0
        for value in values:
            mask |= 1 << value
        return mask
    return _normal([(value, value) for value in values])


def contains(s: ValueSet, v: int) -> bool:
    """Membership."""
    if isinstance(s, int):
        return s >> v & 1 == 1
    return any(lo <= v <= hi for lo, hi in s)


def lowest(s: ValueSet) -> int:
    """The least member."""
    return (s & -s).bit_length() - 1 if isinstance(s, int) else s[0][0]


def highest(s: ValueSet) -> int:
    """The greatest member."""
    return s.bit_length() - 1 if isinstance(s, int) else s[-1][1]


def nearest(s: ValueSet, v: int) -> int:
    """A member that is as near to a value as any."""
    if contains(s, v):
        return v
    if isinstance(s, int):
        below, above = s & ((1 << v) - 1), s >> v
        ends = [below.bit_length() - 1] if below else []
        ends += [v + lowest(above)] if above else []
    else:
        ends = [end for ends in s for end in ends]
    return min(ends, key=lambda end: abs(end - v))


def intersect(p: ValueSet, q: ValueSet) -> ValueSet:
    """Values in both, which are sets of one variable."""
    if isinstance(p, int):
        assert isinstance(q, int)
        return p & q
    assert not isinstance(q, int)
    return overlap(p, q)


def union(p: ValueSet, q: ValueSet) -> ValueSet:
    """Values in either, which are sets of one variable."""
    if isinstance(p, int):
        assert isinstance(q, int)
        return p | q
    assert not isinstance(q, int)
    return _normal([*p, *q])


def without(p: ValueSet, q: ValueSet) -> ValueSet:
    """Values of p that are not in q."""
    if isinstance(p, int):
        assert isinstance(q, int)
        return p & ~q
    assert not isinstance(q, int)
    return overlap(p, outside(q, max(highest(p), highest(q) if q else 0)))


def overlap(p: Ranges, q: Ranges) -> Ranges:
    """Values in both."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(p) and j < len(q):
        lo, hi = max(p[i][0], q[j][0]), min(p[i][1], q[j][1])
        if lo <= hi:
            out.append((lo, hi))
        if p[i][1] < q[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def outside(s: Ranges, top: int) -> Ranges:
    """Values from 0 to top that are not in s."""
    out: list[tuple[int, int]] = []
    start = 0
    for lo, hi in s:
        if start < lo:
            out.append((start, lo - 1))
        start = hi + 1
    if start <= top:
        out.append((start, top))
    return tuple(out)


def _normal(parts: list[tuple[int, int]]) -> Ranges:
    """Disjoint ascending ranges of any ranges."""
    out: list[tuple[int, int]] = []
    for lo, hi in sorted(parts):
        if out and lo <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], hi))
        else:
            out.append((lo, hi))
    return tuple(out)


def truth_set(cond: Expr) -> ValueSet | None:
    """The values of its one variable for which the condition holds; None if it has no ranges."""
    t = cond.truth
    if t is None:
        w = variable(expr_vars(cond)[0]).w
        t = truth_mask(cond, w) if w <= BYTE else _condition_ranges(cond)
        cond.truth = UNTRIED if t is None else t
    return None if t is UNTRIED else t


# -- masks ------------------------------------------------------------------------------------------------

_tables: dict[Expr, list[Any]] = {}  # value of a node for each value of its one variable
_TABLES_KEPT = 2000


def truth_mask(cond: Expr, w: int, depth: int = 0) -> int:
    """The truth set of a condition over one variable of up to 8 bits."""
    t = cond.truth
    if t.__class__ is int:
        return int(t)
    op, a, b = cond.op, cond.a, cond.b
    if op == VAR:
        return 2
    full = (1 << (1 << w)) - 1
    if op == NOT and depth < 50:
        mask = full ^ truth_mask(a, w, depth + 1)
    elif op == AND and depth < 50:
        mask = truth_mask(a, w, depth + 1) & truth_mask(b, w, depth + 1)
    elif op == OR and depth < 50:
        mask = truth_mask(a, w, depth + 1) | truth_mask(b, w, depth + 1)
    elif op == EQ and a.op == VAR and b.__class__ is int:
        mask = 1 << b
    elif op == ULT and a.op == VAR and b.__class__ is int:
        mask = (1 << b) - 1
    else:
        mask = int("".join(["1" if v else "0" for v in reversed(value_table(cond, w))]), 2)
    cond.truth = mask
    return mask


def value_table(e: Expr, w: int) -> list[Any]:
    """What an expression over one variable of w bits is for each of its values; not to be changed."""
    """The value of a node for each value of its one variable."""
    found = _tables.get(e)
    if found is not None:
        return found
    if len(_tables) > _TABLES_KEPT:
        _tables.clear()
    size = 1 << w
    for n in postorder_within([e], None, _below) or ():
        if n in _tables:
            continue
        if n.op == VAR:
            _tables[n] = [v == 1 for v in range(2)] if w == 1 else list(range(size))
            continue
        if OPERATORS[n.op].binds:
            _tables[n] = [evaluate(n, {expr_vars(e)[0]: v}) for v in range(size)]
            continue
        columns = [_tables[x] if x.__class__ is Expr else [x] * size for x in (n.a, n.b, n.c)]
        _tables[n] = evaluate_columns(n, columns)
    return _tables[e]


def _below(n: Expr) -> Iterable[Expr]:
    """The operands that are about the one variable, not about one that a node binds."""
    return () if n.op != VAR and OPERATORS[n.op].binds else operands(n)


# -- ranges -----------------------------------------------------------------------------------------------

RANGES_LIMIT = 64  # more ranges than this are not worth following


def _ranges(cond: Expr) -> Ranges | None:
    """The truth set of a condition over one wide variable, remembered."""
    found = truth_set(cond)
    assert not isinstance(found, int)
    return found


def _condition_ranges(cond: Expr) -> Ranges | None:
    """The truth set of a condition over one wide variable, followed through connectives."""
    op = cond.op
    if op == NOT:
        r = _ranges(cond.a)
        return None if r is None else outside(r, MASK[variable(expr_vars(cond)[0]).w])
    if op in (AND, OR):
        p, q = _ranges(cond.a), _ranges(cond.b)
        if p is None or q is None:
            return None
        both = overlap(p, q) if op == AND else _normal([*p, *q])
        return both if len(both) <= RANGES_LIMIT else None
    if op in (EQ, ULT, SLT) and cond.b.__class__ is int:
        c, n = cond.b, cond.a.w
        if op == EQ:
            return _pull(cond.a, ((c, c),))
        if op == ULT:
            return _pull(cond.a, ((0, c - 1),))
        s = 1 << (n - 1)
        return _pull(cond.a, ((0, c - 1), (s, MASK[n])) if c < s else ((s, c - 1),))
    if op in (EXTRACT, SELECT):
        return _pull(cond, ((1, 1),))
    return None


def _pull(e: Expr, ranges: Ranges) -> Ranges | None:
    """The values of the variable for which e lies in the ranges."""
    while e.op != VAR:
        if len(ranges) > RANGES_LIMIT:
            return None
        pull = _PULL.get(e.op)
        below = None if pull is None else pull(e, ranges)
        if below is None:
            return None
        e, ranges = below
        if not ranges:
            return ()
    return ranges


def _rotate(ranges: Ranges, by: int, w: int) -> Ranges:
    """The ranges moved by a constant, modulo 2**w."""
    m = MASK[w]
    out: list[tuple[int, int]] = []
    for lo, hi in ranges:
        p, q = (lo + by) & m, (hi + by) & m
        if p <= q:
            out.append((p, q))
        else:
            out += [(p, m), (0, q)]
    return _normal(out)


def _reflect(ranges: Ranges, c: int, w: int) -> Ranges:
    """The x for which c - x lies in the ranges."""
    return _rotate(tuple((-hi, -lo) for lo, hi in ranges), c, w)


Pulled: TypeAlias = tuple[Expr, Ranges] | None


def _pull_add(e: Expr, r: Ranges) -> Pulled:
    return (e.a, _rotate(r, -e.b, e.w)) if e.b.__class__ is int else None


def _pull_sub(e: Expr, r: Ranges) -> Pulled:
    return (e.b, _reflect(r, e.a, e.w)) if e.a.__class__ is int else None


def _pull_xor(e: Expr, r: Ranges) -> Pulled:
    if e.b.__class__ is not int:
        return None
    if e.b == MASK[e.w]:
        return e.a, _reflect(r, MASK[e.w], e.w)
    if e.b == 1 << (e.w - 1):
        return e.a, _rotate(r, e.b, e.w)
    return None


def _pull_zext(e: Expr, r: Ranges) -> Pulled:
    if e.a.w == 1:
        return None
    return e.a, overlap(r, ((0, MASK[e.a.w]),))


def _pull_sext(e: Expr, r: Ranges) -> Pulled:
    n = e.a.w
    if n == 1:
        return None
    s = 1 << (n - 1)
    low = overlap(r, ((0, s - 1),))
    high = overlap(r, ((MASK[e.w] - s + 1, MASK[e.w]),))
    return e.a, _normal([*low, *((lo & MASK[n], hi & MASK[n]) for lo, hi in high)])


def _pull_extract(e: Expr, r: Ranges) -> Pulled:
    k = e.c
    if k + e.w != e.a.w:
        return None
    return e.a, tuple((lo << k, (hi << k) + MASK[k]) for lo, hi in r)


def _pull_udiv(e: Expr, r: Ranges) -> Pulled:
    c = e.b
    if c.__class__ is not int or c == 0 or e.a.__class__ is not Expr:
        return None
    scaled = tuple((lo * c, hi * c + c - 1) for lo, hi in r)
    return e.a, overlap(scaled, ((0, MASK[e.w]),))


def _pull_select(e: Expr, r: Ranges) -> Pulled:
    t = e.c
    starts = (0, *t.cuts, MASK[e.a.w] + 1)
    runs = [i for i, value in enumerate(t.values) if contains(r, value)]
    return e.a, _normal([(starts[i], starts[i + 1] - 1) for i in runs])


_PULL: dict[str, Callable[[Expr, Ranges], Pulled]] = {
    "add": _pull_add,
    "sub": _pull_sub,
    "xor": _pull_xor,
    "zext": _pull_zext,
    "sext": _pull_sext,
    "extract": _pull_extract,
    "udiv": _pull_udiv,
    "select": _pull_select,
}
