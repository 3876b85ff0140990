"""What is found without the solver is what the path condition implies."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

from anabranch import expr as X
from anabranch.expr import Expr, evaluate, expr_vars
from anabranch.machine.known import Knowledge
from anabranch.machine.undefined import Divisions, has_undefined, reaches_undefined
from anabranch.solver import Slice, SliceSpace
from tests.machine.harness import run_source

HOLDS_EXPRESSIONS = True
WIDTH = 3
X3, Y3 = X.var("known.x", WIDTH), X.var("known.y", WIDTH)
MODELS = [{X3.a: a, Y3.a: b} for a, b in itertools.product(range(8), repeat=2)]


def condition(rng: random.Random) -> X.Value:
    compare = rng.choice([X.eq, X.ult, X.slt, X.ne])
    return compare(number(rng, 1), number(rng, 1), WIDTH)


def number(rng: random.Random, depth: int) -> X.Value:
    kind = rng.randrange(3 if depth == 0 else 7)
    if kind < 2:
        return (X3, Y3)[kind]
    if kind == 2:
        return rng.randrange(8)
    if kind == 3:
        return X.ite(condition(rng), number(rng, depth - 1), number(rng, depth - 1), WIDTH)
    if kind == 4:
        return X.zext(condition(rng), 1, WIDTH)
    return rng.choice([X.add, X.xor])(number(rng, depth - 1), number(rng, depth - 1), WIDTH)


def path(rng: random.Random, space: SliceSpace) -> dict[int, Slice]:
    """The slices after some conditions were found true."""
    slices = {X3.a: space.root(X3.a), Y3.a: space.root(Y3.a)}
    for _ in range(rng.randrange(5)):
        cond = condition(rng)
        if cond.__class__ is not Expr:
            continue
        part = space.join(tuple(dict.fromkeys(slices[v] for v in expr_vars(cond))))
        after = space.assume(part, cond)
        if after is not None:
            slices.update(dict.fromkeys(after.vars, after))
    return slices


def test_known_values_agree_with_every_model_of_the_path() -> None:
    rng = random.Random(5)
    space = SliceSpace()
    settled = 0
    for _ in range(1500):
        slices = path(rng, space)
        knowledge = Knowledge(slices)
        constraints = [c for part in dict.fromkeys(slices.values()) for c in part.order]
        models = [m for m in MODELS if all(evaluate(c, m) is True for c in constraints)]
        assert models
        value = number(rng, 2)
        simpler = knowledge.settled(value)
        settled += simpler is not value
        for model in models:
            assert evaluate(simpler, model) == evaluate(value, model)
        cond = condition(rng)
        if cond.__class__ is Expr:
            truth = knowledge.known(cond)
            assert all(evaluate(truth, model) == evaluate(cond, model) for model in models)
    assert settled > 100


def partly(rng: random.Random, unknown: Expr) -> X.Value:
    """A number that may depend on unknown data."""
    value: X.Value = unknown
    for _ in range(rng.randrange(1, 5)):
        other = number(rng, 1)
        value = rng.choice(
            [
                X.ite(condition(rng), value, other, WIDTH),
                X.add(value, other, WIDTH),
                X.and_(value, other, WIDTH),
            ]
        )
    return value


def test_decided_choices_of_undefined_data_are_taken() -> None:
    rng = random.Random(7)
    space, unknown = SliceSpace(), X.undefined(WIDTH)
    taken = {True: 0, False: 0}  # by whether undefined data is left
    for _ in range(1500):
        slices = path(rng, space)
        constraints = [c for part in dict.fromkeys(slices.values()) for c in part.order]
        value = partly(rng, unknown)
        simpler = Divisions(Knowledge(slices)).taken(value)
        if simpler is not value:
            taken[simpler.__class__ is Expr and has_undefined(simpler)] += 1
        for model in (m for m in MODELS if all(evaluate(c, m) is True for c in constraints)):
            for data in ({unknown.a: 0}, {unknown.a: 5}):
                assert evaluate(simpler, model | data) == evaluate(value, model | data)
    assert min(taken.values()) > 20


def test_without_the_condition_undefined_data_has_no_influence() -> None:
    rng = random.Random(6)
    unknown = X.undefined(WIDTH)
    told = 0
    for _ in range(1500):
        value = partly(rng, unknown)
        if value.__class__ is not Expr or expr_vars(value)[0] >= 0:
            continue
        reached = reaches_undefined(value)
        told += reached is not True
        for model in MODELS:
            if evaluate(reached, model) is False:
                seen = {evaluate(value, model | {unknown.a: u}) for u in range(8)}
                assert len(seen) == 1
    assert told > 100


ADVANCES = """
#include <klee/klee.h>
static const char *words[] = {"a", "b", "c"};
int main(void) {
  char c = klee_range(0, 256, "c");
  int found = c == 'x';
  if (found) return 1;
  const char **at = words;
  at += c == 'x';      /* decided already: stays a plain address */
  return (*at)[0] == 'a' ? 0 : 2;
}
"""


def test_an_index_advanced_by_a_decided_condition_is_a_number(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, ADVANCES)
    assert outcome.result.complete
    assert outcome.result.paths_exit == 2
    assert sorted({t.exit_code for t in outcome.collector.tests if t.exit_code is not None}) == [0, 1]


CALLS = """
#include <klee/klee.h>
#include <stdarg.h>
static int sum(int n, int a, int b) { return n == 0 ? a : sum(n - 1, b, a + 1); }
static int last(int n, ...) {
  va_list rest;
  int found = 0;
  va_start(rest, n);
  for (int i = 0; i < n; i++) found = va_arg(rest, int);
  va_end(rest);
  return found;
}
int main(void) {
  char c = klee_range(0, 256, "c");
  int many = (c == 'x') + (c > 'y');
  return sum(10 + (c == 'x'), many, 3) + last(3, 1, 2, c == 'x' ? 40 : 41);
}
"""


def test_a_turn_that_ends_at_the_start_of_a_function_keeps_its_arguments(tmp_path: Path) -> None:
    whole = run_source(tmp_path, CALLS)
    cut = run_source(tmp_path, CALLS, "--batch-instructions", "1", "--batch-forks", "1")
    assert whole.result.complete
    assert cut.summary() == whole.summary()
