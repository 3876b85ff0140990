"""The SAT layer of `anabranch.solver.spear` against all assignments."""

from __future__ import annotations

import random
from math import inf

from anabranch.solver.spear.options import CADICAL
from anabranch.solver.spear.sat import Cadical
from bench.lib.cnf import columns, random_clauses, satisfying

COLUMNS = {n: columns(n) for n in range(3, 13)}


def random_options(rng: random.Random) -> dict[str, int]:
    """Some parameters at random values; none half of the time."""
    chosen = rng.sample(sorted(CADICAL), rng.choice((0, 0, 3, 8)))
    return {name: rng.choice(CADICAL[name].values) for name in chosen}


def trouble(seed: int) -> str | None:
    """Random clauses, asked three times under other assumptions and with more clauses each time: what is
    wrong with an answer, a model or a core."""
    rng = random.Random(seed)
    variables = rng.randint(3, 12)
    table = COLUMNS[variables]
    solver = Cadical(random_options(rng))
    clauses: list[list[int]] = []
    for _ in range(3):
        more = random_clauses(rng, variables)
        if clauses:
            more = more[: rng.randint(0, 4)]
        clauses += more
        for clause in more:
            solver.add(clause)
        some = rng.sample(range(1, variables + 1), rng.randint(0, min(4, variables)))
        assumed = [v * rng.choice((1, -1)) for v in some]
        expected = satisfying([*clauses, *([a] for a in assumed)], table)
        answer = solver.solve(assumed, 1_000_000, inf)
        if answer is not bool(expected):
            return f"answer {answer} to {clauses} under {assumed}"
        if answer:
            held = set(solver.model())
            if not held >= set(assumed) or not all(held & set(clause) for clause in clauses):
                return f"model {sorted(held)} of {clauses} under {assumed}"
        else:
            core = solver.core()
            if not set(core) <= set(assumed) or satisfying([*clauses, *([a] for a in core)], table):
                return f"core {core} of {clauses} under {assumed}"
    return None
