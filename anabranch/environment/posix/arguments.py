"""What a program is started with: arguments, environment, files and streams, symbolic where wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import Condition, both, sle, slt, uge, ule
from anabranch.environment.posix.filesystem import FileSystem, standard_file_system, with_file
from anabranch.environment.posix.kernel import ENVIRONMENT, FILES, PROCESS, Process
from anabranch.environment.posix.nodes import S_IFREG
from anabranch.environment.posix.symbolic import (
    with_failures,
    with_symbolic_files,
    with_symbolic_stdin,
    with_symbolic_stdout,
)
from anabranch.program_input import ProgramInput


def program_arguments(
    m: MachineApi, program: ProgramInput, decide: Callable[[Condition], bool]
) -> list[Value]:
    """argc, argv and envp. `decide` answers how many of the optional arguments there are.

    Inputs are made in KLEE's order: arguments, files, standard input, failures, standard output.
    """
    addresses = [constant(m, program.name + b"\0", "argv[0]")]
    symbolic = 0
    for argument in program.arguments:
        if argument.text is not None:
            addresses.append(constant(m, argument.text + b"\0", f"argv[{len(addresses)}]"))
            continue
        for _ in range(how_many(m, argument.least, argument.most, decide)):
            label = f"arg{symbolic:02d}"
            addresses.append(symbolic_text(m, argument.length, label, program.printable))
            symbolic += 1
    argv = pointers(m, addresses, "argv")
    variables = []
    for name, value in program.environment:
        if isinstance(value, bytes):
            variables.append(constant(m, name + b"=" + value + b"\0", "environment"))
        else:
            variables.append(symbolic_variable(m, name, value))
    envp = pointers(m, variables, "envp")
    if variables:
        given = zip(program.environment, variables, strict=True)
        m.set_note(ENVIRONMENT, tuple((name, address + len(name) + 1) for (name, _), address in given))
    install_files(m, program)
    return [len(addresses), argv, envp]


def how_many(m: MachineApi, least: int, most: int, decide: Callable[[Condition], bool]) -> int:
    """A number of arguments, as a loop up to a symbolic bound would find it."""
    if least == most:
        return least
    number = m.fresh("n_args", 32)
    m.assume(both(sle(least, number, 32), sle(number, most, 32)))
    count = 0
    while decide(slt(count, number, 32)):
        count += 1
    return count


def constant(m: MachineApi, text: bytes, what: str) -> int:
    address = m.allocate(len(text), "global", what)
    m.write_bytes(address, text)
    return address


def symbolic_text(m: MachineApi, length: int, name: str, printable: bool) -> int:
    """A string of up to `length` symbolic bytes; the NUL behind them is part of the input, as for KLEE."""
    address = m.allocate(length + 1, "global", name)
    m.make_symbolic(address, length + 1, name)
    if printable:
        for byte in m.read_bytes(address, length):
            m.prefer(both(uge(byte, 32, 8), ule(byte, 126, 8)))
    m.store(address + length, 1, 0)
    m.end_at_nul(address)
    return address


def symbolic_variable(m: MachineApi, name: bytes, length: int) -> int:
    label = name.decode("utf-8", "replace")
    value = m.fresh_fields(f"env_{label}", [8] * (length + 1))
    text = (*name, ord("="), *value[:length], 0)
    address = m.allocate(len(text), "global", "environment")
    m.write_bytes(address, text)
    m.end_at_nul(address)
    return address


def pointers(m: MachineApi, addresses: Sequence[int], what: str) -> int:
    """An array of pointers with a null at its end."""
    array = m.allocate(8 * len(addresses) + 8, "global", what)
    for i, address in enumerate([*addresses, 0]):
        m.store(array + 8 * i, 8, address)
    return array


def install_files(m: MachineApi, program: ProgramInput) -> None:
    """The file system and the process that the program finds, if they differ from the standard ones."""
    count, size = program.symbolic_files
    free = program.free_metadata
    fs: FileSystem = standard_file_system()
    process = Process()
    for host, guest in program.files:
        fs = with_file(fs, guest, host.read_bytes(), host.stat().st_mode & 0o777)
    if program.stdin is not None:
        fs, number = fs.add_loose("file", S_IFREG | 0o644, data=program.stdin.read_bytes())
        fs, _ = fs.closed(0).opened(number, 0)
    if count:
        fs = with_symbolic_files(m, fs, count, size, free, program.sized_files)
    if program.symbolic_stdin:
        fs = with_symbolic_stdin(m, fs, program.symbolic_stdin, free, program.sized_files)
    if program.max_fail:
        process = with_failures(m, process, program.max_fail)
    if program.symbolic_stdout:
        fs = with_symbolic_stdout(m, fs, free)
    m.set_note(FILES, fs)
    m.set_note(PROCESS, process)
