"""Queries with a quantifier, put to Z3 with a limit on its resources, so that the answer is repeatable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.expr import Expr, Value, to_smtlib
from anabranch.expr.smtlib import symbol


class Quantified:
    """Queries "some x such that for no y", put to Z3."""

    def __init__(self) -> None:
        import z3  # takes 0.2 s: only when asked for

        self._z3: Any = z3
        self.queries = 0

    def some_without(self, fact: Value, none: Value, hidden: Sequence[Expr], resources: int) -> bool | None:
        """Can `fact` hold while no values of the hidden variables satisfy `none`? None: gave up."""
        if fact is False or none is True:
            return False
        z3, context = self._z3, self._z3.Context()
        self.queries += 1
        solver = z3.Solver(ctx=context)
        solver.set("rlimit", resources)
        facts = [e for e in (fact, none) if e.__class__ is Expr]
        read = z3.parse_smt2_string(to_smtlib(facts).replace("(check-sat)\n", ""), ctx=context)
        parsed = list(read)
        if fact.__class__ is Expr:
            solver.add(parsed.pop(0))
        if none.__class__ is Expr:
            names = {symbol(v).strip("|"): v for v in hidden}
            bound = [
                z3.Bool(name, ctx=context) if v.w == 1 else z3.BitVec(name, v.w, ctx=context)
                for name, v in names.items()
            ]
            denied = z3.Not(parsed[0])
            solver.add(z3.ForAll(bound, denied) if bound else denied)
        result = solver.check()
        if result == z3.unknown:
            return None
        return bool(result == z3.sat)
