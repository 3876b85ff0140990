"""Random integer expressions with bounds."""

from __future__ import annotations

import random

from bench.lib.gen.scope import Scope, weighted
from bench.lib.gen.types import (
    COMMON,
    I32,
    I128,
    SMALL,
    U32,
    U64,
    U128,
    UNSIGNED,
    CType,
    Value,
    arithmetic,
    bitwise,
    common_type,
    constant,
    convert,
    promote,
    whole,
)

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Expressions:
    """Draws expressions over what a scope can name; ``wide`` allows 128-bit types."""

    def __init__(self, rng: random.Random, wide: bool) -> None:
        self.rng = rng
        self.wide = wide

    # --- leaves

    def number(self, ctype: CType) -> Value:
        """A literal: small, near a limit of the type, or anything."""
        rng = self.rng
        where = rng.random()
        if where < 0.55:
            number = rng.randrange(0, 17)
        elif where < 0.7:
            number = rng.choice((ctype.low, ctype.high, ctype.high - 1, ctype.low + 1))
        else:
            number = rng.randrange(ctype.low, ctype.high + 1)
        return constant(max(ctype.low, min(ctype.high, number)), ctype)

    def type(self) -> CType:
        rng = self.rng
        if self.wide and rng.random() < 0.2:
            return rng.choice((U128, I128))
        return rng.choice(COMMON if rng.random() < 0.4 else SMALL)

    def element(self, scope: Scope, depth: int) -> Value | None:
        """An array element at an index that is always in bounds."""
        if not scope.arrays:
            return None
        array = self.rng.choice(scope.arrays)
        return whole(f"{array.name}[{self.index(scope, array.count, depth)}]", array.type)

    def index(self, scope: Scope, count: int, depth: int) -> str:
        """An index below ``count``: often symbolic, by mask or by remainder."""
        if self.rng.random() < 0.25:
            return str(self.rng.randrange(count))
        value = convert(self.expression(scope, depth), U32)
        mask = (1 << (count.bit_length() - 1)) - 1
        if self.rng.random() < 0.8 or count == mask + 1:
            return f"{value.text} & {mask}"
        return f"{value.text} % {count}u"

    def leaf(self, scope: Scope) -> Value:
        rng = self.rng
        if scope.inputs and rng.random() < 0.45:
            return rng.choice(scope.inputs).value()
        readable = scope.readable()
        if readable and rng.random() < 0.8:
            return rng.choice(readable).value()
        return self.number(self.type())

    # --- operators

    def expression(self, scope: Scope, depth: int) -> Value:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.1:
            return self.leaf(scope)
        choices = [
            (5.0, "arithmetic"), (4.0, "bitwise"), (2.0, "shift"), (1.2, "divide"), (2.5, "compare"),
            (1.0, "logical"), (1.2, "ternary"), (1.5, "cast"), (1.0, "unary"),
            (1.6, "element"), (1.6, "call"),
        ]  # fmt: skip
        kind = weighted(rng, choices)
        made: Value | None = None
        if kind == "element":
            made = self.element(scope, depth - 1)
        elif kind == "call":
            made = self.call(scope, depth - 1)
        else:
            made = getattr(self, "_" + kind)(scope, depth - 1)
        return made if made is not None else self.leaf(scope)

    def _pair(self, scope: Scope, depth: int) -> tuple[Value, Value]:
        left = self.expression(scope, depth)
        right = self.number(left.type) if self.rng.random() < 0.4 else self.expression(scope, depth)
        return left, right

    def _arithmetic(self, scope: Scope, depth: int) -> Value:
        operator = self.rng.choice("++--*")
        left, right = self._pair(scope, depth)
        if operator == "*" and max(left.type.bits, right.type.bits) > 64:
            operator = "+"
        return arithmetic(operator, left, right)

    def _bitwise(self, scope: Scope, depth: int) -> Value:
        left, right = self._pair(scope, depth)
        return bitwise(self.rng.choice("&|^"), left, right)

    def _shift(self, scope: Scope, depth: int) -> Value:
        left = promote(self.expression(scope, depth))
        width = left.type.bits
        if self.rng.random() < 0.5:
            amount = f"{self.rng.randrange(width)}"
        else:
            amount = f"({convert(self.expression(scope, depth), U32).text} & {width - 1}u)"
        if self.rng.random() < 0.5:
            base = convert(left, UNSIGNED[width])
            return whole(f"({base.text} << {amount})", base.type)
        return whole(f"({left.text} >> {amount})", left.type)

    def _divide(self, scope: Scope, depth: int) -> Value:
        """Division in at most 32 bits (64 now and then), widened where the quotient could overflow."""
        rng = self.rng
        ctype = rng.choice((U32, I32, U32, I32, U64))
        left = convert(self.expression(scope, depth), ctype)
        operator = rng.choice("/%")
        if rng.random() < 0.5 or ctype.bits > 32:
            right = constant(rng.choice((2, 3, 5, 7, 10, 16, 100)), ctype)
        elif ctype.signed:
            # 1 to 16, made of any value: never 0, never -1.
            below = f"({convert(self.expression(scope, depth), U32).text} & 15u)"
            right = Value(f"((i32){below} + 1)", I32, 1, 16)
        else:
            below = f"({convert(self.expression(scope, depth), U32).text} & 15u)"
            right = Value(f"({below} + 1u)", U32, 1, 16)
        return whole(f"({left.text} {operator} {right.text})", ctype)

    def _compare(self, scope: Scope, depth: int) -> Value:
        left = self.expression(scope, depth)
        right = self.bound(left) if self.rng.random() < 0.5 else self.expression(scope, depth)
        return Value(f"({left.text} {self.rng.choice(COMPARISONS)} {right.text})", I32, 0, 1)

    def _logical(self, scope: Scope, depth: int) -> Value:
        left, right = self.condition(scope, depth), self.condition(scope, depth)
        return Value(f"({left} {self.rng.choice(('&&', '||'))} {right})", I32, 0, 1)

    def _ternary(self, scope: Scope, depth: int) -> Value:
        left, right = promote(self.expression(scope, depth)), promote(self.expression(scope, depth))
        ctype = common_type(left.type, right.type)
        text = f"({self.condition(scope, depth)} ? {left.text} : {right.text})"
        if ctype.signed or (left.low >= 0 and right.low >= 0):
            return Value(text, ctype, min(left.low, right.low), max(left.high, right.high))
        return whole(text, ctype)

    def _cast(self, scope: Scope, depth: int) -> Value:
        return convert(self.expression(scope, depth), self.type())

    def _unary(self, scope: Scope, depth: int) -> Value:
        value = promote(self.expression(scope, depth))
        operator = self.rng.choice("-~!")
        if operator == "!":
            return Value(f"(!{value.text})", I32, 0, 1)
        if operator == "~":
            return whole(f"(~{value.text})", value.type)
        return arithmetic("-", constant(0, value.type), value)

    def call(self, scope: Scope, depth: int) -> Value | None:
        if not scope.functions:
            return None
        function = self.rng.choice(scope.functions)
        arguments = [convert(self.expression(scope, depth), t).text for t in function.parameters]
        low = function.result.low if function.low is None else function.low
        high = function.result.high if function.high is None else function.high
        return Value(f"{function.name}({', '.join(arguments)})", function.result, low, high)

    def condition(self, scope: Scope, depth: int) -> str:
        """Something to branch on; mostly a comparison of a symbolic value with a constant."""
        rng = self.rng
        value = self.expression(scope, depth)
        if rng.random() < 0.5 and value.type.bits <= 64:
            value = bitwise("&", value, constant(rng.choice((1, 2, 3, 4, 7, 12, 15)), U32))
        if rng.random() < 0.15:
            return value.text
        return f"({value.text} {rng.choice(COMPARISONS)} {self.bound(value).text})"

    def bound(self, value: Value) -> Value:
        """A literal to compare a value with: mostly one that it can be."""
        if self.rng.random() < 0.15:
            return self.number(value.type)
        span = min(value.high - value.low, 300)
        low = value.low if value.low > -300 else -(span // 2)
        return constant(max(value.low, min(value.high, low + self.rng.randrange(span + 1))), value.type)
