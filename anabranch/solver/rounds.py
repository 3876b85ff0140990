"""In which round a loop was left: `t > i -> spine(i)`, `t == i -> leg(i)` over a number t of its own.

The spine says what held in every round before the last one, a leg how the loop was left in its round. This is
the quantified clause `forall i. 1 <= i <= t -> spine(i - 1)` with its instances at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from anabranch.expr import Expr, Value, bool_or, evaluate, expr_vars, ne, postorder, ule, variable
from anabranch.expr.node import VAR

from .backend import Model


class Family(Protocol):
    """Conditions, one for each of some rounds."""

    @property
    def rounds(self) -> Sequence[int]:
        """The rounds that have a condition, ascending."""
        ...

    def instance(self, i: int) -> Value:
        """The condition of a round."""
        ...

    def cells(self, i: int) -> tuple[int, ...]:
        """The variables that change with the round, at this one; in the same order for all rounds."""
        ...

    def text(self, index: str) -> str:
        """For people, with a name for the round."""
        ...


class Listed:
    """Conditions without a common form."""

    __slots__ = ("_common", "_conditions", "rounds")

    def __init__(self, conditions: Sequence[Value] | Mapping[int, Value]) -> None:
        if not isinstance(conditions, Mapping):
            conditions = dict(enumerate(conditions))
        self._conditions = conditions
        self.rounds: Sequence[int] = sorted(conditions)
        sets = [set(expr_vars(c)) for c in conditions.values() if c.__class__ is Expr]
        self._common = set.intersection(*sets) if len(sets) > 1 else set()

    def instance(self, i: int) -> Value:
        """See Family."""
        return self._conditions[i]

    def cells(self, i: int) -> tuple[int, ...]:
        """See Family."""
        condition = self._conditions[i]
        if condition.__class__ is not Expr:
            return ()
        return tuple(n.a for n in postorder([condition]) if n.op == VAR and n.a not in self._common)

    def text(self, index: str) -> str:
        """See Family."""
        if not self.rounds:
            return "true"
        return f"{self._conditions[self.rounds[0]]!r} in round {self.rounds[0]}, and so on"


class Rounds:
    """One clause. `t` has exactly the rounds of the legs as values; the spine has all rounds below them."""

    __slots__ = ("legs", "spine", "t")

    def __init__(self, t: Expr, spine: Family, legs: Family) -> None:
        if not legs.rounds or list(spine.rounds) != list(range(legs.rounds[-1])):
            raise ValueError("a spine has one condition for each round before the last")
        self.t = t
        self.spine = spine
        self.legs = legs

    def spine_instance(self, i: int) -> Value:
        """`t > i -> spine(i)`."""
        return bool_or(ule(self.t, i, self.t.w), self.spine.instance(i))

    def leg_instance(self, i: int) -> Value:
        """`t == i -> leg(i)`; a round without a leg is not the last."""
        leg = self.legs.instance(i) if i in self.legs.rounds else False
        return bool_or(ne(self.t, i, self.t.w), leg)

    def instance(self, i: int) -> tuple[Value, Value]:
        """What is said of one round."""
        return (self.spine_instance(i) if i < len(self.spine.rounds) else True, self.leg_instance(i))

    def quantified(self) -> tuple[Expr, ...]:
        """The instances of the spine, without those that are always true."""
        found = [self.spine_instance(i) for i in self.spine.rounds]
        return tuple(c for c in found if c is not True)

    def unquantified(self) -> tuple[Value, ...]:
        """The values of t, and the legs."""
        last = self.legs.rounds[-1]
        found = [ule(self.t, last, self.t.w), *(self.leg_instance(i) for i in range(last + 1))]
        return tuple(c for c in found if c is not True)

    def violated(self, model: Model) -> list[int]:
        """The rounds whose spine a model says to hold, and does not make true."""
        return [
            i
            for i in self.spine.rounds[: model.get(self.t.a, 0)]
            if evaluate(self.spine.instance(i), model) is not True
        ]

    def holds(self, model: Model) -> bool:
        """Is the whole clause true under a model?"""
        last = model.get(self.t.a, 0)
        return (
            last in self.legs.rounds
            and evaluate(self.legs.instance(last), model) is True
            and not self.violated(model)
        )

    def readable(self) -> str:
        """For people: `s[i] == 'a' for all i < k; s[k] != 'a'`."""
        name = variable(self.t.a).b
        spine, leg = self.spine.text("i"), self.legs.text(name)
        return f"{spine} for all i < {name}; {leg}" if spine != "true" and self.spine.rounds else leg
