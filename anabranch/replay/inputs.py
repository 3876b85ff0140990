"""The arguments, files, standard input and environment of a test, from its objects by their POSIX names.

Names are those of KLEE's POSIX run-time: `arg00`, `arg01`, ... in the order of the arguments, `n_args` for
how many of a `--sym-args`, `A_data`, `B_data`, ... with `A_data_stat` for files, `stdin` and `stdin_stat`.
All other objects are asked for by the program itself and reach it through the test file.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.program_input import flag_of, value_count

Objects = Sequence[tuple[str, bytes]]

_FILE = re.compile(r"([A-Z])(?:_data|-data)?")
_MODEL = re.compile(
    r"arg\d\d|n_args(_\d+)?|[A-Z][_-]data([_-]stat)?|std(in|out)([_-]stat)?|\w+_fail(_\d+)?|model_version|env_\w+"
)

# x86-64 struct stat: offsets of mode, size, and the times (seconds, nanoseconds)
_MODE, _SIZE, _ATIME, _MTIME = 24, 48, 72, 88
_LATEST = 1 << 40


@dataclass(frozen=True, slots=True)
class FileInput:
    """One file of a test: its bytes, permissions (None: default) and times."""

    name: str
    content: bytes
    mode: int | None = None
    times: tuple[int, int] | None = None
    """Of the last access and of the last change, in nanoseconds."""


@dataclass(slots=True)
class Inputs:
    """What a native program is started with."""

    arguments: list[bytes] = field(default_factory=list)
    files: list[FileInput] = field(default_factory=list)
    stdin: bytes | None = None
    stdin_regular: bool = False
    stdout_regular: bool = False
    failing: bool = False
    """Calls of the kernel are to fail on demand, which no replay can make."""
    environment: dict[bytes, bytes] = field(default_factory=dict)
    own_objects: bool = False
    """Some objects are none of the model's: the program asks for them by klee_make_symbolic and the like."""


def _c_string(data: bytes) -> bytes:
    return data.split(b"\0", 1)[0]


def program_arguments(words: Sequence[str], objects: Objects) -> list[bytes]:
    """The arguments as the program saw them: words as they are, symbolic ones from their objects."""
    values = iter([data for name, data in objects if re.fullmatch(r"arg\d\d+", name)])
    counts = iter([data for name, data in objects if re.fullmatch(r"n_args(_\d+)?", name)])
    found: list[bytes] = []
    position = 0
    while position < len(words):
        word = words[position]
        flag = flag_of(word)
        position += 1
        if flag is None:
            found.append(os.fsencode(word))
            continue
        numbers = [int(text) for text in words[position : position + value_count(flag)] if text.isdigit()]
        position += value_count(flag)
        if flag == "sym-arg":
            found += _taken(values, 1)
        elif flag == "sym-args" and len(numbers) == 3:
            least, most, _ = numbers
            # no object where there is no choice
            number = least if least == most else int.from_bytes(next(counts, b""), "little")
            found += _taken(values, min(max(number, least), most))
    return found


def _taken(values: Iterator[bytes], count: int) -> list[bytes]:
    return [_c_string(value) for value in itertools.islice(values, count)]


def _stat_of(data: bytes | None) -> tuple[int | None, int | None, tuple[int, int] | None]:
    """Mode, size and times in a struct stat."""
    if data is None or len(data) < _MTIME + 16:
        return None, None, None
    (mode,) = struct.unpack_from("<I", data, _MODE)
    (size,) = struct.unpack_from("<q", data, _SIZE)
    seconds, nanoseconds = zip(*(struct.unpack_from("<qq", data, at) for at in (_ATIME, _MTIME)), strict=True)
    if not all(0 <= s < _LATEST and 0 <= n < 10**9 for s, n in zip(seconds, nanoseconds, strict=True)):
        return mode, size, None
    atime, mtime = (s * 10**9 + n for s, n in zip(seconds, nanoseconds, strict=True))
    return mode, size, (atime, mtime)


def _empty_files(objects: Objects) -> list[tuple[str, bytes]]:
    """Files without contents: a test has no empty objects, but it has the metadata of these."""
    names = {name for name, _ in objects}
    described = [name.removesuffix("_stat") for name, _ in objects if name.endswith("_stat")]
    return [(name, b"") for name in described if name not in names]


def inputs_of(words: Sequence[str], objects: Objects) -> Inputs:
    """Everything that a test says about how its program is started."""
    objects = [*objects, *_empty_files(objects)]
    by_name = dict(objects)
    inputs = Inputs(program_arguments(words, objects))
    for name, data in objects:
        inputs.own_objects |= not _MODEL.fullmatch(name)
        found = _FILE.fullmatch(name)
        if found is None or not (name.endswith("data") or f"{name}_stat" in by_name):
            continue
        mode, size, times = _stat_of(by_name.get(f"{name}_stat"))
        if size is not None and 0 <= size < len(data):
            data = data[:size]
        inputs.files.append(FileInput(found[1], data, mode, times))
    if "stdin" in by_name:
        inputs.stdin = by_name["stdin"]
        mode, size, _ = _stat_of(by_name.get("stdin_stat"))
        inputs.stdin_regular = mode is not None and stat.S_ISREG(mode)
        if size is not None and 0 <= size < len(inputs.stdin):
            inputs.stdin = inputs.stdin[:size]
    mode, _, _ = _stat_of(by_name.get("stdout_stat"))
    inputs.stdout_regular = mode is not None and stat.S_ISREG(mode)
    inputs.failing = any(name.endswith("_fail") and any(data) for name, data in objects)
    for name, data in objects:
        if name.startswith("env_"):
            inputs.environment[name.removeprefix("env_").encode()] = _c_string(data)
    return inputs


def write_files(files: Sequence[FileInput], directory: Path) -> None:
    """Put the files of a test on disk. Times and modes that the system refuses stay as they come."""
    for file in files:
        path = directory / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        if file.mode is not None:
            path.chmod(stat.S_IMODE(file.mode))
        if file.times is not None:
            os.utime(path, ns=file.times)
