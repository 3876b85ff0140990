"""The table of modelled C functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from anabranch.analysis.effects import Effects
from anabranch.ir.checks import HANDLER
from anabranch.ir.module import Function

ModelFunction = Callable[..., Any]
F = TypeVar("F", bound=ModelFunction)


@dataclass(frozen=True, slots=True)
class Model:
    """A Python function that stands for a C function."""

    name: str
    function: ModelFunction
    noreturn: bool
    least_args: int
    most_args: int | None  # None: variadic
    effects: Effects | None = None
    """What it depends on and what it changes; None: anything."""

    def accepts(self, count: int) -> bool:
        """Whether the function can be called with that many arguments."""
        return self.least_args <= count and (self.most_args is None or count <= self.most_args)

    def takes(self) -> str:
        """How many arguments, for people."""
        most = self.most_args
        if most is None:
            return f"{self.least_args} or more"
        return str(most) if most == self.least_args else f"{self.least_args} to {most}"


MODELS: dict[str, Model] = {}

# Functions whose model is used even if the program has a body for them.
OVERRIDES: frozenset[str] = frozenset({"reach_error", "__VERIFIER_error"})


def model(*names: str, noreturn: bool = False, effects: Effects | None = None) -> Callable[[F], F]:
    """Register a function as the model of the C functions named, with what it declares to read and write."""

    def register(function: F) -> F:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        least = sum(p.default is p.empty for p in positional)
        most = None if variadic else len(positional)
        for name in names:
            add_model(name, function, least, most, noreturn, effects)
        return function

    return register


def add_model(
    name: str,
    function: ModelFunction,
    least: int,
    most: int | None,
    noreturn: bool = False,
    effects: Effects | None = None,
) -> None:
    """Register the model of one C function, which takes so many arguments."""
    if name in MODELS:
        raise ValueError(f"two models of {name}")
    MODELS[name] = Model(name, function, noreturn, least, most, effects)


_OURS = ("llvm.", "anabranch.", HANDLER)
"""Functions without a body that the engine itself understands."""


def is_unknown(function: Function) -> bool:
    """Declared, and nobody knows what it does."""
    name = function.name
    return function.is_declaration and not name.startswith(_OURS) and name not in MODELS
