"""GNU coreutils 9.1: built from Debian's sources, run concretely against native programs, and explored.

    python -m bench.coreutils build              native programs and bitcode, by `anabranch cc`
    python -m bench.coreutils native [NAME...]   the same lines by both native programs
    python -m bench.coreutils concrete [NAME...] ten command lines a utility: output and exit code as natively
    python -m bench.coreutils explore [NAME...]  standard arguments; tests replayed, coverage measured

Sources and builds live in the user's cache directory. Exit code 1 if anything differs or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from anabranch.native.run import NativeRun, Streams, run_native
from anabranch.native.tools import NativeError
from anabranch.replay.build import Built, build_native
from anabranch.replay.record import ProgramRecord
from bench.coreutils_cases import FILES, UTILITIES, Case, cases_of
from bench.lib.coreutils import ROOT, BuildError, bitcode, build, build_directory, program
from bench.lib.table import print_table
from bench.lib.work import each, jobs_argument

STANDARD = (
    "--sym-args",
    "0",
    "1",
    "10",
    "--sym-args",
    "0",
    "2",
    "2",
    "--sym-files",
    "1",
    "8",
    "--sym-stdin",
    "8",
    "--sym-stdout",
)
KLEE_LINES = {
    "echo": 82.5, "cat": 59.3, "wc": 59.8, "cut": 89.8, "tr": 62.1, "test": 68.4, "seq": 69.5, "sleep": 79.6,
    "od": 76.6, "paste": 89.5, "basename": 100.0, "expr": 65.0, "uniq": 74.4, "comm": 96.5, "fold": 67.8,
    "head": 63.5,
}  # fmt: skip
"""Line coverage of KLEE 3.2 after 60 s with the same arguments."""


NOT_MODELLED = ("unsupported", "unmodelled", "signal ", "alarm ")
"""Losses by which the model of the kernel, or the machine, shows what it does not know."""
DEFECT = "internal error"
LATEST = 5.0
"""Seconds after its limit by which an exploration has to have ended."""


def engine(arguments: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """`anabranch ARGUMENTS` in a process of its own; TimeoutExpired if it hangs."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return subprocess.run(
        [sys.executable, "-m", "anabranch.cli.main", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit,
        check=False,
    )


# ---- build


def build_command(arguments: argparse.Namespace) -> int:
    """Build everything, and read the bitcode of each utility back as the engine would."""
    from anabranch.frontend import FrontendError, FrontendOptions, load_program

    for step in build(arguments.jobs):
        print(f"{step.name}: {step.seconds:.0f} s")
    rows: list[tuple[object, ...]] = []
    problems = []
    for utility in arguments.utilities:
        started = time.monotonic()
        try:
            loaded = load_program([bitcode(utility)], FrontendOptions(use_cache=False))
        except FrontendError as error:
            problems.append(f"{utility}: {error}")
            continue
        functions = list(loaded.module.defined_functions())
        size = sum(len(b.instructions) for f in functions for b in f.blocks)
        assembly = sum(" asm " in line for line in loaded.ir_text.splitlines() if "call" in line)
        wide = loaded.ir_text.count("x86_fp80")
        rows.append((utility, len(functions), size, assembly, wide, time.monotonic() - started))
    print_table(("utility", "functions", "instructions", "inline asm", "x86_fp80", "seconds"), rows)
    print(f"built in {build_directory()}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


# ---- concrete runs


@dataclass
class ConcreteRow:
    utility: str
    equal: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


def native_program(utility: str, directory: Path) -> Built:
    """The very bitcode that is explored, as a native program (`long double` has 64 bits in both)."""
    return build_native(ProgramRecord(Path("/"), ((bitcode(utility), ""),)), directory, checks=False)


def native_case(built: Built, case: Case, directory: Path) -> NativeRun:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    for name, content in FILES.items():
        (directory / name).write_bytes(content)
    return run_native(
        built.program,
        arguments=case.arguments,
        cwd=directory,
        stdin=FILES[case.stdin] if case.stdin else None,
        streams=Streams(directory.with_name("stdin")),
        name=case.utility,
    )


def engine_case(case: Case, directory: Path, limit: float) -> tuple[int | None, bytes, str]:
    """Exit code and output that the engine computes, and what is wrong with the run."""
    files = directory / "files"
    if not files.is_dir():
        files.mkdir()
        for name, content in FILES.items():
            (files / name).write_bytes(content)
    run = directory / "run"
    shutil.rmtree(run, ignore_errors=True)
    command = ["run", "--libc", "musl", "--tests", "all", "--output-dir", str(run), "-q"]
    for name in FILES:
        command += ["--file", f"{files / name}:{name}"]
    if case.stdin:
        command += ["--stdin", str(files / case.stdin)]
    command += ["--program-name", case.utility, "--max-time", str(int(limit)), str(bitcode(case.utility))]
    try:
        done = engine([*command, "--", *case.arguments], limit + 30)
    except subprocess.TimeoutExpired:
        return None, b"", "hangs"
    listing = run / "tests.jsonl"
    lines = listing.read_text().splitlines() if listing.exists() else []
    if len(lines) != 1:
        return None, b"", f"{len(lines)} paths; code {done.returncode}: {done.stderr.strip()[-300:]}"
    entry: dict[str, Any] = json.loads(lines[0])
    if entry["end"] != "exit":
        return None, b"", f"ends with {entry.get('kind', entry['end'])}"
    return entry.get("exit_code"), bytes.fromhex(entry.get("output", "")), ""


def concrete(utility: str, limit: float) -> ConcreteRow:
    row = ConcreteRow(utility)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anabranch-coreutils-") as name:
        scratch = Path(name)
        try:
            built = native_program(utility, scratch)
        except NativeError as error:
            row.problems.append(f"no native program: {error}")
            return row
        for case in cases_of(utility):
            native = native_case(built, case, scratch / "native")
            code, output, problem = engine_case(case, scratch, limit)
            if problem:
                row.problems.append(f"{case}: {problem}")
            elif (code, output) != (native.code, native.stdout):
                row.problems.append(
                    f"{case}: exit {code}, natively {native.code}; output {output[:60]!r}, natively "
                    f"{native.stdout[:60]!r}"
                )
            else:
                row.equal += 1
    row.seconds = time.monotonic() - started
    return row


def concrete_command(arguments: argparse.Namespace) -> int:
    rows = list(each(partial(concrete, limit=arguments.time), arguments.utilities, arguments.jobs))
    print_table(
        ("utility", "equal", "of", "seconds"),
        [(r.utility, r.equal, len(cases_of(r.utility)), r.seconds) for r in rows],
    )
    for row in rows:
        for problem in row.problems:
            print(problem[:400])
    return 1 if any(row.problems for row in rows) else 0


# ---- native results alone


def native_command(arguments: argparse.Namespace) -> int:
    """The cases natively, twice: by the program that make built and by the one made from its bitcode."""
    rows, problems = [], []
    for utility in arguments.utilities:
        equal = 0
        with tempfile.TemporaryDirectory(prefix="anabranch-coreutils-") as name:
            scratch = Path(name)
            built = native_program(utility, scratch)
            made = Built(program(utility), built.coverage)
            for case in cases_of(utility):
                first = native_case(made, case, scratch / "native")
                second = native_case(built, case, scratch / "native")
                if first == second:
                    equal += 1
                else:
                    problems.append(
                        f"{case}: {first.code} {first.stdout[:80]!r}, {second.code} {second.stdout[:80]!r}"
                    )
        rows.append((utility, equal, len(cases_of(utility))))
    print_table(("utility", "equal", "of"), rows)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


# ---- exploration


@dataclass
class ExploreRow:
    utility: str
    lines: float = 0.0
    branches: float = 0.0
    paths: int = 0
    multiplicity: int = 0
    merges: int = 0
    tests: int = 0
    rate: float = 0.0
    solver: float = 0.0
    seconds: float = 0.0
    differ: int = 0
    unmodelled: str = ""
    losses: str = ""
    problems: list[str] = field(default_factory=list)


def explore(utility: str, limit: float, keep: Path, flags: Sequence[str] = ()) -> ExploreRow:
    """Explore one utility, replay its tests natively, and read the figures of both."""
    row = ExploreRow(utility)
    run = keep / utility
    shutil.rmtree(run, ignore_errors=True)
    command = ["run", "--libc", "musl", "--max-time", f"{limit:g}", "--output-dir", str(run), "-q"]
    command += [*flags, "--program-name", utility, str(bitcode(utility)), "--", *STANDARD]
    started = time.monotonic()
    try:
        done = engine(command, limit + 120)
    except subprocess.TimeoutExpired:
        row.problems.append("hangs past the limit")
        return row
    row.seconds = time.monotonic() - started
    if done.returncode or "Traceback" in done.stderr:
        row.problems.append(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    if not (run / "run.json").exists():
        return row
    read_run(row, run, limit)
    replayed = engine(["replay", "--no-checks", str(run)], 1200)
    if not (run / "replay.json").exists():
        row.problems.append(f"replay: {replayed.stderr.strip()[-300:]}")
        return row
    read_replay(row, run, keep / f"{utility}-checked")
    return row


def replay_checked(run: Path, tests: set[int], directory: Path) -> set[int]:
    """Those of some tests that end as predicted in a build with checks: errors of memory, such as a read past
    the end of an argument, need not show without."""
    shutil.rmtree(directory, ignore_errors=True)
    others = shutil.ignore_patterns("replay.json", "*.ktest")
    shutil.copytree(run, directory, ignore=others)
    for number in tests:
        shutil.copy(run / f"test{number:06d}.ktest", directory)
    engine(["replay", str(directory)], 1200)
    if not (directory / "replay.json").exists():
        return set()
    document = json.loads((directory / "replay.json").read_text())
    bad = {entry["test"] for entry in document["differ"]}
    return tests - bad if document["compared"] == len(tests) else set()


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in counts.items())


def read_run(row: ExploreRow, directory: Path, limit: float) -> None:
    run = json.loads((directory / "run.json").read_text())
    row.paths, row.tests = run["paths"]["total"], run["tests"]
    row.multiplicity = run["multiplicity"]
    row.merges = run.get("reductions", {}).get("merging", {}).get("merges", 0)
    seconds = run["timers"].get("explore") or row.seconds or 1.0
    row.rate = run["instructions"] / seconds / 1e6
    row.solver = 100 * run["timers"].get("solver", 0.0) / seconds
    counts = {kind: loss["count"] for kind, loss in run["losses"].items()}
    row.unmodelled = listed({k: n for k, n in counts.items() if k.startswith(NOT_MODELLED)})
    row.losses = listed({k: n for k, n in counts.items() if not k.startswith(NOT_MODELLED)})
    row.problems += [f"{kind} ({count} paths)" for kind, count in counts.items() if kind.startswith(DEFECT)]
    late = run["timers"].get("total", 0.0) - run["timers"].get("frontend", 0.0) - limit
    # a process that gets little of the processor is not to blame for the time it takes
    if late > LATEST and run["cpu_seconds"] - run["timers"].get("explore", 0.0) > LATEST:
        row.problems.append(f"ended {late:.0f} s after the limit")


def read_replay(row: ExploreRow, directory: Path, scratch: Path) -> None:
    replayed = json.loads((directory / "replay.json").read_text())
    errors = {entry["test"] for entry in replayed["differ"] if not entry["predicted"].startswith("exit")}
    confirmed = replay_checked(directory, errors, scratch) if errors else set()
    differ = [entry for entry in replayed["differ"] if entry["test"] not in confirmed]
    row.differ = len(differ) + len(replayed["unreadable"])
    row.problems += [f"test {entry['test']}: {entry['problem']}" for entry in differ[:5]]
    for name, file in replayed["coverage"]["files"].items():
        if name.endswith(f"/src/{row.utility}.c"):
            row.lines = 100 * file["lines"]["covered"] / file["lines"]["total"]
            row.branches = 100 * file["branches"]["covered"] / (file["branches"]["total"] or 1)


def explore_command(arguments: argparse.Namespace) -> int:
    arguments.keep.mkdir(parents=True, exist_ok=True)
    work = partial(explore, limit=arguments.time, keep=arguments.keep)
    rows = list(each(work, arguments.utilities, arguments.jobs))
    header = (
        "utility", "lines %", "KLEE %", "branches %", "paths", "tests", "differ", "M instr/s", "solver %",
        "seconds", "not modelled", "other losses",
    )  # fmt: skip
    print_table(
        header,
        [
            (r.utility, r.lines, KLEE_LINES.get(r.utility, 0.0), r.branches, r.paths, r.tests, r.differ,
             r.rate, r.solver, r.seconds, r.unmodelled or "-", r.losses)
            for r in rows
        ],
    )  # fmt: skip
    known = [r for r in rows if r.utility in KLEE_LINES]
    if known:
        mean = sum(r.lines for r in known) / len(known)
        reference = sum(KLEE_LINES[r.utility] for r in known) / len(known)
        ahead = sum(r.lines >= KLEE_LINES[r.utility] for r in known)
        least = min(known, key=lambda r: r.lines)
        print(
            f"mean line coverage {mean:.1f}% on {len(known)} utilities (KLEE {reference:.1f}%); at or above "
            f"KLEE: {ahead}; least: {least.utility} {least.lines:.1f}%"
        )
    for row in rows:
        for problem in row.problems:
            print(f"{row.utility}: {problem[:400]}")
    return 1 if any(row.problems for row in rows) else 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.coreutils",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, limit, text in (
        ("build", build_command, 0, "get the sources, configure, make; read the bitcode back"),
        ("native", native_command, 0, "the cases by the built programs and by those made from bitcode"),
        ("concrete", concrete_command, 60, "the cases in the engine and natively"),
        ("explore", explore_command, 60, "explore with the standard arguments, replay, measure"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("utilities", nargs="*", metavar="NAME", help="utilities (default: all twenty)")
        command.add_argument(
            "--time", type=float, default=limit, metavar="S", help=f"seconds each (default {limit})"
        )
        jobs_argument(command)
        command.add_argument(
            "--keep", type=Path, default=Path(tempfile.gettempdir()) / "anabranch-coreutils", metavar="DIR",
            help="where the run directories go",
        )  # fmt: skip
        command.set_defaults(function=function)
    arguments = parser.parse_args(argv)
    unknown = set(arguments.utilities) - set(UTILITIES)
    if unknown:
        parser.error(f"not among the utilities: {', '.join(sorted(unknown))}")
    arguments.utilities = arguments.utilities or list(UTILITIES)
    try:
        code: int = arguments.function(arguments)
    except (BuildError, NativeError) as error:
        print(error, file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
