"""The constructors of expressions that models use, with the types that models use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anabranch import expr
from anabranch.environment.api import Value
from anabranch.expr import Expr

Condition: TypeAlias = bool | Expr
Arithmetic: TypeAlias = Callable[[Value, Value, int], Value]
Comparison: TypeAlias = Callable[[Value, Value, int], Condition]
Connective: TypeAlias = Callable[[Condition, Condition], Condition]

add: Arithmetic = expr.add
sub: Arithmetic = expr.sub
mul: Arithmetic = expr.mul
udiv: Arithmetic = expr.udiv
urem: Arithmetic = expr.urem
and_: Arithmetic = expr.and_
or_: Arithmetic = expr.or_
xor: Arithmetic = expr.xor
lshr: Arithmetic = expr.lshr
neg: Callable[[Value, int], Value] = expr.neg

eq: Comparison = expr.eq
ne: Comparison = expr.ne
ult: Comparison = expr.ult
ule: Comparison = expr.ule
ugt: Comparison = expr.ugt
uge: Comparison = expr.uge
slt: Comparison = expr.slt
sle: Comparison = expr.sle

both: Connective = expr.bool_and
either: Connective = expr.bool_or
negated: Callable[[Condition], Condition] = expr.not_

ite: Callable[[Condition, Value, Value, int], Value] = expr.ite
choice: Callable[[Condition, Condition, Condition], Condition] = lambda c, a, b: expr.ite(c, a, b, 1)  # noqa: E731
extract: Callable[[Value, int, int, int], Value] = expr.extract
zext: Callable[[Value, int, int], Value] = expr.zext
sext: Callable[[Value, int, int], Value] = expr.sext
