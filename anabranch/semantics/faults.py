"""What an operation can be instead of a value: an error of the program, or not implemented."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """A value that a message shows: `form` is signed, unsigned, float or address."""

    value: Any
    form: str
    width: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One error of the analysed program (or a wrong use of the API)."""

    kind: str
    message: str
    info: dict[str, object] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    """Values that the message names as {0}, {1}, ...: they depend on the input, the message does not."""


class Unsupported(Exception):
    """An operation that is not implemented; the text says which one, and never a value of the program."""
