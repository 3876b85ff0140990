"""Dropping redundant states (`--redundancy on --no-keep-errors`) on small programs, depth first, to the end.

    python -m bench.redundancy_subjects [NAME...]

The larger inputs have 60 s each. Exit code 1 if a bar is missed, or if anything is covered by one side only.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from bench.lib.coverage_runs import Covered, explore_covering, load
from bench.lib.subjects import HERE
from bench.lib.table import print_table

LIMIT = "60"


@dataclass(frozen=True)
class Row:
    """A program, and the states that it may take; 0 if only detection has to come to the end."""

    name: str
    bar: int
    define: str = ""

    @property
    def label(self) -> str:
        return f"{self.name} {self.define}".rstrip()


ROWS = (
    Row("redundancy/chown", 36),
    Row("regexp", 280),
    Row("tokens", 200),
    Row("key_value", 500),
    Row("redundancy/bytes_read", 20),
    Row("regexp", 0, "SIZE=12"),
    Row("tokens", 0, "SIZE=8"),
)


def run(row: Row) -> tuple[Covered, Covered]:
    source = HERE / f"{row.name}.c"
    flags = ("-D", row.define) if row.define else ()
    program = load(source, flags)
    common = (*flags, "--search", "dfs", *(("--max-time", LIMIT) if not row.bar else ()))
    plain = explore_covering(program, source, common)
    reduced = explore_covering(program, source, (*common, "--redundancy", "on", "--no-keep-errors"))
    return plain, reduced


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.redundancy_subjects",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args(argv).names
    rows, problems = [], []
    for row in ROWS:
        if names and row.name not in names:
            continue
        plain, reduced = run(row)
        rows.append(
            (row.label, plain.states if plain.is_exact else f"({plain.states})", reduced.states,
             row.bar or "", plain.instructions, reduced.instructions, plain.seconds, reduced.seconds)
        )  # fmt: skip
        if row.bar and reduced.states > row.bar:
            problems.append(f"{row.label}: {reduced.states} states (bar: {row.bar})")
        if not reduced.is_exact:
            problems.append(f"{row.label}: not explored to the end")
        elif plain.is_exact and plain.pieces != reduced.pieces:
            problems.append(f"{row.label}: not the same code covered")
        elif plain.pieces - reduced.pieces:
            problems.append(f"{row.label}: lost code")
    print_table(("program", "states", "reduced", "bar", "instructions", "reduced", "CPU s", "reduced"), rows)
    print("(in parentheses: not to the end)")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
