"""Runs C library functions natively (musl, in a process of its own) and models on the same arguments."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from anabranch.environment import Value
from anabranch.expr import var
from tests.environment.fake import FakeMachine, index_of, symbols

HERE = Path(__file__).parent
MASK64 = (1 << 64) - 1


@dataclass(frozen=True)
class Double:
    """A double argument, by its bits."""

    bits: int


Argument = int | bytes | Double


@dataclass(frozen=True)
class Answer:
    """What a call did: its result, errno, and the buffers afterwards."""

    result: str
    errno: int
    buffers: tuple[bytes, ...]


def compile_native(sources: list[Path], target: Path, *flags: str) -> None:
    """Build a static program with the compiler that the project ships."""
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-O1", "-w", *flags]
    subprocess.run([*command, *map(str, sources), "-o", str(target)], check=True)


class Oracle:
    def __init__(self) -> None:
        self._directory = TemporaryDirectory()
        program = Path(self._directory.name) / "oracle"
        compile_native([HERE / "libc_oracle.c"], program, "-fno-builtin")
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, name: str, *args: Argument) -> Answer:
        words = [name]
        for arg in args:
            if isinstance(arg, bytes):
                words.append("s" + arg.hex())
            elif isinstance(arg, Double):
                words.append(f"d{arg.bits:x}")
            else:
                words.append(f"i{arg}")
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write((" ".join(words) + "\n").encode())
        self._process.stdin.flush()
        result, errno, *buffers = self._process.stdout.readline().decode().split()
        assert result != "unknown", name
        return Answer(result, int(errno), tuple(bytes.fromhex(b[1:]) for b in buffers))


@cache
def oracle() -> Oracle:
    return Oracle()


def run_model(
    name: str, args: tuple[Argument, ...], symbolic: bool, bits: int, machine: type[FakeMachine] = FakeMachine
) -> Answer:
    """A model's answer in the oracle's form; with symbolic data if asked for."""
    m = machine()
    values: list[Value] = []
    for number, arg in enumerate(args):
        if isinstance(arg, bytes):
            values.append(m.place(symbols(m, arg) if symbolic else arg))
        elif isinstance(arg, Double):
            values.append(arg.bits)
        else:
            values.append(arg & MASK64)
        if symbolic and not isinstance(arg, bytes):
            # Plain parameters of the library are 64 or 32 bits wide.
            width = 64 if name in WIDE.get(number, ()) else 32
            variable = var(f"a{number}.{width}", width)
            m.inputs[index_of(variable)] = int(values[-1]) & ((1 << width) - 1)
            values[-1] = variable
        elif not isinstance(arg, bytes | Double) and name not in WIDE.get(number, ()):
            values[-1] = arg & 0xFFFFFFFF
    result = m.value(m.call(name, *values))
    placed = [v for v in values if isinstance(v, int) and v >> 32 in m.objects]
    buffers = tuple(m.bytes_at(v, m.objects[v >> 32].size) for v in placed)
    return Answer(show(m, result, values, bits), m.errno(), buffers)


def show(m: FakeMachine, result: int, values: list[Value], bits: int) -> str:
    if bits:
        assert 0 <= result < 1 << bits
        return str(result - (1 << bits) if result >> (bits - 1) else result)
    for number, value in enumerate(values):
        if isinstance(value, int) and value >> 32 and value >> 32 == result >> 32:
            return f"p{number}:{result & 0xFFFFFFFF}"
    return "newx" + m.text_at(result).hex() if result else "0"


# Parameters of type size_t or long, by position; every other integer is an int.
WIDE: dict[int, tuple[str, ...]] = {
    0: ("labs",),
    1: ("strnlen", "strndup", "memmem"),
    2: (
        *("strncmp", "strncasecmp", "memcmp", "memchr", "memrchr", "memcpy", "mempcpy", "memset"),
        *("strncpy", "stpncpy", "strncat", "strlcpy", "strlcat"),
    ),
    3: ("memmem", "memccpy"),
}


def compare(name: str, *args: Argument, bits: int = 0, machine: type[FakeMachine] = FakeMachine) -> None:
    """Assert that a model does what the C function does, on concrete and on symbolic data."""
    truth = oracle()(name, *args)
    for symbolic in (False, True):
        assert run_model(name, args, symbolic, bits, machine) == truth, (name, args, symbolic)
