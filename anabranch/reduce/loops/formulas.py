"""Formula patterns (sections 3.2 and 3.3): path conditions and values of a partition as functions of k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anabranch.expr import Expr, Value, bool_or, eq
from anabranch.solver import conjunction
from anabranch.solver.rounds import Rounds

from .synthesis import Template, synthesise
from .text import conjunction_text, text
from .tree import path
from .words import Partition


class Instances:
    """Instances of templates as a family of rounds: the one of round i is that at the number i + shift."""

    __slots__ = ("rounds", "shift", "templates")

    def __init__(self, templates: Sequence[Template], rounds: Sequence[int], shift: int = 0) -> None:
        self.templates = tuple(templates)
        self.rounds = rounds
        self.shift = shift

    def instance(self, i: int) -> Value:
        """See Family."""
        return conjunction(template.instance(i + self.shift) for template in self.templates)

    def cells(self, i: int) -> tuple[int, ...]:
        """See Family."""
        return tuple(v.a for template in self.templates for v in template.cells(i + self.shift))

    def text(self, index: str) -> str:
        """See Family."""
        return conjunction_text((t.body for t in self.templates), index, self.shift)


class FormulaPattern(NamedTuple):
    """(phi1, phi2(x), phi3(x)) (Definition 3.5), matched by leaves with the given numbers."""

    phi1: Value
    phi2: tuple[Template, ...]
    """One for each letter of w2; their conjunction is the formula."""
    phi3: tuple[Template, ...]
    """One for each letter of w3."""
    numbers: tuple[int, ...]
    """k_j, ascending: the values of k."""

    def tail(self, k: int) -> Value:
        """The tail of the tree path condition of the leaf with that number, by Definition 3.5."""
        steps = (t.instance(i) for i in range(1, k + 1) for t in self.phi2)
        return conjunction((self.phi1, *steps, *(t.instance(k) for t in self.phi3)))

    def values_of(self, k: Expr) -> Value:
        """k = k_1 or k = k_2 or ...: a range where there are no gaps."""
        whole: Value = False
        for number in self.numbers:
            whole = bool_or(whole, eq(k, number, k.w))
        return whole

    def rounds(self, k: Expr) -> Rounds:
        """The rest of the merged path constraint (Definition 3.6), but phi1: values of k, the quantified
        clause, and phi3 at k."""
        spine = Instances(self.phi2, range(self.numbers[-1]), shift=1)
        return Rounds(k, spine, Instances(self.phi3, self.numbers))

    def readable(self, k: str = "k") -> str:
        """For people: `n > i and s[i] == 'a' for all i < k; n > k and s[k] != 'a'`."""
        spine = Instances(self.phi2, range(self.numbers[-1]), shift=1).text("i")
        leg = Instances(self.phi3, self.numbers).text(k)
        first = "" if self.phi1 is True else text(self.phi1, "i") + "; "
        return first + (f"{spine} for all i < {k}; {leg}" if self.phi2 else leg)


def formula_pattern(partition: Partition) -> FormulaPattern | None:
    """The formula pattern of a regular partition by Lemma 3.10, if there is one with linear terms."""
    w1, w2, w3 = partition.pattern
    conditions = [([node.condition for node in path(leaf)], k) for leaf, k in partition.members]
    numbers = [k for _, k in conditions]
    longest, most = conditions[-1]
    start, period = len(w1), len(w2)
    phi2, phi3 = [], []
    steps = range(1, most + 1)
    for letter in range(period if most else 0):
        found = synthesise([longest[start + (i - 1) * period + letter] for i in steps], steps, 1)
        if found is None:
            return None
        phi2.append(found)
    for letter in range(len(w3)):
        found = synthesise([c[start + k * period + letter] for c, k in conditions], numbers, 1)
        if found is None:
            return None
        phi3.append(found)
    return FormulaPattern(conjunction(longest[1:start]), tuple(phi2), tuple(phi3), tuple(numbers))
