"""How soon a program on the C library runs, and how fast without symbols: `echo --sym-arg 2`, `seq 1 20000`;
what a small program takes in all (`maze.c`).

    python -m bench.startup [--rounds N]

All are whole commands on a filled cache, with compiled bytecode if Python may write it; the time until `main`
is that since the process was started, as the run's `info` tells it. The best of the rounds counts. Wants
`python -m bench.coreutils build` first. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.coreutils import engine
from bench.lib.calibrate import unit_seconds
from bench.lib.coreutils import bitcode
from bench.lib.subjects import find
from bench.lib.table import print_table

SECONDS_TO_MAIN = 2.0
MILLIONS = 5.0
MAZE_SECONDS = 0.35


def maze(directory: Path) -> float:
    """CPU seconds of the whole command."""
    before = os.times()
    done = engine(["run", str(find("maze.c", None)), "-q", "--output-dir", str(directory)], 120)
    after = os.times()
    if done.returncode:
        raise SystemExit(f"maze: {done.stderr.strip()[-300:]}")
    return after.children_user - before.children_user + after.children_system - before.children_system


def run(utility: str, words: list[str], directory: Path) -> dict[str, Any]:
    """One command; what its `run.json` says."""
    target = directory
    done = engine(["run", str(bitcode(utility)), "-q", "--output-dir", str(target), *words], 120)
    if done.returncode:
        raise SystemExit(f"{utility}: {done.stderr.strip()[-300:]}")
    document: dict[str, Any] = json.loads((target / "run.json").read_text())
    return document


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.startup",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (default 5)")
    rounds = parser.parse_args(argv).rounds
    starts, rates, small, units = [], [], [], [unit_seconds()]
    for number in range(rounds + 1):
        with tempfile.TemporaryDirectory(prefix="anabranch-startup-") as name:
            echo = run("echo", ["--sym-arg", "2"], Path(name) / "echo")
            seq = run("seq", ["--", "1", "20000"], Path(name) / "seq")
            seconds = maze(Path(name) / "maze")
        units.append(unit_seconds())
        if number:  # the first fills the cache
            small.append(seconds)
            starts.append(echo["timers"]["main"])
            rates.append(seq["instructions"] / seq["timers"]["explore"] / 1e6)
    print_table(
        ("what", "best", "worst", "bar"),
        [
            ("seconds to main of echo, whole command", min(starts), max(starts), SECONDS_TO_MAIN),
            ("seq 1 20000, M instructions per CPU second", max(rates), min(rates), MILLIONS),
            ("seconds of CPU of maze, whole command", min(small), max(small), MAZE_SECONDS),
            ("unit, seconds", min(units), max(units), 0.0),
        ],
    )
    good = min(starts) < SECONDS_TO_MAIN and max(rates) >= MILLIONS and min(small) <= MAZE_SECONDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
