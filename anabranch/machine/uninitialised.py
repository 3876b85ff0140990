"""What fresh memory and locals hold where that is no error: zeros, or values that nobody knows.

By default they hold undefined data (`Memory.leave_undefined`), and deciding on it is the error. `Zeros` or
`Unknowns` replaces that when the machine is built. Locals that live in registers get their first
value from a call of `@anabranch.undef.<type>()`, which both answer as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, split_value
from anabranch.ir.module import Instruction
from anabranch.ir.types import ArrayType, StructType, Type, VectorType
from anabranch.machine.api import scalar_parts
from anabranch.machine.memory import Memory
from anabranch.machine.objects import AllocationSite
from anabranch.machine.pages import PAGE_BITS, PAGE_SIZE
from anabranch.machine.sparse import SPARSE_SIZE
from anabranch.semantics.elements import element_types, zero_value

if TYPE_CHECKING:
    from anabranch.machine.path import Path

Value = Any
LARGEST = 1 << 16  # bytes of a fresh object that become variables; larger objects stay undefined


class Zeros:
    """Fresh memory and locals are zero."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._page = bytearray(PAGE_SIZE)  # one for all objects and paths, until somebody writes to it

    def fill(self, base: int, size: int, site: AllocationSite) -> None:
        memory, key = self._memory, base >> PAGE_BITS
        if size > SPARSE_SIZE:
            memory.make_sparse(base >> 32, 0)
            return
        whole = size >> PAGE_BITS if size > PAGE_SIZE else 0
        if whole:
            memory.pages = memory.pages.update(dict.fromkeys(range(key, key + whole), self._page))
        if size - (whole << PAGE_BITS) or not size:
            memory.S[key + whole] = memory.W[key + whole] = bytearray(size - (whole << PAGE_BITS))

    def value(self, instruction: Instruction) -> Callable[[], Value]:
        zero = zero_value(instruction.type)
        return lambda: zero


class Unknowns:
    """Fresh memory and locals hold variables of the path that are no input of its test.

    They are named by the site and by how often the path was there, so that paths that did the same have the
    same variables, and a variable of a loop's body is another unknown in each iteration.
    """

    def __init__(self, path: Path, new_site: Callable[..., AllocationSite]) -> None:
        self._path = path
        self._memory = path.memory
        self._new_site = new_site
        self._makers: dict[int, tuple[Instruction, Callable[[], Value]]] = {}
        self._owners: dict[int, AllocationSite] = {}
        self.decisions: dict[str, int] = {}
        """Local or block -> conditions on what it held that were decided, on all paths together."""

    # ---- making --------------------------------------------------------------------------------------

    def _variable(self, name: str, width: int, site: AllocationSite) -> Expr:
        """A variable of the running path, unconstrained from here on."""
        made = expr.var(name, width)
        self._owners[made.a] = site
        self._path.slices[made.a] = self._path.space.root(made.a)
        return made

    def fill(self, base: int, size: int, site: AllocationSite) -> None:
        memory = self._memory
        if size > LARGEST:
            memory.leave_undefined(base, size, site)
            return
        stem = self._stem(site)
        data: list[Value] = []
        for part in scalar_parts(site.type, size):
            data += split_value(self._variable(f"{stem}[{len(data)}]", 8 * part, site), part)
        key = base >> PAGE_BITS
        for start in range(0, max(1, size), PAGE_SIZE):
            memory.S[key] = memory.W[key] = data[start : start + PAGE_SIZE]
            key += 1

    def value(self, instruction: Instruction) -> Callable[[], Value]:
        """What makes the first value of a local that lives in a register; a new one at each call."""
        known = self._makers.get(id(instruction))
        if known is None:
            site = self._new_site("register", "a local", instruction.type, instruction.loc)
            known = (instruction, lambda: self._of_type(instruction.type, self._stem(site), site))
            self._makers[id(instruction)] = known
        return known[1]

    def _of_type(self, type: Type, name: str, site: AllocationSite) -> Value:
        if isinstance(type, ArrayType | VectorType | StructType):
            parts = enumerate(element_types(type))
            return tuple(self._of_type(part, f"{name}.{number}", site) for number, part in parts)
        if type.bits == 1:
            return expr.eq(expr.and_(self._variable(name, 8, site), 1, 8), 1, 8)
        return self._variable(name, type.bits, site)

    def _stem(self, site: AllocationSite) -> str:
        return f"uninitialised {site.name} #{site.number}.{self._memory.count_contents(site)}"

    # ---- telling -------------------------------------------------------------------------------------

    def decided(self, indices: tuple[int, ...]) -> None:
        """The run asks whether a condition on these variables holds."""
        owners = self._owners
        for site in dict.fromkeys(owners[index] for index in indices if index in owners):
            name = f"memory from {site.name}" if site.kind == "heap" else site.name
            place = f"{name} at {site.loc}" if site.loc else name
            self.decisions[place] = self.decisions.get(place, 0) + 1

    def occur_in(self, value: Value) -> bool:
        """Does a value depend on what fresh memory or a local held?"""
        return value.__class__ is Expr and not self._owners.keys().isdisjoint(expr.expr_vars(value))

    def constrained(self) -> bool:
        """Does the running path hold only for some contents of fresh memory or locals?"""
        owners = self._owners
        return any(part.constraints and index in owners for index, part in self._path.slices.items())
