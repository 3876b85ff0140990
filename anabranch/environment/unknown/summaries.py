"""What a user knows of functions without a body: a TOML file, one table a function.

[read_block]            # int read_block(int fd, void *data, int size, struct info *about)
returns = "-1..512"     # numbers: a range; pointers: "nonnull" or "null"
[read_block.writes]     # memory that it changes, by number of the parameter, counted from 1
2 = "arg 3"             # as many bytes as the third argument says
4 = "type"              # one object of the type that the parameter points to
# 1 = 16                # so many bytes

[fatal]
noreturn = true         # the program ends there
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_ARGUMENT = re.compile(r"arg (\d+)")
_KEYS = ("returns", "writes", "noreturn")


class SummaryError(Exception):
    """The file of summaries is wrong; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Write:
    """Memory behind a parameter that a function changes: `size` bytes, as an argument says, or one object."""

    parameter: int
    size: int = 0
    by_argument: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of one function."""

    returns: str = ""  # "nonnull", "null" or ""
    range: tuple[int, int] | None = None
    writes: tuple[Write, ...] = ()
    noreturn: bool = False


NOTHING_KNOWN = Summary()


def read_summaries(path: Path) -> dict[str, Summary]:
    """The summaries in a file, by name of the function."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SummaryError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SummaryError(f"{path} is not valid TOML: {error}") from None
    return {name: _summary(path, name, table) for name, table in document.items()}


def _summary(path: Path, name: str, table: Any) -> Summary:
    where = f"{path}: {name}"
    if not isinstance(table, dict):
        raise SummaryError(f"{where} must be a table: write [{name}] on a line of its own")
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise SummaryError(f"{where}: unknown key {unknown[0]!r}; there are {', '.join(_KEYS)}")
    returns = table.get("returns", "")
    found = _RANGE.fullmatch(str(returns))
    between = (int(found[1]), int(found[2])) if found else None
    if between is not None and between[0] > between[1]:
        raise SummaryError(f"{where}: returns: the range {returns} is empty")
    if between is None and returns not in ("", "nonnull", "null"):
        raise SummaryError(f'{where}: returns: write "nonnull", "null" or a range like "-1..10"')
    noreturn = table.get("noreturn", False)
    if not isinstance(noreturn, bool):
        raise SummaryError(f"{where}: noreturn: write true or false")
    writes = table.get("writes", {})
    if not isinstance(writes, dict):
        raise SummaryError(f"{where}: writes must be a table of parameters: [{name}.writes]")
    listed = tuple(_write(f"{where}.writes", key, value) for key, value in writes.items())
    return Summary("" if between else str(returns), between, listed, noreturn)


def _write(where: str, key: str, value: Any) -> Write:
    if not key.isdigit() or int(key) < 1:
        raise SummaryError(f"{where}: {key!r} is not a number of a parameter, counted from 1")
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return Write(int(key), size=value)
    if value == "type":
        return Write(int(key))
    found = _ARGUMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[1]) < 1:
        raise SummaryError(f'{where}: {key} = ...: write a number of bytes, "arg N" or "type"')
    return Write(int(key), by_argument=int(found[1]))
