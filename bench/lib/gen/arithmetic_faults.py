"""Arithmetic faults whose result is mostly unused. Natively the compiler's own checks name them."""

from __future__ import annotations

from bench.lib.gen.fault_scope import FaultKind, FaultStatements
from bench.lib.gen.scope import Scope
from bench.lib.gen.types import I32, I64, U32, U64, convert


def divide(s: FaultStatements, scope: Scope) -> None:
    """Division or remainder by something that is sometimes zero."""
    ctype = s.rng.choice((U32, I32, U64, I64))
    divisor = f"({ctype.name}){s.bits(scope, s.rng.choice((7, 15, 31)))}"
    dividend = s.rng.choice((f"({ctype.name})10", convert(s.value(scope, 1), ctype).text))
    if ctype.signed:
        dividend = f"({dividend} >> 1)"  # the smallest number divided by -1 is another fault
    s.unused(f"{dividend} {s.rng.choice('/%')} ({divisor})", ctype, computed=True)


def divide_in_place(s: FaultStatements, scope: Scope) -> None:
    name = s.source.fresh("unused")
    s.source.statement(f"u32 {name} = {convert(s.value(scope, 1), U32).text};")
    s.source.statement(f"{name} {s.rng.choice('/%')}= {s.bits(scope, 15)};")


def asserted_remainder(s: FaultStatements, scope: Scope) -> None:
    """A remainder by zero whose result an assertion looks at, which holds for what divides."""
    name = s.source.fresh("y")
    s.source.statement(f"i32 {name} = (i32){s.bits(scope, 7)} - 1;")
    s.source.open(f"if ({name} >= 0 && {name} < 2)")
    s.source.statement(f"assert(1 % {name} == 0);")
    s.source.close()


def shift(s: FaultStatements, scope: Scope) -> None:
    """A shift by up to twice as much as the width allows."""
    ctype = s.rng.choice((U32, U32, U64, I32, I64))
    amount = s.bits(scope, 2 * ctype.bits - 1) if s.rng.random() < 0.4 else _mostly(s, scope, ctype.bits)
    operator = ">>" if ctype.signed else s.rng.choice(("<<", ">>"))
    s.unused(f"{convert(s.value(scope, 1), ctype).text} {operator} {amount}", ctype, computed=True)


def _mostly(s: FaultStatements, scope: Scope, bits: int) -> str:
    return f"({s.rare(scope)} ? {s.rng.choice((bits, bits + 5, 2 * bits))} : {s.rng.randrange(bits)})"


def overflow(s: FaultStatements, scope: Scope) -> None:
    """Signed arithmetic at the limits of its type."""
    ctype, unsigned = s.rng.choice(((I32, U32), (I64, U64)))
    name = s.source.fresh("big")
    top = ctype.bits - s.rng.choice((2, 4))
    number = f"(({unsigned.name}){s.bits(scope, 15)} << {top}) + {s.rng.randrange(3)}"
    s.source.statement(f"{ctype.name} {name} = ({ctype.name})({number});")
    other = f"({ctype.name}){s.bits(scope, 15)}"
    expression = s.rng.choice(
        (f"{name} + {other}", f"{name} - {other}", f"{name} * ({other})", f"-{name}", f"{name} + {name}")
    )
    if s.rng.random() < 0.2:
        return s.source.statement(f"{name}{s.rng.choice(('++', '--'))};")
    s.unused(expression, ctype, computed=True)


def constant_overflow(s: FaultStatements, scope: Scope) -> None:
    """An overflow of constants alone, which the compiler computes before the program runs."""
    text = s.rng.choice(("2147483647 + 1", "-2147483647 - 2", "65536 * 65536"))
    s.guarded(scope, lambda inner: s.unused(text, I32, computed=True))


def constant_division_or_shift(s: FaultStatements, scope: Scope) -> None:
    """The same of operations that the machine checks itself, where they are still in the program."""
    text, ctype = s.rng.choice((("10 / 0", I32), ("10u % 0u", U32), ("1u << 32", U32), ("7 >> 40", I32)))
    s.guarded(scope, lambda inner: s.unused(text, ctype, computed=True))


KINDS: dict[FaultKind, float] = {
    divide: 3, divide_in_place: 1, asserted_remainder: 1, shift: 2, overflow: 2, constant_overflow: 0.5,
}  # fmt: skip
CONSTANTS: dict[FaultKind, float] = {constant_division_or_shift: 1}
