"""Two waiting states at one location become one that stands for both.

Wherever the states differ, the joined one holds `ite(guard, mine, other)`, where the guard is a condition
that every input of the first state satisfies and no input of the second. Nothing is approximated: if there is
no such expression, `CannotJoin` says why.
"""

from __future__ import annotations

from anabranch.expr import Expr, expr_vars
from anabranch.expr.boolean import negation
from anabranch.machine.joining.chains import join_histories, join_records, parting
from anabranch.machine.joining.memory import join_objects, join_pages, resize
from anabranch.machine.joining.notes import join_notes
from anabranch.machine.joining.pending_tests import join_pending_tests
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.values import differing_frames, join_continuations, join_frame
from anabranch.machine.state import Extras, State
from anabranch.solver import Disjunction, SliceSpace


def join(
    a: State,
    b: State,
    space: SliceSpace,
    extras: Extras,
    heaps_must_agree: bool = False,
    keep_apart: bool = False,
) -> State:
    """The state that stands for both; neither is changed.

    `heaps_must_agree`: a check for leaks must know at the end which objects there are. `keep_apart`:
    inputs that are independent of each other on both sides must stay so.
    """
    if a is b:
        raise CannotJoin("a state with itself")
    if a.entry is not b.entry:
        raise CannotJoin("different locations")
    frames = differing_frames(a.continuation, b.continuation)
    objects, pairs = join_objects(a.objects, b.objects, heaps_must_agree)
    found = join_conditions(a, b, space, keep_apart)
    guard = found.guard
    if pairs:
        objects = resize(guard, objects, pairs)
    joined = State()
    joined.entry = a.entry
    joined.place = a.place
    joined.values = join_frame(guard, a.entry, a.values, b.values)
    joined.continuation = join_continuations(guard, frames)
    joined.objects = objects
    joined.pages = join_pages(guard, a, b, objects, pairs)
    counts = join_counts(a.tables[0], b.tables[0])
    joined.tables = (counts, join_notes(guard, a.tables[1], b.tables[1]))
    joined.packed = a.slices | {index: part for part in found.slices for index in part.vars}
    joined.condition = join_histories(a.condition, b.condition, found.slices)
    joined.inputs = join_records(guard, a.inputs, b.inputs)
    joined.output = join_records(guard, a.output, b.output)
    joined.extras = extras.join(a, b)
    joined.depth = max(a.depth, b.depth)
    joined.pending_tests = join_pending_tests(((guard, a), (negation(guard), b)))
    joined.covered_new = False
    joined.instructions_since_new = min(a.instructions_since_new, b.instructions_since_new)
    joined.multiplicity = a.multiplicity + b.multiplicity
    joined.node = a.node
    joined.number = a.number
    return joined


def join_conditions(a: State, b: State, space: SliceSpace, keep_apart: bool) -> Disjunction:
    """What tells the states apart, and the slices of both where they differ."""
    own, other = a.slices, b.slices
    differing = [index for index, part in own.items() if other.get(index) is not part]
    only_b = [index for index in other if index not in own]
    _, mine, others = parting(a.condition, b.condition)
    if not mine and not others:
        raise CannotJoin("the same path twice")
    if not differing and not only_b:
        raise CannotJoin("path conditions that do not exclude each other")
    if keep_apart:
        largest = max(
            len(part.vars) for s in (own, other) for i in (*differing, *only_b) if (part := s.get(i))
        )
        if len(differing) + len(only_b) > largest:
            raise CannotJoin("inputs that would become dependent")
    hint = None
    if mine and others and mine[0].__class__ is Expr and mine[0].neg is others[0]:
        hint = mine[0]
    indices = [*differing, *only_b]
    if hint is not None:
        # The variables of the hint may have the same slices on both sides by now.
        known = set(indices)
        indices += [i for v in expr_vars(hint) if v not in known for i in own[v].vars if i not in known]
    first = tuple(dict.fromkeys(own.get(i) or space.root(i) for i in indices))
    second = tuple(dict.fromkeys(other.get(i) or space.root(i) for i in indices))
    return space.disjoin(first, second, hint)


def join_counts(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    """How often each site has allocated, at most: no number may come twice on either path."""
    if a is b:
        return a
    counts = a.copy()
    for site, count in b.items():
        if counts.get(site, 0) < count:
            counts[site] = count
    return counts
