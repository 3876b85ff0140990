"""The state constraint of a return: what its caller can learn of the path (Li et al., 3.1, 3.2, 4.2)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from anabranch.expr import Expr

Output: TypeAlias = tuple[Hashable, Any, int]
"""(observable name, value, width in bits): a live value, a part of a changed page or of a new object."""


@dataclass(frozen=True, slots=True)
class StateConstraint:
    """A conjunction: the clauses, and `name = value` for every output."""

    clauses: tuple[Expr, ...]  # path condition since the call: Booleans
    outputs: tuple[Output, ...]  # in a canonical order of names
    observable: frozenset[int]  # indices of the observable variables; all others that occur are unobservable
