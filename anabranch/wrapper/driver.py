"""One call of `anabranch cc`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from anabranch.native.tools import compiler
from anabranch.wrapper.arguments import Command, parse
from anabranch.wrapper.compiling import is_probe, job_for, run_job
from anabranch.wrapper.linking import Linked, link_program


def run(words: Sequence[str], linked: Linked | None = None) -> int:
    """Compile and link as a C compiler does; returns its exit code. `linked` is told of each program."""
    command = parse(words)
    if command.mode == "other":
        return _clang(command)
    missing = [s.path for s in command.sources if s.path != "-" and not os.path.exists(s.path)]
    if missing:
        return _clang(command)
    stdin = sys.stdin.buffer.read() if command.reads_stdin else None
    with tempfile.TemporaryDirectory(prefix="anabranch-cc-") as name:
        directory = Path(name)
        if command.mode == "compile":
            return _compile(command, directory, stdin)
        return _link(command, directory, stdin, linked)


def _clang(command: Command) -> int:
    """Everything that makes no object is clang's alone."""
    full = [*compiler(), "-Wno-unused-command-line-argument", *command.words]
    return subprocess.run(full, check=False).returncode


def _compile(command: Command, directory: Path, stdin: bytes | None) -> int:
    if command.output is not None and len(command.sources) > 1:
        print("anabranch cc: error: cannot give -o with -c and several source files", file=sys.stderr)
        return 1
    probe = is_probe(command)
    worst = 0
    for number, source in enumerate(command.sources):
        output = Path(command.output or os.path.splitext(os.path.basename(source.path))[0] + ".o")
        if output == Path("-") or str(output) == os.devnull:
            return _clang(command)
        bitcode = None if probe else directory / f"{number}.bc"
        worst = max(worst, run_job(job_for(command, source, output, bitcode, stdin)))
    return worst


def _link(command: Command, directory: Path, stdin: bytes | None, linked: Linked | None) -> int:
    probe = is_probe(command)
    compiled: dict[int, Path] = {}
    command.dependency_flags = _dependency_flags(command)
    for number, source in enumerate(command.sources):
        stem = os.path.splitext(os.path.basename(source.path))[0]
        output = directory / f"{number}-{stem or 'stdin'}.o"
        bitcode = None if probe else directory / f"{number}.bc"
        code = run_job(job_for(command, source, output, bitcode, stdin))
        if code:
            return code
        compiled[number] = output
    return link_program(command, compiled, Path(command.output or "a.out"), not probe, linked)


def _dependency_flags(command: Command) -> list[str]:
    """Name the file of dependencies, which clang would put beside our temporary object."""
    flags = command.dependency_flags
    if not {"-MD", "-MMD"} & set(flags) or "-MF" in flags or not command.sources:
        return flags
    return [*flags, "-MF", os.path.splitext(command.output or command.sources[0].path)[0] + ".d"]
