"""Random pairs of state constraints, judged by brute force over all values (Definition 1 of Li et al.).

A constraint has up to three clauses and up to two outputs over two observable and three unobservable
variables of 2 or 3 bits. As in a path condition, its clauses have a common model, none of them is always
true, and about half of the comparisons are with a constant. Pairs are of three kinds: two made independently;
a constraint and itself with unobservable variables renamed and clauses in another order; a constraint and
itself with a random change.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.expr import (
    Expr,
    Value,
    add,
    and_,
    ashr,
    concat,
    eq,
    extract,
    ite,
    lshr,
    mul,
    not_,
    or_,
    postorder,
    sdiv,
    sext,
    shl,
    slt,
    srem,
    sub,
    substitute,
    udiv,
    ult,
    urem,
    var,
    xor,
    zext,
)
from anabranch.expr.node import VAR
from anabranch.expr.registry import OPERATORS
from anabranch.reduce.zequivalence.constraint import StateConstraint

KINDS = ("independent", "renamed", "changed")
FREQUENT: tuple[Callable[..., Value], ...] = (add, sub, xor, and_, or_, mul)
RARE: tuple[Callable[..., Value], ...] = (shl, lshr, ashr, udiv, urem, sdiv, srem)
COMPARISONS: tuple[Callable[..., Value], ...] = (eq, eq, ult, slt)


@dataclass(frozen=True)
class World:
    """The variables of a pair."""

    w: int
    beta: tuple[Expr, ...]
    alpha: tuple[Expr, ...]

    @property
    def observable(self) -> frozenset[int]:
        """Their indices."""
        return frozenset(b.a for b in self.beta)


def world(w: int) -> World:
    """Two observable and three unobservable variables of w bits."""
    return World(
        w,
        tuple(var(f"observable{i}.{w}", w) for i in range(2)),
        tuple(var(f"unobservable{i}.{w}", w) for i in range(3)),
    )


# -- random constraints -----------------------------------------------------------------------------------


def random_value(rng: random.Random, of: World, depth: int) -> Value:
    """A value of the world's width."""
    w = of.w
    if depth == 0 or rng.random() < 0.3:
        p = rng.random()
        if p < 0.55:
            return rng.choice(of.alpha)
        return rng.choice(of.beta) if p < 0.8 else rng.randrange(1 << w)
    p = rng.random()
    if p < 0.65:
        return rng.choice(FREQUENT)(random_value(rng, of, depth - 1), random_value(rng, of, depth - 1), w)
    if p < 0.75:
        return rng.choice(RARE)(random_value(rng, of, depth - 1), random_value(rng, of, depth - 1), w)
    if p < 0.83:
        c = random_truth(rng, of, depth - 1)
        return ite(c, random_value(rng, of, depth - 1), random_value(rng, of, depth - 1), w)
    narrow = rng.randrange(1, w)
    part = extract(random_value(rng, of, depth - 1), rng.randrange(w - narrow + 1), narrow, w)
    if p < 0.94:
        return rng.choice((zext, sext))(part, narrow, w)
    rest = extract(random_value(rng, of, depth - 1), 0, w - narrow, w)
    return concat(part, narrow, rest, w - narrow)


def random_truth(rng: random.Random, of: World, depth: int) -> Value:
    """A Boolean."""
    if depth > 0 and rng.random() < 0.15:
        x, y = random_truth(rng, of, depth - 1), random_truth(rng, of, depth - 1)
        return rng.choice((and_, or_, xor))(x, y, 1)
    x = random_value(rng, of, depth)
    # most branches of programs compare with a constant
    y = rng.randrange(1 << of.w) if rng.random() < 0.5 else random_value(rng, of, depth)
    c = rng.choice(COMPARISONS)(x, y, of.w)
    return not_(c) if rng.random() < 0.5 else c


def random_constraint(rng: random.Random, of: World) -> StateConstraint:
    """One to three clauses of a feasible path, and none, one or two outputs."""
    while True:
        clauses = [random_truth(rng, of, rng.randrange(3)) for _ in range(rng.randrange(1, 4))]
        outputs = [
            (f"out{i}", random_value(rng, of, rng.randrange(3)), of.w) for i in range(rng.randrange(3))
        ]
        found = StateConstraint(
            tuple(c for c in clauses if c.__class__ is Expr), tuple(outputs), of.observable
        )
        if is_path(found, of):
            return found


def renamed(rng: random.Random, a: StateConstraint, of: World) -> StateConstraint:
    """The same with other unobservable variables, and clauses in another order."""
    to = list(of.alpha)
    rng.shuffle(to)
    names = dict(zip(of.alpha, to, strict=True))
    clauses = [substitute(c, names) for c in a.clauses]
    rng.shuffle(clauses)
    outputs = tuple((name, substitute(v, names), w) for name, v, w in a.outputs)
    return StateConstraint(tuple(clauses), outputs, a.observable)


def changed(rng: random.Random, a: StateConstraint, of: World) -> StateConstraint:
    """The same with one part replaced, one clause more, or one clause less; renamed."""
    while True:
        clauses, outputs = list(a.clauses), list(a.outputs)
        p = rng.random()
        if p < 0.2:
            clauses.append(random_truth(rng, of, 1))
        elif p < 0.4 and clauses:
            clauses.pop(rng.randrange(len(clauses)))
        else:
            nodes = postorder([x for x in (*clauses, *(v for _, v, _ in outputs)) if x.__class__ is Expr])
            at = rng.choice([n for n in nodes if n.w in (1, of.w)] or [of.alpha[0]])
            new = random_truth(rng, of, 1) if at.w == 1 else random_value(rng, of, 1)
            clauses = [substitute(c, {at: new}) for c in clauses]
            outputs = [(name, substitute(v, {at: new}), w) for name, v, w in outputs]
        found = StateConstraint(
            tuple(c for c in clauses if c.__class__ is Expr), tuple(outputs), a.observable
        )
        if all(c.__class__ is Expr or c for c in clauses) and is_path(found, of):
            return renamed(rng, found, of)


def pairs(seed: int, count: int) -> Iterator[tuple[str, World, StateConstraint, StateConstraint]]:
    """Pairs of the kinds in turn."""
    rng = random.Random(seed)
    for i in range(count):
        of = world(2 + i // len(KINDS) % 2)
        kind = KINDS[i % len(KINDS)]
        a = random_constraint(rng, of)
        if kind == "independent":
            yield kind, of, a, random_constraint(rng, of)
        else:
            yield kind, of, a, (renamed if kind == "renamed" else changed)(rng, a, of)


# -- brute force ------------------------------------------------------------------------------------------


def tables(roots: Sequence[Value], of: World) -> list[dict[Any, int]]:
    """For each root: value -> the assignments that give it, as a set of bits.

    Bit number beta * |alpha| + alpha, where alpha and beta are the variables' values, one after another.
    """
    variables = [*of.alpha, *of.beta]
    bits = of.w * len(variables)
    everything = (1 << (1 << bits)) - 1
    known: dict[Expr, dict[Any, int]] = {}
    for k, v in enumerate(variables):
        known[v] = _variable_table(k * of.w, of.w, bits)
    for n in postorder([r for r in roots if r.__class__ is Expr]):
        if n.op == VAR:
            continue
        a, b, c = (known[x] if x.__class__ is Expr else {x: everything} for x in (n.a, n.b, n.c))
        found: dict[Any, int] = {}
        for p, at_p in a.items():
            for q, at_q in b.items():
                at_pq = at_p & at_q
                if at_pq:
                    for r, at_r in c.items():
                        at = at_pq & at_r
                        if at:
                            value = OPERATORS[n.op].evaluate(n, p, q, r)
                            found[value] = found.get(value, 0) | at
        known[n] = found
    return [known[r] if r.__class__ is Expr else {r: everything} for r in roots]


def _variable_table(shift: int, w: int, bits: int) -> dict[Any, int]:
    found: dict[Any, int] = {}
    run = 1 << shift  # the value changes every `run` assignments and comes again after 2**w runs
    period = run << w
    repeat = sum(1 << (k * period) for k in range((1 << bits) // period))
    for value in range(1 << w):
        found[value] = (((1 << run) - 1) << (value * run)) * repeat
    return found


def truth_tables(a: StateConstraint, of: World) -> list[int]:
    """The assignments that satisfy each clause."""
    return [t.get(True, 0) for t in tables(list(a.clauses), of)]


def is_path(a: StateConstraint, of: World) -> bool:
    """Do the clauses have a common model, and is none of them always true?"""
    everything = (1 << (1 << (of.w * 5))) - 1
    common = everything
    for t in truth_tables(a, of):
        if t == everything:
            return False
        common &= t
    return common != 0


Meaning = list[tuple[frozenset[Any], Any]]


def meaning(a: StateConstraint, of: World) -> Meaning:
    """For each value of the observable variables: which outputs can be, and the only ones if they must be."""
    size = 1 << (of.w * len(of.alpha))
    slot = (1 << size) - 1
    common = (1 << (1 << (of.w * 5))) - 1
    for t in truth_tables(a, of):
        common &= t
    outs: dict[tuple[Any, ...], int] = {(): common}
    for table in tables([v for _, v, _ in a.outputs], of):
        outs = {
            (*known, v): here & at for known, here in outs.items() for v, at in table.items() if here & at
        }
    found: Meaning = []
    for beta in range(1 << (of.w * len(of.beta))):
        possible = {out: at >> (beta * size) & slot for out, at in outs.items()}
        reached = frozenset(out for out, at in possible.items() if at)
        forced = next((out for out, at in possible.items() if at == slot), None)
        found.append((reached, forced))
    return found


def z_equivalent(a: StateConstraint, b: StateConstraint, of: World) -> bool:
    """Definition 1, by trying everything."""
    return names(a) == names(b) and meaning(a, of) == meaning(b, of)


def same_projection(a: StateConstraint, b: StateConstraint, of: World) -> bool:
    """Do both leave the same observable values?"""
    left, right = meaning(a, of), meaning(b, of)
    return names(a) == names(b) and [p for p, _ in left] == [p for p, _ in right]


def names(a: StateConstraint) -> list[tuple[Any, int]]:
    """The outputs' names and widths."""
    return [(name, w) for name, _, w in a.outputs]


# -- the count --------------------------------------------------------------------------------------------


@dataclass
class Count:
    """Of one kind of pairs."""

    pairs: int = 0
    equivalent: int = 0
    found: int = 0
    wrong: list[tuple[StateConstraint, StateConstraint]] = field(default_factory=list)
    missed: list[tuple[StateConstraint, StateConstraint]] = field(default_factory=list)


def judge(
    seed: int, count: int, same: Callable[[StateConstraint, StateConstraint], bool]
) -> dict[str, Count]:
    """Compares an opinion about pairs with the truth."""
    counts = {kind: Count() for kind in KINDS}
    for kind, of, a, b in pairs(seed, count):
        c = counts[kind]
        c.pairs += 1
        truth, opinion = z_equivalent(a, b, of), same(a, b)
        c.equivalent += truth
        c.found += truth and opinion
        if opinion and not truth:
            c.wrong.append((a, b))
        if truth and not opinion:
            c.missed.append((a, b))
    return counts
