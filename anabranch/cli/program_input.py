"""What the explored program is given, in the words of KLEE's users: `--sym-arg`, `--sym-files` and so on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.program_input import INPUT_FLAGS, OTHER_FLAGS, Argument, flag_of, value_count

MOST_FILES = 26
LARGEST = 1 << 20


def split_words(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words for the engine, and those for the program: input flags, and everything after `--`."""
    words = list(argv)
    own: list[str] = []
    program: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            program += words[at + 1 :]
            break
        name, equals, value = word.partition("=")
        flag = flag_of(name)
        if flag is None:
            own.append(word)
            at += 1
        elif equals:
            program += [name, value]
            at += 1
        else:
            program += words[at : at + 1 + value_count(flag)]
            at += 1 + value_count(flag)
    return own, program


def parse_words(words: Sequence[str]) -> dict[str, object]:
    """Fields of `ProgramInput` from the words for the program. Raises ValueError with a clear line."""
    arguments: list[Argument] = []
    environment: list[tuple[bytes, bytes | int]] = []
    fields: dict[str, object] = {}
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, rest = word.partition("=")
        flag = flag_of(name)
        if flag is None or (equals and value_count(flag) != 1):
            arguments.append(Argument(word.encode("utf-8", "surrogateescape")))
            continue
        if flag in OTHER_FLAGS:
            if OTHER_FLAGS[flag]:
                queue[:0] = [f"--{OTHER_FLAGS[flag][0]}", *OTHER_FLAGS[flag][1:]]
            continue
        values = [rest] if equals else [queue.pop(0) for _ in range(min(value_count(flag), len(queue)))]
        if len(values) < value_count(flag):
            raise ValueError(f"--{flag} wants {' '.join(INPUT_FLAGS[flag][0])}")
        if flag == "sym-env":
            environment.append((_variable(values[0]), _number(flag, values[1])))
            continue
        numbers = [_number(flag, text) for text in values]
        if flag == "sym-arg":
            arguments.append(Argument(None, numbers[0]))
        elif flag == "sym-args":
            if numbers[0] > numbers[1]:
                raise ValueError(f"--sym-args: MIN is {numbers[0]}, which is more than MAX, {numbers[1]}")
            arguments.append(Argument(None, numbers[2], numbers[0], numbers[1]))
        elif flag == "sym-files":
            if numbers[0] > MOST_FILES or not numbers[1]:
                raise ValueError(f"--sym-files: at most {MOST_FILES} files, of at least 1 byte")
            fields["symbolic_files"] = (numbers[0], numbers[1])
        elif flag == "sym-stdin":
            fields["symbolic_stdin"] = numbers[0]
        elif flag == "sym-stdout":
            fields["symbolic_stdout"] = True
        else:
            fields["max_fail"] = numbers[0]
    return fields | {"arguments": tuple(arguments), "environment": tuple(environment)}


def _number(flag: str, text: str) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        raise ValueError(f"--{flag}: {text!r} is not a whole number") from None
    if not 0 <= number <= LARGEST:
        raise ValueError(f"--{flag}: must be from 0 to {LARGEST}")
    return number


def _variable(text: str) -> bytes:
    name = text.encode("utf-8", "surrogateescape")
    if not name or b"=" in name:
        raise ValueError(f"{text!r} is not the name of a variable")
    return name


def parse_variable(text: str) -> tuple[bytes, bytes]:
    """`NAME=VALUE`"""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not a variable: write NAME=VALUE")
    return _variable(name), value.encode("utf-8", "surrogateescape")


def parse_file(text: str) -> tuple[Path, bytes]:
    """`HOST` or `HOST:GUEST`; without GUEST the file keeps its name, in the working directory."""
    host, colon, guest = text.rpartition(":")
    if not colon:
        host, guest = text, Path(text).name
    if not host or not guest or guest.endswith("/"):
        raise ValueError(f"{text!r} is not a file: write HOST or HOST:GUEST")
    return Path(host), guest.encode("utf-8", "surrogateescape")
