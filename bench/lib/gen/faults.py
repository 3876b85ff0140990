"""Intended errors: each native run meets them where the engine has to find them.

The macros (AT, NZ, SH, PTR, FREE) check natively and name the error; for the engine they are nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.lib.gen.scope import Scope
from bench.lib.gen.statements import Statements
from bench.lib.gen.types import U32, convert


def write_fault(s: Statements, scope: Scope) -> None:
    """One statement (or a few) that fails for some inputs."""
    kinds: tuple[Callable[[Statements, Scope], None], ...] = (
        read_outside, read_outside, write_outside, divide_by_zero, assertion, assertion, null, overshift,
        abort, use_after_free, double_free, invalid_free, heap_outside,
    )  # fmt: skip
    s.rng.choice(kinds)(s, scope)


def _index(s: Statements, scope: Scope, count: int) -> str:
    """An index that is sometimes outside: of a few bits, or any signed or unsigned small value."""
    value = s.value(scope)
    bits = count.bit_length()
    choice = s.rng.random()
    if choice < 0.6:
        return f"({convert(value, U32).text} & {(1 << bits) - 1}u)"
    if choice < 0.8:
        return f"((i32)({convert(value, U32).text} & {(2 << bits) - 1}u) - 2)"
    return f"((u8){value.text})"


def _result(s: Statements, text: str) -> None:
    """Use a value so that nobody may drop its computation."""
    s.source.statement(f"sink ^= (u64)({text});")


def _array(s: Statements, scope: Scope, writable: bool) -> tuple[str, int]:
    arrays = [a for a in scope.arrays if not a.heap and not (writable and a.readonly)]
    if arrays and s.rng.random() < 0.7:
        array = s.rng.choice(arrays)
        return array.name, array.count
    name, count = s.source.fresh("a"), s.rng.choice((3, 5, 6, 10))
    s.source.statement(f"u16 {name}[{count}] = {{1, 2, 3}};")
    return name, count


def read_outside(s: Statements, scope: Scope) -> None:
    name, count = _array(s, scope, writable=False)
    _result(s, f"{name}[AT({_index(s, scope, count)}, {count})]")


def write_outside(s: Statements, scope: Scope) -> None:
    name, count = _array(s, scope, writable=True)
    s.source.statement(f"{name}[AT({_index(s, scope, count)}, {count})] = 9;")
    _result(s, f"{name}[{s.rng.randrange(count)}]")


def heap_outside(s: Statements, scope: Scope) -> None:
    name, count = s.source.fresh("h"), s.rng.choice((3, 5, 6))
    s.source.statement(f"u32 *{name} = malloc({count} * sizeof *{name});")
    s.source.statement(f"memset({name}, 1, {count} * sizeof *{name});")
    _result(s, f"{name}[AT({_index(s, scope, count)}, {count})]")
    s.source.statement(f"FREE({name});")


def divide_by_zero(s: Statements, scope: Scope) -> None:
    left = convert(s.value(scope), U32).text
    right = f"({convert(s.value(scope), U32).text} & {s.rng.choice((3, 15, 255))}u)"
    _result(s, f"{left} {s.rng.choice('/%')} NZ({right})")


def overshift(s: Statements, scope: Scope) -> None:
    amount = f"({convert(s.value(scope), U32).text} & {s.rng.choice((63, 127))}u)"
    _result(s, f"{convert(s.value(scope), U32).text} {s.rng.choice(('<<', '>>'))} SH({amount}, 32)")


def assertion(s: Statements, scope: Scope) -> None:
    name = s.rng.choice(("klee_assert", "assert"))
    s.source.statement(f"{name}({s.condition(scope)});")


def abort(s: Statements, scope: Scope) -> None:
    s.source.open(f"if ({s.condition(scope)} && {s.condition(scope)})")
    s.source.statement("abort();")
    s.source.close()


def null(s: Statements, scope: Scope) -> None:
    pointer, target = s.source.fresh("p"), s.source.fresh("v")
    s.source.statement(f"u32 {target} = 5;")
    s.source.statement(f"u32 *{pointer} = 0;")
    s.source.open(f"if ({s.condition(scope)})")
    s.source.statement(f"{pointer} = &{target};")
    s.source.close()
    _result(s, f"*PTR({pointer})")


def use_after_free(s: Statements, scope: Scope) -> None:
    name = s.source.fresh("h")
    s.source.statement(f"u8 *{name} = malloc(2);")
    s.source.statement(f"{name}[0] = {name}[1] = 3;")
    s.source.open(f"if ({s.condition(scope)})")
    s.source.statement(f"FREE({name});")
    s.source.close()
    if s.rng.random() < 0.5:
        _result(s, f"PTR({name})[1]")
    else:
        s.source.statement(f"*PTR({name}) = 4;")


def double_free(s: Statements, scope: Scope) -> None:
    name = s.source.fresh("h")
    s.source.statement(f"u8 *{name} = malloc(3);")
    s.source.open(f"if ({s.condition(scope)})")
    s.source.statement(f"FREE({name});")
    s.source.close()
    s.source.open(f"if ({s.condition(scope)})")
    s.source.statement(f"FREE({name});")
    s.source.close()


def invalid_free(s: Statements, scope: Scope) -> None:
    name = s.source.fresh("h")
    s.source.statement(f"u8 *{name} = malloc(8);")
    s.source.open(f"if ({s.condition(scope)})")
    s.source.statement(f"FREE({name} + {s.rng.randrange(1, 8)});")
    s.source.close()
    s.source.statement(f"FREE({name});")
