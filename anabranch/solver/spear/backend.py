"""The back end: constraints to words, words to clauses, clauses to CaDiCaL."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.expr import Expr, variable

from ..backend import QUERY_EFFORT, UNKNOWN, UNSAT, Answer, Model
from ..bitwuzla_backend import BitwuzlaBackend
from ..bitwuzla_terms import PROCESS, Terms
from ..limit import Limit, QueryLimits
from .encoder import Encoder, NotEncodable
from .gates import FALSE, TRUE, Gates
from .options import SpearOptions
from .sat import Cadical


class SpearBackend:
    """Bit-blasting to a SAT solver; queries with floating point go to Bitwuzla."""

    name = "spear"

    def __init__(
        self,
        options: SpearOptions | None = None,
        limits: QueryLimits | None = None,
        conflicts: int = 2_000_000,
        terms: Terms = PROCESS,
    ) -> None:
        self.options = options or SpearOptions()
        self._limits = limits or QueryLimits()
        self._limit = Limit(conflicts, self._limits)
        self._sat = Cadical()
        self._encoder: Encoder | None = None
        self._asked = 0
        self._floating_point: BitwuzlaBackend | None = None
        self._terms = terms
        self.effort = 0
        self.passed_on = 0
        """Queries that went to Bitwuzla."""

    @property
    def gates(self) -> int:
        """Variables of the formula since the last rebuild."""
        return 0 if self._encoder is None else self._encoder.gates.variables

    def solve(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        """See Backend."""
        self._limit.start()
        encoder = self._begin()
        try:
            roots = {encoder.literal(c) for c in constraints}
        except NotEncodable:
            return self._pass_on(constraints, variables)
        roots.discard(TRUE)
        if FALSE in roots or any(-root in roots for root in roots):
            self.effort += QUERY_EFFORT
            self._limit.stop()
            return UNSAT
        answer = self._search(sorted(roots))
        if answer is None:
            self._encoder = None
            return UNKNOWN
        return self._model(encoder, variables) if answer else UNSAT

    def _begin(self) -> Encoder:
        """The encoder of the queries since the last rebuild."""
        if self._encoder is None or self._asked >= self.options.rebuild:
            self._sat = Cadical(dict(self.options.sat))
            encoding = self.options.encoding
            self._encoder = Encoder(Gates(self._sat.add, encoding.redundant_choices), encoding)
            self._asked = 0
        self._asked += 1
        return self._encoder

    def _search(self, roots: list[int]) -> bool | None:
        """Asks the SAT solver, and counts what it took."""
        sat, limit = self._sat, self._limit
        before = sat.conflicts
        if self.options.rebuild == 1:
            for root in roots:
                sat.add([root])
            roots = []
        answer = sat.solve(roots, limit.left, limit.deadline, self._limits.clock)
        limit.left -= sat.conflicts - before
        self.effort += QUERY_EFFORT + limit.stop()
        return answer

    def _model(self, encoder: Encoder, variables: Sequence[int]) -> Model:
        literals = self._sat.model()
        count = len(literals)
        model: Model = {}
        for v in variables:
            value = 0
            for i, bit in enumerate(encoder.known_word(variable(v)) or ()):
                if bit <= count and literals[bit - 1] > 0:
                    value |= 1 << i
            model[v] = value
        return model

    def _pass_on(self, constraints: Sequence[Expr], variables: Sequence[int]) -> Answer:
        self.passed_on += 1
        if self._floating_point is None:
            self._floating_point = BitwuzlaBackend(limits=self._limits, terms=self._terms)
        before = self._floating_point.effort
        answer = self._floating_point.solve(constraints, variables)
        self.effort += self._floating_point.effort - before
        return answer
