"""Intrinsic functions that only compute, as Python functions of their arguments.

Floating-point intrinsics of code that watches rounding and exceptions (`#pragma STDC FENV_ACCESS ON`) are the
plain operations: rounding is to nearest and exceptions leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable

from anabranch import expr
from anabranch.ir.module import Instruction
from anabranch.ir.types import FloatType, Type, VectorType
from anabranch.ir.values import MetadataOperand
from anabranch.semantics import floats, integers
from anabranch.semantics.casts import FLOAT_CASTS, cast_function
from anabranch.semantics.elements import Value, float_width, lane_type
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.integers import boolean
from anabranch.semantics.operations import at_width, binary_operation, lanewise

Function = Callable[..., Value]
CONSTRAINED = "experimental.constrained."
FIRST_ARGUMENT = frozenset(
    ("expect", "expect.with.probability", "launder.invariant.group", "threadlocal.address")
)
"""Intrinsics whose value is that of their first argument."""


def base_name(name: str) -> str:
    """The name without `llvm.` and without the suffixes that spell types."""
    parts = name.split(".")[1:]
    while len(parts) > 1 and (
        parts[-1][:1] in "ipvf"
        and any(c.isdigit() for c in parts[-1])
        and not parts[-1].startswith(("fsh", "floor"))
    ):
        parts.pop()
    return ".".join(parts)


def intrinsic_function(name: str, instruction: Instruction) -> Function:
    """The function that a call of an intrinsic computes, vectors lane by lane."""
    base, type = base_name(name), instruction.type
    if base in FIRST_ARGUMENT:
        return lambda value, *_: value
    if base == "is.constant":
        return lambda value: False
    if base == "ptrmask":
        return lambda pointer, mask: expr.and_(pointer, mask, 64)
    if base.endswith(".with.overflow"):
        width = instruction.operands[1].type.bits
        return lambda a, b: integers.with_overflow(base, a, b, width)
    scalar = lane_type(type)
    function = _lane_function(base, scalar, instruction)
    if function is None and base.startswith("vector.reduce.") and len(instruction.operands) == 2:
        return _reduction(base.removeprefix("vector.reduce."), scalar.bits)
    if function is None:
        raise Unsupported(f"intrinsic {name}")
    if not isinstance(type, VectorType):
        return function
    chosen, lanes = function, type.count

    def on_lanes(*arguments: Value) -> Value:
        spread = [a if isinstance(a, tuple) else (a,) * lanes for a in arguments]
        return lanewise(chosen, *spread)

    return on_lanes


def _reduction(operation: str, width: int) -> Function:
    if operation in ("add", "mul", "and", "or", "xor"):
        step = binary_operation(operation)
    elif operation in integers.EXTREMES:
        step = integers.EXTREMES[operation]
    else:
        raise Unsupported(f"intrinsic vector.reduce.{operation}")

    def reduce(lanes: tuple[Value, ...]) -> Value:
        total = lanes[0]
        for lane in lanes[1:]:
            total = step(total, lane, width)
        return boolean(total) if width == 1 else total

    return reduce


def _lane_function(base: str, type: Type, instruction: Instruction) -> Function | None:
    """What an intrinsic does on scalars; None if it is not known."""
    arguments = instruction.operands[1:]
    width, source = type.bits, lane_type(arguments[0].type) if arguments else type
    if base.startswith(CONSTRAINED):
        base = base.removeprefix(CONSTRAINED)
        if base in FLOAT_CASTS:
            return cast_function(base, source, type)
        if base in floats.FLOATING:
            return at_width(floats.FLOATING[base], float_width(type))
        if base in ("fcmp", "fcmps"):
            named = [o.text for o in arguments if isinstance(o, MetadataOperand)]
            predicate = named[0].strip('!"')
            return at_width(binary_operation(f"fcmp_{predicate}"), float_width(source))
    if base in integers.INTRINSICS:
        function = integers.INTRINSICS[base]
        if width == 1:
            return lambda *values: boolean(function(*values, 1))
        return lambda *values: function(*values, width)
    if base in ("scmp", "ucmp"):
        return lambda a, b: integers.compare3(base == "scmp", a, b, source.bits, width)
    if base == "is.fpclass":
        bits = float_width(source)
        return lambda a, test: floats.float_class(a, test, bits)
    if base in ("fptosi.sat", "fptoui.sat"):
        return floats.saturating_conversion(base == "fptosi.sat", source, type)
    if base in floats.INTRINSICS and isinstance(type, FloatType):
        operation, bits = floats.INTRINSICS[base], float_width(type)
        return lambda *values: operation(*values, bits)
    return None
