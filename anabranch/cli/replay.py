"""The command `anabranch replay`: runs the tests of a run natively."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from anabranch.cli.codes import OK, USAGE, CommandError
from anabranch.cli.wording import count, near
from anabranch.native.tools import NativeError
from anabranch.replay.record import ReplayError
from anabranch.replay.replay import Replay, ReplayOptions, replay
from anabranch.report.result import Ratio
from anabranch.values import parse_time

DIFFERS = 1
_SHOWN = 20


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CommandError(f"replay: {message} (see anabranch replay --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="anabranch replay",
        description="Build the program of a run natively, run every test with it in a fresh "
        "directory, compare how each ends with what was predicted, and measure line and branch coverage. The "
        "results are also written to replay.json in the run directory.",
        epilog="Exit codes: 0 all tests end as predicted, 1 some do not, 2 wrong usage or no native program.",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="directory of a run, such as anabranch-last")
    parser.add_argument(
        "--program", type=Path, metavar="EXE", help="run EXE instead (no coverage, no checks of ours)"
    )
    parser.add_argument(
        "--no-checks", action="store_true", help="build without checks of addresses and undefined behaviour"
    )
    parser.add_argument("--time", default="10", metavar="TIME", help="limit for each test (default: 10 s)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only what differs")
    return parser


def _percent(ratio: Ratio) -> str:
    return f"{ratio.percent:5.1f}%  {ratio.covered:,}/{ratio.total:,}" if ratio.total else "    -"


def report(result: Replay, quiet: bool = False) -> list[str]:
    """What to tell the user, line by line."""
    lines = [f"warning: {text}" for text in result.warnings]
    lines += [f"  test{test.predicted.number:06d}  {test.problem}" for test in result.problems[:_SHOWN]]
    if len(result.problems) > _SHOWN:
        lines.append(f"  and {len(result.problems) - _SHOWN} more; see replay.json")
    lines += [f"  {text}" for text in result.unreadable[:_SHOWN]]
    compared = sum(test.compared for test in result.tests)
    wrong = len(result.problems) + len(result.unreadable)
    if quiet:
        return lines
    lines.append(
        f"Replayed {count(len(result.tests), 'test')} natively: "
        + f"{compared - len(result.problems):,} as predicted"
        + (f", {wrong:,} not" if wrong else "")
        + (f", {len(result.tests) - compared:,} without prediction" if compared < len(result.tests) else "")
        + "."
    )
    shown = sum(test.shown for test in result.tests)
    if shown:
        lines.append(f"  {count(shown, 'use')} of uninitialised memory shown by other contents of it")
    unknown = sum(test.predicted.uninitialised for test in result.tests)
    if unknown:
        lines.append(f"  {count(unknown, 'test')} not compared: uninitialised memory decides how they end")
    files = result.coverage.files if result.coverage is not None else {}
    if files:
        width = min(60, max(len(near(name)) for name in files))
        lines.append(f"  {'file':<{width}}  lines                 branch sides")
        for name, file in files.items():
            if file.lines.covered or len(files) <= _SHOWN:
                row = f"{_percent(file.lines):<20}  {_percent(file.branches)}"
                lines.append(f"  {near(name)[-width:]:<{width}}  {row}")
    return lines


def run_replay(run_directory: Path, options: ReplayOptions, quiet: bool = False) -> int:
    """Replay, print and return the exit code."""
    try:
        result = replay(run_directory, options)
    except (ReplayError, NativeError) as error:
        raise CommandError(f"replay: {error}", USAGE) from error
    for line in report(result, quiet):
        print(line)
    sys.stdout.flush()
    return OK if result.agrees else DIFFERS


def main(argv: Sequence[str]) -> int:
    arguments = _parser().parse_args(list(argv))
    if not arguments.run.is_dir():
        raise CommandError(f"replay: {arguments.run} is not a run directory")
    try:
        limit = parse_time(arguments.time)
    except ValueError as error:
        raise CommandError(f"replay: --time: {error}") from None
    options = ReplayOptions(arguments.program, not arguments.no_checks, limit)
    return run_replay(arguments.run, options, arguments.quiet)
