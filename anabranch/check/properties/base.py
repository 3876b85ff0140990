"""What a property is: it looks at instructions as they are executed symbolically, and makes conditions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from anabranch.expr import Expr, Value
from anabranch.ir.module import Instruction

if TYPE_CHECKING:
    from anabranch.check.gate import Gated


class Property:
    """Override what is of interest."""

    name: ClassVar[str]
    """The name in settings and reports."""
    kind: ClassVar[str]
    """The kind of error, a row of `error_kinds`."""
    flows: ClassVar[bool] = True
    """Is it about a bad value that flows to a place? Such a condition holds in a function as long as its
    callers pass no bad value; the others are about values of any kind, and are decided at the root of the
    calls."""
    believes_paths: ClassVar[bool] = True
    """Is the way to a place, where a bad value flows, taken to be possible, though something on it is not
    known? It is where nobody has looked at the value; not if only the right way avoids it."""
    ends: ClassVar[bool] = False
    """Does the program end where it fails, or can anything happen then? What comes after takes it that it
    did not fail."""
    doubts_cycles: ClassVar[bool] = False
    """Is a report only possible if it needs an object that holds a pointer to itself?"""

    def doubts(self, gated: Gated, evidence: object) -> Iterable[str]:
        """Why a report about a value is only possible, beyond what was taken as unknown."""
        return ()

    def access(
        self, gated: Gated, node: int, address: Value, size: int | None, instruction: Instruction, what: str
    ) -> None:
        """Memory is read or written: so many bytes, None if that is not known."""

    def string(self, gated: Gated, node: int, address: Value, instruction: Instruction) -> None:
        """A string is printed. That of NULL is not an error to most libraries."""

    def operation(self, gated: Gated, node: int, instruction: Instruction, values: tuple[Value, ...]) -> None:
        """Something is computed."""

    def use(self, gated: Gated, node: int, value: Expr, instruction: Instruction, what: str) -> None:
        """A value decides a branch, or is passed to a function that wants it defined."""

    def result(self, gated: Gated, node: int, value: Expr, instruction: Instruction) -> None:
        """A value is returned to callers that are not known."""

    def failure(self, gated: Gated, node: int, instruction: Instruction, message: str) -> None:
        """A place is reached that never should be."""

    def release(self, gated: Gated, node: int, address: Value, instruction: Instruction) -> None:
        """Memory is freed; the event is not there yet."""
