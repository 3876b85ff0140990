"""What is measured: queries of corpora, as instances, split by program into training and test."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.solver.corpus import LoggedQuery, corpus_files, read_corpus

LENGTH = 100
"""Queries of an exploration that are one instance: as many as a solver is asked before a new one takes its
place. With 20, options looked 1.3 times as quick that were slower in whole runs."""


class NoInstances(Exception):
    """There is nothing to learn from; the message is one line."""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """Queries that are asked of one solver one after the other: a piece of a run, or a single query."""

    name: str
    """Unique among all, and the same whenever the corpus is read."""
    program: str
    """The directory below the corpus that it was logged to, whatever the name of its main file."""
    kind: str
    queries: tuple[LoggedQuery, ...]

    @property
    def was_solved(self) -> bool:
        """By the run that logged the queries."""
        return all(q.answer != "unknown" for q in self.queries)

    @property
    def logged_seconds(self) -> float:
        """What the queries took in the run that logged them."""
        return sum(q.seconds for q in self.queries)


def load(places: Iterable[Path], length: int | None = None) -> list[Instance]:
    """The instances of corpora. Without a length, the queries of the checker about one condition are one, and
    so are 100 queries in a row of an exploration, whose solver keeps what queries have in common."""
    found: list[Instance] = []
    for place in places:
        for path in corpus_files([place]):
            name = path.relative_to(place if place.is_dir() else place.parent)
            # What is in one directory is one program: a run of units has one below for each function.
            program = name.parts[0] if len(name.parts) > 1 else path.parent.name
            piece: list[LoggedQuery] = []
            for query in read_corpus(path):
                if piece and not _goes_on(piece, query, length):
                    found.append(_instance(program, name, piece))
                    piece = []
                piece.append(query)
            if piece:
                found.append(_instance(program, name, piece))
    return found


def _goes_on(piece: list[LoggedQuery], query: LoggedQuery, length: int | None) -> bool:
    """Whether a query belongs to the same instance as those before."""
    last = piece[-1]
    if query.function != last.function:
        return False
    if length is None and query.kind == "check":
        pairs = zip(last.constraints, query.constraints, strict=False)
        return len(last.constraints) <= len(query.constraints) and all(a is b for a, b in pairs)
    return len(piece) < (length or LENGTH)


def _instance(program: str, path: Path, queries: list[LoggedQuery]) -> Instance:
    first = queries[0]
    return Instance(f"{program}/{path}:{first.number}", program, first.kind, tuple(queries))


def slowest(instances: Sequence[Instance], share: float) -> list[Instance]:
    """The slowest part of each program's instances, by what they took when they were logged: a run of its
    own, so that what is measured later is no reason to have been chosen. One at least."""
    by_program: dict[str, list[Instance]] = {}
    for instance in instances:
        by_program.setdefault(instance.program, []).append(instance)
    found: list[Instance] = []
    for group in by_program.values():
        group.sort(key=lambda i: (-i.logged_seconds, i.name))
        found += group[: max(1, round(share * len(group)))]
    return found


def split(
    instances: Sequence[Instance], seed: int, part: float = 0.5
) -> tuple[list[Instance], list[Instance]]:
    """Training and test; training has about that part of the time. A program is in one of them only."""
    seconds: dict[str, float] = {}
    for instance in instances:
        seconds[instance.program] = seconds.get(instance.program, 0.0) + instance.logged_seconds
    if len(seconds) < 2:
        raise NoInstances(
            f"{len(seconds)} program in the corpus: training and test need different ones, log at least two"
        )
    programs = sorted(seconds)
    random.Random(seed).shuffle(programs)
    programs.sort(key=lambda name: -seconds[name])  # large ones first, each where there is less
    sums = {True: 0.0, False: 0.0}
    chosen: set[str] = set()
    for program in programs:
        training = sums[True] * (1 - part) <= sums[False] * part
        sums[training] += seconds[program]
        if training:
            chosen.add(program)
    return (
        [i for i in instances if i.program in chosen],
        [i for i in instances if i.program not in chosen],
    )
