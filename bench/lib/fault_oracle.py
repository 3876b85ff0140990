"""All inputs of a program with faults, run natively: kind and line of what each input does wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from bench.lib.fault_programs import generate_faulty
from bench.lib.generate import Program
from bench.lib.native import NATIVE, NativeError, build, run_native
from bench.lib.oracle import VARIANT, Truth, read_truth

FLAGS = (
    "-O0",
    "-DORACLE",
    "-I",
    str(NATIVE),
    "-fsanitize=integer-divide-by-zero,shift-exponent,signed-integer-overflow,unreachable,return,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fsanitize-coverage=bb,trace-pc-guard,no-prune",
    "-Wno-everything",
)
BOUNDS_FLAG = "-DBOUNDS"
# What oracle.c calls undefined behaviour that a generator did not mean is meant in these programs.
ARITHMETIC = {
    "unintended-divrem_overflow": "division-by-zero",
    "unintended-shift_out_of_bounds": "overshift",
    "unintended-add_overflow": "overflow",
    "unintended-sub_overflow": "overflow",
    "unintended-mul_overflow": "overflow",
    "unintended-negate_overflow": "overflow",
}
MAX_PATHS = 300


def fault_truth(program: Program, directory: Path, bounds: bool = False) -> Truth:
    """Run every input of a program natively."""
    source = directory / "program.c"
    source.write_text(program.text)
    flags = (*FLAGS, BOUNDS_FLAG) if bounds else FLAGS
    runtimes = (NATIVE / "oracle.c", NATIVE / "faults.c")
    done = run_native(build([source], directory / "oracle", flags=flags, runtimes=runtimes), time_limit=120)
    if done.code != 0:
        raise NativeError(f"seed {program.seed}: the oracle ended with {done.code}, signal {done.signal}")
    truth = read_truth(done.stdout)
    ends = tuple(dataclasses.replace(e, kind=ARITHMETIC.get(e.kind, e.kind)) for e in truth.ends)
    for end in ends:
        if end.kind.startswith("unintended"):
            raise NativeError(f"seed {program.seed}: {end.kind} at line {end.line}")
    return dataclasses.replace(truth, ends=ends)


def draw_faulty(
    seed: int, directory: Path, bounds: bool = False, constants: bool = False, max_paths: int = MAX_PATHS
) -> tuple[Program, Truth]:
    """The program of a seed: the first of its variants with two faults and a workable number of paths."""
    directory.mkdir(parents=True, exist_ok=True)
    variant = seed
    while True:
        program = generate_faulty(variant, constants)
        truth = fault_truth(program, directory, bounds)
        if len(truth.errors()) >= 2 and truth.path_count() <= max_paths:
            return program, truth
        variant += VARIANT
