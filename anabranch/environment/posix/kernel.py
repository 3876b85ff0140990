"""What a system call works with: the machine, the file system and the process, all changed at its end.

A call decides, then writes memory and output, and leaves the new file system in `k.fs`; the dispatcher keeps
it when the call has returned. Nothing is kept of the file system when a call fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import immutables

from anabranch.analysis.effects import Effects
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.bytewise import ByteReader, whole_string
from anabranch.environment.ops import Condition, eq, uge
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.filesystem import FileSystem, standard_file_system
from anabranch.environment.posix.joining import join_processes
from anabranch.environment.posix.lookup import Text
from anabranch.environment.posix.nodes import Content, Node, tidy
from anabranch.environment.posix.numbers import NAMES, NUMBERS
from anabranch.environment.values import MASK64, copy_of, resize, resolve_length
from anabranch.expr import Expr
from anabranch.ir.types import to_signed

AT_FDCWD: Final = -100
MAX_COUNT: Final = 0x7FFFF000  # the most that one call moves

FILES: Final = "file system"
PROCESS: Final = "process"
ENVIRONMENT: Final = "environment"  # (name, address of the value) of each variable
UNMODELLED: Final = "unmodelled system call"

NO_MAP: Final[immutables.Map[Any, Any]] = immutables.Map()


@dataclass(frozen=True, slots=True)
class Process:
    """What the kernel knows of the process besides its files."""

    pid: int = 4242
    parent: int = 4241
    actions: immutables.Map[int, tuple[Value, ...]] = field(default_factory=lambda: NO_MAP)
    mask: Value = 0
    limits: immutables.Map[int, tuple[int, int]] = field(default_factory=lambda: NO_MAP)
    thread_area: int = 0
    random_calls: int = 0
    failures_left: int = 0
    failing: immutables.Map[str, Expr] = field(default_factory=lambda: NO_MAP)
    calls: immutables.Map[str, int] = field(default_factory=lambda: NO_MAP)

    def join(self, other: Process, guard: Expr) -> Process:
        """One for two paths."""
        return join_processes(self, other)


class Kernel:
    """One system call of one path."""

    __slots__ = ("decide", "fs", "m", "process")

    def __init__(self, m: MachineApi) -> None:
        self.m = m
        self.decide: Callable[[Condition], bool] = m.decide
        fs = m.note(FILES, None)
        self.fs: FileSystem = fs if fs is not None else standard_file_system()
        process = m.note(PROCESS, None)
        self.process: Process = process if process is not None else Process()

    def keep(self, fs: FileSystem | None = None) -> None:
        """Make the changes of the call those of the path."""
        self.m.set_note(FILES, self.fs if fs is None else fs)
        self.m.set_note(PROCESS, self.process)

    # ---- arguments -----------------------------------------------------------------------------------

    def number(self, value: Value, why: str = "argument of a system call") -> int:
        """An argument of C type int."""
        return to_signed(self.m.pick(resize(value, 32), 32, why), 32)

    def word(self, value: Value, why: str = "argument of a system call") -> int:
        """An argument of 64 bits, unsigned."""
        return self.m.pick(value, 64, why)

    def pointer(self, value: Value) -> int:
        """The address of memory to use; null is a bad one."""
        address = self.m.pick(value, 64, "pointer given to a system call")
        if address == 0:
            raise e.Failure(e.EFAULT)
        return address

    def path(self, address: Value) -> Text:
        """A path, of which nothing is decided yet."""
        reader = ByteReader(self.m, self.pointer(address))
        known = reader.concrete_from(0)
        end = known.find(0) if known is not None else -1
        return Text(b"", reader) if known is None or end < 0 else Text(known[:end])

    def text(self, address: Value) -> Content:
        """A string as a whole."""
        text = whole_string(self.m, self.pointer(address))
        return text if isinstance(text, bytes) else tidy(tuple(text))

    def start(self, descriptor: Value) -> int:
        """The directory that a relative path starts from."""
        number = self.number(descriptor, "directory of a system call")
        if number == AT_FDCWD:
            return self.fs.cwd
        return self.fs.file(number).node

    def node(self, descriptor: Value) -> Node:
        return self.fs.node_of(self.descriptor(descriptor))

    def descriptor(self, value: Value) -> int:
        """The number of an open descriptor."""
        number = self.number(value, "file descriptor")
        self.fs.file(number)
        return number

    def data(self, address: Value, length: Value, why: str) -> Content:
        """Bytes that the program hands over."""
        if not isinstance(length, Expr):
            length = min(length, MAX_COUNT)
            if length == 0:
                return b""
        base = self.pointer(address)
        size = min(resolve_length(self.m, length, why, reads=(base,)), MAX_COUNT)
        data = copy_of(self.m, base, size)
        return data if isinstance(data, bytes) else tidy(tuple(data))

    def of_known_length(self, node: Node) -> Node:
        """A file, whose length may have depended on the input; siblings take other lengths."""
        if node.length is None:
            return node
        size = self.m.pick(node.length, 64, "length of a file")
        node = node.changed(data=tidy(node.data[:size]), length=None)
        self.fs = self.fs.put(node)
        return node

    def at_most(self, count: Value, available: int, why: str) -> int:
        """min(count, available); of a symbolic count only the values below `available` are told apart."""
        if not isinstance(count, Expr):
            return min(count, available)
        if available == 0 or self.decide(uge(count, available, 64)):
            return available
        return self.m.pick(count, 64, why)

    # ---- results -------------------------------------------------------------------------------------

    def give(self, address: Value, data: Content) -> None:
        """Write into the program's memory."""
        if len(data):
            self.m.write_bytes(self.pointer(address), data)

    def fixed_answer(self, asked: str, answer: str) -> None:
        self.m.fixed_answer(asked, answer)

    def lose(self, what: str) -> None:
        """Say that the model differs from the real thing here: warned once, counted always."""
        self.m.warn(what)
        self.m.lose(what)

    def fail_on_demand(self, name: str) -> None:
        """Fail with EIO if the input says that this call, the n-th of its name, does (`--max-fail`)."""
        process = self.process
        symbol = process.failing.get(name)
        if symbol is None or not process.failures_left:
            return
        count = process.calls.get(name, 0) + 1
        self.process = replace(process, calls=process.calls.set(name, count))
        if self.decide(eq(symbol, count, 32)):
            self.process = replace(self.process, failures_left=process.failures_left - 1)
            raise e.Failure(e.EIO)


SystemCall = Callable[..., Value]
F = TypeVar("F", bound=SystemCall)

#: number -> (function, number of arguments)
CALLS: dict[int, tuple[SystemCall, int]] = {}

CALL_EFFECTS: dict[int, Effects] = {}
"""By number; a call that is not there may depend on anything and change anything."""
_DECLARED: dict[SystemCall, Effects | None] = {}


def system_call(*names: str, effects: Effects | None = None) -> Callable[[F], F]:
    """Register a function as the model of the system calls named, with what it declares to read and write."""

    def register(function: F) -> F:
        count = len(inspect.signature(function).parameters) - 1
        for name in names:
            _add(name, function, count, effects)
        _DECLARED[function] = effects
        return function

    return register


def short_form(name: str, of: Callable[..., Value], *arguments: Value | None) -> None:
    """Register a system call that is another one with some arguments fixed; None stands for its own ones."""

    def call(k: Kernel, *given: Value) -> Value:
        own = iter(given)
        return of(k, *[next(own) if argument is None else argument for argument in arguments])

    declared = _DECLARED[of]
    if declared is not None:
        own = [position for position, argument in enumerate(arguments) if argument is None]
        declared = declared.with_arguments({position: index for index, position in enumerate(own)})
    _add(name, call, arguments.count(None), declared)


def _add(name: str, function: Callable[..., Value], count: int, effects: Effects | None) -> None:
    number = NUMBERS[name]
    if number in CALLS:
        raise ValueError(f"two models of system call {name}")
    CALLS[number] = (function, count)
    if effects is not None:
        CALL_EFFECTS[number] = effects


def dispatch(m: MachineApi, number: Value, arguments: tuple[Value, ...]) -> Value:
    """Do a system call: its result, negative error numbers included, as 64 bits."""
    which = m.pick(number, 64, "number of a system call")
    found = CALLS.get(which)
    if found is None:
        name = f"{UNMODELLED} {NAMES.get(which, which)}"
        m.warn(f"{name}: answered with ENOSYS")
        m.lose(name)
        return -e.ENOSYS & MASK64
    function, count = found
    kernel = Kernel(m)
    before = kernel.fs
    try:
        result = function(kernel, *(arguments + (0,) * count)[:count])
    except e.Failure as failure:
        kernel.keep(before)
        return -failure.code & MASK64
    kernel.keep()
    return result if isinstance(result, Expr) else result & MASK64
