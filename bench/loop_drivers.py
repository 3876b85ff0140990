"""Functions of libraries on strings of unknown size, with loops merged in several ways.

    python -m bench.loop_drivers DIR [--seconds 10] [--names NAME...] [--modes MODE...] [--jobs 1]
    python -m bench.loop_drivers DIR --capacity 5 --verify      every merge is proved
    python -m bench.loop_drivers DIR --tables                   of what is there

The drivers of `subjects/loop_drivers` call functions of seven libraries from Debian's sources with strings of
any size up to a capacity. The tables are those of the evaluation of "State Merging with Quantifiers in
Symbolic Execution" (ESEC/FSE 2023), tables 2 to 7: time where either of two modes is complete, lines covered
where one is not. Errors are replayed natively. Results are kept in DIR/results.jsonl, one line a run: a run
that was cut goes on where it was. Exit code 1 if modes contradict each other, a merge is wrong, or an error
is not confirmed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from bench.lib.coreutils import BuildError
from bench.lib.debian import SourceError, version
from bench.lib.driver_results import (
    COMPARED,
    Error,
    Result,
    add_result,
    compare,
    disagreements,
    read_results,
)
from bench.lib.engine import EngineFailure, EngineRun, run_engine
from bench.lib.loop_drivers import DRIVERS, ORIGINS, SUBJECTS, Driver
from bench.lib.native import NativeError, build_checked, run_native
from bench.lib.replay import difference
from bench.lib.table import print_table
from bench.lib.work import each, jobs_argument, tell

WALL = 30  # times the CPU limit: a machine that does other things, too
ROOM = 6  # bytes that a library makes of one of a string, at most (a byte in JSON is \u00xx)
PLUGIN = Path(__file__).resolve().parent / "lib" / "loop_exits.py"
WITHOUT_PROCEDURE = '[links]\nquantified = "off"\n'
MERGE = ("--merge", "qce", "--loops")

MODES: dict[str, tuple[str, ...]] = {
    "plain": ("--merge", "none"),
    "exits": ("--plugin", str(PLUGIN), "--merge", "exits", "--loops", "off"),
    "old": (*MERGE, "off"),
    "loops": (*MERGE, "rounds"),
    "quantified": (*MERGE, "quantified"),
    "no-procedure": (*MERGE, "quantified"),
    "one-size": (*MERGE, "rounds"),
    "one-size-old": (*MERGE, "off"),
}
"""plain: path by path (the paper's BASE); exits: merged in pairs where they left a loop (the paper's CFG);
old: merged in pairs anywhere; loops: with rounds; quantified: the paper's PAT; no-procedure: without its
solving procedure; one-size: strings of the largest size only."""

TABLES = (
    ("loops against merging in pairs at exits (the paper's table 3)", "loops", "exits"),
    ("loops against merging in pairs", "loops", "old"),
    ("loops against path by path (table 5)", "loops", "plain"),
    ("quantified against merging in pairs at exits (table 3)", "quantified", "exits"),
    ("quantified with the solving procedure against without (table 6)", "quantified", "no-procedure"),
    ("loops against merging in pairs, strings of one size", "one-size", "one-size-old"),
)


def explore(task: tuple[Driver, str, int], seconds: int, verify: bool) -> Result:
    """One driver in one mode, for at most so many CPU seconds of the whole command."""
    driver, mode, capacity = task
    origin = ORIGINS[driver.library]
    tree, flags = origin.tree(), origin.flags()
    files = [SUBJECTS / f"{driver.full_name}.c", *(tree / name for name in driver.files)]
    flags += [f"-DCAPACITY={capacity}", *(["-DONE_SIZE"] if mode.startswith("one-size") else [])]
    extra = [*MODES[mode], "--goal", "paths", "--capacity", str(ROOM * capacity + 64)]
    extra += ["--max-solver-time", str(seconds)]  # the signal of the limit is seen behind the running query
    with tempfile.TemporaryDirectory(prefix="anabranch-drivers-") as name:
        scratch = Path(name)
        if mode == "no-procedure":
            config = scratch / "config.toml"
            config.write_text(WITHOUT_PROCEDURE)
            extra += ["--solver-config", str(config)]
        if verify:
            extra.append("--verify-reductions")
        try:
            run = run_engine(
                files, scratch, defines=flags, search=None, tests="errors", extra=extra,
                time_limit=seconds * WALL, cpu_limit=seconds,
            )  # fmt: skip
        except EngineFailure as failure:
            return Result(
                driver.full_name, mode, capacity, seconds, verify, False, float(seconds), 0, 0, 0, 0,
                failure=str(failure)[-1000:],
            )  # fmt: skip
        return result_of(run, task, seconds, verify, replayed(run, files, flags, scratch))


def result_of(
    run: EngineRun, task: tuple[Driver, str, int], seconds: int, verify: bool, errors: tuple[Error, ...]
) -> Result:
    driver, mode, capacity = task
    merging = run.run["reductions"].get("merging", {})
    return Result(
        driver.full_name, mode, capacity, seconds, verify,
        complete=run.complete,
        explore=float(run.run["timers"]["explore"]),
        lines=int(run.run["coverage"]["lines"]["covered"]),
        paths=int(run.run["paths"]["total"]),
        merges=int(merging.get("merges", 0)),
        joins=int(run.run["reductions"].get("loops", {}).get("joins", 0)),
        errors=errors,
        losses=run.run["losses"],
        proved=int(merging.get("verified", 0)),
        undecided=int(merging.get("not decided", 0)),
        wrong=int(merging.get("wrong", 0)),
    )  # fmt: skip


def replayed(run: EngineRun, files: Sequence[Path], flags: Sequence[str], scratch: Path) -> tuple[Error, ...]:
    """The errors of a run, the test of each run natively."""
    failed = [test for test in run.tests if test.end == "error"]
    if not failed:
        return ()
    where = {int(e["test"]): Path(e["file"]).name for e in run.run["errors"]}
    try:
        program: Path | str = build_native(files, flags, scratch)
    except NativeError as error:
        program = f"not built: {str(error)[-200:]}"
    found = []
    for test in failed:
        if isinstance(program, Path):
            ktest = run.directory / f"test{test.number:06d}.ktest"
            problem = difference(test, run_native(program, environment={"KTEST_FILE": str(ktest)}))
        else:
            problem = program
        found.append(
            Error(test.kind or "", where.get(test.number, "?"), test.line or 0, problem or "as predicted")
        )
    return tuple(found)


def build_native(files: Sequence[Path], flags: Sequence[str], scratch: Path) -> Path:
    """A checked build. Functions of parts of a library that a driver does not take along end the program."""
    flags = (*flags, "-Wno-everything")
    try:
        return build_checked(files, scratch / "native", flags=flags)
    except NativeError as error:
        missing = sorted(set(re.findall(r"undefined symbol: (\w+)", str(error))))
        if not missing:
            raise
    stubs = scratch / "stubs.c"
    lines = (f"void {name}(void) {{ __builtin_trap(); }}\n" for name in missing)
    stubs.write_text("".join(lines))
    return build_checked([*files, stubs], scratch / "native", flags=flags)


def measure(
    file: Path, tasks: Sequence[tuple[Driver, str, int]], seconds: int, verify: bool, jobs: int
) -> None:
    """Run what is not yet there, or failed."""
    known = {key for key, result in read_results(file).items() if not result.failure}
    todo = [t for t in tasks if (t[0].full_name, t[1], t[2], seconds, verify) not in known]
    for number, result in enumerate(each(partial(explore, seconds=seconds, verify=verify), todo, jobs), 1):
        add_result(file, result)
        state = result.failure or ("complete" if result.complete else "cut")
        tell(
            f"{number}/{len(todo)} {result.driver} {result.mode} {result.capacity}: {state}, "
            f"{result.explore:.2f} s, {result.lines} lines, {result.paths} paths, {len(result.errors)} errors"
        )


# ---- tables ----------------------------------------------------------------------------------------------


def pairs(
    results: Sequence[Result], one: str, other: str, library: str | None = None
) -> Iterator[tuple[Result, Result]]:
    """Results of two modes on the same driver at the same capacity."""
    others = {(r.driver, r.capacity): r for r in results if r.mode == other}
    for result in results:
        if result.mode == one and (library is None or result.driver.startswith(f"{library}_")):
            found = others.get((result.driver, result.capacity))
            if found is not None:
                yield result, found


def show_subjects(drivers: Sequence[Driver]) -> None:
    rows = []
    for name, origin in ORIGINS.items():
        own = [driver for driver in drivers if driver.library == name]
        if own:
            sizes = [driver.capacity for driver in own]
            row = (origin.package, version(origin.package), len(own), f"{min(sizes)} to {max(sizes)}")
            rows.append(row)
    print("\ndrivers (table 2)")
    print_table(("library", "version", "drivers", "capacity"), rows)


def show_comparison(title: str, results: Sequence[Result], one: str, other: str) -> None:
    rows = []
    for library in (*ORIGINS, None):
        found = compare(pairs(results, one, other, library))
        if found.drivers:
            rows.append((library or "all", *found.time_cells(), *found.coverage_cells()))
    if rows:
        print(f"\n{title}")
        print_table(("library", *COMPARED), rows)


def show_capacities(results: Sequence[Result]) -> None:
    """Table 4: loops against merging in pairs, by capacity, on drivers that were run with several."""
    sizes: dict[str, set[int]] = {}
    for result in results:
        sizes.setdefault(result.driver, set()).add(result.capacity)
    several = [r for r in results if len(sizes[r.driver]) > 1]
    rows = []
    for capacity in sorted({r.capacity for r in several}):
        own = [r for r in several if r.capacity == capacity]
        for other in ("exits", "old"):
            found = compare(pairs(own, "loops", other))
            if found.drivers:
                rows.append((capacity, other, *found.time_cells(), *found.coverage_cells()))
    if rows:
        print("\nloops against others by capacity (table 4)")
        print_table(("capacity", "against", *COMPARED), rows)


def show_each(results: Sequence[Result], modes: Sequence[str]) -> None:
    rows = []
    by_driver: dict[tuple[str, int], dict[str, Result]] = {}
    for result in results:
        by_driver.setdefault((result.driver, result.capacity), {})[result.mode] = result
    for (driver, capacity), own in by_driver.items():
        rows.append((driver, capacity, *(_cell(own.get(mode)) for mode in modes)))
    print("\nseconds of exploring (> cut), merged states and paths at the end, lines covered")
    print_table(("driver", "capacity", *modes), rows)


def _cell(result: Result | None) -> str:
    if result is None:
        return "-"
    if result.failure:
        return "failed"
    return f"{'' if result.complete else '>'}{result.explore:.2f} {result.paths} {result.lines}"


def show_problems(results: Sequence[Result]) -> int:
    """Errors with their replays; what must not be. How many of the latter."""
    errors: dict[tuple[str, str, str, int], list[str]] = {}
    for result in results:
        for e in result.errors:
            errors.setdefault((result.driver, *e.place), []).append(f"{result.mode} ({e.replayed})")
    if errors:
        print("\nerrors found")
        for (driver, kind, file, line), modes in errors.items():
            print(f"  {driver}: {kind} at {file}:{line}: {', '.join(dict.fromkeys(modes))}")
    problems = [f"{r.driver} {r.mode}: {r.failure}" for r in results if r.failure]
    problems += [f"{r.driver} {r.mode}: {r.wrong} wrong merges" for r in results if r.wrong]
    problems += [
        f"{r.driver} {r.mode}: {e.kind} at {e.file}:{e.line}: {e.replayed}"
        for r in results
        for e in r.errors
        if e.replayed != "as predicted"
    ]
    by_driver: dict[tuple[str, int], list[Result]] = {}
    for r in results:
        if not r.mode.startswith("one-size"):
            by_driver.setdefault((r.driver, r.capacity), []).append(r)
    for own in by_driver.values():
        problems += disagreements(own)
    lost = [f"  {r.driver} {r.mode} {r.capacity}: {r.losses}" for r in results if r.losses]
    if lost:
        print("\nnot explored")
        print("\n".join(lost))
    proved, undecided = sum(r.proved for r in results), sum(r.undecided for r in results)
    if proved or undecided:
        print(f"\nmerges proved: {proved}, not decided: {undecided}")
    print(f"\n{len(results)} runs, {len(problems)} problems")
    for problem in problems:
        print(f"  {problem}")
    return len(problems)


def main(arguments: list[str] | None = None) -> int:
    names = [driver.full_name for driver in DRIVERS]
    parser = argparse.ArgumentParser(
        prog="python -m bench.loop_drivers",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="where results are kept")
    parser.add_argument("--seconds", type=int, default=10, metavar="S", help="CPU time a run (default 10)")
    parser.add_argument("--names", nargs="+", metavar="NAME", help="drivers, or libraries (default: all)")
    parser.add_argument("--modes", nargs="+", choices=MODES, metavar="MODE", default=list(MODES),
                        help=", ".join(MODES))  # fmt: skip
    parser.add_argument("--capacity", type=int, metavar="N", help="of all strings (default: by driver)")
    parser.add_argument("--verify", action="store_true", help="prove every merge (--verify-reductions)")
    parser.add_argument("--tables", action="store_true", help="only show what is there")
    jobs_argument(parser)
    options = parser.parse_args(arguments)
    for name in options.names or ():
        if name not in names and name not in ORIGINS:
            parser.error(f"{name} is not one of {', '.join((*ORIGINS, *names))}")
    drivers = [
        d for d in DRIVERS if not options.names or {d.full_name, d.library}.intersection(options.names)
    ]
    options.directory.mkdir(parents=True, exist_ok=True)
    file = options.directory / "results.jsonl"
    if not options.tables:
        tasks = [(d, mode, options.capacity or d.capacity) for d in drivers for mode in options.modes]
        try:
            for library in dict.fromkeys(d.library for d in drivers):
                ORIGINS[library].flags()  # makes what is missing, before several processes need it
            measure(file, tasks, options.seconds, options.verify, options.jobs)
        except (SourceError, BuildError) as error:
            print(error)
            return 1
    chosen = {d.full_name for d in drivers}
    results = [
        r
        for r in read_results(file).values()
        if r.driver in chosen and r.seconds == options.seconds and r.verified_run == options.verify
    ]
    usual = {d.full_name: options.capacity or d.capacity for d in drivers}
    own = [r for r in results if r.capacity == usual[r.driver]]
    show_subjects(drivers)
    for title, one, other in TABLES:
        show_comparison(title, own, one, other)
    show_capacities(results)
    show_each(own, [mode for mode in MODES if any(r.mode == mode for r in own)])
    return 1 if show_problems(results) else 0


if __name__ == "__main__":
    sys.exit(main())
