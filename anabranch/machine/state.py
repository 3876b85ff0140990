"""States that wait, and the continuations their frames are kept in.

A continuation is a tuple `(parent, site, depth, live values...)`: what has to run after the current
function returns. `site.resume(parent, continuation, result)` goes on after the call. The root has
`site` None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anabranch.solver import Slice

Continuation = tuple[Any, ...]
Cons = tuple[Any, Any] | None
"""A chain `(newest, rest)` that states share."""
ROOT: Continuation = (None, None, 0)

Entry = Callable[[Continuation, tuple[Any, ...]], Any]


class State:
    """A path that waits: where it goes on, with which values, memory and path condition.

    Everything is shared with the states it was forked from; nothing here is written after creation but
    the fields of the exploration (node, covered_new, ...).
    """

    __slots__ = (
        "condition",
        "continuation",
        "covered_new",
        "depth",
        "entry",
        "inputs",
        "instructions_since_new",
        "joined_at",
        "multiplicity",
        "node",
        "number",
        "objects",
        "output",
        "owed",
        "pages",
        "place",
        "recent",
        "slices",
        "stops",
        "tables",
        "values",
    )

    entry: Entry
    values: tuple[Any, ...]
    continuation: Continuation
    pages: Mapping[int, Any]
    objects: Mapping[int, Any]
    tables: tuple[Any, ...]
    slices: dict[int, Slice]
    condition: tuple[Any, Any] | None
    inputs: tuple[Any, Any] | None
    output: tuple[Any, Any] | None
    joined_at: int
    owed: tuple[Any, ...]
    stops: Cons
    recent: tuple[Any, ...]
    place: int
    node: Any
    depth: int
    covered_new: bool
    instructions_since_new: int
    multiplicity: int
    number: int
