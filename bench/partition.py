"""The partition check: path conditions of a complete run exclude each other and leave no input out.

Generated programs: every condition is evaluated for all inputs (bit-sliced), each input has to satisfy
exactly one, and all inputs of a path have to end natively as its test does. Reference subjects: a decision
tree over the conjuncts, with Z3 where terms alone do not decide (bench/lib/partition_tree.py says why that
is a proof). Exit code 1 if a partition does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.lib.bitslice import BitSlices
from bench.lib.compare import predicted_end
from bench.lib.conditions import at_most, bits_of_float, read_conditions, variable_tables
from bench.lib.engine import EngineFailure, EngineRun, run_engine
from bench.lib.float_slices import Unsupported, table_of
from bench.lib.generate import Program
from bench.lib.native import NativeError
from bench.lib.oracle import Truth, draw
from bench.lib.partition_tree import Partition, TooHard
from bench.lib.smt import Reader, Script, SmtError
from bench.lib.subjects import SUBJECTS, Subject, find
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure, tell

FLAGS = ("--all-errors", "--write-conditions")


@dataclass
class Row:
    name: str
    paths: int = 0
    how: str = ""
    queries: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def check_tables(program: Program, truth: Truth, run: EngineRun, scripts: list[Script]) -> list[str]:
    """Evaluate all conditions for all inputs; raises Unsupported if a term is beyond the evaluator."""
    constants = {name: sort for s in scripts for name, sort in s.constants.items()}
    slices = BitSlices(program.input_count, variable_tables(program, constants))
    by_end = _tables_by_end(truth)
    by_end.pop(("assume", 0), None)
    wanted = 0
    for table in by_end.values():
        wanted |= table
    error_lines = {int(e["test"]): int(e["line"]) for e in run.run["errors"] if e.get("test")}
    problems = []
    seen = 0
    for test, script in zip(run.tests, scripts, strict=True):
        table = slices.ones
        for term in script.assertions:
            defined = bits_of_float(term)
            if defined is not None:
                slices.define_bits(*defined)
            else:
                table &= slices.table(term)
        if table & seen:
            problems.append(f"path {test.number} overlaps another, e.g. on input {_lowest(table & seen)}")
        seen |= table
        own = program.input_number(dict(test.objects))
        if own < 0 or not table >> own & 1:
            problems.append(f"path {test.number}: its own test does not satisfy its condition")
        end = predicted_end(test, error_lines)
        strangers = table & wanted & ~by_end.get((end.kind, end.line), 0)
        if strangers:
            problems.append(
                f"path {test.number}: input {_lowest(strangers)} does not end in {end.kind} natively"
            )
    if seen & wanted != wanted:
        problems.append(f"input {_lowest(wanted & ~seen)} satisfies no path condition")
    if seen & ~wanted:
        problems.append(f"input {_lowest(seen & ~wanted)} is excluded by an assumption, yet a path has it")
    return problems


def _tables_by_end(truth: Truth) -> dict[tuple[str, int], int]:
    """For every kind and line of an end, the table of the inputs that have it natively."""
    kinds = [(end.kind, end.line) for end in truth.ends]
    return {
        kind: table_of([kinds[number] == kind for number in truth.end_of]) for kind in dict.fromkeys(kinds)
    }


def _lowest(table: int) -> int:
    return (table & -table).bit_length() - 1


def check_tree(reader: Reader, scripts: list[Script], assumed: tuple[tuple[str, int], ...], row: Row) -> None:
    constants = {name: sort for s in scripts for name, sort in s.constants.items()}
    domain = [at_most(reader, constants, name, limit) for name, limit in assumed]
    definitions = {t: None for s in scripts for t in s.assertions if bits_of_float(t) is not None}
    partition = Partition(reader, scripts, [*domain, *definitions])
    try:
        proof = partition.check()
    except TooHard as hard:
        row.problems.append(f"the solver gave up: {hard}")
        proof = partition.proof
    row.problems += proof.problems
    row.queries = proof.queries
    row.how = "tree"


def check_seed(seed: int, keep: Path | None = None) -> Row:
    """The partition of one generated program."""
    row = Row(f"generated {seed}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anabranch-partition-") as scratch:
        directory = Path(scratch)
        try:
            program, truth = draw(seed, directory)
            run = run_engine([directory / "program.c"], directory, extra=FLAGS)
            row.paths = run.paths
            if not run.complete or len(run.tests) != run.paths:
                row.problems.append(f"not complete: {run.run['losses']}, {len(run.tests)} tests")
            reader = Reader()
            scripts = read_conditions(reader, run.tests)
            try:
                row.problems += check_tables(program, truth, run, scripts)
                row.how = "all inputs"
            except Unsupported:
                limits = tuple((i.name, i.count - 1) for i in program.inputs if i.count < 1 << (8 * i.size))
                check_tree(reader, scripts, limits, row)
        except (EngineFailure, NativeError, SmtError) as failure:
            row.problems.append(str(failure))
        if row.problems and keep is not None:
            kept = keep_failure(directory, keep, f"partition-{seed}", row.problems)
            row.problems.append(f"kept in {kept}")
    row.seconds = time.monotonic() - start
    return row


def check_subject(subject: Subject, programs: Path | None = None) -> Row:
    """The partition of one reference subject."""
    row = Row(subject.name)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anabranch-partition-") as scratch:
        try:
            source = find(subject.file, programs)
            run = run_engine([source], Path(scratch), defines=subject.defines, extra=FLAGS, time_limit=900)
            row.paths = run.paths
            if not run.complete or run.paths != subject.paths:
                row.problems.append(f"{run.paths} paths, {subject.paths} expected; {run.run['losses']}")
            reader = Reader()
            scripts = read_conditions(reader, run.tests)
            assumed = subject.assumed
            if source.parent != find(subject.file, None).parent:
                # another wording of the subject may name its objects differently: match by size, last first
                assumed = tuple((run.tests[0].objects[-1][0], limit) for _, limit in assumed)
            check_tree(reader, scripts, assumed, row)
        except (EngineFailure, SmtError) as failure:
            row.problems.append(str(failure))
    row.seconds = time.monotonic() - start
    return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.partition", description=__doc__)
    common_arguments(parser, 100)
    parser.add_argument(
        "--programs", type=Path, metavar="DIR", help="reference subjects from here, not our own"
    )
    parser.add_argument(
        "--max-paths", type=int, default=10_000, metavar="N", help="leave out larger subjects"
    )
    arguments = parser.parse_args(argv)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    chosen = [s for s in SUBJECTS if s.paths <= arguments.max_paths]
    rows = []
    for row in each(partial(check_subject, programs=arguments.programs), chosen, arguments.jobs):
        rows.append(row)
        tell(f"{row.name}: {row.paths} paths, {row.seconds:.1f} s")
    generated = Row(f"{arguments.count} generated programs", how="all inputs")
    seeds = range(arguments.first, arguments.first + arguments.count)
    for row in each(partial(check_seed, keep=arguments.keep), seeds, arguments.jobs):
        tell(f"{row.name}: {row.paths} paths, {row.seconds:.1f} s")
        generated.paths += row.paths
        generated.queries += row.queries
        generated.seconds += row.seconds
        generated.problems += [f"{row.name}: {p}" for p in row.problems]
    rows.append(generated)
    print_table(
        ("program", "paths", "by", "solver queries", "seconds", "problems"),
        [(r.name, r.paths, r.how, r.queries, r.seconds, len(r.problems)) for r in rows],
    )
    for row in rows:
        for problem in row.problems[:10]:
            print(f"{row.name}: {problem[:300]}")
    return 1 if any(r.problems for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
