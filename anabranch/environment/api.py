"""The seam between the models and the machine that runs them.

A model is a Python function `model(m, *args)` that stands for a C function. Values are `int` (two's
complement, masked to their width) or `Expr`; a C `_Bool` is a Python bool or an `Expr` of width 1.

Decide first, act later: `decide` and `pick` may fork, and the sibling state executes the whole call again
with the other answer. So a model asks everything it needs before its first write, allocation, output or
fresh symbol. `static` may be called at any time: it is idempotent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from anabranch.expr import Expr
from anabranch.machine.ends import AT_EXIT
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.path import CType

if TYPE_CHECKING:
    from anabranch.environment.text import Item

Value: TypeAlias = int | Expr


class MachineApi(Protocol):
    """What a model may ask of the machine. Addresses may be symbolic unless said otherwise."""

    # --- deciding (may fork, always before acting)

    def decide(self, cond: bool | Expr) -> bool:
        """The truth of a condition on this path."""

    def pick(self, value: Value, width: int, why: str) -> int:
        """One feasible value; siblings take the others."""

    def size(self, value: Value, width: int, what: str, unit: int = 1) -> int:
        """One feasible value of a size or length, in units of so many bytes; siblings take the others. If
        there are many, a handful of values stands for all, and what was left out is counted."""

    def defined(self, value: Value, what: str) -> Value:
        """A value that leaves the program, as `what`: an error if uninitialised data can change it."""

    # --- asking without forking

    def sample(self, value: Value, width: int, why: str) -> int:
        """One feasible value of an expression, without a constraint: the same whenever it is asked again."""

    def bounds(self, value: Value, width: int) -> tuple[int, int]:
        """The least and the greatest feasible unsigned value."""

    def are_few(self, value: Value) -> bool:
        """Can the values of an operand be taken one by one?"""

    def room(self, length: Expr, reads: Sequence[Value], writes: Sequence[Value]) -> int:
        """How many bytes blocks of symbolic length can have at most; a block that is longer than what is left
        of its object is an error, and the path now implies that they fit. Blocks at symbolic addresses are
        left out. 0 if they are empty on this path."""

    def capacity(self, size: Expr, what: str) -> tuple[int, Expr | None]:
        """`(capacity, extent)` of a new object of a symbolic size; no extent if it can be one number only.
        May fork: larger sizes than an object of symbolic size may have are taken one by one, or a handful
        of them stands for all."""

    def conditional(self, length: Value, room: int, to: int, source: int | None = None) -> int | None:
        """How many bytes a block of many lengths has at most, at most `room`, if each byte can be written
        under the condition that the block reaches it; None if the length is to be a number."""

    def contents(self, addr: int, n: int) -> Sequence[Value]:
        """Bytes of an object that the program accesses under a condition, or not at all: not checked."""

    # --- memory

    def load(self, addr: Value, nbytes: int) -> Value: ...

    def store(self, addr: Value, nbytes: int, value: Value) -> None: ...

    def read_bytes(self, addr: Value, n: int) -> Sequence[Value]: ...

    def write_bytes(self, addr: Value, data: bytes | Sequence[Value]) -> None: ...

    def overwrite(self, addr: int, data: Sequence[Value]) -> None:
        """Write bytes within the capacity of an object, which the program accesses under a condition or not
        at all: not checked."""

    def write_up_to(self, addr: int, length: Expr, data: Sequence[Value]) -> None:
        """Write the first `length` bytes of a block that is known to fit."""

    def read_cstring(self, addr: Value) -> bytes:
        """The string at an address, its symbolic bytes decided; without the NUL."""

    def concrete_bytes(self, addr: int, n: int) -> bytes | None:
        """The `n` bytes if all are concrete and in bounds, else None."""

    def span(self, addr: int, write: bool = False) -> int:
        """Bytes from an address to the end of its object; a bad address is an error, to read or `write`.

        Of an object whose extent depends on the input (`end_at_nul`) these are the most that there can be.
        """

    def lookahead(self, addr: int, up_to_nul: bool) -> int:
        """Bytes from an address on that `peek` may fetch before the program accesses them.

        `up_to_nul`: for a loop that goes no further than the first NUL.
        """

    def peek(self, addr: int, n: int) -> bytes | Sequence[Value]:
        """Bytes within the `lookahead`, as `bytes` when all are concrete; this is no access."""

    def view(
        self, addr: Value, reach: int, most: int
    ) -> tuple[int, Value, int, Sequence[Value], Sequence[Value]] | None:
        """Bytes that a pointer leads to, without an access, a decision or an error.

        `(start, place, places, data, missing)`: the pointer is `start + place`, where `place` is below
        `places` or leads to no live object that is known; `data` are the bytes from `start` on, as far as
        `reach` bytes from the last place and the end of the object allow. `missing` are conditions under
        which a byte is not there after all; empty if all are. None if it is not one object, or the places
        are more than `most`.
        """

    def object_of(self, addr: Value) -> tuple[ObjectInfo, int]:
        """The live object an address points into, and the offset; a bad address is an access error."""

    def copy(self, to: Value, source: Value, n: int) -> None:
        """Copy `n` bytes, overlapping or not."""

    def fill(self, addr: Value, byte: Value, n: int) -> None:
        """Overwrite `n` bytes with one byte."""

    def allocate(
        self, size: int, kind: str, what: str, zero: bool = False, extent: Expr | None = None
    ) -> int:
        """A fresh object of undefined bytes, or of zeros; its address is aligned to any power of two up to
        2**32. With an extent, `size` is the capacity, and the program may access as many bytes as that says.
        """

    def free(self, addr: Value) -> None:
        """End a heap object; anything but the start of a live one is an error of kind `free`. May fork, once
        an object."""

    def heap_object(self, addr: Value) -> ObjectInfo:
        """The heap object that a pointer is the start of; errors as for `free`. May fork, once an object."""

    def whole_object(self, addr: Value, message: str) -> tuple[int, ObjectInfo]:
        """The object that a pointer is the start of, of whatever kind, and its address. May fork, once an
        object."""

    def release(self, addr: int) -> None:
        """End the object that starts at an address, of whatever kind."""

    def end_at_nul(self, addr: int) -> None:
        """From now on the object that starts at an address ends behind the first NUL that it holds now."""

    def static(self, name: str, contents: bytes) -> int:
        """The environment's own global object of that name; made with these contents on the first use."""

    # --- inputs and assumptions

    def make_symbolic(self, addr: int, size: int, name: str) -> None:
        """Replace `size` bytes by a fresh input; a name in use becomes `name_1`, `name_2`, ..."""

    def fresh(self, name: str, width: int, type: CType | None = None) -> Expr:
        """A fresh input of `width` bits (whole bytes), recorded under a name made unique as above; with its C
        type if it has one."""

    def fresh_fields(self, name: str, widths: Sequence[int], size: Expr | None = None) -> tuple[Expr, ...]:
        """A fresh input that consists of several variables, one after the other in its bytes; with a size,
        of as many of these bytes as that says."""

    def assume(self, cond: bool | Expr) -> bool:
        """Keep only what satisfies the condition; False, and nothing changed, if nothing does."""

    def lead_with(self, cond: bool | Expr) -> None:
        """Explore the inputs that satisfy the condition first."""

    def prefer(self, cond: bool | Expr) -> None:
        """A soft constraint for the values of the test."""

    # --- ends of the path

    def error(self, kind: str, message: str, **info: object) -> NoReturn:
        """The program fails; `anabranch.error_kinds` has the kinds."""

    def user_error(self, message: str, **info: object) -> NoReturn: ...

    def unsupported(self, what: str) -> NoReturn:
        """Give the path up: a loss `unsupported: what`."""

    def silent_exit(self, reason: str) -> NoReturn:
        """Drop the path on the program's own request: no test, no error."""

    def exit(self, code: Value, handlers: str | None = AT_EXIT) -> NoReturn:
        """End the program, after the handlers of that list, last first; None: at once."""

    def at_exit(self, function: Value, arguments: Sequence[Value] = (), handlers: str = AT_EXIT) -> None:
        """Add a function, called with these pointers, to a list of handlers."""

    # --- output and messages

    def emit(self, items: Sequence[Item], stream: int = 1) -> None:
        """Append to the output of stream 1 or 2."""

    def warn(self, text: str, once: bool = True) -> None: ...

    def fixed_answer(self, asked: str, answer: str) -> None:
        """The program asked for something to which the model has one answer: kept once, for the report."""

    def lose(self, what: str) -> None:
        """The path goes on, but what it does from here on may differ from the real program: count it."""

    # --- values that belong to the path and fork with it

    def note(self, key: object, default: object) -> Any:
        """What the environment has noted; values are immutable."""

    def set_note(self, key: object, value: object) -> None: ...

    # --- control

    def stack_trace(self) -> str: ...

    def set_forking(self, enabled: bool) -> None: ...

    def merge_region(self, opens: bool) -> None: ...

    def setjmp(self, buffer: Value) -> Value: ...

    def longjmp(self, buffer: Value, value: Value) -> NoReturn: ...
