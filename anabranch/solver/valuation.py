"""Values of expressions under models that are asked about again and again.

The model of a slice passes to the slices below it, and conditions share most of their nodes: what was
computed under a model is kept, for the models used last.
"""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr
from anabranch.expr.evaluate import evaluate_with

from .backend import Model

MODELS = 256
NODES = 20_000  # of one model


class Valuations:
    """By identity of the model, which nobody changes."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Model, dict[Expr, Any]]] = {}

    def value(self, e: Expr, model: Model) -> Any:
        known = self._known
        found = known.get(id(model))
        if found is None:
            if len(known) >= MODELS:
                del known[next(iter(known))]
            found = known[id(model)] = (model, {})
        memo = found[1]
        if len(memo) > NODES:
            memo.clear()
        return evaluate_with(e, model, memo)

    def clear(self) -> None:
        self._known.clear()


VALUATIONS = Valuations()
