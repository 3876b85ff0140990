"""Strongly connected components, after Tarjan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def strong_components(successors: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """The components of a graph, each after those that it leads to; members in the order of the walk."""
    count = len(successors)
    number, low = [0] * count, [0] * count
    open_: list[int] = []
    clock = 0
    for root in range(count):
        if number[root]:
            continue
        clock += 1
        number[root] = low[root] = clock
        open_.append(root)
        # Iterators are kept on a stack of our own: chains of calls are as long as programs make them.
        stack = [(root, iter(successors[root]))]
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if not number[target]:
                    clock += 1
                    number[target] = low[target] = clock
                    open_.append(target)
                    stack.append((target, iter(successors[target])))
                    break
                if low[target] > 0:
                    low[node] = min(low[node], number[target])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[node])
                if low[node] == number[node]:
                    members = [open_.pop()]
                    while members[-1] != node:
                        members.append(open_.pop())
                    for member in members:
                        low[member] = -1  # finished: edges into it close no cycle
                    members.reverse()
                    yield members


def named_components(successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The components of a graph of names, in the same order."""
    names = list(successors)
    number = {name: index for index, name in enumerate(names)}
    edges = [[number[target] for target in successors[name]] for name in names]
    return [[names[index] for index in members] for members in strong_components(edges)]
