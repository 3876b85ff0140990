"""Ends of the program, assertions, the environment's variables, non-local jumps."""

from __future__ import annotations

from typing import NoReturn

from anabranch.analysis.effects import OUTSIDE, PURE, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import ByteReader, whole_string
from anabranch.environment.declared_parts import HANDLERS, VARIABLES
from anabranch.environment.posix.kernel import ENVIRONMENT
from anabranch.environment.posix.lookup import same_text
from anabranch.environment.registry import model
from anabranch.environment.values import if_null_one, is_null
from anabranch.machine.ends import AT_QUICK_EXIT


def assertion_failed(m: MachineApi, expression: Value) -> NoReturn:
    asserted = "" if is_null(m, expression) else m.read_cstring(expression).decode("utf-8", "replace")
    m.error("assert", f"ASSERTION FAIL: {asserted}")


@model("__assert_fail", noreturn=True, effects=PURE)
def assert_fail(m: MachineApi, expression: Value, file: Value, line: Value, function: Value) -> None:
    """glibc and musl."""
    assertion_failed(m, expression)


@model("__assert", "_assert", noreturn=True, effects=PURE)
def assert_3(m: MachineApi, expression: Value, file: Value, line: Value) -> None:
    assertion_failed(m, expression)


@model("__assert_rtn", noreturn=True, effects=PURE)
def assert_rtn(m: MachineApi, function: Value, file: Value, line: Value, expression: Value) -> None:
    """Darwin."""
    assertion_failed(m, expression)


@model("abort", noreturn=True, effects=PURE)
def abort(m: MachineApi) -> None:
    m.error("abort", "abort failure")


@model("exit", noreturn=True, effects=effects(reads=[HANDLERS]))
def exit_(m: MachineApi, status: Value) -> None:
    m.exit(status)


@model("_exit", "_Exit", noreturn=True, effects=effects(writes=[HANDLERS]))
def exit_now(m: MachineApi, status: Value) -> None:
    m.exit(status, handlers=None)


@model("quick_exit", noreturn=True, effects=effects(reads=[HANDLERS], writes=[HANDLERS]))
def quick_exit(m: MachineApi, status: Value) -> None:
    m.exit(status, handlers=AT_QUICK_EXIT)


@model("atexit", "__anabranch_at_exit", effects=effects(reads=[HANDLERS], writes=[HANDLERS], keeps=[0]))
def atexit(m: MachineApi, function: Value) -> Value:
    m.at_exit(function)
    return 0


@model("__cxa_atexit", effects=effects(reads=[HANDLERS], writes=[HANDLERS], keeps=[0, 1]))
def cxa_atexit(m: MachineApi, function: Value, argument: Value, module: Value) -> Value:
    m.at_exit(function, (argument,))
    return 0


@model("at_quick_exit", effects=effects(reads=[HANDLERS], writes=[HANDLERS], keeps=[0]))
def at_quick_exit(m: MachineApi, function: Value) -> Value:
    m.at_exit(function, handlers=AT_QUICK_EXIT)
    return 0


@model("getenv", "secure_getenv", effects=effects(reads=[0, VARIABLES], points=[OUTSIDE]))
def getenv(m: MachineApi, name: Value) -> Value:
    """Nothing but what the run was given is set."""
    variables = m.note(ENVIRONMENT, ())
    if not variables:
        known = ByteReader(m, name).concrete_from(0)
        return unset(m, known.partition(b"\0")[0] if known is not None and 0 in known else None)
    wanted = whole_string(m, name)
    for known, value in variables:
        if len(known) == len(wanted) and m.decide(same_text(known, tuple(wanted))):
            return int(value)
    return unset(m, wanted if isinstance(wanted, bytes) else None)


def unset(m: MachineApi, name: bytes | None) -> int:
    shown = f'"{name.decode("utf-8", "replace")}"' if name is not None else "a symbolic name"
    m.fixed_answer(f"getenv({shown})", "is unset")
    return 0


@model("setjmp", "_setjmp")
def setjmp(m: MachineApi, buffer: Value) -> Value:
    return m.setjmp(buffer)


@model("sigsetjmp", "__sigsetjmp")
def sigsetjmp(m: MachineApi, buffer: Value, save_mask: Value) -> Value:
    return m.setjmp(buffer)


@model("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", noreturn=True)
def longjmp(m: MachineApi, buffer: Value, value: Value) -> None:
    m.longjmp(buffer, if_null_one(value))
