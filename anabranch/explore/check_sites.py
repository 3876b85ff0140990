"""Which locations of the program the checks of a run watch, and which of them a path has reached.

"None of the checks made can fail" says as much as there is to check. The locations are found in the program's
text when the run is over, and the counters of coverage tell which were reached, so that no path runs slower
for it. Locations that cannot fail, such as a division by a constant other than 0 and -1, do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from anabranch.explore.blocks import callee_name
from anabranch.explore.checks import MEMCLEANUP, MEMTRACK, Check
from anabranch.explore.coverage import BlockTable
from anabranch.ir.checks import CHECK, HANDLER, NOT_CHECKED, CheckSite
from anabranch.ir.module import Function, Instruction
from anabranch.ir.types import PointerType
from anabranch.ir.values import ConstInt, GlobalRef, InlineAsm, Operand
from anabranch.report.result import CheckSites

ACCESSES = frozenset(("load", "store", "cmpxchg", "atomicrmw"))
DIVISIONS = frozenset(("udiv", "sdiv", "urem", "srem"))
SHIFTS = frozenset(("shl", "lshr", "ashr"))
ASSERTIONS = frozenset(
    ("__assert_fail", "__assert", "_assert", "__assert_rtn", "abort", "klee_abort", "klee_assert_fail",
     "klee_report_error", "reach_error")
)  # fmt: skip
AT_THE_END = frozenset((MEMTRACK, MEMCLEANUP))
MARKERS = ("llvm.dbg.", "llvm.lifetime.", "llvm.experimental.", "anabranch.", HANDLER)
#: Functions that a sanitizer calls where its check has failed -> the checks that they may stand for.
HANDLERS = {
    "out_of_bounds": ("bounds",),
    "vla_bound_not_positive": ("vla-bound",),
    "add_overflow": ("overflow",),
    "sub_overflow": ("overflow",),
    "mul_overflow": ("overflow",),
    "negate_overflow": ("overflow",),
    "divrem_overflow": ("division",),
    "shift_out_of_bounds": ("shift",),
    "type_mismatch": ("null", "alignment"),
    "alignment_assumption": ("alignment",),
    "load_invalid_value": ("bool", "enum"),
    "float_cast_overflow": ("float-cast",),
    "pointer_overflow": ("pointer-overflow",),
    "nonnull_arg": ("nonnull",),
    "nonnull_return": ("nonnull",),
    "invalid_builtin": ("builtin",),
    "builtin_unreachable": ("control",),
    "missing_return": ("control",),
}
Reached = Callable[[int, int], bool]


def check_sites(
    checks: Iterable[Check], table: BlockTable, counters: Sequence[int], ended: bool
) -> list[CheckSites]:
    """The checks made, each with the locations that it watches in the user's functions. `ended`: did a path
    end normally? Leaks are looked for there."""
    checks = tuple(checks)
    totals = {check.name: 0 for check in checks}
    reached = dict(totals)
    for function in table.user_functions():
        executed = table.executed(function, counters)
        for name, was_reached in watched(function, executed):
            if name in totals:
                totals[name] += 1
                reached[name] += was_reached
    for name in AT_THE_END & totals.keys():
        totals[name], reached[name] = 1, int(ended)
    return [CheckSites(check.name, check.kinds, reached[check.name], totals[check.name]) for check in checks]


def watched(function: Function, executed: Reached) -> Iterator[tuple[str, bool]]:
    """The checks that watch the instructions of a function, and whether control came there.

    A call that reports a failure is in a block of its own, behind the condition that is checked. Its location
    counts as reached if control left one of the blocks before it.
    """
    before: dict[int, list[int]] = {}
    for block in function.blocks:
        for target in block.instructions[-1].targets:
            before.setdefault(target, []).append(block.index)

    def comes_to(block: int, position: int) -> bool:
        return executed(block, position) or any(
            executed(b, len(function.blocks[b].instructions) - 1) for b in before.get(block, ())
        )

    for block in function.blocks:
        previous: Instruction | None = None
        for position, instruction in enumerate(block.instructions):
            for name in reports(instruction, previous):
                yield name, comes_to(block.index, position)
            for name in checks_of(instruction):
                yield name, executed(block.index, position)
            previous = instruction


def reports(instruction: Instruction, previous: Instruction | None) -> Sequence[str]:
    """The checks whose failure an instruction reports."""
    name = callee_name(instruction)
    if name in ASSERTIONS:
        return ("assertions",)
    if name.startswith(HANDLER):
        return of_handler(name.removeprefix(HANDLER))
    if instruction.opcode == "unreachable" and (previous is None or previous.opcode != "call"):
        return ("control",)
    return ()


def of_handler(what: str) -> Sequence[str]:
    """The checks that call a handler of the sanitizer if they fail."""
    return next((checks for handler, checks in HANDLERS.items() if what.startswith(handler)), ())


def checks_of(instruction: Instruction) -> Iterator[str]:
    """The checks that an instruction is executed with."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == CHECK:
        assert isinstance(instruction.extra, CheckSite)
        yield from of_handler(instruction.extra.handler)
    elif instruction.flags & NOT_CHECKED:
        return
    elif opcode in ACCESSES:
        yield "memory"
    elif opcode in DIVISIONS:
        if may_fail(operands[1], lambda divisor, bits: divisor == 0 or divisor == (1 << bits) - 1):
            yield "division"
    elif opcode in SHIFTS:
        if may_fail(operands[1], lambda count, bits: count >= bits):
            yield "shift-exponent"
    elif opcode in ("add", "sub", "mul"):
        if "nsw" in instruction.flags:
            yield "overflow"
    elif opcode == "br":
        if len(set(instruction.targets)) > 1:
            yield "uninitialised"
    elif opcode in ("switch", "indirectbr"):
        yield "uninitialised"
        if opcode == "indirectbr":
            yield "control"
    elif opcode == "call":
        yield from checks_of_call(instruction)


def checks_of_call(instruction: Instruction) -> Iterator[str]:
    callee = instruction.operands[0]
    if isinstance(callee, InlineAsm):
        return
    if not isinstance(callee, GlobalRef):
        yield "control"
        yield "stack"
        return
    name = callee.name
    if name.startswith(MARKERS) or name in ASSERTIONS:
        return
    if name.startswith(("llvm.mem", "llvm.va_")):
        yield "memory"
    elif not name.startswith("llvm."):
        yield "stack"
        if any(isinstance(operand.type, PointerType) for operand in instruction.operands[1:]):
            yield "memory"


def may_fail(operand: Operand, wrong: Callable[[int, int], bool]) -> bool:
    """Is it not a constant, or a wrong one?"""
    return not isinstance(operand, ConstInt) or wrong(operand.value, operand.type.bits)
