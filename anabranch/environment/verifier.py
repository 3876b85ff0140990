"""The functions of the software verification competition.

Each `__VERIFIER_nondet_X` makes an input named `nondet_X` that carries its C type, so that a writer of tests
can print the value with the right sign; `NONDET` has the types and widths.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.effects import OUTSIDE, PURE, effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.declared_parts import NAMES
from anabranch.environment.ops import eq, ult
from anabranch.environment.registry import model
from anabranch.environment.values import resolve_length, truth
from anabranch.expr import Expr
from anabranch.machine.path import CType


@dataclass(frozen=True, slots=True)
class NondetType:
    """What a `__VERIFIER_nondet_X` returns."""

    c_type: str
    width: int
    kind: str  # "bool", "signed", "unsigned", "float" or "pointer"


NONDET: dict[str, NondetType] = {
    "bool": NondetType("_Bool", 8, "bool"),
    "char": NondetType("char", 8, "signed"),
    "uchar": NondetType("unsigned char", 8, "unsigned"),
    "schar": NondetType("signed char", 8, "signed"),
    "short": NondetType("short", 16, "signed"),
    "ushort": NondetType("unsigned short", 16, "unsigned"),
    "int": NondetType("int", 32, "signed"),
    "uint": NondetType("unsigned int", 32, "unsigned"),
    "unsigned": NondetType("unsigned int", 32, "unsigned"),
    "long": NondetType("long", 64, "signed"),
    "ulong": NondetType("unsigned long", 64, "unsigned"),
    "longlong": NondetType("long long", 64, "signed"),
    "ulonglong": NondetType("unsigned long long", 64, "unsigned"),
    "int128": NondetType("__int128", 128, "signed"),
    "uint128": NondetType("unsigned __int128", 128, "unsigned"),
    "float": NondetType("float", 32, "float"),
    "double": NondetType("double", 64, "float"),
    "size_t": NondetType("unsigned long", 64, "unsigned"),
    "loff_t": NondetType("long long", 64, "signed"),
    "sector_t": NondetType("unsigned long", 64, "unsigned"),
    "u8": NondetType("unsigned char", 8, "unsigned"),
    "u16": NondetType("unsigned short", 16, "unsigned"),
    "u32": NondetType("unsigned int", 32, "unsigned"),
    "U8": NondetType("unsigned char", 8, "unsigned"),
    "U16": NondetType("unsigned short", 16, "unsigned"),
    "U32": NondetType("unsigned int", 32, "unsigned"),
    "pchar": NondetType("char *", 64, "pointer"),
    "pointer": NondetType("void *", 64, "pointer"),
    "pthread_t": NondetType("unsigned long", 64, "unsigned"),
    "time_t": NondetType("long", 64, "signed"),
    "clock_t": NondetType("long", 64, "signed"),
}


def _register(suffix: str, kind: NondetType) -> None:
    @model(f"__VERIFIER_nondet_{suffix}", effects=effects(reads=[NAMES], writes=[NAMES], points=[OUTSIDE]))
    def nondet(m: MachineApi) -> Value:
        value = m.fresh(f"nondet_{suffix}", kind.width, CType(kind.c_type, kind.kind))
        if kind.kind == "bool":
            m.assume(ult(value, 2, 8))
            return eq(value, 1, 8)
        return value


for _suffix, _kind in NONDET.items():
    _register(_suffix, _kind)


@model("__VERIFIER_nondet_memory", effects=effects(reads=[NAMES], writes=[0, NAMES]))
def nondet_memory(m: MachineApi, addr: Value, nbytes: Value) -> None:
    if isinstance(addr, Expr):
        addr = m.pick(addr, 64, "pointer given to __VERIFIER_nondet_memory")
    size = resolve_length(m, nbytes, "size given to __VERIFIER_nondet_memory", writes=(addr,))
    if size:
        m.make_symbolic(addr, size, "nondet_memory")


@model("__VERIFIER_assume", effects=PURE)
def assume(m: MachineApi, condition: Value) -> None:
    if not m.assume(truth(condition, 32)):
        m.silent_exit("__VERIFIER_assume")


@model("__VERIFIER_assert", effects=PURE)
def assert_(m: MachineApi, condition: Value) -> None:
    if not m.decide(truth(condition, 32)):
        m.error("assert", "ASSERTION FAIL: __VERIFIER_assert")


@model("reach_error", noreturn=True, effects=PURE)
def reach_error(m: MachineApi, *args: Value) -> None:
    m.error("reach-error", "reach_error() is called")


@model("__VERIFIER_error", noreturn=True, effects=PURE)
def verifier_error(m: MachineApi, *args: Value) -> None:
    m.error("reach-error", "__VERIFIER_error() is called")


@model("__VERIFIER_atomic_begin", "__VERIFIER_atomic_end", effects=PURE)
def atomic(m: MachineApi) -> None:
    """Programs have one thread."""
