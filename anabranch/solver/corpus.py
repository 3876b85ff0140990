"""A corpus: the queries of a run in one file, with answers and times, that can be read back as expressions.

A file is text, a line for each thing, in the order in which they came up:

    h explore "od.c" "main" bitwuzla     what asked: kind, program, function it began in, solver
    v 8 "arg0[0]"                        a variable: width, name
    u 32 0                               undefined data: width, instance
    n ult 1 0 =10                        a node: operator, width, operands (a number of a line, =constant, -,
                                         @width:cuts:values of a table)
    q unsat 0.000731 1 4 9               a query: answer, seconds of CPU, its constraints

Lines that make a node are numbered from 0 after each header. A node is written once, so that queries along a
path share what they have in common, and the order of the queries is that of the run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from anabranch.expr import Expr, Value, expr_vars, postorder, undefined, var
from anabranch.expr.node import INSTANCE, VAR
from anabranch.expr.registry import OPERATORS, build
from anabranch.expr.select import Table, table

SUFFIX = ".corpus"
Sized: TypeAlias = tuple[Value, int]
"""A value and its width: a node that was logged can be a constant by the rules of today."""


class CorpusError(Exception):
    """A file is not a corpus, or contradicts itself; the message is one line."""


@dataclass(frozen=True, slots=True, eq=False)
class LoggedQuery:
    """A query as it was asked."""

    kind: str
    """`explore` or `check`."""
    program: str
    function: str
    solver: str
    number: int
    """Its place in the file."""
    answer: str
    """`sat`, `unsat` or `unknown`."""
    seconds: float
    constraints: tuple[Expr, ...]

    @property
    def variables(self) -> tuple[int, ...]:
        """All variables, ascending."""
        return tuple(sorted({v for c in self.constraints for v in expr_vars(c)}))


class CorpusWriter:
    """Appends to a file."""

    def __init__(self, path: Path, kind: str, program: str, function: str, solver: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._numbers: dict[Expr, int] = {}
        self._file.write(f"h {kind} {json.dumps(program)} {json.dumps(function)} {solver}\n")

    def add(self, constraints: Sequence[Expr], answer: str, seconds: float) -> None:
        """Another query. It is in the file when this returns, however the run ends."""
        numbers = self._numbers
        lines: list[str] = []
        for n in postorder([c for c in constraints if c not in numbers]):
            if n not in numbers:
                lines.append(self._line(n))
                numbers[n] = len(numbers)
        asked = " ".join(str(numbers[c]) for c in constraints)
        lines.append(f"q {answer} {seconds:.6f} {asked}\n")
        self._file.write("".join(lines))
        self._file.flush()

    def _line(self, n: Expr) -> str:
        if n.op == VAR:
            return f"v {n.w} {json.dumps(n.b)}\n" if n.a >= 0 else f"u {n.w} {-n.a // INSTANCE}\n"
        parts = [self._operand(x) for x in (n.a, n.b, n.c)]
        while parts[-1] == "-":
            parts.pop()
        return f"n {n.op} {n.w} {' '.join(parts)}\n"

    def _operand(self, x: Value) -> str:
        if x.__class__ is Expr:
            return str(self._numbers[x])
        if x.__class__ is Table:
            return f"@{x.w}:{','.join(map(str, x.cuts))}:{','.join(str(int(v)) for v in x.values)}"
        return "-" if x is None else f"={int(x)}"


def read_corpus(path: Path) -> Iterator[LoggedQuery]:
    """The queries of a file, in order. Those that the constructors decide today are left out."""
    values: list[Sized] = []
    about = ("", "", "", "")
    count = 0
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            kind, _, rest = line.rstrip("\n").partition(" ")
            try:
                if kind == "q":
                    count += 1
                    query = _query(about, count, rest.split(" "), values)
                    if query is not None:
                        yield query
                elif kind == "h":
                    about, values = _header(rest), []
                else:
                    values.append(_node(kind, rest, values))
            except (ValueError, IndexError, KeyError, AttributeError) as error:
                raise CorpusError(f"{path}:{number}: not a line of a corpus ({error})") from None
            except CorpusError as error:
                raise CorpusError(f"{path}:{number}: {error}") from None


def _header(text: str) -> tuple[str, str, str, str]:
    kind, _, rest = text.partition(" ")
    decoder = json.JSONDecoder()
    program, end = decoder.raw_decode(rest)
    function, stop = decoder.raw_decode(rest[end + 1 :])
    return kind, str(program), str(function), rest[end + 1 + stop :].strip()


def _node(kind: str, text: str, values: list[Sized]) -> Sized:
    if kind == "v":
        width, _, name = text.partition(" ")
        return var(json.loads(name), int(width)), int(width)
    op, *words = text.split(" ")
    if kind == "u":
        return undefined(int(op), int(words[0])), int(op)
    if kind != "n":
        raise ValueError(f"{kind!r} is no kind of line")
    w = int(words[0])
    return build(op, w, [_part(word, values) for word in words[1:]]), w


def _part(word: str, values: list[Sized]) -> tuple[Value, int | None]:
    if word == "-":
        return None, None
    if word[0] == "@":
        w, cuts, runs = word[1:].split(":")
        value = bool if w == "1" else int
        return table(int(w), map(int, cuts.split(",")), (value(int(v)) for v in runs.split(","))), None
    return (int(word[1:]), None) if word[0] == "=" else values[int(word)]


def _query(
    about: tuple[str, str, str, str], number: int, words: list[str], values: list[Sized]
) -> LoggedQuery | None:
    answer, seconds, *asked = words
    constraints: list[Expr] = []
    for value, _ in (values[int(word)] for word in asked if word):
        if value.__class__ is Expr:
            constraints.append(value)
        elif not value:
            if answer == "sat":
                raise CorpusError("a query that was satisfiable has a constraint that is false")
            return None
    if not constraints:
        if answer == "unsat":
            raise CorpusError("a query that was unsatisfiable has constraints that are true")
        return None
    return LoggedQuery(*about, number, answer, float(seconds), tuple(constraints))


def corpus_files(places: Iterable[Path]) -> list[Path]:
    """The files of a corpus below directories, and files that are named themselves."""
    found: list[Path] = []
    for place in places:
        if not place.exists():
            raise CorpusError(f"there is no {place}")
        found += sorted(place.rglob(f"*{SUFFIX}")) if place.is_dir() else [place]
    return found


MULTIPLICATIONS = frozenset(("mul", "udiv", "urem", "sdiv", "srem"))


def features(query: LoggedQuery) -> dict[str, float]:
    """What a query looks like, in numbers."""
    nodes = postorder(list(query.constraints))
    count: Counter[str] = Counter(n.op for n in nodes)
    depth: dict[Expr, int] = {}
    for n in nodes:
        below = [depth[x] for x in (n.a, n.b, n.c) if x.__class__ is Expr]
        depth[n] = 1 + max(below, default=0)
    total = len(nodes)
    return {
        "constraints": len(query.constraints),
        "nodes": total,
        "depth": max(depth.values()),
        "variables": count[VAR],
        "variable_bits": sum(n.w for n in nodes if n.op == VAR),
        "widest": max(n.w for n in nodes),
        "mean_width": sum(n.w for n in nodes) / total,
        "ite_share": count["ite"] / total,
        "boolean_share": sum(1 for n in nodes if n.w == 1) / total,
        "comparisons": count["eq"] + count["ult"] + count["slt"],
        "additions": count["add"] + count["sub"],
        "multiplications": sum(count[op] for op in MULTIPLICATIONS),
        "floating_point": sum(k for op, k in count.items() if op != VAR and OPERATORS[op].lower is not None),
    }


def described(query: LoggedQuery) -> dict[str, Any]:
    """A query in plain data, without its constraints."""
    about = ("kind", "program", "function", "solver", "number", "answer", "seconds")
    return {name: getattr(query, name) for name in about} | features(query)
