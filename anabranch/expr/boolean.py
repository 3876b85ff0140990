"""Boolean connectives (width 1) and the choice `ite`."""

from __future__ import annotations

from .node import (
    AND,
    EQ,
    ITE,
    MASK,
    NOT,
    OR,
    SEXT,
    SLT,
    ULT,
    XOR,
    ZEXT,
    Expr,
    Value,
    binary,
    ternary,
    unary,
)

ORDERS = frozenset((ULT, SLT))


def not_(x: Value) -> Value:
    """Negation of a Boolean."""
    if x.__class__ is not Expr:
        return not x
    n = x.neg
    if n is None:
        n = x.a if x.op == NOT else unary(NOT, 1, x)
        x.neg = n
        n.neg = x
    return n


def negation(x: Expr) -> Expr:
    """Negation of a Boolean node."""
    n = x.neg
    if n is None:
        n = x.a if x.op == NOT else unary(NOT, 1, x)
        x.neg = n
        n.neg = x
    return n


def _and_part(x: Expr, y: Expr) -> Value | None:
    """The conjunction when y is (or contradicts) a part of x."""
    op = x.op
    if op == AND:
        if x.a is y or x.b is y:
            return x
        n = negation(y)
        if x.a is n or x.b is n:
            return False
    elif op == OR:
        if x.a is y or x.b is y:
            return y
        n = negation(y)
        if x.a is n:
            return bool_and(x.b, y)
        if x.b is n:
            return bool_and(x.a, y)
    elif op == NOT and x.a.op == AND:
        p, q = x.a.a, x.a.b
        n = negation(y)
        if p is n or q is n:
            return y
        if p is y:
            return bool_and(negation(q), y)
        if q is y:
            return bool_and(negation(p), y)
    elif op == EQ and y.op == EQ and x.a is y.a and x.b.__class__ is int and y.b.__class__ is int:
        return False
    elif op in ORDERS and x.a.__class__ is Expr and x.b.__class__ is Expr:
        return _and_order(x, y)
    return None


def _and_order(x: Expr, y: Expr) -> Value | None:
    """The conjunction of p < q with what it excludes or implies: q < p, p == q and their negations."""
    n = y.a if y.op == NOT else y
    p, q = n.a, n.b
    if n.op == x.op:
        fits = x.a is q and x.b is p
    else:
        fits = n.op == EQ and ((x.a is p and x.b is q) or (x.a is q and x.b is p))
    if not fits:
        return None
    return False if n is y else x


def bool_and(x: Value, y: Value) -> Value:
    """Conjunction."""
    if x.__class__ is not Expr:
        return y if x else False
    if y.__class__ is not Expr:
        return x if y else False
    if x is y:
        return x
    if x.neg is y or y.neg is x:
        return False
    r = _and_part(x, y)
    if r is None:
        r = _and_part(y, x)
    if r is not None:
        return r
    return binary(AND, 1, x, y) if x.id < y.id else binary(AND, 1, y, x)


def bool_or(x: Value, y: Value) -> Value:
    """Disjunction; the rules of the conjunction of the negations apply too."""
    if x.__class__ is not Expr:
        return True if x else y
    if y.__class__ is not Expr:
        return True if y else x
    if x is y:
        return x
    if x.neg is y or y.neg is x:
        return True
    nx, ny = negation(x), negation(y)
    r = _and_part(nx, ny)
    if r is None:
        r = _and_part(ny, nx)
    if r is not None:
        if r.__class__ is Expr and r.op == AND:
            x, y = negation(r.a), negation(r.b)
            return binary(OR, 1, x, y) if x.id < y.id else binary(OR, 1, y, x)
        return not_(r)
    r = _or_part(x, y)
    if r is None:
        r = _or_part(y, x)
    if r is not None:
        return r
    return binary(OR, 1, x, y) if x.id < y.id else binary(OR, 1, y, x)


def _or_part(x: Expr, y: Expr) -> Value | None:
    """The disjunction when y is (or contradicts) a part of x."""
    if x.op == OR:
        if x.a is y or x.b is y:
            return x
        n = negation(y)
        if x.a is n or x.b is n:
            return True
    return None


def bool_xor(x: Value, y: Value) -> Value:
    """Exclusive or; negations move to the outside."""
    if x.__class__ is not Expr:
        return not_(y) if x else y
    if y.__class__ is not Expr:
        return not_(x) if y else x
    if x is y:
        return False
    flip = False
    if x.op == NOT:
        x, flip = x.a, True
    if y.op == NOT:
        y, flip = y.a, not flip
    if x is y:
        return flip
    r = binary(XOR, 1, x, y) if x.id < y.id else binary(XOR, 1, y, x)
    return negation(r) if flip else r


def _where(x: Expr, c: Expr) -> Value:
    """A connective where a condition is known to hold that is one of its parts, or is the negation of one."""
    inner = x.a if x.op == NOT else x
    if inner.op not in (AND, OR) or inner.w != 1:
        return x
    p, q, n = inner.a, inner.b, c.neg
    if p is c or q is c:
        known: Value = (q if p is c else p) if inner.op == AND else True
    elif n is not None and (p is n or q is n):
        known = False if inner.op == AND else (q if p is n else p)
    else:
        return x
    return known if inner is x else not_(known)


def _bool_ite(c: Expr, x: Value, y: Value) -> Value:
    if x.__class__ is Expr:
        x = _where(x, c)
    if y.__class__ is Expr and c.neg is not None:  # else y cannot be about the negation
        y = _where(y, c.neg)
    if x.__class__ is not Expr:
        return bool_or(c, y) if x else bool_and(negation(c), y)
    if y.__class__ is not Expr:
        return bool_or(negation(c), x) if y else bool_and(c, x)
    if x is y:
        return x
    if x is c:
        return bool_or(c, y)
    if y is c:
        return bool_and(c, x)
    if x.neg is y or y.neg is x:
        return not_(bool_xor(c, x))
    if x.neg is c:
        return bool_and(negation(c), y)
    if y.neg is c:
        return bool_or(negation(c), x)
    return ternary(ITE, 1, c, x, y)


def ite(c: Value, x: Value, y: Value, w: int) -> Value:
    """x if c else y, both of width w."""
    if c.__class__ is not Expr:
        return x if c else y
    if x is y:
        return x
    if c.op == NOT:
        c, x, y = c.a, y, x
    if x.__class__ is Expr and x.op == ITE and x.a is c:
        x = x.b
    if y.__class__ is Expr and y.op == ITE and y.a is c:
        y = y.c
    if x is y:
        return x
    if w == 1:
        return _bool_ite(c, x, y)
    if x.__class__ is not Expr:
        if y.__class__ is not Expr:
            return const_ite(c, x, y, w)
        if c.op == EQ and c.a is y and c.b.__class__ is int and c.b == x:
            return y
    elif c.op == EQ:
        if c.a is x and c.b is y:
            return y
        if c.a is y and c.b is x:
            return y
    return _narrow_ite(c, x, y, w)


def const_ite(c: Expr, x: int, y: int, w: int) -> Value:
    if x == y:
        return x
    if y == 0:
        if x == 1:
            return unary(ZEXT, w, c)
        if x == MASK[w]:
            return unary(SEXT, w, c)
    elif x == 0:
        if y == 1:
            return unary(ZEXT, w, negation(c))
        if y == MASK[w]:
            return unary(SEXT, w, negation(c))
    return ternary(ITE, w, c, x, y)


def _narrow_ite(c: Expr, x: Value, y: Value, w: int) -> Value:
    """Joins nested choices that share a branch; chooses below a common zero extension."""
    if y.__class__ is Expr and y.op == ITE:
        if _same(y.b, x):
            return ite(bool_or(c, y.a), x, y.c, w)
        if _same(y.c, x):
            return ite(bool_and(negation(c), y.a), y.b, x, w)
    if x.__class__ is Expr and x.op == ITE:
        if _same(x.c, y):
            return ite(bool_and(c, x.a), x.b, y, w)
        if _same(x.b, y):
            return ite(bool_and(c, negation(x.a)), x.c, y, w)
    n = 0
    if x.__class__ is not Expr:
        if y.op == ZEXT and x <= MASK[y.a.w]:
            n, y = y.a.w, y.a
    elif y.__class__ is not Expr:
        if x.op == ZEXT and y <= MASK[x.a.w]:
            n, x = x.a.w, x.a
    elif x.op == ZEXT and y.op == ZEXT and x.a.w == y.a.w:
        n, x, y = x.a.w, x.a, y.a
    if n == 0:
        return ternary(ITE, w, c, x, y)
    if n == 1:
        x, y = as_bool(x), as_bool(y)
    r = ite(c, x, y, n)
    return unary(ZEXT, w, r) if r.__class__ is Expr else int(r)


def as_bool(x: Value) -> Value:
    """A constant of width 1 as a bool."""
    return x if x.__class__ is Expr else bool(x)


def _same(x: Value, y: Value) -> bool:
    """Identity of nodes, equality of constants."""
    if x is y:
        return True
    return x.__class__ is not Expr and y.__class__ is not Expr and x == y
