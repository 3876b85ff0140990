"""String functions by forking and by one expression (`--strings fork` and `whole`): paths and time of both.

`compare` explores small programs both ways: what is covered has to be the same, unless forking ran out of
time. `prove` shows for longer strings than the tests do that each model equals the C function in
`tests/environment/whole/reference.h`: every path of the C function ends in the assertion that it does.
Exit code 1 on a difference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.engine import ROOT, EngineFailure, EngineRun, run_engine
from bench.lib.subjects import HERE
from bench.lib.table import print_table

SUBJECTS = (
    ("commands.c", (10, 20, 40)),
    ("settings.c", (10, 16, 24)),
    ("numbers.c", (8, 12)),
    ("words.c", (7, 12)),
    ("names.c", (8, 16, 30)),
)
"""Program, and sizes of its text."""

PROOFS = ROOT / "tests/environment/whole/proofs.c"
MEASURE = "strlen strnlen memchr memrchr rawmemchr strchr strchrnul strrchr"
SETS = "strspn strcspn strpbrk strstr"
COMPARE = "strcmp strncmp memcmp bcmp strcasecmp strncasecmp"
COPY = "strcpy stpcpy strncpy stpncpy strcat strncat memcpy memmove mempcpy memset"
LETTERS = '-DLETTERS="abAB"'
LONG = ("-DN=5", "-DM=4", "-DROOM=7")
NUMERALS = '-DLETTERS="-+ 0179xXafg"'
CASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (MEASURE, LONG),
    (SETS, (*LONG, LETTERS)),
    (COMPARE, (*LONG, LETTERS)),
    ("memmem", ("-DN=5", "-DM=2")),
    (COPY, LONG),
    ("atoi atol", LONG),
    *((("strtol strtoul"), ("-DN=5", f"-DBASE={base}", NUMERALS)) for base in (0, 8, 10, 16, 36)),
    ("strtol strtoul", ('-DPREFIX="922337203685477580"',)),
    ("strtol strtoul", ('-DPREFIX="1844674407370955161"',)),
    ("strtol strtoul", ("-DBASE=0", '-DPREFIX="0xffffffffffffff"')),
    ("strtol strtoul", ("-DBASE=8", '-DPREFIX="177777777777777777777"')),
)


FIGURES = ("paths", "s", "queries", "complete")


@dataclass
class Row:
    name: str
    cells: tuple[object, ...] = ()
    problems: list[str] = field(default_factory=list)


def explore(source: Path, defines: tuple[str, ...], *extra: str, tests: str = "none") -> EngineRun:
    with tempfile.TemporaryDirectory(prefix="anabranch-strings-") as scratch:
        return run_engine(
            [source],
            Path(scratch),
            defines=defines,
            tests=tests,
            extra=extra,
            time_limit=900,
            read_tests=False,
        )


def figures(run: EngineRun) -> tuple[object, ...]:
    return run.paths, float(run.run["timers"]["explore"]), int(run.run["queries"]["total"])


def compare(name: str, size: int, seconds: float) -> Row:
    source = HERE / "strings" / name
    row = Row(f"{name.removesuffix('.c')} {size}")
    found: dict[str, set[int]] = {}
    complete: dict[str, bool] = {}
    try:
        for strings in ("fork", "whole"):
            run = explore(
                source, (f"-DSIZE={size}",), "--strings", strings, "--max-time", f"{seconds:g}"
            )  # fmt: skip
            row.cells += (*figures(run), run.complete)
            complete[strings] = run.complete
            found[strings] = run.covered_lines(source)[0]
    except EngineFailure as failure:
        row.problems.append(str(failure)[:500])
        return row
    if complete["whole"] and found["fork"] - found["whole"]:
        row.problems.append(f"whole does not cover lines {sorted(found['fork'] - found['whole'])}")
    if complete["fork"] and found["whole"] - found["fork"]:
        row.problems.append(f"fork does not cover lines {sorted(found['whole'] - found['fork'])}")
    return row


def compare_command(arguments: argparse.Namespace) -> list[Row]:
    rows = [compare(name, size, arguments.time) for name, sizes in SUBJECTS for size in sizes]
    header = ("subject, size", *(f"{how}: {what}" for how in ("fork", "whole") for what in FIGURES))
    print_table(header, [(row.name, *row.cells) for row in rows if not row.problems])
    return rows


def prove(cases: str, options: tuple[str, ...]) -> Row:
    row = Row(cases)
    chosen = "".join(f"X({case})" for case in cases.split())
    try:
        run = explore(PROOFS, (f"-DCASES={chosen}", *options), "--strings", "whole")
    except EngineFailure as failure:
        row.problems.append(str(failure)[:500])
        return row
    row.cells = (" ".join(options), *figures(run))
    if not run.complete:
        row.problems.append(f"not complete: {run.run['losses']}")
    for error in run.run["errors"]:
        row.problems.append(f"{error['kind']} at line {error['line']}")
    return row


def prove_command(arguments: argparse.Namespace) -> list[Row]:
    rows = [prove(*case) for case in CASES]
    print_table(
        ("functions", "options", "paths", "s", "queries"),
        [(row.name, *row.cells) for row in rows if not row.problems],
    )
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.strings", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("compare", help="paths and time of both ways on small programs")
    command.add_argument("--time", type=float, default=30.0, metavar="S", help="seconds each (default 30)")
    command.set_defaults(function=compare_command)
    commands.add_parser("prove", help="models against C functions").set_defaults(function=prove_command)
    arguments = parser.parse_args(argv)
    rows: list[Row] = arguments.function(arguments)
    for row in rows:
        for problem in row.problems:
            print(f"{row.name}: {problem}")
    return 1 if any(row.problems for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
