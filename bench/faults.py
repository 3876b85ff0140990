"""The fault oracle: generated programs whose faults have no effect, all inputs natively against the engine.

A program divides by zero, reads or writes outside of objects or of their life, and mostly uses no result of
it: what simplification likes to delete. The set of errors (fine kind, line) that native runs of all inputs
show has to be that of the engine at every level of simplification, runs have to be complete, and every test
has to end as predicted. Exit code 1 if anything differs; such programs are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.lib import size_programs
from bench.lib.engine import EngineFailure, EngineRun, run_engine
from bench.lib.fault_oracle import draw_faulty
from bench.lib.generate import Program
from bench.lib.native import NativeError
from bench.lib.oracle import Truth
from bench.lib.size_programs import draw_sized
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure

LEVELS = (0, 1, 2)
FLAGS = ("--all-errors", "--check", "overflow")


@dataclass
class Verdict:
    """The comparison for one program; problems by level of simplification."""

    seed: int
    inputs: int = 0
    paths: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    problems: dict[int, list[str]] = field(default_factory=dict)
    kept: Path | None = None

    @property
    def lines(self) -> list[str]:
        return [f"-O {level}: {text}" for level, texts in self.problems.items() for text in texts]


def check_seed(
    seed: int,
    keep: Path | None = None,
    levels: tuple[int, ...] = LEVELS,
    extra: tuple[str, ...] = (),
    bounds: bool = False,
    constants: bool = False,
    sizes: bool = False,
) -> Verdict:
    """Generate, run natively on all inputs, run the engine at every level, compare."""
    verdict = Verdict(seed)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anabranch-faults-") as scratch:
        directory = Path(scratch)
        try:
            if sizes:
                program, truth = draw_sized(seed, directory)
            else:
                program, truth = draw_faulty(seed, directory, bounds, constants)
        except NativeError as failure:
            verdict.problems[-1] = [str(failure)]
            return verdict
        source = directory / "program.c"
        verdict.inputs = program.input_count
        verdict.kinds = Counter(kind for kind, _ in truth.errors())
        for level in levels:
            capacity = size_programs.OBJECTS if sizes else ()
            flags = (
                *FLAGS,
                *capacity,
                "--check" if bounds else "--no-check",
                "bounds",
                "-O",
                str(level),
                *extra,
            )
            try:
                run = run_engine([source], directory / f"O{level}", extra=flags)
                verdict.paths += run.paths
                found = differences(program, truth, run)
            except EngineFailure as failure:
                found = [str(failure)]
            if found:
                verdict.problems[level] = found
        verdict.seconds = time.monotonic() - start
        if verdict.problems and keep is not None:
            verdict.kept = keep_failure(directory, keep, f"faults-{seed}", verdict.lines)
    return verdict


def differences(program: Program, truth: Truth, run: EngineRun) -> list[str]:
    """Everything on which engine and native runs disagree, one line each."""
    found: list[str] = []
    if not run.complete:
        found.append(f"the run is not complete: {run.run['losses'] or run.run.get('stopped')}")
    errors = {(str(e["kind"]), int(e["line"])) for e in run.run["errors"]}
    native = truth.errors()
    source = program.text.split("\n")
    for word, places in (
        ("error never found", native - errors),
        ("error that no input shows", errors - native),
    ):
        found += [
            f"{word}: {kind} at line {line}: {source[line - 1].strip()}" for kind, line in sorted(places)
        ]
    found += _tests(program, truth, run)
    return found


def _tests(program: Program, truth: Truth, run: EngineRun) -> list[str]:
    """Tests whose input natively ends otherwise."""
    found = []
    listing = (run.directory / "tests.jsonl").read_text().splitlines()
    kinds = {int(entry["test"]): entry.get("kind") for entry in map(json.loads, listing)}
    lines = {int(e["test"]): int(e["line"]) for e in run.run["errors"] if e.get("test")}
    for test in run.tests:
        end = truth.ends[truth.end_of[program.input_number(dict(test.objects))]]
        native: tuple[object, ...] = (end.kind, end.code) if end.kind == "exit" else (end.kind, end.line)
        line = test.line if test.line is not None else lines.get(test.number)
        predicted = (
            ("exit", (test.exit_code or 0) & 0xFF) if test.end == "exit" else (kinds[test.number], line)
        )
        if native != predicted:
            shown = " ".join(f"{name}={data.hex()}" for name, data in test.objects)
            found.append(f"test {test.number}, {shown}: predicted {predicted}, native {native}")
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    common_arguments(parser, 300)
    parser.add_argument(
        "--level", type=int, action="append", choices=LEVELS, help="of simplification (default: all)"
    )
    parser.add_argument(
        "--bounds", action="store_true", help="an index past an array in a struct is a fault, too"
    )
    parser.add_argument(
        "--constants",
        action="store_true",
        help="also divisions and shifts of constants alone (10 / 0), which clang folds",
    )
    parser.add_argument("--sizes", action="store_true", help="programs with objects of unknown size")
    parser.add_argument("--verbose", action="store_true", help="a line for every program")
    parser.add_argument("flags", nargs="*", help="further flags of `anabranch run`, behind --")
    arguments = parser.parse_args(argv)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    levels = tuple(arguments.level or LEVELS)
    check = partial(
        check_seed,
        keep=arguments.keep,
        levels=levels,
        extra=tuple(arguments.flags),
        bounds=arguments.bounds,
        constants=arguments.constants,
        sizes=arguments.sizes,
    )
    verdicts = []
    for verdict in each(check, range(arguments.first, arguments.first + arguments.count), arguments.jobs):
        verdicts.append(verdict)
        if verdict.problems:
            print(f"seed {verdict.seed}: {len(verdict.lines)} differences, kept in {verdict.kept}")
            for problem in verdict.lines[:8]:
                print(f"  {problem[:400]}")
        elif arguments.verbose:
            print(f"seed {verdict.seed}: {sum(verdict.kinds.values())} errors, {verdict.seconds:.2f} s")
        sys.stdout.flush()
    bad = [v for v in verdicts if v.problems]
    kinds: Counter[str] = sum((v.kinds for v in verdicts), Counter())
    print_table(("kind", "places"), sorted(kinds.items()))
    print_table(
        ("programs", "native inputs", "engine paths", "places of errors", "seconds",
         *(f"differ at -O {level}" for level in levels), "programs that differ"),
        [(len(verdicts), sum(v.inputs for v in verdicts), sum(v.paths for v in verdicts), kinds.total(),
          sum(v.seconds for v in verdicts), *(sum(level in v.problems for v in bad) for level in levels),
          len(bad))],
    )  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
