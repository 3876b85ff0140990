"""Definition 1 by the solver, for constraints that the rules cannot tell equivalent (Li et al., section 5.1).

Two constraints are z-equivalent if, for all observable values, each can be true if the other can, and each
can be false if the other can. A counterexample to "what a allows, b allows" is

    observable and a's unobservable values that satisfy a, such that no unobservable values of b satisfy b

with a's outputs in the place of b's. That is a query with quantifiers, put to Z3 with a limit on its
resources, so that the answer is repeatable; beyond the limit the answer is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.expr import Expr, Value, bool_and, eq, not_, postorder, var
from anabranch.expr.evaluate import substitute_all
from anabranch.expr.fp import OPERATORS as FP_OPERATORS
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.solver.quantified import Quantified

NODES = 400  # of both constraints together
RESOURCES = 400_000  # of Z3, for each of the queries


def equivalent(
    a: StateConstraint,
    b: StateConstraint,
    backend: Quantified,
    nodes: int = NODES,
    resources: int = RESOURCES,
) -> bool | None:
    """Are two constraints z-equivalent? None: the solver gave up, or they are too large to be asked for.

    Outputs of different names are never equivalent: what is not an output did not change.
    """
    if [(name, w) for name, _, w in a.outputs] != [(name, w) for name, _, w in b.outputs]:
        return False
    differing = []
    for i, ((_, x, _), (_, y, _)) in enumerate(zip(a.outputs, b.outputs, strict=True)):
        if x.__class__ is Expr or y.__class__ is Expr:
            differing.append(i)
        elif int(x) != int(y):
            return False
    # An output that is the same constant on both sides says nothing; it may be a whole page.
    a, b = (replace(c, outputs=tuple(c.outputs[i] for i in differing)) for c in (a, b))
    roots = [*a.clauses, *b.clauses, *(v for c in (a, b) for _, v, _ in c.outputs if v.__class__ is Expr)]
    if not roots:
        return True
    if any(n.op in FP_OPERATORS or at >= nodes for at, n in enumerate(postorder(roots))):
        return None
    b = apart(b)
    # The observable variables that the names of the outputs stand for.
    observable = [var(f"zequivalence.output{i}", w) for i, (_, _, w) in enumerate(a.outputs)]
    left, right = _formula(a, observable), _formula(b, observable)
    known: bool | None = True
    for one, other, of_other in ((left, right, b), (right, left, a)):
        hidden = unobservable(of_other)
        for fact, none in ((one, other), (not_(one), not_(other))):
            found = backend.some_without(fact, none, hidden, resources)
            if found is True:
                return False
            if found is None:
                known = None
    return known


def _formula(a: StateConstraint, outputs: Sequence[Expr]) -> Value:
    """The conjunction of the clauses and of `name = value` for all outputs."""
    whole: Value = True
    for clause in a.clauses:
        whole = bool_and(whole, clause)
    for name, (_, value, w) in zip(outputs, a.outputs, strict=True):
        whole = bool_and(whole, eq(name, bool(value) if w == 1 and value.__class__ is int else value, w))
    return whole


def unobservable(a: StateConstraint) -> list[Expr]:
    """The unobservable variables that occur; undefined data is observable."""
    found: dict[int, Expr] = {}
    for e in (*a.clauses, *(v for _, v, _ in a.outputs)):
        if isinstance(e, Expr):
            for n in postorder([e]):
                if n.op == "var" and n.a >= 0 and n.a not in a.observable:
                    found[n.a] = n
    return [found[k] for k in sorted(found)]


def apart(a: StateConstraint) -> StateConstraint:
    """The constraint with its unobservable variables renamed, so that it shares none with another."""
    fresh = {v: var(f"zequivalence.other{i}", v.w) for i, v in enumerate(unobservable(a))}
    values = substitute_all([*a.clauses, *(v for _, v, _ in a.outputs)], fresh)
    clauses, rest = values[: len(a.clauses)], values[len(a.clauses) :]
    outputs = tuple((name, v, w) for (name, _, w), v in zip(a.outputs, rest, strict=True))
    return StateConstraint(tuple(clauses), outputs, a.observable)
