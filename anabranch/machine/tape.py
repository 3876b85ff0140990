"""A tape: what a path did, in the order in which it did it, for whoever looks at it backwards.

Translated code writes one item for a *segment*, a stretch of a block that ends before a call that counts or
with the block: the number of the segment, with the addresses of its loads and stores if they are not
constants. Values in registers need no items: which instruction wrote a register is known from the blocks. All
else is written by `recording`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from anabranch.ir.module import Function, Instruction
from anabranch.ir.values import GlobalRef, InlineAsm, Local
from anabranch.machine.objects import AllocationSite
from anabranch.machine.state import Continuation, callers
from anabranch.machine.translator.calls import IGNORED, SETJMP
from anabranch.machine.translator.plan import UNDEF_CALL

if TYPE_CHECKING:
    from anabranch.machine.location import Where
    from anabranch.machine.translator.program import TranslatedProgram
    from anabranch.machine.translator.unit import Unit

ACCESSES = frozenset(("load", "store", "cmpxchg", "atomicrmw"))
PLAIN, RETURN, CALL, MODEL = range(4)
"""How a segment ends: with a jump, with the return of its function, at a call of the program or through a
pointer, at a call of a model."""
_RECORDED = ("llvm.mem", "llvm.va_start", "llvm.va_copy", "llvm.objectsize")

Stack: TypeAlias = tuple[tuple[Function, int], ...]
"""Function and block of all frames, innermost first."""


def kind_of(program: TranslatedProgram, instruction: Instruction) -> int:
    """How a segment ends at an instruction; `PLAIN` for one that ends none unless it is a terminator."""
    if instruction.opcode == "ret":
        return RETURN
    if instruction.opcode != "call":
        return PLAIN
    callee = instruction.operands[0]
    if isinstance(callee, InlineAsm):
        return PLAIN
    if not isinstance(callee, GlobalRef) or program.is_missing(callee.name):
        return CALL
    name = program.resolve_alias(callee.name)
    if program.find(name) is not None:
        return CALL
    if name in SETJMP or name.startswith((*IGNORED, UNDEF_CALL, "llvm.lifetime.")):
        return PLAIN
    if name.startswith("llvm."):
        return MODEL if name.startswith(_RECORDED) else PLAIN
    return MODEL


def address_operand(instruction: Instruction) -> Any:
    """The pointer of a load, store or atomic operation."""
    return instruction.operands[1 if instruction.opcode == "store" else 0]


def stack_of(unit: Unit, block: int, continuation: Continuation) -> Stack:
    below = [(caller[1].unit.function, caller[1].block) for caller in callers(continuation)]
    return ((unit.function, block), *below)


class Segment:
    """The instructions of a block from `start` to `end`, which is the call or terminator behind them."""

    __slots__ = ("addresses", "block", "end", "kind", "last", "number", "start", "steps", "unit")

    def __init__(self, unit: Unit, block: int, start: int, end: int, number: int) -> None:
        self.unit = unit
        self.block = block
        self.start = start
        self.end = end
        self.number = number
        """-1 for a part of a segment."""
        instructions = unit.plan.blocks[block].instructions
        self.last: Instruction = instructions[end]
        self.kind = kind_of(unit.program, self.last)
        self.addresses: tuple[int, ...] = tuple(
            dict.fromkeys(
                unit.plan.index_of(pointer)
                for instruction in instructions[start:end]
                if instruction.opcode in ACCESSES
                and isinstance(pointer := address_operand(instruction), Local)
            )
        )
        """Registers that hold its addresses: their values come behind the number of the segment."""
        self.steps: dict[int, Any] = {}
        """What whoever walks backwards has made of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """The first instructions of a segment that the path left in the middle."""

    segment: Segment
    item: tuple[Any, ...]
    """As of a whole segment."""


@dataclass(frozen=True, slots=True)
class Interpreted:
    """An instruction that the interpreter is about to run."""

    unit: Unit
    block: int
    position: int
    address: Any


@dataclass(slots=True)
class ModelCall:
    """A call of a model or of an intrinsic function that uses memory."""

    name: str
    arguments: tuple[Any, ...]
    before: Any
    """The notes of the path."""
    after: Any = None
    reads: list[tuple[int, int]] = field(default_factory=list)
    """`(address, size)` of the memory that it has read."""
    writes: list[tuple[int, int]] = field(default_factory=list)
    objects: set[int] = field(default_factory=set)
    """Numbers of objects that it has made or ended."""
    forced: Stack | None = None
    """Where it was, if it went on only for some of the inputs that it was called with."""
    guessed: bool = False
    """Did it use a value from the model of the path condition?"""
    opaque: bool = False
    """Did it do anything that is not in these fields?"""
    failed: bool = False
    inputs: Any = None
    """The inputs of the path before."""

    @property
    def copies(self) -> bool:
        """Is it the copy of a struct that is passed by value?"""
        return self.name == "copy_argument"


@dataclass(frozen=True, slots=True)
class Touched:
    """An object that an access of the current segment at a symbolic address has led to."""

    address: int
    size: int


@dataclass(frozen=True, slots=True)
class Forced:
    """The path went on with the inputs for which this instruction does not fail."""

    unit: Unit
    block: int
    position: int
    address: Any
    stack: Stack


@dataclass(frozen=True, slots=True)
class Failed:
    """The path ends at this instruction."""

    unit: Unit
    block: int
    position: int
    address: Any


@dataclass(frozen=True, slots=True)
class Exited:
    """The program ends itself here; handlers may run behind it."""

    stack: Stack


@dataclass(frozen=True, slots=True)
class Lost:
    """Some inputs go no further from here, without a path that ends."""

    stack: Stack


class Jumped:
    """A `longjmp`."""

    __slots__ = ()


JUMPED = Jumped()


class Tape:
    """The items of the running path since it forked last, and the segments of the program."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        """Its identity never changes: translated code appends to it."""
        self.append = self.items.append
        self.segments: list[Segment] = []
        self._by_key: dict[tuple[str, int, int, int], Segment] = {}
        self.sites: dict[int, AllocationSite] = {}
        """Number of an object that is no alloca's -> where it was made, on any path."""
        self.call: ModelCall | None = None
        """The call of a model that runs now."""

    def ends_segment(self, unit: Unit, instruction: Instruction) -> bool:
        return instruction.is_terminator or kind_of(unit.program, instruction) != PLAIN

    def segment(self, unit: Unit, block: int, start: int, end: int) -> Segment:
        key = (unit.name, block, start, end)
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = Segment(unit, block, start, end, len(self.segments))
            self.segments.append(found)
        return found

    def text(self, unit: Unit, block: int, start: int, end: int) -> str:
        """The line of translated code that writes a segment."""
        segment = self.segment(unit, block, start, end)
        if not segment.addresses:
            return f"T({segment.number})"
        return f"T(({segment.number}, {', '.join(f'v{index}' for index in segment.addresses)}))"

    def part(self, unit: Unit, block: int, position: int, values: dict[str, Any]) -> Part | None:
        """The segment that leads to an instruction, if translated code stands there; None if all of the
        segment is on the tape already."""
        instructions = unit.plan.blocks[block].instructions
        if self.ends_segment(unit, instructions[position]):
            return None
        start = position
        while start and not self.ends_segment(unit, instructions[start - 1]):
            start -= 1
        segment = Segment(unit, block, start, position, -1)
        segment.kind = PLAIN
        return Part(segment, (-1, *(values.get(f"v{index}") for index in segment.addresses)))

    def failure(self, where: Where) -> Failed:
        return Failed(where.unit, where.block, where.position, address_at(where))


def address_at(where: Where) -> Any:
    """The address that the instruction at a location accesses, if it does."""
    instruction = where.unit.plan.blocks[where.block].instructions[where.position]
    if instruction.opcode not in ACCESSES:
        return None
    pointer = address_operand(instruction)
    if isinstance(pointer, Local):
        return where.values.get(f"v{where.unit.plan.index_of(pointer)}")
    return where.unit.program.namespace.layout.value(pointer)
