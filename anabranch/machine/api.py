"""What models of C functions ask of the machine; see `anabranch.environment.api` for the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import immutables

from anabranch import expr
from anabranch.expr import Expr, byte_parts
from anabranch.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type
from anabranch.machine import blocks, location
from anabranch.machine.ends import AT_EXIT, Exit, Fault, LongJump, Loss, ProgramError, Silent
from anabranch.machine.extents import SizeExtent, StringExtent, size_of
from anabranch.machine.objects import AllocationSite, ObjectInfo
from anabranch.machine.path import NAMES, CType, Input
from anabranch.machine.sparse import SPARSE_SIZE
from anabranch.machine.state import Continuation
from anabranch.machine.undefined import defined

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
NO_NAMES: immutables.Map[str, int] = immutables.Map()


def scalar_parts(type: Type | None, size: int) -> list[int]:
    """Sizes of the scalars that `size` bytes of a type consist of; single bytes where nothing is known."""
    parts: list[int] = []

    def walk(type: Type) -> None:
        if isinstance(type, IntType | PointerType | FloatType) and type.size in (2, 4, 8):
            parts.append(type.size)
        elif isinstance(type, ArrayType):
            if isinstance(type.element, IntType) and type.element.width == 8:
                parts.extend([1] * type.count)
            else:
                for _ in range(type.count):
                    walk(type.element)
        elif isinstance(type, StructType) and type.fields is not None:
            start = sum(parts)
            for field, offset in zip(type.fields, type.offsets, strict=True):
                parts.extend([1] * (start + offset - sum(parts)))
                walk(field)
            parts.extend([1] * (start + type.size - sum(parts)))
        else:
            parts.extend([1] * type.size)

    if type is not None and type.size == size and size <= 4096:
        walk(type)
    return parts if sum(parts) == size else [1] * size


def _on_heap(info: ObjectInfo) -> bool:
    return info.site.kind == "heap"


def _pointed(pointer: Value, info: ObjectInfo | None) -> dict[str, object]:
    """What an error says of a pointer, and of the object that it leads to if that is known."""
    details: dict[str, object] = {"address": pointer}
    if info is not None:
        details["object"] = info.describe()
    return details


def _wrong_free(pointer: Value, info: ObjectInfo | None) -> Fault:
    """The error of a pointer to free that is the start of no live heap object."""
    details = _pointed(pointer, info)
    if info is not None and info.end:
        return Fault("double-free", "memory error: double free", details)
    return Fault("invalid-free", "memory error: invalid free", details)


class ModelApi:
    """The machine as models see it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory
        self.path = machine.path
        self.load = machine.memory.load
        self.store = machine.memory.store
        self.bounds = machine.bounds
        self.pick = machine.pick
        self.warn = machine.warn
        self.calls = 0
        """How many calls of models there were."""
        self._sites: dict[tuple[Any, ...], AllocationSite] = {}

    # ---- deciding ------------------------------------------------------------------------------------

    def decide(self, cond: Value) -> bool:
        return bool(cond)

    def defined(self, value: Value, what: str) -> Value:
        return defined(self.machine, value, what)

    def sample(self, value: Value, width: int, why: str = "") -> int:
        return self.machine.sample(value, width)

    def size(self, value: Value, width: int, what: str, unit: int = 1) -> int:
        return self.machine.choices.size(value, width, what, unit)

    def are_few(self, value: Value) -> bool:
        return value.__class__ is not Expr or self.machine.choices.are_few(value)

    def room(self, length: Expr, reads: Sequence[Value], writes: Sequence[Value]) -> int:
        blocks = [(addr, False) for addr in reads if addr.__class__ is not Expr]
        blocks += [(addr, True) for addr in writes if addr.__class__ is not Expr]
        return self.machine.lengths.room(length, blocks)

    def conditional(self, length: Value, room: int, to: int, source: int | None = None) -> int | None:
        return self.machine.lengths.conditional(length, room, to, source)

    def overwrite(self, addr: int, data: Sequence[Value]) -> None:
        self.memory.overwrite(addr, data)

    def write_up_to(self, addr: int, length: Expr, data: Sequence[Value]) -> None:
        self.machine.lengths.write(addr, data, length)

    def capacity(self, size: Expr, what: str) -> tuple[int, Expr | None]:
        return self.machine.extents.capacity_of(size, what)

    def contents(self, addr: int, n: int) -> Sequence[Value]:
        return self.memory.contents(addr, n)

    # ---- memory --------------------------------------------------------------------------------------

    def _known(self, address: Value, why: str) -> int:
        if address.__class__ is Expr:
            return self.pick(address, 64, why)
        return int(address)

    def read_bytes(self, addr: Value, n: int) -> Sequence[Value]:
        if addr.__class__ is Expr:
            return self.machine.addresses.read_bytes(addr, n) if n else []
        return self.memory.read_bytes(addr, n) if n else []

    def write_bytes(self, addr: Value, data: Sequence[Value]) -> None:
        if not len(data):
            return
        if addr.__class__ is Expr:
            self.machine.addresses.write_bytes(addr, data)
        else:
            self.memory.write_bytes(addr, data)

    def read_cstring(self, addr: Value) -> bytes:
        text = bytearray()
        address = self._known(addr, "address of a string")
        while True:
            byte = self.load(address, 1)
            if byte.__class__ is Expr:
                byte = self.pick(byte, 8, "byte of a string")
            if byte == 0:
                return bytes(text)
            text.append(byte)
            address += 1

    def concrete_bytes(self, addr: int, n: int) -> bytes | None:
        info, end = self.memory.find(addr >> 32), (addr & 0xFFFFFFFF) + n
        if info is None or info.end or end > info.size:
            return None
        if info.extent is not None and end > self.machine.extents.certain(info):
            return None
        return self.memory.concrete_bytes(addr, n)

    def span(self, addr: int, write: bool = False) -> int:
        info, offset = self.object_of(addr)
        if offset >= info.size:
            self.memory.check_access(addr, 1, write)
        return info.size - offset

    def lookahead(self, addr: int, up_to_nul: bool) -> int:
        room = self.span(addr)
        info = self.memory.find(addr >> 32)
        if info is None or info.extent is None:
            return room
        extents = self.machine.extents
        certain = extents.certain(info) - (addr & 0xFFFFFFFF)
        # A string that begins where the object may have ended already is read byte by byte.
        return room if up_to_nul and certain > 0 and extents.ends_at_nul(info) else max(0, certain)

    def peek(self, addr: int, n: int) -> bytes | list[Value]:
        data = self.memory.contents(addr, n)
        try:
            return bytes(data)
        except TypeError:
            return data

    def view(
        self, addr: Value, reach: int, most: int
    ) -> tuple[int, Value, int, Sequence[Value], Sequence[Value]] | None:
        if addr.__class__ is Expr:
            found = self.machine.addresses.view(addr, reach, most)
        else:
            info, offset = self.memory.find(addr >> 32), addr & 0xFFFFFFFF
            if info is None or info.end or offset >= info.size:
                return None
            found = addr, 0, 1, self.memory.contents(addr, min(reach, info.size - offset))
        if found is None:
            return None
        start, position, positions, data = found
        info, offset = self.memory.find(start >> 32), start & 0xFFFFFFFF
        if info is None or info.extent is None:
            return start, position, positions, data, ()
        missing = self.machine.extents.missing
        return start, position, positions, data, [missing(info, offset + i + 1) for i in range(len(data))]

    def end_at_nul(self, addr: int) -> None:
        info, offset = self.object_of(addr)
        assert offset == 0
        self.memory.limit(addr, StringExtent(tuple(self.memory.contents(addr, info.size))))

    def object_of(self, addr: Value) -> tuple[ObjectInfo, int]:
        address = self._known(addr, "pointer to an object")
        info = self.memory.find(address >> 32)
        if info is None or info.end:
            self.memory.bad_access(address, 1, False)
        return info, address & 0xFFFFFFFF

    def copy(self, to: Value, source: Value, n: int) -> None:
        if n > SPARSE_SIZE and to.__class__ is int and source.__class__ is int:
            blocks.copy(self.memory, to, source, n)
            return
        known = self.concrete_bytes(source, n) if source.__class__ is int else None
        self.write_bytes(to, self.read_bytes(source, n) if known is None else known)

    def fill(self, addr: Value, byte: Value, n: int) -> None:
        if addr.__class__ is Expr:
            self.write_bytes(addr, blocks.repeated(byte, n))
        elif n:
            blocks.fill(self.memory, addr, byte, n)

    def allocate(
        self, size: int, kind: str, what: str, zero: bool = False, extent: Expr | None = None
    ) -> int:
        where = self.machine.where()
        key = (kind, what, where.key if where is not None else None)
        site = self._sites.get(key)
        if site is None:
            loc = where.text() if where is not None else ""
            site = self._sites[key] = self.machine.numbers.new_site(
                kind, what, None, loc, ("heap", *where.key) if where is not None else None
            )
        address = self.memory.allocate(site, size, zero=zero)
        if extent is not None:
            self.machine.extents.limit(address, extent)
        return address

    def free(self, addr: Value) -> None:
        self.memory.release(self.machine.starts.resolve(addr, _on_heap, _wrong_free), "freed")

    def heap_object(self, addr: Value) -> ObjectInfo:
        return self.machine.starts.resolve(addr, _on_heap, _wrong_free)

    def whole_object(self, addr: Value, message: str) -> tuple[int, ObjectInfo]:
        def wrong(pointer: Value, info: ObjectInfo | None) -> Fault:
            if pointer.__class__ is int and (info is None or info.end):
                fault = self.memory.fault_of(pointer, 1, write=False)
                if fault is not None:
                    return fault
            return Fault("invalid-pointer", message, _pointed(pointer, info))

        info = self.machine.starts.resolve(addr, lambda info: True, wrong)
        return info.base, info

    def release(self, addr: int) -> None:
        info, offset = self.object_of(addr)
        assert offset == 0
        self.memory.release(info, "freed")

    def static(self, name: str, contents: bytes) -> int:
        known = self.path.notes.get(("static", name))
        if known is not None:
            return int(known)
        site = self._sites.get(("static", name))
        if site is None:
            site = self._sites["static", name] = self.machine.numbers.new_site(
                "global", name, origin=("static", name)
            )
        address = self.memory.allocate(site, len(contents), contents)
        self.path.notes = self.path.notes.set(("static", name), address)
        return address

    # ---- inputs and assumptions ----------------------------------------------------------------------

    def _unique(self, name: str) -> str:
        path = self.path
        names = path.notes.get(NAMES, NO_NAMES)
        stem = name
        while count := names.get(stem, 0):
            names = names.set(stem, count + 1)
            stem = f"{stem}_{count}"
        path.notes = path.notes.set(NAMES, names.set(stem, 1))
        return stem

    def make_symbolic(self, addr: int, size: int, name: str) -> None:
        info = self.memory.find(addr >> 32)
        if info is None or not isinstance(info.extent, SizeExtent):
            info = self.memory.check_access(addr, size, write=True)
        stem, name = name, self._unique(name)
        parts = scalar_parts(info.site.type if info.size == size else None, size)
        variables, offset = [], 0
        for part in parts:
            label = name if part == size else f"{name}[{offset}]"
            variables.append(expr.var(label, 8 * part))
            offset += part
        data: list[Value] = []
        for variable in variables:
            data += (variable,) if variable.w == 8 else byte_parts(variable)
        self.memory.overwrite(addr, data)
        self._record(Input(name, size_of(info) if size == info.size else size, tuple(variables), stem=stem))

    def fresh(self, name: str, width: int, type: CType | None = None) -> Expr:
        stem, name = name, self._unique(name)
        variable = expr.var(name, width)
        self._record(Input(name, width // 8, (variable,), stem, type))
        return variable

    def fresh_fields(self, name: str, widths: Sequence[int], size: Expr | None = None) -> tuple[Expr, ...]:
        stem, name = name, self._unique(name)
        variables, offset = [], 0
        for width in widths:
            variables.append(expr.var(f"{name}[{offset}]", width))
            offset += width // 8
        self._record(Input(name, offset if size is None else size, tuple(variables), stem=stem))
        return tuple(variables)

    def add_input(self, item: Input) -> None:
        """Record an input whose variables the caller has made."""
        self._record(item)

    def unique(self, name: str) -> str:
        """A name that nothing on this path has had."""
        return self._unique(name)

    def mark(self, name: str) -> None:
        """Keep a name on this path, which makes it no other path to any technique."""
        names = self.path.notes.get(NAMES, NO_NAMES)
        if name not in names:
            self.path.notes = self.path.notes.set(NAMES, names.set(name, 1))

    def _record(self, item: Input) -> None:
        path = self.path
        path.inputs = (item, path.inputs)
        for variable in item.variables:
            path.slices[variable.a] = path.space.root(variable.a)

    def assume(self, cond: Value) -> bool:
        return self.machine.assume(cond)

    def lead_with(self, cond: Value) -> None:
        self.path.lead_with(cond)

    def prefer(self, cond: Value) -> None:
        if cond.__class__ is Expr:
            wanted = self.path.notes.get("prefer", ())
            self.path.notes = self.path.notes.set("prefer", (*wanted, cond))

    # ---- ends of the path ----------------------------------------------------------------------------

    def error(self, kind: str, message: str, **info: object) -> NoReturn:
        raise ProgramError(Fault(kind, message, info))

    def user_error(self, message: str, **info: object) -> NoReturn:
        raise ProgramError(Fault("user", message, info))

    def unsupported(self, what: str) -> NoReturn:
        raise Loss("unsupported", what)

    def silent_exit(self, reason: str) -> NoReturn:
        raise Silent(reason)

    def exit(self, code: Value, handlers: str | None = AT_EXIT) -> NoReturn:
        status = self.defined(code, "exit status")
        if handlers != AT_EXIT:
            self.path.notes = self.path.notes.set(AT_EXIT, self.path.notes.get(handlers, ()))
        raise Exit(status)

    def at_exit(self, function: Value, arguments: Sequence[Value] = (), handlers: str = AT_EXIT) -> None:
        address = self._known(function, "function to run at the end")
        pending = self.path.notes.get(handlers, ())
        self.path.notes = self.path.notes.set(handlers, (*pending, (address, *arguments)))

    # ---- output and messages -------------------------------------------------------------------------

    def emit(self, items: Sequence[Any], stream: int = 1) -> None:
        for item in items:
            self.path.output = ((stream, item), self.path.output)

    def fixed_answer(self, asked: str, answer: str) -> None:
        self.machine.fixed_answer(asked, answer)

    def lose(self, what: str) -> None:
        self.machine.lose(what)

    # ---- notes ---------------------------------------------------------------------------------------

    def note(self, key: object, default: object) -> Any:
        return self.path.notes.get(key, default)

    def set_note(self, key: object, value: object) -> None:
        self.path.notes = self.path.notes.set(key, value)

    # ---- control -------------------------------------------------------------------------------------

    def stack_trace(self) -> str:
        where = self.machine.where()
        if where is None:
            return ""
        return "\n".join(f"{f.function} at {f.file}:{f.line}" for f in location.stack(where))

    def set_forking(self, enabled: bool) -> None:
        self.machine.decider.restricted = True
        self.path.notes = self.path.notes.set("forking off", not enabled)

    def merge_region(self, opens: bool) -> None:
        """Regions to merge by hand; without anybody who listens they mean nothing."""
        for hear in self.machine.events.region:
            hear(opens)

    def setjmp(self, buffer: Value) -> Value:
        raise Loss("unsupported", "call of setjmp through a pointer")

    def longjmp(self, buffer: Value, value: Value) -> NoReturn:
        address = self._known(buffer, "jump buffer")
        continuation: Continuation | None
        continuation, kept = self.path.notes.get(("jump", address), (None, frozenset()))
        where = self.machine.where()
        live = where.continuation if where is not None else None
        while live is not None and continuation is not None and live is not continuation[0]:
            live = live[0]
        if continuation is None or live is None:
            raise ProgramError(Fault("bad-call", "longjmp to a setjmp that is not live", {"buffer": address}))
        left = self.memory.stack_numbers() - kept
        self.memory.release_stack(tuple(number << 32 for number in left))
        raise LongJump(continuation, expr.ite(expr.eq(value, 0, 32), 1, value, 32))
