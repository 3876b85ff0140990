"""Removal of z-equivalent states: what it brings, what it costs, and that it is right.

    python -m bench.zequivalence drivers    ten driver-like modules over unknown functions, with and without
    python -m bench.zequivalence linear     time of one detection as the constraint grows to 100,000 nodes
    python -m bench.zequivalence pairs      random pairs of constraints against brute force over all values

Without a name, all three. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from anabranch.expr import Expr, Value, add, extract, mul, postorder, ult, var, zext
from anabranch.reduce.zequivalence.canonical import Table, canonical_form
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.exact import equivalent
from anabranch.solver.quantified import Quantified
from bench.lib.engine import EngineFailure, run_engine
from bench.lib.table import print_table
from bench.lib.work import tell
from bench.zequivalence_pairs import Count, judge

DRIVERS = Path(__file__).resolve().parent / "subjects" / "drivers"

LEAST_ORDERS = 6.0  # orders of magnitude, on half of the subjects
HALF = 0.5
DETECTION_SHARE = 0.20  # of CPU time
LEAST_FOUND = 0.6  # of true equivalences
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
# Time for each node at the largest size against that at the others: caches make it grow a little.
LINEAR = 3.0


@dataclass(frozen=True)
class Options:
    seconds: float
    only: str
    how: str
    pairs: int
    seed: int
    exact: bool
    flags: tuple[str, ...]


# -- drivers ----------------------------------------------------------------------------------------------


@dataclass
class Explored:
    """One run of a driver."""

    complete: bool = False
    stopped: str = ""
    seconds: float = 0.0
    ends: int = 0
    paths: int = 0
    before: int = 0
    kept: int = 0
    detection: float = 0.0
    lines: int = 0
    sides: int = 0
    errors: frozenset[tuple[str, int]] = frozenset()
    problem: str = ""

    @property
    def orders(self) -> float:
        """How many times more paths than states at the end, as a power of ten."""
        return math.log10(self.paths) - math.log10(self.ends) if self.paths and self.ends else 0.0


def explore(driver: Path, how: str, options: Options) -> Explored:
    """The driver for so many seconds of CPU time, functions without a body answering anything."""
    flags = ("--externals", "fresh", "--zeq", how, "--goal", "bugs", "--merge", "none", *options.flags)
    found = Explored()
    with tempfile.TemporaryDirectory(prefix="anabranch-zequivalence-") as scratch:
        try:
            done = run_engine(
                [driver], Path(scratch), search=None, tests="none", extra=flags,
                time_limit=20 * options.seconds + 60, cpu_limit=options.seconds, read_tests=False, fresh=True,
            )  # fmt: skip
        except EngineFailure as failure:
            found.problem = str(failure)
            return found
    _fill(found, done.run, frozenset(done.errors()))
    return found


def _fill(found: Explored, run: dict[str, Any], errors: frozenset[tuple[str, int]]) -> None:
    found.complete = bool(run["complete"])
    found.seconds = float(run["cpu_seconds"])
    found.ends = int(run["paths"]["total"])
    found.paths = int(run["multiplicity"])
    found.lines = int(run["coverage"]["lines"]["covered"])
    found.sides = int(run["coverage"]["branches"]["covered"])
    found.errors = errors
    reduction = run["reductions"].get("zequivalence", {})
    found.before = sum(row["states"] for row in reduction.get("functions", ()))
    found.kept = sum(row["kept"] for row in reduction.get("functions", ()))
    # Clocks of the run tell what passed, others who had the processor meanwhile included: as a share of that.
    passed = float(run["timers"]["total"]) - float(run["timers"]["frontend"])
    share = min(1.0, found.seconds / passed) if passed > 0 else 1.0
    found.detection = share * float(reduction.get("seconds", 0.0))


def drivers(options: Options) -> list[str]:
    """Every driver with and without reduction."""
    rows: list[tuple[object, ...]] = []
    problems: list[str] = []
    reduced = finished = count = 0
    detection = cpu = 0.0
    for driver in sorted(DRIVERS.glob("*.c")):
        if options.only not in driver.name:
            continue
        count += 1
        on, off = explore(driver, options.how, options), explore(driver, "off", options)
        tell(f"{driver.stem}: complete {on.complete} in {on.seconds:.1f} s, without {off.complete}")
        share = on.detection / on.seconds if on.seconds else 0.0
        rows.append(
            (driver.stem, on.before, on.kept, on.ends, f"{on.orders:.1f}", on.complete, off.complete,
             on.seconds, share, f"{on.lines} / {off.lines}", f"{on.sides} / {off.sides}")
        )  # fmt: skip
        reduced += on.orders >= LEAST_ORDERS
        finished += on.complete and not off.complete
        detection += on.detection
        cpu += on.seconds
        problems += _compared(driver.stem, on, off)
    print_table(
        ("driver", "states at returns", "kept", "ends", "orders", "complete", "without", "cpu s",
         "detection", "lines with / without", "branch sides with / without"),
        rows,
    )  # fmt: skip
    print(f"detection: {detection:.1f} s of {cpu:.1f} s, {100 * detection / max(cpu, 0.001):.1f}%")
    if reduced < HALF * count:
        problems.append(f"{LEAST_ORDERS:g} orders of magnitude on {reduced} of {count} drivers only")
    if finished < HALF * count:
        problems.append(f"finished with, not finished without, on {finished} of {count} drivers only")
    if detection > DETECTION_SHARE * cpu:
        problems.append(f"detection takes {100 * detection / cpu:.0f}% of the CPU time")
    return problems


def _compared(name: str, on: Explored, off: Explored) -> list[str]:
    problems = [f"{name}: {run.problem}" for run in (on, off) if run.problem]
    if on.lines < off.lines or on.sides < off.sides:
        problems.append(f"{name}: less is covered with reduction")
    if on.complete and not off.errors <= on.errors:
        problems.append(f"{name}: errors missed: {sorted(off.errors - on.errors)}")
    if off.complete and on.complete and off.errors != on.errors:
        problems.append(f"{name}: errors {sorted(on.errors)}, without {sorted(off.errors)}")
    return problems


# -- one detection ----------------------------------------------------------------------------------------

W = 32


def chain(size: int) -> StateConstraint:
    """A value that depends on all that came before, where nothing is flexible."""
    hidden = [var(f"linear.hidden{i}", W) for i in range(4)]
    seen = [var(f"linear.seen{i}", W) for i in range(2)]
    e: Value = hidden[0]
    clauses: list[Expr] = []
    for i in range(size // 2):
        e = add(mul(e, seen[0], W), (*hidden[1:], e)[i % 4], W)
        if i % 100 == 99:
            clauses.append(ult(e, seen[1], W))
    return StateConstraint(tuple(clauses), (("RET", e, W),), frozenset(v.a for v in seen))


def long_path(size: int) -> StateConstraint:
    """A path through many unknown calls, each answer looked at twice: most clauses are flexible."""
    seen = [var(f"linear.seen{i}", W) for i in range(2)]
    clauses: list[Expr] = []
    total: Value = 0
    for i in range(size // 6):
        answer = var(f"linear.answer{i}", W)
        clauses.append(ult(extract(answer, 0, 8), 100 + i % 50, 8))
        clauses.append(ult(mul(answer, seen[i % 2], W), seen[0], W))
        total = add(total, zext(extract(answer, 8, 8), 8, W), W)
    return StateConstraint(tuple(clauses), (("RET", total, W),), frozenset(v.a for v in seen))


def many_twins(size: int) -> StateConstraint:
    """Groups of the same shape: all but one are the same."""
    seen = var("linear.seen0", W)
    clauses: list[Expr] = []
    for i in range(size // 5):
        x, y = var(f"linear.x{i}", W), var(f"linear.y{i}", W)
        clauses.append(ult(mul(x, y, W), mul(x, seen, W), W))
    return StateConstraint(tuple(clauses), (("RET", 0, W),), frozenset([seen.a]))


SHAPES: dict[str, Callable[[int], StateConstraint]] = {
    "chain": chain,
    "long path": long_path,
    "many twins": many_twins,
}


def linear(options: Options) -> list[str]:
    """Microseconds a node; the best of three."""
    rows: list[tuple[object, ...]] = []
    problems: list[str] = []
    for name, make in SHAPES.items():
        costs: list[float] = []
        for size in SIZES:
            c = make(size)
            values = [v for _, v, _ in c.outputs]
            nodes = len(postorder([x for x in (*c.clauses, *values) if isinstance(x, Expr)]))
            spent = min(_seconds(c) for _ in range(3))
            costs.append(1e6 * spent / nodes)
            rows.append((name, nodes, spent, costs[-1]))
        if costs[-1] > LINEAR * min(costs):
            problems.append(f"{name}: {costs[-1]:.1f} us a node at the largest, {min(costs):.1f} at the best")
    print_table(("constraint", "nodes", "seconds", "us/node"), rows)
    return problems


def _seconds(c: StateConstraint) -> float:
    start = process_time()
    canonical_form(c, Table())
    return process_time() - start


# -- random pairs -----------------------------------------------------------------------------------------


def pairs(options: Options) -> list[str]:
    """Forms, and on request also the solver, against Definition 1 by brute force."""
    problems = _judged("forms", judge(options.seed, options.pairs, _same_form))
    if options.exact:
        solver = Quantified()
        fewer = max(1, options.pairs // 10)
        problems += _judged(
            "forms or solver",
            judge(options.seed, fewer, lambda a, b: _same_form(a, b) or equivalent(a, b, solver) is True),
        )
    return problems


def _same_form(a: StateConstraint, b: StateConstraint) -> bool:
    return canonical_form(a) == canonical_form(b)


def _judged(name: str, counts: dict[str, Count]) -> list[str]:
    rows: list[tuple[object, ...]] = []
    whole = Count()
    for kind, c in counts.items():
        rows.append((kind, c.pairs, c.equivalent, c.found, _percent(c), len(c.wrong)))
        whole.pairs += c.pairs
        whole.equivalent += c.equivalent
        whole.found += c.found
        whole.wrong += c.wrong
    rows.append(("all", whole.pairs, whole.equivalent, whole.found, _percent(whole), len(whole.wrong)))
    print(f"{name}:")
    print_table(("pairs", "made", "equivalent", "found", "share", "wrong"), rows)
    problems = [f"{name}: called equivalent, but is not: {a} {b}" for a, b in whole.wrong[:5]]
    if whole.found < LEAST_FOUND * whole.equivalent:
        problems.append(f"{name}: {_percent(whole)} of the true equivalences found")
    return problems


def _percent(c: Count) -> str:
    return f"{100 * c.found / c.equivalent:.0f}%" if c.equivalent else "-"


# -- command ----------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Options], list[str]]] = {"drivers": drivers, "linear": linear, "pairs": pairs}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=sorted(PARTS))
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU time of each run of a driver")
    parser.add_argument("--only", default="", help="drivers whose name contains this")
    parser.add_argument("--how", default="rules", choices=("rules", "exact"), help="what --zeq is set to")
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--exact", action="store_true", help="pairs: also ask the solver, for a tenth of them"
    )
    parser.add_argument("--flag", action="append", default=[], help="a further flag for the engine")
    given = parser.parse_args(arguments)
    options = Options(
        given.seconds, given.only, given.how, given.pairs, given.seed, given.exact, tuple(given.flag)
    )
    problems: list[str] = []
    for name in [given.part] if given.part else list(PARTS):
        problems += PARTS[name](options)
    for problem in problems:
        print(f"MISSED {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
