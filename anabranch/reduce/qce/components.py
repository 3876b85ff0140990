"""Strong components of a graph of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def components(successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strong components, each after those it leads to; members in the order they are met."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    result: list[list[str]] = []
    done: set[str] = set()
    for root in successors:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_.append(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if target not in number:
                    number[target] = low[target] = len(number)
                    open_.append(target)
                    stack.append((target, iter(successors[target])))
                    break
                if target not in done:
                    low[node] = min(low[node], number[target])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[node])
                if low[node] == number[node]:
                    start = open_.index(node)
                    members = open_[start:]
                    del open_[start:]
                    done.update(members)
                    result.append(members)
    return result
