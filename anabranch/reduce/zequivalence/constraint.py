"""The state constraint of a return: what its caller can learn of the path (seed 000, 3.1, 3.2, 4.2)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from anabranch.expr import Expr


@dataclass(frozen=True, slots=True)
class StateConstraint:
    """A conjunction: the clauses, and `name = value` for every output."""

    clauses: tuple[Expr, ...]  # path condition since the call: Booleans
    # (observable name, value, width in bits): RET, changed bytes and words of reachable memory, obj and val
    # of new heap objects, in a canonical order of names.
    outputs: tuple[tuple[Hashable, int | bool | Expr, int], ...]
    observable: frozenset[int]  # indices of the observable variables; all others that occur are unobservable
