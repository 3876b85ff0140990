"""The relevant locations at a point of a path, with what is pending of the relevant control set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from anabranch.machine.tape import Touched
from anabranch.reduce.redundancy.facts import (
    PAGE_BITS,
    PAGE_SIZE,
    FunctionFacts,
    Places,
    ProgramFacts,
)

MOST_TOUCHED = 1 << 14  # bytes of an object at a symbolic address, beyond which nothing is known

Part: TypeAlias = tuple[str, Any]
"""A location that is no memory: `("object", number)` is whether an object is alive, and its size; others are
kinds of what models keep, and which one of the kind."""


class Frame:
    """What is relevant of one activation."""

    __slots__ = ("matters", "needed", "registers")

    def __init__(self, registers: int = 0, needed: int = 0, matters: bool = False) -> None:
        self.registers = registers
        """Mask of the registers whose values are relevant."""
        self.needed = needed
        """Mask of blocks: of the branches passed next going backwards, those that decide about one of these
        are relevant."""
        self.matters = matters
        """Has anything in this activation, or called from it, been relevant? Then so is its call."""

    def copy(self) -> Frame:
        return Frame(self.registers, self.needed, self.matters)

    def join(self, other: Frame) -> None:
        self.registers |= other.registers
        self.needed |= other.needed
        self.matters = self.matters or other.matters


class Live:
    """Relevant locations. The frames are aligned at the innermost, which comes last; those that are missing
    have nothing relevant."""

    __slots__ = (
        "entered",
        "frames",
        "halts",
        "objects",
        "pages",
        "parts",
        "program",
        "top",
        "wanted",
        "work",
    )

    def __init__(self, program: ProgramFacts) -> None:
        self.program = program
        self.frames: list[Frame] = []
        self.pages: dict[int, int] = {}
        """Number of a page -> mask of its bytes."""
        self.parts: set[Part] = set()
        self.objects = 0
        """A superset of the static objects that pages and parts belong to."""
        self.entered: tuple[FunctionFacts, Frame] | None = None
        """A call that was left backwards through its beginning."""
        self.wanted = False
        """Is the result of the call that comes next, going backwards, relevant?"""
        self.halts = False
        """Is it relevant whether the path gets to the point that comes next?"""
        self.top = False
        """Everything may be relevant."""
        self.work = 0
        """What all paths from here would take if none were dropped, in units of the ledger."""

    def copy(self) -> Live:
        made = Live(self.program)
        made.frames = [frame.copy() for frame in self.frames]
        made.pages = dict(self.pages)
        made.parts = set(self.parts)
        made.objects = self.objects
        made.entered = None if self.entered is None else (self.entered[0], self.entered[1].copy())
        made.wanted, made.halts, made.top = self.wanted, self.halts, self.top
        made.work = self.work
        return made

    def join(self, other: Live) -> None:
        """Add what is relevant at the same point of another path."""
        mine, others = self.frames, other.frames
        if len(others) > len(mine):
            mine[:0] = [Frame() for _ in range(len(others) - len(mine))]
        for position in range(1, len(others) + 1):
            mine[-position].join(others[-position])
        for page, mask in other.pages.items():
            self.pages[page] = self.pages.get(page, 0) | mask
        self.parts |= other.parts
        self.objects |= other.objects
        if other.entered is not None:
            if self.entered is None:
                self.entered = (other.entered[0], other.entered[1].copy())
            else:
                self.entered[1].join(other.entered[1])
        self.wanted = self.wanted or other.wanted
        self.halts = self.halts or other.halts
        self.top = self.top or other.top
        self.work += other.work

    @property
    def frame(self) -> Frame:
        """The innermost frame."""
        if not self.frames:
            self.frames.append(Frame())
        return self.frames[-1]

    # ---- memory --------------------------------------------------------------------------------------

    def add(self, address: Any, size: int, touched: Sequence[Touched] = ()) -> None:
        """Some bytes are relevant; at a symbolic address, all of the objects that the access has touched."""
        if address.__class__ is not int:
            if not touched:
                self.top = True
            for item in touched:
                if item.size > MOST_TOUCHED:
                    self.top = True
                else:
                    self.add(item.address, item.size)
            return
        pages, constant = self.pages, self.program.constant_pages
        page, offset = address >> PAGE_BITS, address & PAGE_SIZE - 1
        while size > 0:
            count = min(size, PAGE_SIZE - offset)
            bits = (1 << count) - 1 << offset
            known = pages.get(page)
            if known is not None:
                pages[page] = known | bits
            elif page not in constant:
                pages[page] = bits
                self.objects |= self.program.mask(address >> 32)
            size -= count
            page, offset = page + 1, 0

    def written(self, address: Any, size: int, touched: Sequence[Touched] = ()) -> bool:
        """Is one of these bytes relevant? They have been overwritten here, and are not before."""
        pages = self.pages
        if address.__class__ is not int:
            if not touched:
                self.top = True
            for item in touched:
                first = item.address >> PAGE_BITS
                last = item.address + max(1, item.size) - 1 >> PAGE_BITS
                if last - first > len(pages):
                    found = any(first <= page <= last for page in pages)
                else:
                    found = any(page in pages for page in range(first, last + 1))
                if found:
                    return True
            return False
        hit = False
        page, offset = address >> PAGE_BITS, address & PAGE_SIZE - 1
        while size > 0:
            count = min(size, PAGE_SIZE - offset)
            known = pages.get(page)
            if known is not None:
                bits = (1 << count) - 1 << offset
                if known & bits:
                    hit = True
                    known &= ~bits
                    if known:
                        pages[page] = known
                    else:
                        del pages[page]
            size -= count
            page, offset = page + 1, 0
        return hit

    def meets(self, places: Places) -> bool:
        """Is one of these bytes relevant?"""
        pages = self.pages
        return any(pages.get(page, 0) & mask for page, mask in places)

    # ---- parts ---------------------------------------------------------------------------------------

    def add_part(self, part: Part) -> None:
        if part not in self.parts:
            self.parts.add(part)
            self.objects |= self.program.mask_of_part(part)

    def add_object(self, address: Any, touched: Sequence[Touched] = ()) -> None:
        """It matters which object there is at an address, and whether there is one."""
        if address.__class__ is not int:
            for item in touched:
                self.add_part(("object", item.address >> 32))
            return
        number = address >> 32
        self.add_part(("object", number))
        if address & 1 << 31:  # just below the next object
            self.add_part(("object", number + 1))

    def settle_objects(self) -> None:
        """Forget the static objects of which nothing is relevant any more."""
        program, mask = self.program, 0
        for number in {page >> 24 for page in self.pages}:
            mask |= program.mask(number)
        for part in self.parts:
            mask |= program.mask_of_part(part)
        self.objects = mask

    def drop_pages(self, there: Iterable[int]) -> None:
        """Forget pages that are not there: their objects were made later."""
        self.pages = {page: self.pages[page] for page in there if page in self.pages}
