"""Per-opcode differential test: tables of operands for opcodes, predicates, casts and intrinsics, all widths.

Each table runs natively, in the engine with concrete operands, and in the engine with symbolic operands
that are equal to the same values by assumption, where every result has to be proved equal to the native
one. Exit code 1 if a result differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.engine import EngineFailure, run_engine
from bench.lib.native import NATIVE, NativeError, build, run_native
from bench.lib.opcode_cases import GROUPS, cases_of
from bench.lib.opcode_ir import Case, module_text
from bench.lib.table import print_table

RESULT_BYTES = 16


@dataclass
class Row:
    group: str
    mode: str
    cases: int = 0
    results: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def write_expected(path: Path, output: bytes) -> None:
    """The native results as a C table."""
    words = [int.from_bytes(output[i : i + 8], "little") for i in range(0, len(output), 8)]
    rows = ", ".join(f"{{{words[i]}ull, {words[i + 1]}ull}}" for i in range(0, len(words), 2))
    path.write_text(f"#include <stdint.h>\nconst uint64_t expected[][2] = {{{rows}}};\n")


def native_results(cases: list[Case], directory: Path) -> bytes:
    program = directory / "opcodes.ll"
    program.write_text(module_text(cases))
    built = build(
        [program], directory / "native", flags=("-Wno-everything", "-O0"), runtimes=(NATIVE / "opcodes.c",)
    )
    done = run_native(built, time_limit=60)
    wanted = RESULT_BYTES * sum(len(c.rows) for c in cases)
    if done.code != 0 or len(done.stdout) != wanted:
        raise NativeError(f"native run: exit {done.code}, signal {done.signal}, {len(done.stdout)} bytes")
    return done.stdout


def first_differences(cases: list[Case], native: bytes, engine: bytes) -> list[str]:
    """Each case that has a wrong result, with its first one."""
    problems = []
    at = 0
    for case in cases:
        for row in case.rows:
            a, b = native[at : at + RESULT_BYTES], engine[at : at + RESULT_BYTES]
            at += RESULT_BYTES
            if a != b:
                operands = ", ".join(f"{v:#x}" for v in row)
                right, wrong = int.from_bytes(a, "little"), int.from_bytes(b, "little")
                shown = f"{wrong:#x}" if len(b) == RESULT_BYTES else "nothing"
                problems.append(f"{case.name}: ({operands}) is {right:#x}, engine {shown}")
                at += RESULT_BYTES * (len(case.rows) - case.rows.index(row) - 1)
                break
    return problems


def concrete(cases: list[Case], native: bytes, directory: Path, row: Row) -> None:
    run = run_engine([directory / "opcodes.ll", NATIVE / "opcodes.c"], directory / "concrete")
    if len(run.tests) != 1 or not run.complete:
        row.problems.append(
            f"{len(run.tests)} tests, losses {run.run['losses']}, errors {run.run['errors'][:1]}"
        )
    output = run.tests[0].output if run.tests else b""
    row.problems += first_differences(cases, native, output)


def symbolic(cases: list[Case], native: bytes, directory: Path, row: Row) -> None:
    """One run over all cases; if it fails, one run a case to tell which."""

    def attempt(chosen: list[Case], results: bytes, where: Path) -> list[str]:
        where.mkdir(parents=True, exist_ok=True)
        (where / "opcodes.ll").write_text(module_text(chosen))
        write_expected(where / "expected.c", results)
        sources = [where / "opcodes.ll", where / "expected.c", NATIVE / "opcodes.c"]
        try:
            run = run_engine(sources, where, defines=("-DSYMBOLIC",), tests="none", read_tests=False)
        except EngineFailure as failure:
            return [str(failure)[-300:]]
        if run.complete and run.paths == 1 and not run.run["errors"]:
            return []
        messages = [e["message"] for e in run.run["errors"]]
        return [f"{run.paths} paths, losses {list(run.run['losses'])}, errors {messages[:1]}"]

    if not attempt(cases, native, directory / "symbolic"):
        return
    at = 0
    for number, case in enumerate(cases):
        size = RESULT_BYTES * len(case.rows)
        found = attempt([case], native[at : at + size], directory / f"symbolic-{number}")
        row.problems += [f"{case.name}: {p}" for p in found]
        at += size
    if not row.problems:
        row.problems.append("the cases hold one by one, but not together")


def check_group(group: str, count: int, modes: tuple[str, ...] = ("concrete", "symbolic")) -> list[Row]:
    rows = []
    for mode in modes:
        cases = cases_of(group, count if mode == "concrete" else min(count, 3))
        row = Row(group, mode, len(cases), sum(len(c.rows) for c in cases))
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="anabranch-opcodes-") as scratch:
            directory = Path(scratch)
            try:
                native = native_results(cases, directory)
                check = concrete if mode == "concrete" else symbolic
                check(cases, native, directory, row)
            except (NativeError, EngineFailure) as failure:
                row.problems.append(str(failure)[:2000])
        row.seconds = time.monotonic() - start
        rows.append(row)
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.opcodes", description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=12, metavar="N", help="operands an operation (default 12)"
    )
    parser.add_argument("--group", choices=sorted(GROUPS), help="only this group")
    parser.add_argument("--mode", choices=("concrete", "symbolic"), help="only this mode")
    arguments = parser.parse_args(argv)
    modes = (arguments.mode,) if arguments.mode else ("concrete", "symbolic")
    rows = []
    for group in [arguments.group] if arguments.group else GROUPS:
        rows += check_group(group, arguments.rows, modes)
    print_table(
        ("group", "mode", "operations", "results", "seconds", "operations that differ"),
        [(r.group, r.mode, r.cases, r.results, r.seconds, len(r.problems)) for r in rows],
    )
    for row in rows:
        for problem in row.problems[:20]:
            print(f"{row.group}, {row.mode}: {problem}")
    return 1 if any(r.problems for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
