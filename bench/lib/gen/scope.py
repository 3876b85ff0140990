"""What a point of a generated program can name."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bench.lib.gen.types import CType, Value


@dataclass(frozen=True)
class Variable:
    name: str
    type: CType
    readonly: bool = False
    low: int | None = None
    high: int | None = None
    pointable: bool = True

    def value(self) -> Value:
        low = self.type.low if self.low is None else self.low
        high = self.type.high if self.high is None else self.high
        return Value(self.name, self.type, low, high)


@dataclass(frozen=True)
class Array:
    name: str
    type: CType
    count: int
    readonly: bool = False
    heap: bool = False


@dataclass(frozen=True)
class Function:
    """A generated function that later code may call."""

    name: str
    result: CType
    parameters: tuple[CType, ...]
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Record:
    """A variable of a struct or union type, with its integer members as variables ready to be named."""

    name: str
    type_name: str
    fields: tuple[Variable, ...]


@dataclass
class Scope:
    variables: list[Variable] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    inputs: tuple[Variable, ...] = ()  # symbolic for sure: what branches should be about
    depth: int = 0
    in_loop: bool = False
    in_switch: bool = False

    def inner(self, in_loop: bool | None = None, in_switch: bool | None = None) -> Scope:
        """A block inside this one: it sees everything, what it declares stays inside."""
        return replace(
            self,
            variables=list(self.variables),
            arrays=list(self.arrays),
            records=list(self.records),
            depth=self.depth + 1,
            in_loop=self.in_loop if in_loop is None else in_loop,
            in_switch=self.in_switch if in_switch is None else in_switch,
        )

    def readable(self) -> list[Variable]:
        return self.variables + [f for r in self.records for f in r.fields]

    def writable(self) -> list[Variable]:
        return [v for v in self.readable() if not v.readonly]


class Source:
    """The text so far. Every statement starts a line of its own, marked for native line coverage."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = 0
        self.names = 0

    def raw(self, text: str = "") -> None:
        for line in text.split("\n"):
            self.lines.append("  " * self.indent + line if line else "")

    def statement(self, text: str) -> None:
        self.raw(f"COV {text}")

    def open(self, text: str) -> None:
        self.statement(text + " {")
        self.indent += 1

    def close(self, text: str = "}") -> None:
        self.indent -= 1
        self.raw(text)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"


def weighted(rng: random.Random, choices: Sequence[tuple[float, str]]) -> str:
    """One of several names by weight."""
    at = rng.random() * sum(w for w, _ in choices)
    for weight, name in choices:
        at -= weight
        if at < 0:
            return name
    return choices[-1][1]
