"""A tape: what a path did, in the order in which it did it, for whoever looks at it backwards.

Translated code writes a *segment*, a stretch of a block that ends before a call that counts or with the
block: the addresses of its loads and stores if they are not constants, and its number. Values in registers
are not written: which instruction wrote a register is known from the blocks. All else is written by
`recording`.

The items of a segment are written one by one, because making a tuple of them takes longer than to write them.
Who reads a tape gets a tuple for each segment (`Tape.grouped`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

Stack: TypeAlias = tuple[tuple[Function, int, int], ...]
"""Function, block and next instruction of all frames, innermost first."""


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


def stack_of(unit: Unit, block: int, position: int, continuation: Continuation) -> Stack:
    sites = [caller[1] for caller in callers(continuation)]
    below = [(site.unit.function, site.block, site.position + 1) for site in sites]
    return ((unit.function, block, position), *below)


class Segment:
    """The instructions of a block from `start` to `end`, which is the call or terminator behind them."""

    __slots__ = ("addresses", "block", "end", "kind", "last", "number", "result", "start", "steps", "unit")

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
        """Registers that hold its addresses."""
        before = instructions[start - 1] if start else None
        called = before is not None and kind_of(unit.program, before) in (CALL, MODEL)
        self.result = before.result.index if called and before is not None and before.result else None
        """The register that holds what the call in front of it has returned."""
        self.steps: dict[int, Any] = {}
        """What whoever walks backwards has made of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """The first instructions of a segment that the path left in the middle."""

    segment: Segment
    item: tuple[Any, ...]
    """As of a whole segment: its number, and the addresses."""


@dataclass(frozen=True, slots=True)
class Interpreted:
    """An instruction that the interpreter is about to run."""

    unit: Unit
    block: int
    position: int
    address: Any


class ModelCall:
    """A call of a model or of an intrinsic function that uses memory."""

    __slots__ = (
        "after",
        "arguments",
        "before",
        "failed",
        "forced",
        "guessed",
        "inputs",
        "name",
        "objects",
        "opaque",
        "parts",
        "reads",
        "writes",
    )

    def __init__(self, name: str, arguments: tuple[Any, ...], before: Any, inputs: Any = None) -> None:
        self.name = name
        self.arguments = arguments
        self.before = before
        """The notes of the path."""
        self.after: Any = None
        self.inputs = inputs
        """The inputs of the path before."""
        self.reads: list[tuple[int, int]] = []
        """`(address, size)` of the memory that it has read."""
        self.writes: list[tuple[int, int]] = []
        self.objects: set[int] = set()
        """Numbers of objects that it has made or ended."""
        self.forced: Stack | None = None
        """Where it was, if it went on only for some of the inputs that it was called with."""
        self.guessed = False
        """Did it use a value from the model of the path condition?"""
        self.opaque = False
        """Did it do anything that is not in these fields?"""
        self.failed = False
        self.parts: Any = None
        """What whoever walks backwards has found out about it."""

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
        items = (*(f"v{register}" for register in segment.addresses), segment.number)
        return "; ".join(f"T.append({item})" for item in items)

    def grouped(self, items: Sequence[Any]) -> list[Any]:
        """The items of a tape with one for each segment: its number, or a tuple with its addresses behind."""
        segments = self.segments
        found: list[Any] = []
        end = len(items)
        while end:
            end -= 1
            item = items[end]
            if item.__class__ is int and (count := len(segments[item].addresses)):
                end -= count
                item = (item, *items[end : end + count])
            found.append(item)
        found.reverse()
        return found

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
