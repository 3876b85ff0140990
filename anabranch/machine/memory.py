"""The memory of the running path: complete loads and stores, every check made.

Fast paths of translated code use the tables of pages (`pages.py`); whatever they cannot do raises and comes
here. Objects are made and end in `object_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from anabranch.expr import Expr, join_bytes, split_value
from anabranch.ir.types import to_signed
from anabranch.machine.ends import Fault, Loss, ProgramError
from anabranch.machine.extents import SizeExtent
from anabranch.machine.object_store import ObjectStore
from anabranch.machine.objects import NEAR, OFFSET_MASK, STACK_NUMBERS, ObjectInfo, ObjectNumbers
from anabranch.machine.pages import PAGE_BITS, PAGE_MASK, PAGE_SIZE
from anabranch.semantics.addresses import MASK64

Value = Any  # int | bool | Expr

BEYOND = "limit of --buffer-size"
"""The loss of a path that needs more of an object of unknown size than was made of it."""

from_bytes = int.from_bytes


class Unsized(Protocol):
    """Objects whose size nobody knows: an access is supposed to be inside, unless the path knows better."""

    def may_be_larger(self, info: ObjectInfo) -> bool:
        """May a live object be larger than what was made of it?"""

    def ends_here(self, info: ObjectInfo, write: bool) -> bool:
        """Does the running path know that such an object ends where what was made of it ends?"""


class Memory(ObjectStore):
    """Objects and pages of the running path, and the complete (slow) way to reach them."""

    def __init__(self, numbers: ObjectNumbers) -> None:
        super().__init__(numbers)
        self.widen: Callable[[ObjectInfo], ObjectInfo] | None = None
        """Is asked before an access beyond an object, and may have made it larger."""
        self.unsized: Unsized | None = None
        """Knows the objects that may be larger than what was made of them."""
        self.require: Callable[[ObjectInfo, Value, dict[str, object]], None]
        """Checks that an object with an extent has the bytes before an offset."""
        self.symbolic_load: Callable[[Expr, int], Value]
        self.symbolic_store: Callable[[Expr, int, Value], None]

    def load(self, address: Value, size: int) -> Value:
        """`size` bytes as one value, every check made."""
        if address.__class__ is not int:
            return self.symbolic_load(address, size)
        key, offset = address >> PAGE_BITS, address & PAGE_MASK
        page = self.S.get(key)
        if page is None:
            page = self.page(key)
        end = offset + size
        if page is None or end > len(page):
            return self._load_across(address & MASK64, size)
        if page.__class__ is bytearray:
            return from_bytes(page[offset:end], "little")
        if size == 1:
            return page[offset]
        data = page[offset:end]
        if offset == 0:
            self.settle(key, page)
        try:
            return from_bytes(data, "little")
        except TypeError:
            return join_bytes(data)

    def store(self, address: Value, size: int, value: Value) -> None:
        """Write `size` bytes, every check made."""
        if address.__class__ is not int:
            self.symbolic_store(address, size, value)
            return
        key, offset = address >> PAGE_BITS, address & PAGE_MASK
        page = self.W.get(key)
        end = offset + size
        if page is None:
            page = self.page(key)
            if page is None or end > len(page) or key in self.constant_pages or key in self.shown:
                self.write_bytes(address & MASK64, split_value(value, size))
                return
            page = self.W[key] = self.S[key] = page[:]
        elif end > len(page):
            self.write_bytes(address & MASK64, split_value(value, size))
            return
        if value.__class__ is Expr:
            if page.__class__ is bytearray:
                page = self.W[key] = self.S[key] = list(page)
            page[offset:end] = split_value(value, size)
        else:
            # Address arithmetic outside of all objects may have left the range of its width.
            page[offset:end] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            if end == len(page) and page.__class__ is list:
                self.settle(key, page)

    def _load_across(self, address: int, size: int) -> Value:
        data = self.read_bytes(address, size)
        try:
            return from_bytes(data, "little")
        except TypeError:
            return join_bytes(data)

    def read_bytes(self, address: int, size: int) -> list[Value]:
        """Some bytes of one object."""
        self.check_access(address, size, write=False)
        return self.contents(address, size)

    def write_bytes(self, address: int, data: Sequence[Value]) -> None:
        """Overwrite some bytes of one object."""
        self.check_access(address, len(data), write=True)
        self.overwrite(address, data)

    def copied(self, to: Value, source: Value, size: int) -> bool:
        """Copy from one page to one that is this path's own, as most copies are; False if they are not."""
        if to.__class__ is not int or source.__class__ is not int:
            return False
        page, own = self.S.get(source >> PAGE_BITS), self.W.get(to >> PAGE_BITS)
        start, at = source & PAGE_MASK, to & PAGE_MASK
        if page is None or own is None or start + size > len(page) or at + size > len(own):
            return False
        part = page[start : start + size]
        if own.__class__ is bytearray:
            try:
                own[at : at + size] = bytes(part)
            except TypeError:
                return False
        else:
            own[at : at + size] = part
            if at + size == len(own):
                self.settle(to >> PAGE_BITS, own)
        return True

    def concrete_bytes(self, address: int, size: int) -> bytes | None:
        """The bytes if they are all known, else None; the access is checked."""
        if size <= PAGE_SIZE - (address & PAGE_MASK):
            page = self.page(address >> PAGE_BITS)
            offset = address & PAGE_MASK
            if page is not None and offset + size <= len(page):
                try:
                    return bytes(page[offset : offset + size])
                except TypeError:
                    return None
        try:
            return bytes(self.read_bytes(address, size))
        except TypeError:
            return None

    # ---- checks --------------------------------------------------------------------------------------

    def check_access(self, address: int, size: int, write: bool) -> ObjectInfo:
        """The object that holds all of an access, or the error that the access is."""
        info = self.find(address >> 32)
        if self.widen is not None and info is not None and (address & 0xFFFFFFFF) + size > info.size:
            info = self.widen(info)
        if info is None or info.end or (address & 0xFFFFFFFF) + size > info.size:
            if info is not None and address & OFFSET_MASK < NEAR:  # else it is below the next object
                self.check_supposed(info, write)
            self.bad_access(address, size, write)
        if write and info.readonly:
            raise ProgramError(
                Fault("read-only", "write to constant memory", self.access_info(address, size, write, info))
            )
        if info.extent is not None:
            end = (address & OFFSET_MASK) + size
            self.require(info, end, self.access_info(address, size, write, info))
        return info

    def check_supposed(self, info: ObjectInfo, write: bool) -> None:
        """An access is behind the end of an object: a loss if the object may be so large, else an error."""
        if self.may_be_larger(info) and self.unsized is not None and not self.unsized.ends_here(info, write):
            raise Loss(BEYOND, info.site.name)

    def may_be_larger(self, info: ObjectInfo) -> bool:
        """May an object be larger than what was made of it?"""
        return self.unsized is not None and not info.end and self.unsized.may_be_larger(info)

    def fault_of(self, address: int, size: int, write: bool) -> Fault | None:
        """The error that an access would be."""
        try:
            self.check_access(address, size, write)
        except ProgramError as error:
            return error.fault
        return None

    def access_info(
        self, address: Value, size: int, write: bool, info: ObjectInfo | None
    ) -> dict[str, object]:
        details: dict[str, object] = {
            "access": f"{'write' if write else 'read'} of {size} byte{'s' if size != 1 else ''}",
            "address": address,
        }
        if info is not None:
            details["object"] = info.describe()
            if isinstance(info.extent, SizeExtent):
                details["size of the object"] = info.extent.size
            if address.__class__ is int:
                details["offset"] = to_signed(address - info.base & MASK64, 64)
        return details

    def bad_access(self, address: int, size: int, write: bool) -> NoReturn:
        """The error of an access that no live object holds."""
        # Running below the start of an object lands at the far end of the number before it.
        number = (address + NEAR) >> 32 & 0xFFFFFFFF
        info = self.named(number)
        details = self.access_info(address, size, write, info)
        if info is not None and info.end:
            raise ProgramError(Fault("use-after-free", "memory error: use after free", details))
        if info is not None:
            raise ProgramError(Fault("out-of-bounds", "memory error: out of bound pointer", details))
        if number == 0:
            raise ProgramError(Fault("null-pointer", "memory error: null pointer dereference", details))
        if STACK_NUMBERS <= number < 2 * STACK_NUMBERS:
            site = self.numbers.local_site(number)
            if site is not None:
                details["object"] = f"{site.name}, {site.loc}" if site.loc else site.name
            raise ProgramError(
                Fault("use-after-scope", "memory error: use of a local that is out of scope", details)
            )
        raise ProgramError(Fault("wild-pointer", "memory error: wild pointer", details))
