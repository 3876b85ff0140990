"""A small machine for the models: objects are lists of byte values.

Decisions follow one assignment of the inputs: a condition is evaluated under it and recorded. So a model
can be run with symbolic data and compared with what it does on the concrete data of that assignment, and
the sequences of decisions over all assignments are the paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from anabranch.environment import MODELS, Item, Value, render
from anabranch.expr import Expr, concat, evaluate, expr_vars, extract, sub, ugt, undefined, var
from anabranch.machine.ends import AT_EXIT
from anabranch.machine.path import CType


class Ended(Exception):
    """The end of the path."""

    def __init__(self, how: str, what: object = "", **info: object) -> None:
        super().__init__(how, what)
        self.how = how
        self.what = what
        self.info = info


@dataclass
class Site:
    kind: str


@dataclass
class Info:
    data: list[Value]
    site: Site
    readonly: bool = False
    freed: bool = False
    extent: None = None
    base: int = 0

    @property
    def size(self) -> int:
        return len(self.data)


class FakeMachine:
    def __init__(self, inputs: Mapping[int, int] | None = None) -> None:
        self.inputs = dict(inputs or {})
        self.objects: dict[int, Info] = {}
        self.statics: dict[str, int] = {}
        self.decisions: list[tuple[Expr, bool]] = []
        self.assumed: list[Expr] = []
        self.preferred: list[Any] = []
        self.records: list[tuple[str, int]] = []
        self.next_values: list[int] = []
        self.output: dict[int, list[Item]] = {1: [], 2: []}
        self.warnings: list[str] = []
        self.answers: dict[str, str] = {}
        self.handlers: list[tuple[Value, ...]] = []
        self.regions: list[bool] = []
        self.forking = True
        self.acted = False
        self.notes: dict[object, Any] = {}
        self.lost: list[str] = []

    # --- set-up

    def call(self, name: str, *args: Value) -> Any:
        self.acted = False
        model = MODELS[name]
        assert model.accepts(len(args)), name
        return model.function(self, *args)

    def place(self, data: Sequence[Value], kind: str = "global", readonly: bool = False) -> int:
        number = len(self.objects) + 1
        self.objects[number] = Info(list(data), Site(kind), readonly, base=number << 32)
        return number << 32

    def value(self, value: Any) -> Any:
        return evaluate(value, self.inputs) if isinstance(value, Expr) else value

    def bytes_at(self, addr: int, n: int) -> bytes:
        return bytes(self.value(b) for b in self.read_bytes(addr, n))

    def text_at(self, addr: int) -> bytes:
        info, offset = self.object_of(addr)
        data = bytes(self.value(b) for b in info.data[offset:])
        return data[: data.index(0)]

    def printed(self, stream: int = 1) -> bytes:
        return render(self.output[stream], self.value)

    def errno(self) -> int:
        return int(self.value(self.load(self.static("errno", bytes(4)), 4)))

    # --- the interface of models

    def decide(self, cond: Any) -> bool:
        if not isinstance(cond, Expr):
            return bool(cond)
        assert not self.acted, "a decision after an action"
        answer = bool(evaluate(cond, self.inputs))
        self.decisions.append((cond, answer))
        return answer

    def pick(self, value: Value, width: int, why: str) -> int:
        assert not (self.acted and isinstance(value, Expr)), "a decision after an action"
        return int(self.value(value))

    def size(self, value: Value, width: int, what: str, unit: int = 1) -> int:
        return self.pick(value, width, what)

    def are_few(self, value: Value) -> bool:
        return True

    def conditional(self, length: Value, room: int, to: int, source: int | None = None) -> int | None:
        return None

    def room(self, length: Expr, reads: Sequence[Value], writes: Sequence[Value]) -> int:
        """As the machine's, but a block that does not fit is a decision, as everything else here is."""
        ends = [(self.span(a), False, a) for a in reads if not isinstance(a, Expr)]
        ends += [(self.span(a, write=True), True, a) for a in writes if not isinstance(a, Expr)]
        if not ends:
            return (1 << 64) - 1
        room, is_write, addr = min(ends)
        if self.decide(ugt(length, room, 64)):
            self.store(addr + room, 1, 0) if is_write else self.load(addr + room, 1)
        return room

    def capacity(self, size: Expr, what: str) -> tuple[int, Expr | None]:
        return self.pick(size, 64, what), None

    def overwrite(self, addr: int, data: Sequence[Value]) -> None:
        self.write_bytes(addr, data)

    def contents(self, addr: int, n: int) -> Sequence[Value]:
        return self.read_bytes(addr, n)

    def defined(self, value: Value, what: str) -> Value:
        return value

    def sample(self, value: Value, width: int, why: str) -> int:
        return int(self.value(value))

    def bounds(self, value: Value, width: int) -> tuple[int, int]:
        return 0, (1 << width) - 1

    def load(self, addr: Value, nbytes: int) -> Value:
        data = self.read_bytes(addr, nbytes)
        if any(isinstance(b, Expr) for b in data):
            value, bits = data[0], 8
            for byte in data[1:]:
                value = concat(byte, 8, value, bits)
                bits += 8
            return value
        return int.from_bytes(bytes(data), "little")

    def store(self, addr: Value, nbytes: int, value: Value) -> None:
        if isinstance(value, Expr):
            assert value.w == 8 * nbytes
            self.write_bytes(addr, [extract(value, 8 * i, 8, value.w) for i in range(nbytes)])
        else:
            self.write_bytes(addr, value.to_bytes(nbytes, "little"))

    def read_bytes(self, addr: Value, n: int) -> list[Value]:
        info, offset = self._access(addr, n)
        return info.data[offset : offset + n]

    def write_bytes(self, addr: Value, data: Sequence[Value]) -> None:
        info, offset = self._access(addr, len(data))
        if info.readonly:
            raise Ended("readonly", addr)
        assert all(isinstance(b, Expr) or 0 <= b < 256 for b in data)
        info.data[offset : offset + len(data)] = list(data)
        self.acted = True

    def _access(self, addr: Value, n: int) -> tuple[Info, int]:
        where = int(self.value(addr))
        info, offset = self.object_of(where)
        if offset + n > info.size:
            raise Ended("ptr", where + n - 1 if offset < info.size else where)
        return info, offset

    def read_cstring(self, addr: Value) -> bytes:
        info, offset = self.object_of(addr)
        data = bytearray()
        for byte in info.data[offset:]:
            if self.value(byte) == 0:
                return bytes(data)
            data.append(self.value(byte))
        raise Ended("ptr", addr)

    def concrete_bytes(self, addr: int, n: int) -> bytes | None:
        info = self.objects.get(addr >> 32)
        if info is None or info.freed or (addr & 0xFFFFFFFF) + n > info.size:
            return None
        data = self.read_bytes(addr, n)
        return None if any(isinstance(b, Expr) for b in data) else bytes(data)

    def span(self, addr: int, write: bool = False) -> int:
        info, offset = self.object_of(addr)
        return info.size - offset

    def lookahead(self, addr: int, up_to_nul: bool) -> int:
        return self.span(addr)

    def peek(self, addr: int, n: int) -> bytes | list[Value]:
        known = self.concrete_bytes(addr, n)
        return self.read_bytes(addr, n) if known is None else known

    def end_at_nul(self, addr: int) -> None:
        """Objects of this machine are as large as they are."""

    def view(
        self, addr: Value, reach: int, most: int
    ) -> tuple[int, Value, int, list[Value], tuple[Value, ...]] | None:
        where = int(self.value(addr))
        info = self.objects.get(where >> 32)
        if info is None or info.freed or where & 0xFFFFFFFF >= info.size:
            return None
        if not isinstance(addr, Expr):
            return where, 0, 1, info.data[where & 0xFFFFFFFF :][:reach], ()
        start = where >> 32 << 32
        return start, sub(addr, start, 64), info.size, list(info.data), ()

    def object_of(self, addr: Value) -> tuple[Info, int]:
        where = int(self.value(addr))
        info = self.objects.get(where >> 32)
        if info is None or info.freed or where & 0xFFFFFFFF > info.size:
            raise Ended("ptr", where)
        return info, where & 0xFFFFFFFF

    def copy(self, to: Value, source: Value, n: int) -> None:
        self.write_bytes(to, self.read_bytes(source, n))

    def fill(self, addr: Value, byte: Value, n: int) -> None:
        self.write_bytes(addr, [byte] * n)

    def allocate(
        self, size: int, kind: str, what: str, zero: bool = False, extent: Expr | None = None
    ) -> int:
        addr = self.place([0 if zero else undefined(8)] * size, kind)
        self.acted = True
        return addr

    def free(self, addr: Value) -> None:
        info = self.objects.get(int(self.value(addr)) >> 32)
        if info is None or info.freed or info.site.kind != "heap" or int(self.value(addr)) & 0xFFFFFFFF:
            raise Ended("free", addr)
        info.freed = True
        self.acted = True

    def heap_object(self, addr: Value) -> Info:
        where = int(self.value(addr))
        info = self.objects.get(where >> 32)
        if info is None or info.freed or info.site.kind != "heap" or where & 0xFFFFFFFF:
            raise Ended("free", addr)
        return info

    def whole_object(self, addr: Value, message: str) -> tuple[int, Info]:
        where = int(self.value(addr))
        info, offset = self.object_of(where)
        if offset:
            raise Ended("ptr", message)
        return where, info

    def release(self, addr: int) -> None:
        self.objects[addr >> 32].freed = True
        self.acted = True

    def static(self, name: str, contents: bytes) -> int:
        if name not in self.statics:
            self.statics[name] = self.place(contents)
        return self.statics[name]

    def make_symbolic(self, addr: int, size: int, name: str) -> None:
        self.records.append((name, size))
        self.write_bytes(addr, [self._variable(name, 8) for _ in range(size)])

    def fresh(self, name: str, width: int, type: CType | None = None) -> Expr:
        self.records.append((name, width // 8))
        self.acted = True
        return self._variable(name, width)

    def fresh_fields(self, name: str, widths: Sequence[int], size: Expr | None = None) -> tuple[Expr, ...]:
        self.records.append((name, sum(widths) // 8))
        self.acted = True
        return tuple(var(f"{name}[{i}]", width) for i, width in enumerate(widths))

    def _variable(self, name: str, width: int) -> Expr:
        variable = var(f"{name}.{len(self.records)}.{len(self.inputs)}", width)
        if self.next_values:
            self.inputs[index_of(variable)] = self.next_values.pop(0)
        return variable

    def assume(self, cond: Any) -> bool:
        if isinstance(cond, Expr):
            self.assumed.append(cond)
        return bool(self.value(cond))

    def prefer(self, cond: Any) -> None:
        self.preferred.append(cond)

    def error(self, kind: str, message: str, **info: object) -> NoReturn:
        raise Ended(kind, message, **info)

    def user_error(self, message: str, **info: object) -> NoReturn:
        raise Ended("user", message)

    def unsupported(self, what: str) -> NoReturn:
        raise Ended("unsupported", what)

    def silent_exit(self, reason: str) -> NoReturn:
        raise Ended("silent", reason)

    def exit(self, code: Value, handlers: str | None = AT_EXIT) -> NoReturn:
        raise Ended("exit", code, handlers=handlers)

    def at_exit(self, function: Value, arguments: Sequence[Value] = (), handlers: str = AT_EXIT) -> None:
        self.handlers.append((function, *arguments))

    def emit(self, items: Sequence[Item], stream: int = 1) -> None:
        self.output[stream].extend(items)
        self.acted = True

    def fixed_answer(self, asked: str, answer: str) -> None:
        self.answers[asked] = answer

    def warn(self, text: str, once: bool = True) -> None:
        if not (once and text in self.warnings):
            self.warnings.append(text)

    def lose(self, what: str) -> None:
        self.lost.append(what)

    def note(self, key: object, default: object) -> Any:
        return self.notes.get(key, default)

    def set_note(self, key: object, value: object) -> None:
        self.notes[key] = value
        self.acted = True

    def stack_trace(self) -> str:
        return "#0 in main"

    def set_forking(self, enabled: bool) -> None:
        self.forking = enabled

    def merge_region(self, opens: bool) -> None:
        self.regions.append(opens)

    def setjmp(self, buffer: Value) -> Value:
        return 0

    def longjmp(self, buffer: Value, value: Value) -> NoReturn:
        raise Ended("longjmp", value)


def symbols(m: FakeMachine, data: bytes) -> list[Value]:
    """Fresh byte inputs whose values on this path are `data`."""
    variables = []
    for byte in data:
        variable = var(f"in{len(m.inputs)}", 8)
        m.inputs[index_of(variable)] = byte
        variables.append(variable)
    return list(variables)


def ended(call: Callable[[], object]) -> Ended:
    """How a call ends the path."""
    try:
        result = call()
    except Ended as end:
        return end
    raise AssertionError(f"the call returned {result!r}")


def index_of(variable: Expr) -> int:
    """The index of an input variable."""
    return expr_vars(variable)[0]
