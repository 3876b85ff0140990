"""Functions whose effects are not modelled: each call is a loss, and tells the program that it failed.

Below the C library all threads and processes are made by `__clone`: `pthread_create`, `posix_spawn`, `system`
and `popen` end here.
"""

from __future__ import annotations

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import ne
from anabranch.environment.posix import errors as e
from anabranch.environment.registry import model
from anabranch.environment.values import MASK32, resize


def unmodelled(m: MachineApi, what: str) -> None:
    """Say so: warned once, counted always."""
    m.warn(f"{what}: not modelled")
    m.lose(what)


@model("__clone")
def clone(m: MachineApi, function: Value, stack: Value, flags: Value, *more: Value) -> Value:
    unmodelled(m, "another thread or process")
    return -e.ENOSYS & MASK32


@model("dlopen")
def dlopen(m: MachineApi, name: Value, flags: Value) -> Value:
    unmodelled(m, "dynamic loading")
    return 0


@model("dlsym")
def dlsym(m: MachineApi, handle: Value, name: Value) -> Value:
    unmodelled(m, "dynamic loading")
    return 0


# ---- the floating-point environment: to nearest, and nobody keeps flags ------------------------------


@model("fesetround", "__fesetround")
def fesetround(m: MachineApi, mode: Value) -> Value:
    """FE_TONEAREST is 0."""
    if m.decide(ne(resize(mode, 32), 0, 32)):
        unmodelled(m, "rounding mode other than to nearest")
        return 1
    return 0


@model("fegetround")
def fegetround(m: MachineApi) -> Value:
    return 0


@model("fetestexcept")
def fetestexcept(m: MachineApi, mask: Value) -> Value:
    unmodelled(m, "flags of floating-point exceptions")
    return 0


@model("feclearexcept", "feraiseexcept", "fegetenv", "fesetenv")
def without_flags(m: MachineApi, which: Value) -> Value:
    """Nothing that could be seen but by `fetestexcept`."""
    return 0
