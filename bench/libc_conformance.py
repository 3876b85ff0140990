"""The C library in the engine against musl itself: `python bench/libc_conformance.py [NAME...]`.

Runs every program of `bench/conformance` (or those named) natively and in the engine with `--libc musl`, and
compares standard output and exit code byte for byte; every line of output stands for a call. Prints a table
and the first lines that differ. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from anabranch.cli.flags import settings_from_args
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.frontend import FrontendOptions, load_program
from anabranch.native.long_double import long_double_objects
from anabranch.report.events import Collector
from bench.lib.native import BENCH, build, run_native
from bench.lib.table import print_table

PROGRAMS = BENCH / "conformance"
SHOWN = 6


@dataclass
class Outcome:
    """What a program printed and how it ended, with reasons if it did not end by itself."""

    output: bytes
    code: int | None
    problems: list[str]
    instructions: int = 0
    seconds: float = 0.0


def native(source: Path, directory: Path) -> Outcome:
    flags = ("-O0", "-fno-builtin", "-w", "-D_GNU_SOURCE")
    program = build([source], directory / source.stem, flags=flags, lazily=long_double_objects())
    before = Path.cwd()
    work = directory / f"{source.stem}.files"
    work.mkdir()
    os.chdir(work)
    try:
        done = run_native(program)
    finally:
        os.chdir(before)
    return Outcome(done.stdout, done.code, ["timed out"] if done.timed_out else [])


def engine(source: Path) -> Outcome:
    settings = settings_from_args([str(source), "--libc", "musl", "--tests", "all", "--search", "dfs"])
    options = FrontendOptions(libc="musl", defines=("_GNU_SOURCE",), cflags=("-w",))
    program = load_program(settings.inputs, options)
    collector = Collector()
    exploration = prepare_exploration(program, settings, collector)
    started = time.monotonic()
    result = exploration.run()
    seconds = time.monotonic() - started
    problems = [f"{e.kind}: {e.message} at {e.file}:{e.line}" for e in collector.errors]
    problems += [f"lost: {kind}" for kind in exploration.reporter.losses.as_dict()]
    problems += collector.warnings
    tests = collector.tests
    if len(tests) != 1:
        problems.append(f"{len(tests)} paths, not one")
    test = tests[0] if tests else None
    return Outcome(
        (test.output or b"") if test else b"",
        test.exit_code if test else None,
        problems,
        result.instructions,
        seconds,
    )


def differing(expected: bytes, found: bytes) -> list[tuple[int, bytes, bytes]]:
    """Lines that differ: number, expected, found."""
    left, right = expected.split(b"\n"), found.split(b"\n")
    length = max(len(left), len(right))
    left += [b"<nothing>"] * (length - len(left))
    right += [b"<nothing>"] * (length - len(right))
    pairs = enumerate(zip(left, right, strict=True), 1)
    return [(number, want, got) for number, (want, got) in pairs if want != got]


def compare(source: Path, directory: Path) -> tuple[list[object], list[str]]:
    """A row of the table, and what is to be said about it."""
    expected, found = native(source, directory), engine(source)
    wrong = differing(expected.output, found.output)
    lines = expected.output.count(b"\n")
    notes = [f"{source.stem}: {problem}" for problem in (*expected.problems, *found.problems)]
    for number, want, got in wrong[:SHOWN]:
        notes.append(f"{source.stem}, line {number}: {want!r} natively, {got!r} in the engine")
    same = not wrong and expected.code == found.code
    if expected.code != found.code:
        notes.append(f"{source.stem}: ends with {expected.code} natively, {found.code} in the engine")
    rate = found.instructions / found.seconds / 1e6 if found.seconds else 0.0
    row: list[object] = [
        source.stem, lines, lines - len(wrong) if len(wrong) <= lines else 0, "yes" if same else "NO",
        found.instructions, f"{found.seconds:.2f}", f"{rate:.2f}",
    ]  # fmt: skip
    return row, notes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to run (default: all)")
    names = parser.parse_args().names
    sources = [path for path in sorted(PROGRAMS.glob("*.c")) if not names or path.stem in names]
    rows: list[list[object]] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        for source in sources:
            row, more = compare(source, Path(scratch))
            rows.append(row)
            notes += more
    print_table(["program", "calls", "equal", "same", "instructions", "s", "M/s"], rows)
    print(f"{sum(int(str(row[1])) for row in rows)} calls, {sum(int(str(row[2])) for row in rows)} equal")
    for note in notes:
        print(note)
    return 0 if all(row[3] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
