"""`anabranch check`: verdicts against exhaustive exploration; time, size and verdicts on real libraries.

python -m bench.check oracle [--programs 300]    generated programs with assertions: 0 wrong
python -m bench.check pointers [--programs 300]  generated programs with pointers: 0 wrong
                      [--first SEED]             the first seed of either, for programs not seen before
python -m bench.check programs [NAME...]         zlib, json-c and libtasn1 from Debian's sources; also byacc,
                                                 spin, sshd, lighttpd and ldapsearch, which `anabranch cc`
                                                 builds (minutes)
python -m bench.check size [NAME...]             nodes and time an instruction by size of function, and a plot
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

from anabranch.check.driver import Checker, uncollected
from anabranch.check.gate import Gated
from anabranch.check.records import CheckResult
from anabranch.check.reports import group_reports
from anabranch.check.settings import CheckSettings
from anabranch.expr import NODES
from anabranch.frontend import FrontendOptions, load_program
from bench.lib.check_programs import PROGRAMS, bitcode, lines_of
from bench.lib.coreutils import BuildError
from bench.lib.plot import Line, log_plot, write_plot
from bench.lib.table import print_table
from bench.unit_all import LIBRARIES, prepared
from tests.check import pointer_oracle
from tests.check.generate import program

THOROUGH = CheckSettings(properties=("assert",), polls=200_000, condition_polls=400_000, function_polls=10**9)
PARTS = ("gating", "lifting", "conditions")
"""What the time of a check is spent on: the gated form, asking at calls what callees want, deciding."""
FIGURES = Path(__file__).resolve().parent / "figures"
SIZES = (20, 50, 100, 300, 1000, 3000, 10**9)
"""Functions are grouped by number of instructions, up to each of these."""


def explored(source: Path, out: Path) -> set[int]:
    """Lines of the assertions that fail, by exhaustive exploration."""
    command = [sys.executable, "-m", "anabranch.cli.main", "run", str(source), "--output-dir", str(out)]
    subprocess.run([*command, "--all-errors", "--no-progress", "-q"], check=True, capture_output=True)
    document: dict[str, Any] = json.loads((out / "run.json").read_text())
    if not document["complete"]:
        raise SystemExit(f"{source}: the exploration is not complete")
    return {error["line"] for error in document["errors"]}


def oracle(first: int, programs: int) -> int:
    """Half of the programs have loops, half of these of an unknown number of iterations."""
    wrong = failing = certain = possible = undecided = lossy = 0
    with tempfile.TemporaryDirectory(prefix="anabranch-check-") as place:
        for seed in range(first, first + programs):
            source = Path(place) / f"{seed}.c"
            source.write_text(program(seed, loops=seed % 2 == 1, limits=seed % 4 == 3))
            checker = Checker(load_program([source], FrontendOptions(entry="*")).module, THOROUGH)
            result = checker.run()
            lossy += bool(result.losses)
            refuted, sure = lines(result, False), lines(result, True)
            truth = explored(source, Path(place) / f"{seed}.out")
            missed = truth - refuted if not result.verdicts["undecided"] else set()
            if missed or sure - truth:
                wrong += 1
                print(f"seed {seed}: missed {sorted(missed)}, false {sorted(sure - truth)}", flush=True)
            failing, certain = failing + len(truth), certain + len(sure)
            possible, undecided = possible + len(refuted - truth), undecided + result.verdicts["undecided"]
    header = ("programs", "unsound", "failing", "certain", "possible only", "undecided", "wrong")
    print_table(header, [(programs, lossy, failing, certain, possible, undecided, wrong)])
    return int(wrong > 0 or lossy > 0)


def pointers(first: int, programs: int) -> int:
    """NULL, freed and unwritten memory, and indices."""
    counts = {"failing": 0, "found": 0, "not failing": 0, "open": 0, "wrong": 0}
    with tempfile.TemporaryDirectory(prefix="anabranch-check-") as place:
        for seed in range(first, first + programs):
            comparison = pointer_oracle.compare(seed, Path(place))
            counts["failing"] += len(comparison.failing)
            counts["found"] += len(comparison.failing & comparison.found)
            counts["not failing"] += len(comparison.found - comparison.failing)
            counts["open"] += comparison.open
            if comparison.missed or comparison.false:
                counts["wrong"] += 1
                print(f"seed {seed}: missed {comparison.missed}, false {comparison.false}", flush=True)
    print_table(("programs", *counts), [(programs, *counts.values())])
    return int(counts["wrong"] > 0)


def lines(result: CheckResult, sure: bool) -> set[int]:
    """Lines of refuted assertions; with `sure` only of those where nothing was taken as unknown."""
    return {
        f.condition.loc.line
        for f in result.findings
        if f.condition.loc is not None and not (sure and f.approximate)
    }


def checker_of(name: str) -> tuple[Checker, int]:
    """A library or a program, ready to be checked, and its lines of source."""
    if name in PROGRAMS:
        return Checker(load_program([bitcode(name)], FrontendOptions(entry="*")).module), lines_of(name)
    if name not in LIBRARIES:
        raise BuildError(f"there is no program {name}: choose of {', '.join((*LIBRARIES, *PROGRAMS))}")
    library = LIBRARIES[name]
    directory = prepared(library)
    files = [directory / file for file in library.files]
    includes = tuple(directory / include for include in library.includes)
    options = FrontendOptions(include_dirs=includes, defines=library.defines, entry="*")
    count = sum(len(file.read_text(errors="replace").splitlines()) for file in files)
    return Checker(load_program(files, options).module), count


def programs_table(names: Sequence[str]) -> int:
    rows = []
    for name in names:
        checker, count = checker_of(name)
        started = process_time()
        result = checker.run()
        seconds = process_time() - started
        reports, _ = group_reports(result.reports)
        ranks = [sum(r.rank == rank for r in reports) for rank in ("likely", "possible", "caller")]
        per = 1e6 / result.instructions
        parts = [result.seconds.get(part, 0.0) for part in PARTS]
        share = 100 * result.verdicts["undecided"] / max(result.conditions, 1)
        counts = (count, result.instructions, result.conditions, result.queries)
        rows.append((name, *counts, f"{share:.1f}%", *parts, per * parts[0], per * parts[1], seconds, *ranks))
    header = ("library", "lines", "instructions", "conditions", "queries", "undecided")
    spent = (*(f"{part} s" for part in PARTS), "gating us/instr", "lifting us/instr")
    print_table((*header, *spent, "CPU s", "likely", "possible", "caller"), rows)
    return 0


def size_table(names: Sequence[str], figures: Path) -> int:
    """Gating alone, function by function."""
    rows, lines = [], []
    for name in names:
        groups = sizes_of(name)
        points = []
        for limit, found in groups.items():
            instructions, nodes, spent = (sum(row[i] for row in found) for i in range(3))
            text = f"up to {limit:,}" if limit < 10**9 else "more"
            per = nodes / instructions
            rows.append((name, text, len(found), instructions, per, 1e6 * spent / instructions))
            points.append((instructions / len(found), per))
        lines.append(Line(name, tuple(points)))
    print_table(("program", "instructions", "functions", "total", "nodes/instr", "us/instr"), rows)
    title = "Size of the gated form by size of the function"
    text = log_plot(title, "instructions, mean of a group of functions", "nodes an instruction", lines)
    write_plot(figures / "check_growth.svg", text)
    return 0


def sizes_of(name: str) -> dict[int, list[tuple[int, int, float]]]:
    """Instructions, nodes and seconds of each function of a program, by group."""
    groups: dict[int, list[tuple[int, int, float]]] = {}
    checker, _ = checker_of(name)
    for function in checker.order.names():
        body = checker.program.module.functions[function]
        size = sum(len(block.instructions) for block in body.blocks)
        before, started = len(NODES), process_time()
        with uncollected():
            gated = Gated(checker.program, body).run()
        spent = process_time() - started
        checker.program.functions[function] = gated
        limit = next(limit for limit in SIZES if size <= limit)
        groups.setdefault(limit, []).append((size, len(NODES) - before, spent))
    return dict(sorted(groups.items()))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("oracle", "pointers", "programs", "size"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="where the plot of `size` goes")
    arguments = parser.parse_args(argv)
    if arguments.what == "oracle":
        return oracle(arguments.first, arguments.programs)
    if arguments.what == "pointers":
        return pointers(arguments.first, arguments.programs)
    names = arguments.names or list(LIBRARIES)
    try:
        return programs_table(names) if arguments.what == "programs" else size_table(names, arguments.figures)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
