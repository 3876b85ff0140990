"""Functions of real libraries by themselves: `anabranch unit --all` on zlib, json-c and libtasn1 from Debian.

    python -m bench.unit_all [NAME...]      all functions, 20 s each; with --zeq also with reduction
    python -m bench.unit_all --time 3 --each 10 zlib      a look: every tenth function

Block coverage of each library, errors by rank, harnesses that do not fail natively as predicted. Exit code 1
if something crashed or an error of rank none or argument is not reproduced.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench.lib.coreutils import ROOT, BuildError, run_step, wrapper_environment
from bench.lib.debian import SourceError, cache_directory, source, version
from bench.lib.table import print_table
from bench.lib.work import each, jobs_argument, tell

GRACE = 600  # seconds beyond the time of its functions after which a command is given up


@dataclass(frozen=True)
class Library:
    """A source package, what makes its headers, and the files to explore."""

    package: str
    steps: tuple[tuple[str, ...], ...]
    files: tuple[str, ...]
    includes: tuple[str, ...] = (".",)
    defines: tuple[str, ...] = ()


LIBRARIES = {
    "zlib": Library(
        "zlib", (("./configure", "--static"),),
        tuple(f"{name}.c" for name in (
            "adler32", "compress", "crc32", "deflate", "gzclose", "gzlib", "gzread", "gzwrite", "infback",
            "inffast", "inflate", "inftrees", "trees", "uncompr", "zutil",
        )),
    ),
    "json-c": Library(
        "json-c", (("cmake", "-S", ".", "-B", "build", "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF"),),
        tuple(f"{name}.c" for name in (
            "arraylist", "debug", "json_object", "json_object_iterator", "json_pointer", "json_tokener",
            "json_util", "json_visit", "linkhash", "printbuf", "random_seed", "strerror_override",
        )),
        (".", "build"), ("_GNU_SOURCE",),
    ),
    "libtasn1": Library(
        "libtasn1-6",
        (
            ("./configure", "--disable-doc", "--disable-shared", "--disable-valgrind-tests"),
            ("make", "-C", "lib/gl"),
        ),
        tuple(f"lib/{name}.c" for name in (
            "coding", "decoding", "element", "errors", "gstr", "parser_aux", "structure", "version",
        )),
        (".", "lib", "lib/includes", "lib/gl"), ("HAVE_CONFIG_H", "ASN1_BUILDING"),
    ),
}  # fmt: skip


@dataclass
class Outcome:
    """What one file gave."""

    library: str
    file: str
    functions: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""


def prepared(library: Library) -> Path:
    """A copy of the source with its headers made, once."""
    try:
        tree = source(library.package)
    except SourceError as error:
        raise BuildError(str(error)) from error
    directory = cache_directory() / "build" / f"unit-{library.package}"
    done = directory / ".prepared"
    if done.exists():
        return directory
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(tree, directory, symlinks=True)
    for step in library.steps:
        run_step(step[0], step, directory, wrapper_environment(), directory.with_suffix(".log"))
    done.write_text("")
    return directory


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "anabranch.cli.main", *words]


def functions_in(file: Path, flags: Sequence[str]) -> list[str]:
    """The names of the functions of a file."""
    from anabranch.cli.unit import functions_of, load_files, settings_of

    settings, _ = settings_of([str(file), "--all", *flags])
    return functions_of(load_files(settings, settings.inputs, "*"), settings.inputs)


def explore(task: tuple[str, str, tuple[str, ...]], seconds: float, more: tuple[str, ...]) -> Outcome:
    """Some functions of one file."""
    name, file, functions = task
    library = LIBRARIES[name]
    directory = prepared(library)
    outcome = Outcome(name, file)
    with tempfile.TemporaryDirectory(prefix="anabranch-unit-all-") as place:
        out = Path(place) / "out"
        words = ["unit", str(directory / file), *functions, *flags_of(library, directory)]
        words += ["--max-time", str(seconds), "--output-dir", str(out), "--no-progress", "-q", *more]
        try:
            done = subprocess.run(
                command(*words), cwd=place, env=wrapper_environment(), capture_output=True, text=True,
                errors="replace", timeout=len(functions) * (seconds + 60) + GRACE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            outcome.problem = "did not end"
            return outcome
        if done.returncode:
            outcome.problem = f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
        if (out / "unit.json").exists():
            outcome.functions = json.loads((out / "unit.json").read_text())["functions"]
    return outcome


def flags_of(library: Library, directory: Path) -> list[str]:
    flags = [word for include in library.includes for word in ("-I", str(directory / include))]
    return [*flags, *(word for define in library.defines for word in ("-D", define))]


def tasks_of(names: Sequence[str], every: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Files with the functions to explore, every N-th of a library."""
    tasks = []
    for name in names:
        directory = prepared(LIBRARIES[name])
        position = 0
        for file in LIBRARIES[name].files:
            found = functions_in(directory / file, flags_of(LIBRARIES[name], directory))
            chosen = tuple(f for n, f in enumerate(found, position) if n % every == 0)
            position += len(found)
            if chosen:
                tasks.append((name, file, chosen))
    return tasks


@dataclass
class Sums:
    """Figures of a library."""

    functions: int = 0
    complete: int = 0
    blocks: int = 0
    covered: int = 0
    shares: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    not_reproduced: dict[str, int] = field(default_factory=dict)

    def add(self, function: dict[str, Any]) -> None:
        self.functions += 1
        self.complete += bool(function.get("complete"))
        covered, total = function["blocks"]["covered"], function["blocks"]["total"]
        self.blocks += total
        self.covered += covered
        self.shares += covered / total if total else 0.0
        for error in function["errors"]:
            self.ranks[error["rank"]] = self.ranks.get(error["rank"], 0) + 1
            if error["reproduced"] is not True:
                self.not_reproduced[error["rank"]] = self.not_reproduced.get(error["rank"], 0) + 1

    @property
    def average(self) -> float:
        return 100 * self.shares / self.functions if self.functions else 0.0


def gather(outcomes: Sequence[Outcome]) -> dict[str, Sums]:
    sums: dict[str, Sums] = {}
    for outcome in outcomes:
        for function in outcome.functions:
            sums.setdefault(outcome.library, Sums()).add(function)
    return sums


def by_rank(sums: Sums) -> list[str]:
    """`errors (not reproduced)` by rank."""
    cells = []
    for rank in ("none", "argument", "size", "answer"):
        missing = sums.not_reproduced.get(rank, 0)
        cells.append(f"{sums.ranks.get(rank, 0)}" + (f" ({missing} not)" if missing else ""))
    return cells


def show(plain: Sequence[Outcome], reduced: Sequence[Outcome]) -> None:
    sums, others = gather(plain), gather(reduced)
    header = ["library", "version", "functions", "complete", "blocks %", "average %"]
    if others:
        header += ["blocks % reduced", "average % reduced"]
    rows = []
    for name, found in sums.items():
        row: list[object] = [name, version(LIBRARIES[name].package), found.functions, found.complete]
        row += [100 * found.covered / max(1, found.blocks), found.average]
        if others:
            other = others.get(name, Sums())
            row += [100 * other.covered / max(1, other.blocks), other.average]
        rows.append([*row, *by_rank(found)])
    print_table([*header, "none", "argument", "size", "answer"], rows)


def differences(outcomes: Sequence[Outcome]) -> list[str]:
    """Crashes, and errors that a harness should have shown."""
    found = [f"{o.library}/{o.file}: {o.problem}" for o in outcomes if o.problem]
    for outcome in outcomes:
        for function in outcome.functions:
            where = f"{outcome.library}/{outcome.file}: {function['function']}"
            if function["unsupported"].startswith("internal error"):
                found.append(f"{where}: {function['unsupported']}")
            found += [
                f"{where}: {error['rank']} {error['kind']} at line {error['line']}: {error['problem']}"
                for error in function["errors"]
                if error["rank"] in ("none", "argument") and error["reproduced"] is not True
            ]
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.unit_all", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(LIBRARIES))
    parser.add_argument("--time", type=float, default=20.0, metavar="S", help="for a function (default 20)")
    parser.add_argument("--each", type=int, default=1, metavar="N", help="every N-th function only")
    parser.add_argument("--zeq", metavar="HOW", help="also with this reduction (as of anabranch run)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was found to FILE")
    jobs_argument(parser)
    arguments = parser.parse_args(argv)
    names = arguments.names or list(LIBRARIES)
    unknown = [name for name in names if name not in LIBRARIES]
    if unknown:
        parser.error(f"{unknown[0]} is not one of {', '.join(LIBRARIES)}")
    sys.path.insert(0, str(ROOT))
    try:
        tasks = tasks_of(names, arguments.each)
    except BuildError as error:
        print(error)
        return 1
    tell(f"{sum(len(task[2]) for task in tasks)} functions in {len(tasks)} files")
    runs: list[list[Outcome]] = []
    for more in ((), *([("--zeq", arguments.zeq)] if arguments.zeq else [])):
        run = partial(explore, seconds=arguments.time, more=tuple(more))
        runs.append(list(each(run, tasks, arguments.jobs)))
    show(runs[0], runs[1] if len(runs) > 1 else [])
    if arguments.json is not None:
        found = [{"run": n, **vars(outcome)} for n, run in enumerate(runs) for outcome in run]
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    problems = [text for run in runs for text in differences(run)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
