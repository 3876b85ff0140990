"""Merging on GNU coreutils: coverage in limited time, and exhaustive exploration of small inputs.

    python -m bench.merging_coreutils coverage [NAME...]  standard arguments, dynamic merging on and off: line
                                                          coverage by native replay, paths by multiplicity
    python -m bench.merging_coreutils exhaust [NAME...]   small inputs to the end, auto against plain

`python -m bench.coreutils build` builds the utilities. Exit code 1 if a bar is missed or anything fails.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.coreutils import ExploreRow, explore
from bench.lib.coreutils import bitcode
from bench.lib.engine import EngineFailure, call_engine
from bench.lib.table import magnitude, print_table
from bench.lib.work import tell

COVERAGE = ("echo", "cat", "wc", "cut", "tr", "paste", "basename", "uniq", "fold", "head")
COVERAGE_LOSS = 1.0
MORE_PATHS, MORE_PATHS_ON = 10, 6

# Inputs on which plain exploration takes 1 to 60 s.
SMALL: dict[str, tuple[str, ...]] = {
    "cat": ("-s", "--sym-stdin", "7"),
    "cut": ("-b", "1-2", "--sym-stdin", "16"),
    "fold": ("--sym-stdin", "7"),
    "od": ("-c", "--sym-stdin", "4"),
    "paste": ("--sym-stdin", "16"),
    "tr": ("-dc", "0-9", "--sym-stdin", "16"),
}
SHORTEST, LONGEST = 1.0, 60.0
SPEEDUP = 5.0


# ---- coverage in limited time


@dataclass(frozen=True)
class Pair:
    plain: ExploreRow
    merged: ExploreRow

    @property
    def ratio(self) -> float:
        return self.merged.multiplicity / max(self.plain.multiplicity, 1)


def coverage(arguments: argparse.Namespace) -> int:
    merging = ("--merge", arguments.merge, "--merging", "dynamic", *arguments.engine_flag)
    pairs = []
    for utility in arguments.utilities or COVERAGE:
        plain = explore(utility, arguments.time, arguments.keep / "plain", ("--merge", "none"))
        merged = explore(utility, arguments.time, arguments.keep / "merged", merging)
        pairs.append(Pair(plain, merged))
        ratio = pairs[-1].ratio
        tell(f"{utility}: lines {plain.lines:.1f} and {merged.lines:.1f}, {ratio:.1f} times the paths")
    print_table(
        ("utility", "lines %", "merged %", "paths", "merged paths", "ratio", "ends", "merges", "tests",
         "merged tests", "differ", "merged differ", "losses"),
        [(p.plain.utility, p.plain.lines, p.merged.lines, p.plain.multiplicity,
          magnitude(p.merged.multiplicity), p.ratio, p.merged.paths, p.merged.merges, p.plain.tests,
          p.merged.tests, p.plain.differ, p.merged.differ, p.merged.losses) for p in pairs],
    )  # fmt: skip
    return _coverage_bars(pairs)


def _coverage_bars(pairs: list[Pair]) -> int:
    before = sum(p.plain.lines for p in pairs) / len(pairs)
    after = sum(p.merged.lines for p in pairs) / len(pairs)
    many = sum(p.ratio >= MORE_PATHS for p in pairs)
    print(
        f"mean line coverage {before:.1f}% without, {after:.1f}% with merging (bar: "
        f"{before - COVERAGE_LOSS:.1f}); at least {MORE_PATHS} times the paths on {many} of {len(pairs)} "
        f"(bar: {MORE_PATHS_ON} of 10)"
    )
    problems = [
        f"{row.utility}: {text}" for p in pairs for row in (p.plain, p.merged) for text in row.problems
    ]
    for problem in problems:
        print(problem[:400])
    enough = many >= MORE_PATHS_ON * len(pairs) / len(COVERAGE)
    return 0 if after >= before - COVERAGE_LOSS and enough and not problems else 1


# ---- exhaustive exploration


@dataclass
class Exhausted:
    seconds: float = 0.0
    complete: bool = False
    states: int = 0
    ends: int = 0
    multiplicity: int = 0
    merges: int = 0
    errors: int = 0
    problem: str = ""


def exhausted(utility: str, inputs: tuple[str, ...], flags: tuple[str, ...], limit: float) -> Exhausted:
    """One exploration without tests, interrupted at the limit of CPU time."""
    result = Exhausted()
    with tempfile.TemporaryDirectory(prefix="anabranch-merging-") as name:
        run = Path(name) / "run"
        command = ["run", "--libc", "musl", "--tests", "none", "--output-dir", str(run), "-q", *flags]
        command += ["--program-name", utility, str(bitcode(utility)), "--", *inputs]
        try:
            called = call_engine(command, Path(name), 10 * limit + 60, cpu_limit=limit + 5)
        except EngineFailure as failure:
            result.seconds, result.problem = limit, str(failure)
            return result
        if not (run / "run.json").exists():
            result.problem = f"exit code {called.code}: {called.stderr.strip()[-300:]}"
            return result
        data = json.loads((run / "run.json").read_text())
    result.seconds, result.complete = data["timers"]["explore"], data["complete"]
    result.states, result.ends = data["states"]["explored"], data["paths"]["total"]
    result.multiplicity, result.errors = data["multiplicity"], len(data["errors"])
    result.merges = data.get("reductions", {}).get("merging", {}).get("merges", 0)
    if not result.complete:
        result.problem = f"not complete: {sorted(data['losses'])}"
    return result


def exhaust(arguments: argparse.Namespace) -> int:
    rows: list[tuple[object, ...]] = []
    speedups, problems = [], []
    for utility, standard in SMALL.items():
        if arguments.utilities and utility not in arguments.utilities:
            continue
        inputs = tuple(arguments.inputs.split()) if arguments.inputs else standard
        plain = exhausted(utility, inputs, ("--merge", "none", "--search", "dfs"), arguments.time)
        tell(f"{utility}: plain {plain.seconds:.1f} s, complete: {plain.complete}")
        flags = ("--merge", arguments.merge, *arguments.engine_flag)
        merged = exhausted(utility, inputs, flags, arguments.time)
        tell(f"{utility}: merged {merged.seconds:.1f} s, complete: {merged.complete}")
        speedups.append(plain.seconds / max(merged.seconds, 1e-3))
        rows.append(
            (utility, " ".join(inputs), plain.seconds, plain.ends, plain.errors, merged.seconds,
             merged.states, merged.merges, magnitude(merged.multiplicity), merged.errors, merged.complete,
             speedups[-1])
        )  # fmt: skip
        problems += [f"{utility}: {r.problem}" for r in (plain, merged) if r.problem]
        if not SHORTEST <= plain.seconds <= LONGEST:
            problems.append(f"{utility}: plain takes {plain.seconds:.2f} s, not {SHORTEST:g} to {LONGEST:g}")
        if plain.complete and merged.complete and plain.errors != merged.errors:
            problems.append(f"{utility}: {merged.errors} errors, plain {plain.errors}")
    print_table(
        ("utility", "input", "plain s", "paths", "errors", "merged s", "states", "merges", "multiplicity",
         "merged errors", "finished", "speed-up"),
        rows,
    )  # fmt: skip
    mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
    print(f"speed-up in the geometric mean: {mean:.2f} (bar: {SPEEDUP:g})")
    for problem in problems:
        print(problem[:400])
    return 0 if mean >= SPEEDUP and not problems else 1


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.merging_coreutils",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, limit in (("coverage", coverage, 60), ("exhaust", exhaust, 120)):
        command = commands.add_parser(name)
        command.add_argument("utilities", nargs="*", metavar="NAME")
        command.add_argument("--time", type=float, default=limit, metavar="S", help="seconds for each run")
        command.add_argument("--merge", default="auto", help="which states to merge (default auto)")
        command.add_argument(
            "--engine-flag", action="append", default=[], metavar="FLAG", help="one more for merged runs"
        )
        command.add_argument(
            "--keep", type=Path, default=Path(tempfile.gettempdir()) / "anabranch-merging", metavar="DIR",
            help="where the run directories go",
        )  # fmt: skip
        command.set_defaults(function=function)
        if function is exhaust:
            command.add_argument("--inputs", metavar="TEXT", help="other inputs than the ones chosen")
    arguments = parser.parse_args(argv)
    missing = [u for u in arguments.utilities if not bitcode(u).exists()]
    if missing or not bitcode("echo").exists():
        parser.error(f"not built: {', '.join(missing) or 'coreutils'} (python -m bench.coreutils build)")
    for part in ("plain", "merged"):
        (arguments.keep / part).mkdir(parents=True, exist_ok=True)
    try:
        code: int = arguments.function(arguments)
    except subprocess.TimeoutExpired as error:
        print(error, file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
