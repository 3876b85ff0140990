"""Explorations of coreutils by different configurations of the decision procedure.

python -m bench.tuned_runs CONFIG... [--utilities od expr ...] [--seconds 30] [--seeds 1]

Runs with the standard symbolic arguments, each given so many seconds of CPU time; the configurations take
turns. `default` is what runs use without one. Lines are those of src/NAME.c that the engine covered.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from bench.coreutils import STANDARD
from bench.lib.coreutils import bitcode
from bench.lib.engine import call_engine
from bench.lib.table import print_table
from bench.lib.work import tell

HELD_OUT = ("od", "expr", "seq", "tr", "pr", "wc", "paste", "comm", "head", "join")
WALL = 60
"""Seconds that may pass for a second of CPU."""


@dataclass(frozen=True)
class Figures:
    """One run."""

    paths: int
    instructions: int
    lines: float
    """Per cent."""
    solver: float
    """Per cent of the exploration."""


def explore(utility: str, config: str, seed: int, seconds: float, scratch: Path) -> Figures:
    """A run of so many seconds of CPU."""
    run = scratch / "run"
    shutil.rmtree(run, ignore_errors=True)
    words = ["run", "--libc", "musl", "-q", "--tests", "none", "--max-time", "3600", "--seed", str(seed)]
    words += ["--output-dir", str(run), "--program-name", utility]
    words += [] if config == "default" else ["--solver-config", config]
    call_engine(
        [*words, str(bitcode(utility)), "--", *STANDARD],
        scratch,
        WALL * seconds,
        fresh=True,
        cpu_limit=seconds,
    )
    told = json.loads((run / "run.json").read_text())
    files = told["coverage"]["files"]
    own = next(file["lines"] for name, file in files.items() if name.endswith(f"src/{utility}.c"))
    return Figures(
        told["paths"]["total"],
        told["instructions"],
        100 * own["covered"] / own["total"],
        100 * told["timers"].get("solver", 0.0) / told["timers"]["explore"],
    )


def main(argv: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("configs", nargs="+", metavar="CONFIG")
    parser.add_argument("--utilities", nargs="+", default=list(HELD_OUT), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args(argv)
    found: dict[tuple[str, str], list[Figures]] = {}
    with tempfile.TemporaryDirectory(prefix="anabranch-tuned-") as place:
        for utility in given.utilities:
            for seed in range(given.seeds):
                for config in given.configs:
                    figures = explore(utility, config, seed, given.seconds, Path(place))
                    found.setdefault((utility, config), []).append(figures)
                    tell(f"{utility}, {Path(config).stem}: {figures}")

    def mean(utility: str, config: str, name: str) -> float:
        runs = found[utility, config]
        return sum(getattr(figures, name) for figures in runs) / len(runs)

    names = ("paths", "instructions", "lines", "solver")
    rows = [(u, Path(c).stem, *(mean(u, c, name) for name in names)) for u, c in found]
    print_table(("utility", "configuration", "paths", "instructions", "lines %", "solver %"), rows)
    first, *others = given.configs
    for config in others:
        pairs = {n: [(mean(u, first, n), mean(u, config, n)) for u in given.utilities] for n in names}
        count = len(given.utilities)
        paths = exp(sum(log(max(b, 1) / max(a, 1)) for a, b in pairs["paths"]) / count)
        lines = sum(b - a for a, b in pairs["lines"]) / count
        lower = sum(b < a for a, b in pairs["solver"])
        name = f"{Path(config).stem} against {Path(first).stem}"
        share = f"solver share lower on {lower} of {count}"
        print(f"{name}: paths {paths:.2f}x, lines {lines:+.1f} points, {share}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
