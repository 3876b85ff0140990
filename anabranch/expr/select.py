"""A table of constants at an index: one node, however long the table is.

The table is a function that is constant in runs: `cuts` are the numbers at which the next run begins. What a
comparison asks of a value becomes a condition on the index, so that large tables vanish where a program tests
what it read. Solvers get a tree over the bits of the index, made when they first need it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, TypeAlias

from .boolean import bool_and, bool_or, ite, not_
from .casts import EXTRACT_RULES, sext, zext
from .compare import CHOICES, EQ_RULES, eq, uge, ult
from .node import (
    ADD,
    CONCAT,
    EXTENSIONS,
    EXTRACT,
    ITE,
    MASK,
    NODES,
    SELECT,
    SEXT,
    TABLES,
    ZEXT,
    Expr,
    Value,
    make,
    new_id,
)

RANGES: Final = 3  # a condition that holds in so many ranges of the index is comparisons of it


class Table:
    """A function from numbers to constants of one width. Equal functions are one object, as nodes are."""

    __slots__ = ("__weakref__", "cuts", "high", "id", "low", "values", "w")

    def __init__(self, w: int, cuts: tuple[int, ...], values: tuple[int, ...]) -> None:
        self.w = w
        self.cuts = cuts
        """Where the second run begins, and so on; all above 0."""
        self.values = values
        """Of each run; neighbours differ."""
        self.low = min(values)
        self.high = max(values)
        self.id = new_id((w, cuts, values))

    def __repr__(self) -> str:
        return f"[{len(self.values)} values]"

    def at(self, index: int) -> int:
        """The value at a number."""
        return self.values[bisect_right(self.cuts, index)]

    def between(self, first: int, last: int) -> tuple[int, ...]:
        """The values of the runs that a range of numbers meets."""
        return self.values[bisect_right(self.cuts, first) : bisect_right(self.cuts, last) + 1]

    def of(self, w: int, f: Callable[[int], int]) -> Table:
        """The table of a function of the values."""
        return table(w, self.cuts, map(f, self.values))


def table(w: int, cuts: Iterable[int], values: Iterable[int]) -> Table:
    """The table whose runs begin at 0 and at the cuts, which ascend; runs may be empty or equal."""
    rest = iter(values)
    kept, starts = [next(rest)], [0]
    for cut, value in zip(cuts, rest, strict=True):
        if cut <= starts[-1]:
            kept[-1] = value
            if len(kept) > 1 and kept[-2] == value:
                del kept[-1], starts[-1]
        elif value != kept[-1]:
            kept.append(value)
            starts.append(cut)
    del starts[0]
    key = (w, tuple(starts), tuple(kept))
    known: Table | None = TABLES.get(key)
    if known is None:
        known = TABLES[key] = Table(*key)
    return known


# -- the constructor --------------------------------------------------------------------------------------

Moved: TypeAlias = "tuple[Expr, Table] | None"


def select(index: Value, t: Table) -> Value:
    """The value of a table at an index of any width."""
    while index.__class__ is Expr:
        rule = INDEX_RULES.get(index.op)
        moved = None if rule is None else rule(index, t)
        if moved is None:
            break
        index, t = moved
    if index.__class__ is not Expr:
        return t.at(index)
    if t.cuts and t.cuts[-1] > MASK[index.w]:
        t = _below(t, index.w)
    if not t.cuts:
        return t.values[0]
    if index.w == 1:
        return ite(index, t.at(1), t.at(0), t.w)
    if index.op in EXTENSIONS and index.a.w == 1:
        return ite(index.a, t.at(1 if index.op == ZEXT else MASK[index.w]), t.at(0), t.w)
    if index.op == ITE and index.b.__class__ is int and index.c.__class__ is int:
        return ite(index.a, t.at(index.b), t.at(index.c), t.w)
    if t.w == 1:
        return _condition(index, t)
    values = set(t.values)
    if len(values) == 2:
        one = t.values[1]
        return ite(select(index, t.of(1, one.__eq__)), one, t.values[0], t.w)
    if len(values) == 3 and len(t.values) == 3:
        later = ite(ult(index, t.cuts[1], index.w), t.values[1], t.values[2], t.w)
        return ite(ult(index, t.cuts[0], index.w), t.values[0], later, t.w)
    return _narrow(index, t)


def _node(index: Expr, t: Table) -> Expr:
    key = (SELECT, index.id, t.id, "table")
    n = NODES.get(key)
    return make(key, SELECT, t.w, index, None, t) if n is None else n


def _narrow(index: Expr, t: Table) -> Value:
    """The node; below an extension if the values need fewer bytes."""
    w = t.w
    n = -(-t.high.bit_length() // 8) * 8
    if n < w:
        return zext(_node(index, t.of(n, int)), n, w)
    s = 1 << (w - 1)
    size = max((v ^ MASK[w] if v & s else v).bit_length() for v in t.values) + 1
    n = -(-size // 8) * 8
    if n < w:
        return sext(_node(index, t.of(n, MASK[n].__and__)), n, w)
    return _node(index, t)


def _condition(index: Expr, t: Table) -> Value:
    """A table of Booleans: comparisons of the index, or a node whose first value is false."""
    holds = [i for i, value in enumerate(t.values) if value]
    if t.values[0]:
        if len(t.values) - len(holds) <= RANGES or len(holds) > RANGES:
            return not_(_condition(index, t.of(1, lambda value: not value)))
    elif len(holds) > RANGES:
        return _node(index, t)
    starts = (0, *t.cuts, MASK[index.w] + 1)
    found: Value = False
    for i in holds:
        found = bool_or(found, within(index, starts[i], starts[i + 1] - 1))
    return found


def within(x: Expr, first: int, last: int) -> Value:
    """first <= x <= last."""
    w = x.w
    if first == last:
        return eq(x, first, w)
    return bool_and(uge(x, first, w) if first else True, ult(x, last + 1, w) if last < MASK[w] else True)


# -- indices that are functions of smaller ones -----------------------------------------------------------


def _below(t: Table, w: int) -> Table:
    """The table up to the largest number of a width."""
    count = bisect_right(t.cuts, MASK[w])
    return table(t.w, t.cuts[:count], t.values[: count + 1])


def _of_zext(index: Expr, t: Table) -> Moved:
    return (index.a, _below(t, index.a.w)) if index.a.w > 1 else None


def _of_sext(index: Expr, t: Table) -> Moved:
    """Numbers with the sign bit are the last ones of the wide index."""
    n = index.a.w
    return (index.a, _joined(t, 0, MASK[index.w] + 1 - (1 << n), 1 << (n - 1), n)) if n > 1 else None


def _of_add(index: Expr, t: Table) -> Moved:
    """`x + c` wraps around."""
    w, c = index.w, index.b
    return (index.a, _joined(t, c, c - MASK[w] - 1, MASK[w] + 1 - c, w)) if c.__class__ is int else None


def _joined(t: Table, p: int, q: int, middle: int, w: int) -> Table:
    """The function of x that is t(x + p) before the middle and t(x + q) from there on, for x of a width."""
    cuts: list[int] = []
    values: list[int] = []
    for shift, first, last in ((p, 0, middle - 1), (q, middle, MASK[w])):
        lo, hi = bisect_right(t.cuts, first + shift), bisect_right(t.cuts, last + shift)
        values += t.values[lo : hi + 1]
        cuts += ([first] if first else []) + [cut - shift for cut in t.cuts[lo:hi]]
    return table(t.w, cuts, values)


def _of_concat(index: Expr, t: Table) -> Moved:
    """`x * 2**k + c`."""
    c = index.b
    if c.__class__ is Expr or index.a.__class__ is not Expr or index.a.w == 1:
        return None
    k = index.w - index.a.w
    return index.a, table(t.w, [-((c - cut) >> k) for cut in t.cuts], t.values)


def _of_select(index: Expr, t: Table) -> Moved:
    return index.a, index.c.of(t.w, t.at)


INDEX_RULES: dict[str, Callable[[Expr, Table], Moved]] = {
    ZEXT: _of_zext,
    SEXT: _of_sext,
    ADD: _of_add,
    CONCAT: _of_concat,
    SELECT: _of_select,
}

# -- functions of a value of a table ----------------------------------------------------------------------


def _compared(x: Expr, c: int, compare: Callable[[Value, Value, int], Value]) -> Value:
    return select(x.a, x.c.of(1, lambda value: compare(value, c, x.w)))


def _bit(x: Expr, low: int, w: int) -> Value | None:
    """A single bit is a condition on the index; wider pieces are left, so that they can be put together."""
    return select(x.a, x.c.of(1, lambda value: value >> low & 1 == 1)) if w == 1 else None


def _piece_equals(x: Expr, c: int) -> Value | None:
    if x.a.op != SELECT:
        return None
    return select(x.a.a, x.a.c.of(1, lambda value: value >> x.c & MASK[x.w] == c))


CHOICES[SELECT] = _compared
EXTRACT_RULES[SELECT] = _bit
EQ_RULES[SELECT] = lambda x, c: _compared(x, c, eq)
EQ_RULES[EXTRACT] = _piece_equals

# -- for the solvers --------------------------------------------------------------------------------------


class Runs(Protocol):
    """What is constant in runs: a table, or choices between expressions."""

    @property
    def cuts(self) -> tuple[int, ...]: ...
    @property
    def values(self) -> tuple[Value, ...]: ...


def tree(
    t: Runs, low: int, bits: int, leaf: Callable[[Value], Any], choose: Callable[[int, Any, Any], Any]
) -> Any:
    """The table from a number on, which has so many zero bits at its end, as choices by bits of the index:
    `choose(bit, value if it is zero, value if it is one)`."""
    first, last = bisect_right(t.cuts, low), bisect_left(t.cuts, low + (1 << bits))
    if first == last:
        return leaf(t.values[first])
    bit = bits - 1
    zero = tree(t, low, bit, leaf, choose)
    return choose(bit, zero, tree(t, low + (1 << bit), bit, leaf, choose))


def index_bits(t: Runs) -> int:
    """How many low bits of an index tell the runs apart; if another one is set, it is in the last run."""
    return t.cuts[-1].bit_length()
