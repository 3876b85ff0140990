"""The tables of the thesis' chapter 6, and what its techniques are worth, measured one by one.

python -m bench.check_thesis tables [NAME...]      Tables 6.3 and 6.4 with --preset thesis
python -m bench.check_thesis ablations [NAME...]   default settings, with one choice of the strategy changed

Programs are those of `bench.check programs`. In Table 6.3 reports are those of rank likely; bugs and unknown
ones are counted where bench/check_reports.md has a verdict for the place, and the false rate is of these.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from time import process_time

from anabranch.check.driver import Checker
from anabranch.check.records import CheckResult
from anabranch.check.reports import group_reports
from anabranch.check.settings import PRESETS, CheckSettings, Strategy
from anabranch.ir.module import Module
from bench.check import checker_of
from bench.lib.coreutils import ROOT, BuildError
from bench.lib.table import print_table

NAMES = ("zlib", "json-c", "libtasn1", "tree")
STRATEGIES = {
    "default": Strategy(),
    "full inlining": Strategy(inline=True),
    "lifting everything": Strategy(localised=False),
    "antecedents first": Strategy(antecedents_first=True),
    "a fresh solver a query": Strategy(incremental=False),
}
ROOMY = CheckSettings(max_expansions=400, max_nodes=20_000, max_requirements=500, max_depth=100)
"""The number and size of what is opened and lifted is hardly limited, so that each strategy pays for what it
opens and lifts; the limits of solving are the usual ones."""
_READING = re.compile(r"^\| ([\w./-]+:\d+)[^|]*\| (true|false|unknown) \|", re.MULTILINE)


def measured(module: Module, settings: CheckSettings) -> tuple[CheckResult, float]:
    checker = Checker(module, settings)
    started = process_time()
    result = checker.run()
    return result, process_time() - started


def readings(name: str) -> dict[str, str]:
    """Place -> verdict of the reports of a program that were read by hand."""
    text = (ROOT / "bench" / "check_reports.md").read_text()
    sections = [part for part in text.split("\n### ") if part.split(" ", 1)[0] == name]
    return {place: verdict for part in sections for place, verdict in _READING.findall(part)}


def thesis(seconds: float) -> CheckSettings:
    """The preset, with this time a condition instead of 10 s."""
    preset = PRESETS["thesis"]
    polls = round(preset.condition_polls * seconds / 10)
    return replace(preset, polls=polls, condition_polls=polls, function_polls=500 * polls)


def tables(names: Sequence[str], seconds_each: float) -> int:
    results, split = [], []
    for name in names:
        checker, count = checker_of(name)
        result, seconds = measured(checker.program.module, thesis(seconds_each))
        reports, _ = group_reports(result.reports)
        likely = [r for r in reports if r.rank == "likely"]
        known = readings(name)
        verdicts = [known.get(f"{os.path.basename(r.file)}:{r.line}", "") for r in likely]
        bugs, unknown = verdicts.count("true"), len(likely) - verdicts.count("true") - verdicts.count("false")
        decided = len(likely) - unknown
        rate = f"{100 - 100 * bugs / decided:.0f}%" if decided else "-"
        others = [sum(r.rank == rank for r in reports) for rank in ("possible", "caller")]
        undecided = f"{100 * result.verdicts['undecided'] / max(result.conditions, 1):.1f}%"
        results.append((name, count, len(likely), bugs, unknown, rate, seconds, *others, undecided))
        solving = result.seconds.get("solving", 0.0)
        split.append((name, seconds, solving, f"{100 * solving / seconds:.1f}%"))
        print(f"{name}: {seconds:.1f} s", file=sys.stderr)
    print("Table 6.3: NULL pointer dereferences (on the right what the thesis' table does not have)")
    columns = ("LOC", "Reports", "Bugs", "Unkn.", "FP Rate", "Time [s]", "possible", "caller", "undecided")
    print_table(("Benchmark", *columns), results)
    print("\nTable 6.4: total runtime split")
    print_table(("Benchmark", "Total time [s]", "Solver [s]", "Percentage"), split)
    return 0


def ablations(names: Sequence[str]) -> int:
    """Is the default the fastest on all programs together?"""
    rows, total = [], dict.fromkeys(STRATEGIES, 0.0)
    for name in names:
        checker, _ = checker_of(name)
        for title, strategy in STRATEGIES.items():
            result, seconds = measured(checker.program.module, replace(ROOMY, strategy=strategy))
            total[title] += seconds
            undecided = result.verdicts["undecided"]
            decided = 1000 * seconds / max(result.conditions - undecided, 1)
            share = f"{100 * undecided / max(result.conditions, 1):.1f}%"
            counts = (result.conditions, share, result.queries, result.expansions)
            rows.append((name, title, *counts, result.seconds.get("solving", 0.0), seconds, decided))
            print(f"{name}, {title}: {seconds:.1f} s", file=sys.stderr)
    header = ("program", "strategy", "conditions", "undecided", "queries", "opened", "solver s", "CPU s")
    print_table((*header, "ms a verdict"), rows)
    print()
    base = total["default"]
    print_table(
        ("strategy", "CPU s", "of the default"), [(t, s, f"{s / base:.2f}") for t, s in total.items()]
    )
    return int(min(total.values()) < base)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("tables", "ablations"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=10, help="a condition, in the tables (default: 10)")
    arguments = parser.parse_args(argv)
    names = arguments.names or NAMES
    try:
        return tables(names, arguments.seconds) if arguments.what == "tables" else ablations(names)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
