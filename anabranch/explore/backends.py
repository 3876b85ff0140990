"""Solver back ends by name.

The command line lists the names, so this module is light: a back end is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from anabranch.registry import Registry

if TYPE_CHECKING:
    from anabranch.solver import Backend


class QueryLimits(NamedTuple):
    """What queries may take, in seconds; None is no limit."""

    seconds: float | None = None
    """A single query."""
    share: float | None = None
    """The part of the time since the first query that hard queries may take together."""
    end: float | None = None
    """The time, by `time.monotonic`, after which no query goes on."""


MakeBackend = Callable[[QueryLimits], "Backend"]
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

    return BitwuzlaBackend(seconds=limits.seconds, share=limits.share, end=limits.end)


@backend("z3", help="each query from its text, slow, for comparison")
def z3(limits: QueryLimits) -> Backend:
    from anabranch.solver import Z3Backend

    return Z3Backend(seconds=limits.seconds, share=limits.share, end=limits.end)
