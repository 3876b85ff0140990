"""The registers of a joined state: the live values of its frames."""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr, add, ite
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.same import same
from anabranch.machine.state import Continuation
from anabranch.machine.translator.sites import CallSite
from anabranch.semantics.elements import element_types

Value = Any


def differing_frames(a: Continuation, b: Continuation) -> list[tuple[Continuation, Continuation]]:
    """The frames below the top, innermost first, down to and with the first that is the same."""
    frames = [(a, b)]
    while a is not b:
        if a[1] is not b[1] or a[1] is None:
            raise CannotJoin("different call stacks")
        a, b = a[0], b[0]
        frames.append((a, b))
    return frames


def join_continuations(guard: Expr, frames: list[tuple[Continuation, Continuation]]) -> Continuation:
    below = frames[-1][0]
    for a, b in reversed(frames[:-1]):
        site: CallSite = a[1]
        values = join_frame(guard, site, a[3:], b[3:])
        below = (below, site, a[2], *values)
    return below


def join_frame(guard: Expr, site: Any, a: tuple[Value, ...], b: tuple[Value, ...]) -> tuple[Value, ...]:
    """The live values of a frame."""
    plan = site.unit.plan
    static = plan.static_allocas
    joined = []
    for name, x, y in zip(site.names, a, b, strict=True):
        if x is y:
            joined.append(x)
            continue
        if name == "D" or name == "va":
            if not same(x, y):
                raise CannotJoin("locals of variable size" if name == "D" else "variable arguments")
            joined.append(x)
            continue
        index = int(name[1:])
        if index in static and x != y:
            raise CannotJoin("locals of different calls")
        joined.append(join_value(guard, x, y, plan.locals[index].type))
    return tuple(joined)


def join_value(guard: Expr, a: Value, b: Value, type: Any) -> Value:
    """A value of a register."""
    if a is b:
        return a
    if isinstance(a, tuple):
        parts = element_types(type)
        return tuple(join_value(guard, x, y, part) for x, y, part in zip(a, b, parts, strict=True))
    return choose(guard, a, b, type.bits)


def choose(guard: Expr, a: Value, b: Value, width: int) -> Value:
    """`ite(guard, a, b)`; a base that both add a constant to is kept outside, so that sums stay sums."""
    if a.__class__ is Expr or b.__class__ is Expr:
        if a is b:
            return a
        base_a, far_a = distance(a)
        base_b, far_b = distance(b)
        if base_a is base_b and base_a is not None:
            return add(base_a, ite(guard, far_a, far_b, width), width)
        mask = (1 << width) - 1
        if a.__class__ is int:
            a &= mask
        if b.__class__ is int:
            b &= mask
        return ite(guard, a, b, width)
    if a == b:
        return a
    if width == 1:
        return ite(guard, bool(a), bool(b), 1)
    mask = (1 << width) - 1
    return ite(guard, a & mask, b & mask, width)


def distance(value: Value) -> tuple[Expr | None, int]:
    """`base + constant`."""
    if value.__class__ is not Expr:
        return None, 0
    if value.op == "add" and value.b.__class__ is int:
        return value.a, value.b
    return value, 0
