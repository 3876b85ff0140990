"""A proof that conditions exclude each other and leave nothing out: a decision tree over their conjuncts.

The tree asks one conjunct at a time. At a node stand a region (the answers so far) and every condition that
may still hold in it. A condition leaves a branch only if it holds the opposite conjunct, or if the solver
proves that it cannot hold there. So every condition that holds for an input is still there at the leaf of
that input. A leaf is right if exactly one condition is left and the region implies it, or none is left and
the region is empty. Conditions of a symbolic execution are such a tree already: nearly every step is a
comparison of terms, and the solver is asked only where an engine simplified a conjunct away.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bench.lib.smt import Reader, Script, Term, flat, to_text


class TooHard(Exception):
    """The solver gave up on a query."""


@dataclass
class Proof:
    """What the tree found: problems (empty if the partition holds), and how much work it was."""

    problems: list[str] = field(default_factory=list)
    leaves: int = 0
    queries: int = 0


class Partition:
    """Checks the conditions of one run; ``domain`` is what the program assumes of its inputs."""

    def __init__(
        self, reader: Reader, scripts: list[Script], domain: list[Term], limit: int = 5_000_000
    ) -> None:
        self.reader = reader
        self.constants: dict[str, Term] = {}
        for script in scripts:
            self.constants.update(script.constants)
        self.conditions = [frozenset(s.assertions) for s in scripts]
        self.order = [s.assertions for s in scripts]
        self.domain = domain
        self.limit = limit
        self.proof = Proof()

    def possible(self, terms: list[Term]) -> bool:
        """Whether the terms can hold together, by Z3."""
        import z3

        self.proof.queries += 1
        solver = z3.Solver()
        solver.set("rlimit", self.limit)
        solver.from_string(to_text(terms, self.constants))
        answer: Any = solver.check()
        if answer == z3.unknown:
            raise TooHard(flat(terms[-1])[:200])
        return bool(answer == z3.sat)

    def check(self) -> Proof:
        everything = list(range(len(self.conditions)))
        work: list[tuple[tuple[Term, ...], list[int]]] = [(tuple(self.domain), everything)]
        while work:
            region, left = work.pop()
            if not left:
                self._empty_leaf(region)
                continue
            question = self._question(frozenset(region), left)
            if question is None:
                self._leaf(region, left)
                continue
            opposite = self.reader.negate(question)
            yes, no = self._sides(region, left, question, opposite)
            work.append(((*region, opposite), no))
            work.append(((*region, question), yes))
        return self.proof

    def _question(self, region: frozenset[Term], left: list[int]) -> Term | None:
        """A conjunct that every condition left answers itself, if there is one; else the one most do."""
        first = left[0]
        for term in self.order[first]:
            if term not in region and self._answered_by_all(term, left):
                return term
        votes: Counter[Term] = Counter()
        for number in left[:200]:
            votes.update(term for term in self.order[number] if term not in region)
        if not votes:
            return None
        return max(votes, key=lambda t: votes[t] + votes.get(self.reader.negate(t), 0))

    def _answered_by_all(self, term: Term, left: list[int]) -> bool:
        opposite = self.reader.negate(term)
        conditions = self.conditions
        return all(term in conditions[n] or opposite in conditions[n] for n in left)

    def _sides(
        self, region: tuple[Term, ...], left: list[int], question: Term, opposite: Term
    ) -> tuple[list[int], list[int]]:
        yes, no = [], []
        for number in left:
            condition = self.conditions[number]
            if question in condition:
                yes.append(number)
            elif opposite in condition:
                no.append(number)
            else:
                own = [*region, *(t for t in self.order[number] if t not in region)]
                if self.possible([*own, question]):
                    yes.append(number)
                if self.possible([*own, opposite]):
                    no.append(number)
        return yes, no

    def _empty_leaf(self, region: tuple[Term, ...]) -> None:
        self.proof.leaves += 1
        if self.possible(list(region)):
            last = flat(region[-1])[:160] if region else "everything"
            self.proof.problems.append(f"inputs that no path covers, where {last}")

    def _leaf(self, region: tuple[Term, ...], left: list[int]) -> None:
        """All conjuncts of every condition left are part of the region: each of them holds in all of it."""
        self.proof.leaves += 1
        if len(left) > 1 and self.possible(list(region)):
            self.proof.problems.append(f"paths {left[:5]} hold for the same input")
