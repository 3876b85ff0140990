"""Contracts of functions without a body: what they return, write, need and never do (`--summaries FILE`).

A TOML file has a table for each function; `KEYS` are its keys. `check` and the exploration (`--externals`)
read the same files. The one for the C library and POSIX is beside this module.

    [read_block]            # int read_block(int fd, void *data, int size, struct info *about)
    returns = "-1..512"     # numbers: a range; pointers: "nonnull", or "null" if it may be NULL
    [read_block.writes]     # memory that it changes, by number of the parameter, counted from 1
    2 = "arg 3"             # as many bytes as the third argument says
    4 = "type"              # one object of the type that the parameter points to
    # 1 = 16                # so many bytes; writes = [1, 2] does not say how many

    [fatal]
    noreturn = true         # the program ends there
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).with_name("contracts.toml")
KEYS: dict[str, str] = {
    "returns": '"null" (may be NULL), "rarely null", "nonnull", "arg N", "arg N or null", "in arg N" '
    '(it points into the argument), "in arg N or null", "block", "zeroed block", '
    '"length of arg N" (of a string), or a range like "-1..512" or "-1..arg 3"',
    "writes": "parameters that it writes through: a list, or a table as of --summaries; [] for none",
    "reads": "parameters that it dereferences: they must not be NULL",
    "frees": "the parameter whose block it frees",
    "moves": "the parameter whose block it frees unless it returns NULL, as realloc does",
    "format": "the parameter that is a format as of printf, with what it converts behind it",
    "size": "parameters whose product is the size of the block that it returns",
    "made": "true: what it writes is made of what the program has, and is no input",
    "same": "true: the same answer for the same arguments, as long as nothing was written; "
    '"content": as long as what the arguments point to was not',
    "searches": "the parameter whose content decides whether the answer is NULL",
    "noreturn": "true: it never returns",
    "fails": "true: to reach it is a failed assertion",
    "assumes": "true: the program goes on only if the first argument is not 0",
}
MAX_LENGTH = 2**31 - 2
"""No string of a program is longer."""
_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+|arg\s+[1-9]\d*)\s*")
_ARGUMENT = re.compile(r"arg\s+([1-9]\d*)(\s+or\s+null)?")
_WITHIN = re.compile(r"in\s+" + _ARGUMENT.pattern)


class ExternalsError(Exception):
    """The file is wrong; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is written behind a parameter: `size` bytes, as many as an argument says (counted from 0), or
    one object of the parameter's type."""

    size: int = 0
    argument: int | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """What is known of one function. Parameters are counted from 0."""

    known: bool = True
    may_be_null: bool = False
    rarely: bool = False
    """NULL is an answer that most programs never see."""
    not_null: bool = False
    same_as: int | None = None
    within: int | None = None
    """The parameter that the result points into; where, its content decides."""
    block: bool = False
    zeroed: bool = False
    range: tuple[int, int] | None = None
    length_of: int | None = None
    """The parameter that is a string, in which the result is a number of characters."""
    up_to: int | None = None
    """The parameter that is the upper end of the range; the range's own end is of no meaning then."""
    writes: frozenset[int] | None = None
    """None: through every pointer that it is given."""
    extents: tuple[tuple[int, Extent], ...] = ()
    """How much it writes, of parameters of which that is known."""
    reads: tuple[int, ...] = ()
    frees: int | None = None
    moves: int | None = None
    format: int | None = None
    size: tuple[int, ...] = ()
    made: bool = False
    same: bool = False
    by_content: bool = False
    """The answer depends on nothing but the arguments and what they point to."""
    searches: int | None = None
    noreturn: bool = False
    fails: bool = False
    assumes: bool = False

    def may_write(self, parameter: int) -> bool:
        return self.writes is None or parameter in self.writes


NOTHING_KNOWN = Contract(known=False)


class Externals:
    """Contracts by name."""

    def __init__(self, contracts: dict[str, Contract]) -> None:
        self._contracts = contracts

    def get(self, name: str) -> Contract:
        return self._contracts.get(name, NOTHING_KNOWN)

    def named(self) -> frozenset[str]:
        return frozenset(self._contracts)


@cache
def _shipped() -> dict[str, Contract]:
    return read_contracts(SHIPPED)


def shipped_contracts() -> dict[str, Contract]:
    """Those of the C library and POSIX."""
    return dict(_shipped())


def load_externals(paths: tuple[Path, ...] = ()) -> Externals:
    """The shipped contracts, and those of the user's files, which replace them."""
    contracts = shipped_contracts()
    for path in paths:
        contracts |= read_contracts(path)
    return Externals(contracts)


def read_contracts(path: Path) -> dict[str, Contract]:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ExternalsError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExternalsError(f"{path} is not valid TOML: {error}") from None
    return {name: _contract(f"{path}: {name}", table) for name, table in document.items()}


def _contract(where: str, table: Any) -> Contract:
    if not isinstance(table, dict):
        name = where.rpartition(" ")[2]
        raise ExternalsError(f"{where} must be a table: write [{name}] on a line of its own")
    for key in table:
        if key not in KEYS:
            raise ExternalsError(f"{where}: unknown key {key!r}; there are {', '.join(KEYS)}")
    fields: dict[str, Any] = {}
    for key in ("same", "made", "noreturn", "fails", "assumes"):
        value = table.get(key, False)
        if key == "same" and value == "content":
            fields["by_content"] = value = True
        if not isinstance(value, bool):
            raise ExternalsError(f"{where}: {key}: write true or false")
        fields[key] = value
    fields["reads"] = tuple(_numbers(f"{where}: reads", table.get("reads", [])))
    fields["size"] = tuple(_numbers(f"{where}: size", table.get("size", [])))
    if "writes" in table:
        written = table["writes"]
        if isinstance(written, dict):
            extents = [_extent(f"{where}.writes", key, value) for key, value in written.items()]
            fields["extents"], written = tuple(extents), [number + 1 for number, _ in extents]
        fields["writes"] = frozenset(_numbers(f"{where}: writes", written))
    for key in ("frees", "moves", "format", "searches"):
        if key in table:
            fields[key] = _numbers(f"{where}: {key}", [table[key]])[0]
    return Contract(**fields, **_returned(where, str(table.get("returns", ""))))


def _extent(where: str, key: str, value: Any) -> tuple[int, Extent]:
    number = _numbers(where, [key])[0]
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return number, Extent(value)
    if value == "type":
        return number, Extent()
    found = _ARGUMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2]:
        raise ExternalsError(f'{where}: {key} = ...: write a number of bytes, "arg N" or "type"')
    return number, Extent(argument=int(found[1]) - 1)


def _returned(where: str, text: str) -> dict[str, Any]:
    if text in ("null", "rarely null", "nonnull", ""):
        rarely = text == "rarely null"
        return {"may_be_null": rarely or text == "null", "rarely": rarely, "not_null": text == "nonnull"}
    if text in ("block", "zeroed block"):
        return {"block": True, "zeroed": text == "zeroed block"}
    if (argument := _ARGUMENT.fullmatch(text)) is not None:
        return {"same_as": int(argument[1]) - 1, "may_be_null": argument[2] is not None}
    if (argument := _WITHIN.fullmatch(text)) is not None:
        may_be_null = argument[2] is not None
        return {"within": int(argument[1]) - 1, "may_be_null": may_be_null, "not_null": not may_be_null}
    if text.startswith("length of ") and (argument := _ARGUMENT.fullmatch(text[10:])) and not argument[2]:
        return {"range": (0, MAX_LENGTH), "length_of": int(argument[1]) - 1}
    found = _RANGE.fullmatch(text)
    if found is not None and found[2].startswith("arg"):
        return {"range": (int(found[1]), 0), "up_to": int(found[2][3:]) - 1}
    if found is None:
        raise ExternalsError(f"{where}: returns: write {KEYS['returns']}")
    if int(found[1]) > int(found[2]):
        raise ExternalsError(f"{where}: returns: the range {text} is empty")
    return {"range": (int(found[1]), int(found[2]))}


def _numbers(where: str, values: Any) -> list[int]:
    """Numbers of parameters, which files count from 1."""
    result = []
    for value in values if isinstance(values, list) else [values]:
        number = int(value) if isinstance(value, int) or str(value).isdigit() else 0
        if number < 1:
            raise ExternalsError(f"{where}: {value!r} is not a number of a parameter, counted from 1")
        result.append(number - 1)
    return result
