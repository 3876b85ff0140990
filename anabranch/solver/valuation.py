"""Values of expressions under models that are asked about again and again.

The model of a slice passes to the slices below it, and conditions share most of their nodes: what was
computed under a model is kept, for the models used last. A condition that is tried under model after model
gets an evaluator of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anabranch.expr import Expr
from anabranch.expr.compiled import compile_evaluator
from anabranch.expr.evaluate import TooLong, evaluate_with
from anabranch.expr.variables import postorder_within

from .backend import Model

MODELS = 256
NODES = 20_000  # of one model
OFTEN = 200  # evaluations after which a condition is worth being compiled
TRIED = 4096  # conditions
LARGEST = 5_000  # nodes of one that is compiled


class Valuations:
    """By identity of the model, which nobody changes."""

    __slots__ = ("_known", "_tried", "evaluated")

    def __init__(self) -> None:
        self.evaluated = 0
        """Nodes that took a value under a model that is not kept."""
        self._tried: dict[Expr, list[Any]] = {}
        """Condition -> how often it was tried, its evaluator or None."""
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

    def hold(self, conditions: Iterable[Expr], model: Model, limit: int) -> bool:
        """Are all conditions true under a model that is not kept?

        Conditions that take more nodes than the limit to evaluate do not hold, as far as is known.
        """
        memo: dict[Expr, Any] = {}
        for condition in conditions:
            tried = self._tried.get(condition)
            if tried is None:
                if len(self._tried) >= TRIED:
                    del self._tried[next(iter(self._tried))]
                tried = self._tried[condition] = [0, None]
            if tried[1] is None:
                tried[0] += 1
                if tried[0] == OFTEN and postorder_within([condition], LARGEST) is not None:
                    tried[1] = compile_evaluator([condition])
                before = len(memo)
                try:
                    truth = evaluate_with(condition, model, memo, limit)
                except TooLong:
                    return False
                finally:
                    self.evaluated += len(memo) - before
            else:
                (truth,) = tried[1](model)
            if truth is not True:
                return False
        return True

    def clear(self) -> None:
        self._known.clear()
        self._tried.clear()


VALUATIONS = Valuations()
