"""klee.h: inputs, assumptions, and what programs ask of the engine itself."""

from __future__ import annotations

from anabranch.analysis.effects import PURE, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.declared_parts import ERRNO, NAMES
from anabranch.environment.ops import eq, sle, slt, ult
from anabranch.environment.process import assertion_failed
from anabranch.environment.registry import model
from anabranch.environment.values import MASK32, errno_address, is_null, resize, resolve_length, truth
from anabranch.expr import Expr
from anabranch.ir.types import to_signed
from anabranch.machine.extents import size_of
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.path import CType

INT = CType("int", "signed")


def text(m: MachineApi, addr: Value) -> str:
    """A string argument; null reads as empty, and so does one that the input decides in many ways."""
    if is_null(m, addr) or not m.are_few(addr):
        return ""
    where = m.pick(addr, 64, "address of a text")
    found = bytearray()
    while True:
        byte = m.load(where + len(found), 1)
        if not m.are_few(byte):
            return ""
        byte = m.pick(byte, 8, "byte of a text")
        if byte == 0:
            return found.decode("utf-8", "replace")
        found.append(byte)


def exact_object(m: MachineApi, addr: Value, function: str) -> tuple[int, ObjectInfo]:
    """The object that a pointer must be the start of, and its address."""
    return m.whole_object(addr, f"memory error: invalid pointer: {function}")


@model("klee_make_symbolic", effects=effects(reads=[2, NAMES], writes=[0, NAMES]))
def klee_make_symbolic(m: MachineApi, addr: Value, nbytes: Value, name: Value) -> None:
    label = text(m, name)
    start, info = exact_object(m, addr, "make_symbolic")
    size = size_of(info)
    if info.readonly:
        m.user_error("cannot make readonly object symbolic")
    if not m.decide(eq(nbytes, size, 64)):
        given = "not always" if isinstance(nbytes, Expr) else f"{nbytes} bytes instead of"
        held = "the bytes" if isinstance(size, Expr) else f"the {size} bytes"
        m.user_error(f"Wrong size given to klee_make_symbolic: {given} {held} of the object", size=nbytes)
    if not label:
        m.warn('klee_make_symbolic: renamed empty name to "unnamed"')
        label = "unnamed"
    if info.size:
        m.make_symbolic(start, info.size, label)


@model("klee_define_fixed_object")
def klee_define_fixed_object(m: MachineApi, addr: Value, nbytes: Value) -> None:
    m.unsupported("klee_define_fixed_object")


@model("klee_range", effects=effects(reads=[2, NAMES], writes=[NAMES]))
def klee_range(m: MachineApi, begin: Value, end: Value, name: Value) -> Value:
    if not m.decide(slt(begin, end, 32)):
        m.user_error("invalid range")
    low, high = m.pick(begin, 32, "range of klee_range"), m.pick(end, 32, "range of klee_range")
    label = text(m, name) or "unnamed"
    if (low + 1) & MASK32 == high:
        return low
    value = m.fresh(label, 32, INT)
    if low == 0:
        m.assume(ult(value, high, 32))
    else:
        m.assume(sle(low, value, 32))
        m.assume(slt(value, high, 32))
    return value


@model("klee_int", effects=effects(reads=[0, NAMES], writes=[NAMES]))
def klee_int(m: MachineApi, name: Value) -> Value:
    return m.fresh(text(m, name) or "unnamed", 32, INT)


@model("klee_choose", effects=effects(reads=[NAMES], writes=[NAMES]))
def klee_choose(m: MachineApi, n: Value) -> Value:
    if not m.decide(truth(n, 64)):
        m.silent_exit("klee_choose among nothing")
    value = m.fresh("klee_choose", 64, CType("unsigned long", "unsigned"))
    m.assume(ult(value, n, 64))
    return value


@model("klee_silent_exit", noreturn=True, effects=PURE)
def klee_silent_exit(m: MachineApi, status: Value) -> None:
    m.silent_exit("klee_silent_exit")


@model("klee_abort", noreturn=True, effects=PURE)
def klee_abort(m: MachineApi) -> None:
    m.error("abort", "abort failure")


@model("klee_report_error", noreturn=True, effects=PURE)
def klee_report_error(m: MachineApi, file: Value, line: Value, message: Value, suffix: Value) -> None:
    m.error(
        "report-error",
        text(m, message),
        file=text(m, file),
        line=to_signed(m.pick(line, 32, "line of klee_report_error"), 32),
        suffix=text(m, suffix),
    )


@model("klee_assert_fail", noreturn=True, effects=PURE)
def klee_assert_fail(m: MachineApi, expression: Value, file: Value, line: Value, function: Value) -> None:
    assertion_failed(m, expression)


@model("klee_get_obj_size", effects=PURE)
def klee_get_obj_size(m: MachineApi, addr: Value) -> Value:
    return size_of(exact_object(m, addr, "klee_get_obj_size")[1])


@model("klee_is_symbolic", effects=PURE)
def klee_is_symbolic(m: MachineApi, value: Value) -> Value:
    return int(isinstance(value, Expr))


@model("klee_is_replay", effects=PURE)
def klee_is_replay(m: MachineApi) -> Value:
    return 0


@model("klee_assume", effects=PURE)
def klee_assume(m: MachineApi, condition: Value) -> None:
    if not m.assume(truth(condition, 64)):
        m.user_error("invalid klee_assume call (provably false)")


@model("klee_prefer_cex", "klee_posix_prefer_cex", effects=PURE)
def klee_prefer_cex(m: MachineApi, target: Value, condition: Value) -> None:
    m.prefer(truth(condition, 64))


@model("klee_mark_global", effects=PURE)
def klee_mark_global(m: MachineApi, target: Value) -> None:
    exact_object(m, target, "mark_global")


def one_value(m: MachineApi, value: Value, width: int) -> int:
    """A feasible value, without a constraint; the test prefers it, so that a replay agrees if it can."""
    if not isinstance(value, Expr):
        return value
    chosen = m.sample(value, width, "klee_get_value")
    m.prefer(eq(value, chosen, width))
    return chosen


@model("klee_get_valuef", "klee_get_value_i32")
def klee_get_value_32(m: MachineApi, value: Value) -> Value:
    return one_value(m, value, 32)


@model("klee_get_valued", "klee_get_valuel", "klee_get_valuell", "klee_get_value_i64")
def klee_get_value_64(m: MachineApi, value: Value) -> Value:
    return one_value(m, value, 64)


@model("klee_check_memory_access", effects=PURE)
def klee_check_memory_access(m: MachineApi, addr: Value, nbytes: Value) -> None:
    if isinstance(addr, Expr):
        addr = m.pick(addr, 64, "pointer given to klee_check_memory_access")
    size = resolve_length(m, nbytes, "size given to klee_check_memory_access", reads=(addr,))
    if size > m.span(addr):
        m.error("invalid-pointer", "check_memory_access: memory error", address=addr, size=size)
    m.read_bytes(addr, size)


@model("klee_set_forking")
def klee_set_forking(m: MachineApi, enable: Value) -> None:
    m.set_forking(m.pick(enable, 32, "argument of klee_set_forking") != 0)


@model("klee_warning", effects=PURE)
def klee_warning(m: MachineApi, message: Value) -> None:
    m.warn(text(m, message), once=False)


@model("klee_warning_once", effects=PURE)
def klee_warning_once(m: MachineApi, message: Value) -> None:
    m.warn(text(m, message), once=True)


@model("klee_print_expr", effects=PURE)
def klee_print_expr(m: MachineApi, message: Value, *values: Value) -> None:
    m.warn(f"{text(m, message)}:{' '.join(map(str, values))}", once=False)


@model("klee_print_range", effects=PURE)
def klee_print_range(m: MachineApi, name: Value, value: Value) -> None:
    value = resize(value, 32)
    line = f"{text(m, name)}:{value}"
    if isinstance(value, Expr):
        low, high = m.bounds(value, 32)
        line += f" == {low}" if low == high else f" ~= {low} (in [{low}, {high}])"
    m.warn(line, once=False)


@model("klee_stack_trace", effects=PURE)
def klee_stack_trace(m: MachineApi) -> None:
    m.warn(m.stack_trace(), once=False)


@model("klee_open_merge", "klee_open_qmerge")
def klee_open_merge(m: MachineApi) -> None:
    m.merge_region(True)


@model("klee_close_merge", "klee_close_qmerge")
def klee_close_merge(m: MachineApi) -> None:
    m.merge_region(False)


@model("klee_get_errno", effects=effects(reads=[ERRNO]))
def klee_get_errno(m: MachineApi) -> Value:
    return m.load(errno_address(m), 4)


@model("__errno_location", "___errno_location", "__errno", effects=effects(points=[ERRNO]))
def errno_location(m: MachineApi) -> Value:
    return errno_address(m)
