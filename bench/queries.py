"""Back ends on the queries of real runs (`python -m bench.corpora` logs some).

python -m bench.queries compare DIR [--solvers z3] [--most 1000]   spear, Bitwuzla and Z3: 0 may differ
python -m bench.queries phases DIR [--slowest 0.1]                 what Bitwuzla's time goes to, by class

`compare` asks the queries of each run in their order, checks every model by evaluation, and compares the
answers with each other and with the one that was logged. It exits with 1 if two answers differ or a model is
wrong; a solver that gives up, or takes more than `--limit` seconds, is counted, not blamed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch import expr
from anabranch.expr import evaluate
from anabranch.solver import Backend, BitwuzlaBackend, Z3Backend
from anabranch.solver.bitwuzla_terms import Terms
from anabranch.solver.config import PRESETS
from anabranch.solver.configured import bitwuzla_options
from anabranch.solver.corpus import LoggedQuery, corpus_files, read_corpus
from anabranch.solver.decorators import status
from anabranch.solver.limit import QueryLimits
from anabranch.solver.spear.backend import SpearBackend
from anabranch.tune.instances import load, slowest
from anabranch.tune.measure import warm
from bench.lib.phases import ProfiledBitwuzla
from bench.lib.table import print_table


@dataclass
class Tally:
    """One solver on the queries of one kind."""

    queries: int = 0
    seconds: float = 0.0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)


def _ask(backend: Backend, query: LoggedQuery, tally: Tally) -> str:
    started = time.thread_time()
    answer = backend.solve(query.constraints, query.variables)
    tally.seconds += time.thread_time() - started
    tally.queries += 1
    tally.unknown += status(answer) == "unknown"
    if isinstance(answer, dict) and not all(evaluate(c, answer) is True for c in query.constraints):
        tally.wrong.append(f"{query.program}, query {query.number}: the model is wrong")
    return status(answer)


def _program(path: Path) -> Path:
    """The directory of a program's queries: those of its functions can be in others below."""
    return next((p for p in path.parents if p.parent.name in ("training", "test")), path.parent)


SOLVERS: dict[str, Callable[[QueryLimits], Backend]] = {
    "spear": lambda limits: SpearBackend(limits=limits),
    "bitwuzla": lambda limits: BitwuzlaBackend(limits=limits),
    "z3": lambda limits: Z3Backend(limits=limits),
}


def compare(directory: Path, solvers: Sequence[str], most: int, limit: float) -> int:
    """Answers of the back ends on the queries of each program, or on so many of them, evenly spread."""
    tallies: dict[tuple[str, str], Tally] = {}
    differ: list[str] = []
    compared = 0
    for place in sorted({_program(path) for path in corpus_files([directory])}):
        queries = [(path, query) for path in corpus_files([place]) for query in read_corpus(path)]
        print(f"{place.name}: {len(queries)}", file=sys.stderr, flush=True)
        limits = QueryLimits(limit, clock=time.thread_time)
        backends = [SOLVERS[name](limits) for name in solvers]
        for path, query in queries[:: max(1, -(-len(queries) // most))]:
            answers = {query.solver: query.answer} if query.answer != "unknown" else {}
            for backend in backends:
                tally = tallies.setdefault((query.kind, backend.name), Tally())
                found = _ask(backend, query, tally)
                if found != "unknown":
                    answers[f"{backend.name}, now"] = found
            compared += len(answers) > 1
            if len(set(answers.values())) > 1:
                differ.append(f"{path}, query {query.number}: {answers}")
    rows = [(k, s, t.queries, t.seconds, t.unknown, len(t.wrong)) for (k, s), t in sorted(tallies.items())]
    print_table(("kind", "solver", "queries", "CPU s", "gave up", "wrong models"), rows)
    wrong = [*differ, *(text for tally in tallies.values() for text in tally.wrong)]
    for text in wrong[:10]:
        print(text)
    print(f"{len(differ)} answers differ, of {compared:,} queries that two or more solvers answered")
    return len(wrong)


def phases(directory: Path, share: float) -> None:
    """What the slowest instances of each class spend their time on, as the default decides them."""
    expr.reset()  # nodes of before may have terms of another solver
    spent: dict[str, Counter[str]] = {}
    queries: Counter[str] = Counter()
    places = [(path.parts[-2], path) for path in sorted(directory.glob("*/t*")) if path.is_dir()]
    for name, instance in ((name, i) for name, place in places for i in slowest(load([place]), share)):
        config = PRESETS["check" if instance.kind == "check" else "default"]
        terms = Terms()
        warm(terms, instance)
        prefix = str(config["bitwuzla.prefix"])
        backend = ProfiledBitwuzla(options=bitwuzla_options(config), prefix=prefix, terms=terms)
        started = time.thread_time()
        for query in instance.queries:
            backend.solve(query.constraints, query.variables)
        total = time.thread_time() - started
        terms.release()
        found = backend.phases()
        counts = spent.setdefault(name, Counter())
        counts.update(found | {"total": total, "Python": total - sum(found.values())})
        queries[name] += len(instance.queries)
    names = sorted({phase for counts in spent.values() for phase in counts} - {"total"})
    rows = [
        (name, queries[name], c["total"], 1000 * c["total"] / queries[name],
         *(f"{100 * c[phase] / c['total']:.0f}%" for phase in names))
        for name, c in sorted(spent.items())
    ]  # fmt: skip
    print_table(("class", "queries", "CPU s", "ms each", *names), rows)


def main(argv: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=("compare", "phases"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="queries of a program")
    parser.add_argument("--limit", type=float, default=10.0, help="CPU seconds of a solver on a query")
    parser.add_argument("--slowest", type=float, default=0.1, help="part of the instances for phases")
    given = parser.parse_args(argv)
    if given.what == "phases":
        phases(given.directory, given.slowest)
        return 0
    return bool(compare(given.directory, given.solvers, given.most, given.limit))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
