"""The table of models that do not fork where an expression can say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from anabranch.environment.registry import MODELS, ModelFunction
from anabranch.environment.values import resize

WHOLE: dict[str, ModelFunction] = {}
"""C function -> `model(m, limit, *args)`; None as its result: the model that forks has to do it."""

INTRINSICS = {f"llvm.{name}": name for name in ("memcpy", "memmove", "memset")}
"""What compilers make of some calls -> the C function."""

F = TypeVar("F", bound=ModelFunction)


def whole(*names: str) -> Callable[[F], F]:
    """Register a function as the model without forks of the C functions named."""

    def register(function: F) -> F:
        for name in names:
            if name in WHOLE:
                raise ValueError(f"two models of {name}")
            WHOLE[name] = function
        return function

    return register


def whole_model(name: str, limit: int) -> ModelFunction | None:
    """The model of a C function for strings of up to `limit` bytes, called as the plain one is."""
    if name in INTRINSICS:
        return _intrinsic(INTRINSICS[name], limit)
    attempt = WHOLE.get(name)
    if attempt is None:
        return None
    forking = MODELS[name].function

    def model(m: Any, *args: Any) -> Any:
        result = attempt(m, limit, *args)
        return forking(m, *args) if result is None else result

    return model


def _intrinsic(name: str, limit: int) -> ModelFunction:
    """The same without a result, and with a flag for volatile accesses."""
    function = whole_model(name, limit)
    assert function is not None

    def model(m: Any, dst: Any, what: Any, n: Any, volatile: Any) -> None:
        function(m, dst, what, resize(n, 64))

    return model
