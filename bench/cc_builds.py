"""`anabranch cc` on projects as they come from Debian: configure and make (coreutils, zlib), CMake (cJSON).

Each is built out of an unchanged source tree in the user's cache directory, its own tests are run natively,
and the bitcode of its programs is read back by the front end. Exit code 1 if anything fails.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lib import coreutils
from bench.lib.coreutils import BuildError, Step, run_step, wrapper_environment
from bench.lib.debian import SourceError, cache_directory, source, version
from bench.lib.table import print_table


@dataclass(frozen=True)
class Project:
    """How a project is built and tested, in a copy of its source tree, and the programs that come out."""

    package: str
    steps: tuple[tuple[str, tuple[str, ...]], ...]
    programs: tuple[str, ...]


PROJECTS = (
    Project(
        "zlib",
        (("configure", ("./configure",)), ("make", ("make", "-j{jobs}")), ("test", ("make", "test"))),
        ("example", "minigzip", "examplesh", "minigzipsh"),
    ),
    Project(
        "cjson",
        (
            ("configure", ("cmake", "-S", ".", "-B", "build", "-DENABLE_CUSTOM_COMPILER_FLAGS=Off")),
            ("make", ("cmake", "--build", "build", "-j{jobs}")),
            ("test", ("ctest", "--test-dir", "build", "--output-on-failure")),
        ),
        ("build/cJSON_test", "build/tests/parse_examples", "build/tests/print_number"),
    ),
)


def build(project: Project, jobs: int) -> tuple[Path, list[Step]]:
    """A build from the start; the directory and the steps."""
    try:
        tree = source(project.package)
    except SourceError as error:
        raise BuildError(str(error)) from error
    directory = cache_directory() / "build" / project.package
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(tree, directory, symlinks=True)
    log = directory.with_suffix(".log")
    log.unlink(missing_ok=True)
    steps = []
    for name, words in project.steps:
        command = [word.replace("{jobs}", str(jobs)) for word in words]
        steps.append(run_step(name, command, directory, wrapper_environment(), log))
    return directory, steps


def read_back(programs: Sequence[Path]) -> tuple[int, int]:
    """(functions, instructions) of the bitcode beside the programs; FrontendError if one cannot be read."""
    from anabranch.frontend import FrontendError, FrontendOptions, load_program

    functions = instructions = 0
    for program in programs:
        try:
            loaded = load_program([program.with_name(program.name + ".bc")], FrontendOptions(use_cache=False))
        except FrontendError as error:
            raise BuildError(str(error)) from error
        for function in loaded.module.defined_functions():
            functions += 1
            instructions += sum(len(block.instructions) for block in function.blocks)
    return functions, instructions


def _row(package: str, steps: list[Step], programs: Sequence[Path]) -> tuple[object, ...]:
    functions, instructions = read_back(programs)
    taken = ", ".join(f"{step.name} {step.seconds:.0f} s" for step in steps)
    return package, version(package), taken, len(programs), functions, instructions


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cc_builds", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="zlib, cjson, coreutils (default: all)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="jobs of make (default 2)")
    arguments = parser.parse_args(argv)
    rows, problems = [], []
    for project in PROJECTS:
        if arguments.names and project.package not in arguments.names:
            continue
        try:
            directory, steps = build(project, arguments.jobs)
            rows.append(_row(project.package, steps, [directory / name for name in project.programs]))
        except BuildError as error:
            problems.append(f"{project.package}: {error}")
    if not arguments.names or "coreutils" in arguments.names:
        try:
            steps = coreutils.build(arguments.jobs)
            programs = sorted(p.with_suffix("") for p in (coreutils.build_directory() / "src").glob("*.bc"))
            native = [p for p in programs if p.suffix != ".so"]
            started = time.monotonic()
            subprocess.run([native[0], "--version"], stdout=subprocess.DEVNULL, check=True)
            steps.append(Step("started", time.monotonic() - started))
            rows.append(_row("coreutils", steps, native))
        except (BuildError, subprocess.CalledProcessError) as error:
            problems.append(f"coreutils: {error}")
    print_table(("project", "version", "steps", "programs read", "functions", "instructions"), rows)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
