"""What the callers of a function must not pass, and the conditions that depend on it.

A condition of a value that flows holds in a function as long as none of the bad leaves that it depends on is
true (see `origins`). So callers are not asked every condition again, only about the leaf: one *requirement* a
leaf, whatever hangs on it, and through whatever calls. The conditions behind it are lifted one by one only
where a bad value does come to a call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anabranch.check.conditions import Call, Condition
from anabranch.check.leaves import Freed, Leaf, Leaves, Undefined
from anabranch.check.origins import Origins, bad_leaves
from anabranch.expr import Expr, Value, bool_and, not_, substitute

if TYPE_CHECKING:
    from anabranch.check.properties.base import Property
    from anabranch.check.summaries import Site


MAX_DEPTH = 3
"""Calls through which what a caller freed or never wrote is followed; farther uses are counted losses."""

MAX_USES = 60
"""Pointers and values of one function for which that is done."""


@dataclass(eq=False, slots=True)
class Requirement:
    leaf: Expr
    """`Explicit`, `Freed` or `Undefined`: what callers must not make true."""
    property: Property
    depth: int = 0
    """Calls between the function and the farthest condition."""
    conditions: list[Condition] = field(default_factory=list)
    """Those of the function itself that depend on it."""
    passed_on: list[tuple[Site, Requirement]] = field(default_factory=list)
    """Calls that pass the value on to a function with a requirement."""

    def behind(self) -> Iterator[Condition]:
        """All conditions that depend on the leaf, in terms of the function, nearest first."""
        waiting: deque[tuple[Requirement, tuple[Site, ...]]] = deque([(self, ())])
        while waiting:
            requirement, sites = waiting.popleft()
            for condition in requirement.conditions:
                yield lifted_through(condition, sites)
            waiting.extend((inner, (site, *sites)) for site, inner in requirement.passed_on)


def lifted_through(condition: Condition, sites: tuple[Site, ...]) -> Condition:
    """A condition in terms of the caller of the last of some calls, the innermost of which is the first."""
    for site in sites:
        condition = lifted(condition, site)
    return condition


def lifted(condition: Condition, site: Site) -> Condition:
    """A condition of the callee as one of the caller: the consequent in terms of the caller, and the path
    inside the callee as one antecedent, closed."""
    found = site.lifted.get(condition)
    if found is not None:
        return found
    assert condition.label is not None
    site.callee.paths[condition.label] = condition
    inner = site.caller.program.summaries.operator(site, ("path", condition.label), 1)
    evidence = condition.evidence
    found = site.lifted[condition] = Condition(
        condition.property,
        site.caller,
        site.node,
        site.instantiate(condition.bad),
        site.path if inner is True else (inner, *site.path),
        condition.loc,
        condition.message,
        condition.key,
        (Call(site.caller.name, site.callee.name, site.loc), *condition.calls),
        condition,
        site.instantiate(evidence) if evidence.__class__ is Expr else evidence,
        condition.kind,
        (site.label, condition.label),
    )
    return found


def split(origins: Origins, bad: Value) -> tuple[Value, Value]:
    """What is bad by what happens in the function itself, and what only by what its caller has freed or never
    written. The second costs no query: it is a requirement at once."""
    if bad.__class__ is not Expr:
        return bad, False
    leaves = origins.leaves
    callers = {leaf.var: False for leaf in leaves.support(bad) if _by_caller(leaves, leaf)}
    if not callers:
        return bad, False
    # Mostly no other leaf is bad, and the origin, which is asked for next anyway, says that nothing is left.
    if len(callers) == len(bad_leaves(leaves, bad)) and not origins.of(bad).own:
        return False, bad
    here = substitute(bad, callers)
    return here, bad if here is False else bool_and(bad, not_(here))


def _by_caller(leaves: Leaves, leaf: Leaf | None) -> bool:
    return isinstance(leaf, Freed | Undefined) and leaves.visible(leaf.var.a)
