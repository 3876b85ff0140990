"""Arithmetic that can fail: the errors are asked about first, then the path goes on without them."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.semantics import conditions
from anabranch.semantics.elements import Value
from anabranch.semantics.faults import Fault
from anabranch.semantics.integers import INTEGER, BinaryOperation

Check = Callable[[Value, Fault], None]


def checked_arithmetic(check: Check) -> dict[str, BinaryOperation]:
    """The operations of `conditions.BINARY`; `check` ends the failing side as an error."""

    def checked(name: str) -> BinaryOperation:
        faults, operation = conditions.BINARY[name], INTEGER[name.removesuffix("_nsw")]

        def run(a: Value, b: Value, width: int) -> Value:
            for bad, fault in faults(a, b, width):
                check(bad, fault)
            return operation(a, b, width)

        return run

    operations = {name: checked(name) for name in conditions.BINARY}
    any_sdiv, any_srem = operations["sdiv"], operations["srem"]

    # Positive numbers, which are by far the most, are divided as Python does.
    def sdiv(a: Value, b: Value, width: int) -> Value:
        if a.__class__ is int and b.__class__ is int and b:
            half = 1 << (width - 1)
            if a < half and b < half:
                return a // b
        return any_sdiv(a, b, width)

    def srem(a: Value, b: Value, width: int) -> Value:
        if a.__class__ is int and b.__class__ is int and b:
            half = 1 << (width - 1)
            if a < half and b < half:
                return a % b
        return any_srem(a, b, width)

    return {**operations, "sdiv": sdiv, "srem": srem}
