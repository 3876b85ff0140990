"""Small helpers over values: C's conversions, addresses, lengths."""

from __future__ import annotations

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import add, eq, extract, ite, ne, sext, zext
from anabranch.expr import Expr

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1

EINVAL = 22
ENOMEM = 12
ERANGE = 34
EOVERFLOW = 75
EBADF = 9


def resize(value: Value, width: int, is_signed: bool = False) -> Value:
    """A value as C would pass it in `width` bits; numbers are masked, expressions cut or extended."""
    if not isinstance(value, Expr):
        return int(value) & ((1 << width) - 1)
    if value.w == width:
        return value
    if value.w > width:
        return extract(value, 0, width, value.w)
    return sext(value, value.w, width) if is_signed else zext(value, value.w, width)


def low_byte(value: Value) -> Value:
    """The value converted to unsigned char."""
    return resize(value, 8)


def widen(byte: Value, width: int = 32) -> Value:
    """An unsigned char in a wider type."""
    return zext(byte, 8, width) if isinstance(byte, Expr) else byte


def flag(cond: bool | Expr) -> Value:
    """A truth value as a C int."""
    return zext(cond, 1, 32) if isinstance(cond, Expr) else int(cond)


def truth(value: Value, width: int) -> bool | Expr:
    """Whether a C scalar counts as true."""
    return ne(value, 0, width)


def move(addr: Value, offset: Value) -> Value:
    """Pointer plus bytes."""
    return add(addr, offset, 64)


def is_null(m: MachineApi, addr: Value) -> bool:
    """Decide whether a pointer is null."""
    return m.decide(eq(addr, 0, 64)) if isinstance(addr, Expr) else addr == 0


def room_to_write(m: MachineApi, addr: Value) -> int | None:
    """Bytes from a pointer to the end of its object; None if the pointer is symbolic."""
    return None if isinstance(addr, Expr) else m.span(addr, write=True)


def resolve_length(
    m: MachineApi, n: Value, why: str, reads: tuple[Value, ...] = (), writes: tuple[Value, ...] = ()
) -> int:
    """A concrete length for a block access.

    A symbolic length first splits at the end of the shortest object: everything beyond is one error, at
    the byte where a byte loop would leave the object. The lengths that fit are picked one by one if they
    are few, and a handful of them stands for many.
    """
    if not isinstance(n, Expr):
        return n
    room = m.room(n, reads, writes)
    return m.size(n, 64, why) if room else 0


def copy_of(m: MachineApi, addr: Value, n: int) -> bytes | list[Value]:
    """`n` bytes of memory, as `bytes` when all are concrete."""
    if n == 0:
        return b""
    if not isinstance(addr, Expr) and m.span(addr) >= n:
        data = m.concrete_bytes(addr, n)
        if data is not None:
            return data
    return list(m.read_bytes(addr, n))


def errno_address(m: MachineApi) -> int:
    """Where errno lives."""
    return m.static("errno", bytes(4))


def set_errno(m: MachineApi, code: int) -> None:
    m.store(errno_address(m), 4, code)


def if_null_one(value: Value) -> Value:
    """The value that longjmp hands over: 0 becomes 1."""
    return ite(eq(value, 0, 32), 1, value, 32)
