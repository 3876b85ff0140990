"""Models that people can read: zero where free, else small numbers and printable characters."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.expr import MASK, Expr, compile_evaluator, evaluate, expr_vars, variable
from anabranch.expr.variables import postorder_within

from .backend import Model
from .slices import Slice
from .valuesets import BYTE, ValueSet, contains, highest, lowest

WORK_LIMIT = 4000  # evaluations of a constraint for one slice
NODES_LIMIT = 40_000  # nodes of constraints that are compiled for one slice, about half a second


def _group(characters: str) -> int:
    return sum(1 << ord(ch) for ch in characters)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Byte values from the most to the least welcome; what is in no group is taken in ascending order.
_GROUPS = (
    1,
    _group(_LETTERS),
    _group(_LETTERS.upper()),
    _group("0123456789"),
    _group(" !#$%&()*+,-./:;<=>?@[]^_{|}~'`\"\\"),
    _group("\n\t"),
)
_BYTE_TRIALS = (0, ord("a"), ord("A"), ord("0"), ord(" "), ord("z"), ord("-"), 1, 2)
_WIDE_TRIALS = (0, 1, 2, 3, 4, 5, 7, 8, 10, 16, 32, 64, 100, 127, 128, 255, 256, 1000, 4096)


def best_value(values: ValueSet, w: int) -> int:
    """The most readable member of a set."""
    if isinstance(values, int):
        if w == BYTE:
            for group in _GROUPS:
                if values & group:
                    return lowest(values & group)
        return lowest(values)
    low, high = lowest(values), highest(values)
    return high if MASK[w] - high < low else low


def _trials(values: ValueSet | None, w: int, own: int) -> list[int]:
    """Values worth trying for a variable, the best first, down to its own."""
    out: list[int] = []
    if w == BYTE:
        out += _BYTE_TRIALS
        if 32 <= own < 127:
            out.append(own)
    else:
        out += (v for v in _WIDE_TRIALS if v <= MASK[w])
    if values is not None:
        out = [v for v in out if contains(values, v)]
        out.append(best_value(values, w))
    if w > BYTE:
        out.append(MASK[w])
        out += (own >> k for k in range(w - 1, 0, -4))
    trials: dict[int, None] = {}
    for v in out:
        if v == own:
            break
        trials[v] = None
    return list(trials)


def readable(s: Slice) -> Model:
    """A readable model of the slice."""
    if s.values is not None:
        v = s.vars[0]
        return {v: best_value(s.values, variable(v).w)}
    if not s.order:
        return dict.fromkeys(s.vars, 0)
    model = dict(s.model)
    touching: dict[int, list[Expr]] = {v: [] for v in s.vars}
    for c in s.order:
        for v in expr_vars(c):
            touching[v].append(c)
    work, nodes = WORK_LIMIT, NODES_LIMIT
    for v in s.vars:
        constraints = touching[v]
        own = model[v]
        if not constraints:
            model[v] = 0
            continue
        check = None
        for trial in _trials(s.bounds.get(v), variable(v).w, own):
            if work <= 0:
                return model
            work -= len(constraints)
            if check is None:
                found = postorder_within(constraints, nodes) if nodes else None
                if found is None:
                    nodes //= 2  # looking at all that are too large would take long, too
                    break
                nodes -= len(found)
                check = compile_evaluator(constraints)
            model[v] = trial
            if all(check(model)):
                break
            model[v] = own
    return model


def satisfies(conds: Sequence[Expr], model: Model) -> bool:
    """Whether a model makes all conditions true."""
    return all(evaluate(c, model) is True for c in conds)
