"""The execution tree of Figure 2: memspn(s, n, "a") with n <= 3, and of Example 4: with "ab"."""

from __future__ import annotations

from typing import Any

from anabranch.expr import Value, bool_and, bool_or, eq, ne, ugt, ule, var
from anabranch.reduce.loops.tree import Node, execution_tree

BOUND = 3


def n() -> Any:
    return var("n", 64)


def s(i: int) -> Any:
    return var(f"s[{i}]", 8)


def is_member(i: int, characters: str) -> Value:
    whole: Value = False
    for ch in characters:
        whole = bool_or(whole, eq(s(i), ord(ch), 8))
    return whole


def is_no_member(i: int, characters: str) -> Value:
    whole: Value = True
    for ch in characters:
        whole = bool_and(whole, ne(s(i), ord(ch), 8))
    return whole


def figure2(characters: str = "a", bound: int = BOUND) -> tuple[Node, list[Node]]:
    """The root, and the leaves: n2, n6, n10, n14 (the end of s), then n5, n9, n13 (another character)."""
    rounds = [[ugt(n(), i, 64), is_member(i, characters)] for i in range(bound)]
    before = [[c for one in rounds[:i] for c in one] for i in range(bound + 1)]
    ends = [[*before[i], ule(n(), i, 64)] for i in range(bound + 1)]
    stops = [[*before[i], ugt(n(), i, 64), is_no_member(i, characters)] for i in range(bound)]
    return execution_tree(ends + stops)
