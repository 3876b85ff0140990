"""Libraries on data of unknown length, against data of one length, which is what KLEE has.

    python -m bench.lengths [--seconds 60] [--max 12] [--seeds 3] [--only NAME]

Each driver in `subjects/lengths` hands a library, built from Debian's sources, data of any length up to a
limit; with one length, that limit. Both are explored for the same CPU time, with the same seeds:
coverage differs by a few percent from seed to seed. Exit code 1 if, on average, fewer lines of a library are
covered with any length than with one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.lib.debian import SourceError, source, version
from bench.lib.engine import EngineRun, run_engine
from bench.lib.table import print_table
from bench.lib.work import tell

SUBJECTS = Path(__file__).resolve().parent / "subjects" / "lengths"
WALL = 20  # times the CPU time: a machine that does other things, too


@dataclass(frozen=True)
class Library:
    """A library and what of it a driver uses."""

    driver: str
    package: str
    files: tuple[str, ...]
    include: tuple[str, ...]
    define: tuple[str, ...] = ()


LIBRARIES = (
    Library(
        "json",
        "json-c",
        tuple(
            f"{name}.c"
            for name in (
                "json_tokener", "json_object", "json_util", "linkhash", "arraylist", "printbuf", "debug",
                "strerror_override", "random_seed",
            )
        ),
        (".",),
    ),
    Library(
        "tasn1",
        "libtasn1-6",
        tuple(
            f"lib/{name}.c"
            for name in ("decoding", "coding", "element", "gstr", "parser_aux", "structure", "errors")
        ),
        ("lib", "lib/includes", "lib/gl"),
        ("HAVE_CONFIG_H",),
    ),
    Library(
        "yaml",
        "libyaml",
        tuple(f"src/{name}.c" for name in ("api", "reader", "scanner", "parser")),
        ("include", "src"),
        (
            "YAML_VERSION_MAJOR=0", "YAML_VERSION_MINOR=2", "YAML_VERSION_PATCH=5",
            'YAML_VERSION_STRING="0.2.5"',
        ),
    ),
)  # fmt: skip


def explore(library: Library, sizes: tuple[str, ...], seconds: int, seed: int, scratch: Path) -> EngineRun:
    """One driver for some CPU seconds, as a user would: default goal and order."""
    tree = source(library.package)
    directories = [SUBJECTS / library.driver, *(tree / name for name in library.include)]
    flags = [*(f"-I{path}" for path in directories), *(f"-D{name}" for name in (*library.define, *sizes))]
    files = [SUBJECTS / f"{library.driver}.c", *(tree / name for name in library.files)]
    return run_engine(
        files, scratch, defines=flags, search=None, tests="errors", time_limit=seconds * WALL,
        cpu_limit=seconds, read_tests=False, extra=("--seed", str(seed)),
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.lengths", description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="these drivers (repeatable)")
    parser.add_argument("--seconds", type=int, default=60, metavar="N", help="CPU time each (default 60)")
    parser.add_argument("--max", type=int, default=12, metavar="N", help="longest data (default 12)")
    parser.add_argument(
        "--seeds", type=int, default=3, metavar="N", help="runs with seeds from 0 (default 3)"
    )
    options = parser.parse_args(arguments)
    rows, worse = [], 0
    for library in LIBRARIES:
        if options.only and library.driver not in options.only:
            continue
        averages = []
        for what, size in ((f"any up to {options.max}", "LONGEST"), (f"{options.max}", "ONE_LENGTH")):
            runs = []
            for seed in range(options.seeds):
                with tempfile.TemporaryDirectory(prefix="anabranch-lengths-") as scratch:
                    sizes = (f"{size}={options.max}",)
                    try:
                        runs.append(explore(library, sizes, options.seconds, seed, Path(scratch)).run)
                    except SourceError as error:
                        print(f"{library.package}: {error}")
                        return 1
            lines, branches = (
                [run["coverage"][kind]["covered"] for run in runs] for kind in ("lines", "branches")
            )
            errors = len({(e["kind"], e["function"], e["line"]) for run in runs for e in run["errors"]})
            name = f"{library.package} {version(library.package)}"
            paths = round(mean(run["paths"]["total"] for run in runs))
            each = " ".join(map(str, lines))
            averages.append(mean(lines))
            rows.append((name, what, f"{mean(lines):.0f}", each, f"{mean(branches):.0f}", paths, errors))
            tell(" ".join(map(str, rows[-1])))
        worse += averages[0] < averages[1]
    print_table(("library", "length", "lines", "by seed", "branch sides", "paths", "errors"), rows)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
