"""Words and regular patterns (section 3.1): paths of an execution tree as strings, and what they repeat.

A condition is hashed to a letter with its constants abstracted. In this engine a cell of an input is a
variable of its own, so its offset counts as a constant, too. Two rewritings of the expression package are
undone, or the first round would have a letter of its own: `x + 0` is `x`, and `x < 1` is `x == 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anabranch.expr import Expr, Value, postorder
from anabranch.expr.cells import cell_name
from anabranch.expr.node import ADD, EQ, ITE, SELECT, ULT, VAR
from anabranch.expr.registry import OPERATORS

from .tree import Node, path

ROOT_LETTER = "W"
FIRST_LETTER = 0x100


@dataclass(frozen=True, slots=True)
class PatternLimits:
    """When patterns are given up; the defaults of the paper's artifact."""

    patterns: int = 10
    before_unification: int = 20
    states: int = 2
    """Of a pattern, at least; what no such pattern matches is a partition of its own."""


class Skeletons:
    """Expressions with constants abstracted, as numbers: equal numbers are equal skeletons."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._known: dict[Expr, int] = {}
        self._ordered: frozenset[int] = frozenset()

    def learn(self, conditions: Iterable[Expr]) -> None:
        """Finds the values that the conditions compare with constants by order and never by equality (but
        with 0): for them `x == 0` is `x < 1`."""
        ordered, equal = set(), set()
        for n in postorder(list(conditions)):
            if n.op in (ULT, EQ) and n.a.__class__ is Expr and n.b.__class__ is int:
                if n.op == ULT:
                    ordered.add(self.of(n.a))
                elif n.b:
                    equal.add(self.of(n.a))
        self._ordered = frozenset(ordered - equal)
        self._known.clear()

    def of(self, e: Value) -> int:
        """The number of the skeleton of a value."""
        if e.__class__ is not Expr:
            return self._number("constant")
        for n in postorder([e]) if e not in self._known else ():
            if n not in self._known:
                self._known[n] = self._number(self._content(n))
        return self._known[e]

    def _number(self, content: Any) -> int:
        return self._numbers.setdefault(content, len(self._numbers))

    def _content(self, n: Expr) -> Any:
        if n.op == VAR:
            cell = cell_name(n)
            return (VAR, n.b if cell is None else cell.array, n.w)
        if n.op == ADD and n.b.__class__ is int:
            return ("same", self._known[n.a])
        if n.op == ITE and n.w > 1:  # a table of any length is what its leaves are
            parts = {self.of(x) for x in (n.b, n.c)}
            return ("same", parts.pop()) if len(parts) == 1 else (ITE, frozenset(parts))
        if n.op == SELECT and n.w > 1:
            return ("same", self._number("constant"))
        op = n.op
        if op == EQ and n.b.__class__ is int and n.b == 0 and self.of(n.a) in self._ordered:
            op = ULT
        operator = OPERATORS[n.op]
        count = len(operator.widths(n))
        letters = [self.of(part) for part in (n.a, n.b, n.c)[:count]]
        if operator.commutative:
            letters.sort()
        parameter = n.c if count < 3 else None
        return (op, n.w, parameter, *letters)


class Hash:
    """h: from conditions to letters, for one execution tree."""

    def __init__(self, root: Node) -> None:
        self._skeletons = Skeletons()
        self._skeletons.learn(n.condition for n in root.walk() if n.condition.__class__ is Expr)

    def letter(self, condition: Value) -> str:
        """h(c)."""
        if condition is True:
            return ROOT_LETTER
        return chr(FIRST_LETTER + self._skeletons.of(condition))

    def word(self, end: Node) -> str:
        """h(pi(n)) (Definition 3.2)."""
        return "".join(self.letter(node.condition) for node in path(end))

    def valid(self, root: Node) -> bool:
        """Do siblings have different letters (Definition 3.1)?"""
        for node in root.walk():
            letters = [self.letter(child.condition) for child in node.children]
            if len(set(letters)) < len(letters) or ROOT_LETTER in letters:
                return False
        return True


class RegularPattern(NamedTuple):
    """(w1, w2, w3) (Definition 3.3)."""

    w1: str
    w2: str
    w3: str

    def number(self, word: str) -> int | None:
        """The k with word = w1 w2^k w3, if there is one."""
        middle = len(word) - len(self.w1) - len(self.w3)
        if middle < 0:
            return None
        if not self.w2:
            return 0 if word == self.w1 + self.w3 else None
        k, rest = divmod(middle, len(self.w2))
        return k if not rest and word == self.w1 + self.w2 * k + self.w3 else None


class Partition(NamedTuple):
    """A regular partition (Definition 3.4): leaves with their numbers k, ascending."""

    pattern: RegularPattern
    members: tuple[tuple[Node, int], ...]


def _pattern_of(u: str, v: str) -> RegularPattern | None:
    """The pattern with the shortest w1 that two words, the second longer, match."""
    same = 0
    while same < len(u) and u[-1 - same] == v[-1 - same]:
        same += 1
    start, extra = len(u) - same, len(v) - len(u)
    if u[:start] != v[:start]:
        return None
    repeated = v[start : start + extra]
    period = (repeated + repeated).find(repeated, 1)  # of a power, its root
    repeated, rest = repeated[:period], u[start:]
    while rest.startswith(repeated):
        rest = rest[period:]
    pattern = RegularPattern(u[:start], repeated, rest)
    return pattern if pattern.number(u) is not None and pattern.number(v) is not None else None


def regular_partitioning(
    root: Node, leaves: Sequence[Node], limits: PatternLimits | None = None
) -> list[Partition] | None:
    """A partitioning of the leaves by regular patterns; None where plain merging is to be used: the hash is
    not valid for the tree, or there are too many patterns."""
    limits = limits or PatternLimits()
    h = Hash(root)
    if not h.valid(root):
        return None
    words = sorted(((h.word(leaf), leaf) for leaf in leaves), key=lambda pair: (len(pair[0]), pair[0]))
    if len({word for word, _ in words}) < len(words):
        return None
    found: list[Partition] = []
    while words:
        if len(found) == limits.patterns:
            return None
        shortest = words[0][0]
        candidates: dict[RegularPattern, None] = {}
        for word, _ in words[1:]:
            pattern = _pattern_of(shortest, word) if len(word) > len(shortest) else None
            if pattern is not None and pattern not in candidates:
                if len(candidates) == limits.before_unification:
                    return None
                candidates[pattern] = None
        best = Partition(RegularPattern(shortest, "", ""), ((words[0][1], 0),))
        for pattern in candidates:
            members = [(leaf, k) for word, leaf in words if (k := pattern.number(word)) is not None]
            if len(members) >= limits.states and len(members) > len(best.members):
                best = Partition(pattern, tuple(members))
        found.append(best)
        taken = {id(leaf) for leaf, _ in best.members}
        words = [pair for pair in words if id(pair[1]) not in taken]
    return found
