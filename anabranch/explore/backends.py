"""Solver back ends by name.

The command line lists the names, so this module is light: a back end is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from anabranch.registry import Registry

if TYPE_CHECKING:
    from anabranch.solver import Backend, QueryLimits


MakeBackend = Callable[["QueryLimits"], "Backend"]
M = TypeVar("M", bound=MakeBackend)

BACKENDS: Registry[MakeBackend] = Registry("solver")


def backend(name: str, *, help: str) -> Callable[[M], M]:
    """Register a class, or a function that makes one, as the solver `name`.

    It is called with `QueryLimits` and gives a `Backend`.
    """

    def register(make: M) -> M:
        BACKENDS.add(name, make, help)
        return make

    return register


@backend("bitwuzla", help="incremental, the fastest on most programs")
def bitwuzla(limits: QueryLimits) -> Backend:
    from anabranch.solver import BitwuzlaBackend

    return BitwuzlaBackend(limits=limits)


@backend("z3", help="each query from its text, slow, for comparison")
def z3(limits: QueryLimits) -> Backend:
    from anabranch.solver import Z3Backend

    return Z3Backend(limits=limits)


@backend("spear", help="circuits of few gates for a SAT solver (CaDiCaL)")
def spear(limits: QueryLimits) -> Backend:
    from anabranch.solver.spear.backend import SpearBackend

    return SpearBackend(limits=limits)
