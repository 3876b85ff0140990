"""`anabranch check` again after an edit, and with several jobs: the same result, and what it costs.

python -m bench.check_scale again [NAME...] [--functions 8]   touch one function at a time, check again
python -m bench.check_scale jobs [NAME...]                    one job and two: equal results, CPU and time

The names are those of `bench.check programs`; programs are built again after an edit, which is not counted.
A function is touched by one more statement, a call of a function without effects at its start: its code is
another one, and all lines behind it move. CPU seconds are those of the whole command with its children:
start of the interpreter, compiling, reading and checking. Every result is compared, byte for byte, with that
of a run without cache.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.lib.check_programs import PROGRAMS, bitcode, command_of
from bench.lib.coreutils import ROOT, BuildError, run_step, wrapper_environment
from bench.lib.table import print_table
from bench.unit_all import LIBRARIES, Library, prepared

BAR = 0.10
"""CPU of a second run after one function was touched, as a part of the first."""


@dataclass(frozen=True)
class Outcome:
    document: dict[str, Any]
    cpu: float
    wall: float


@dataclass(frozen=True)
class Subject:
    """A copy of a library or a program that may be edited."""

    files: tuple[Path, ...]
    words: list[str]
    """The command that checks it."""
    rebuild: Callable[[], None] = lambda: None


CHECK = (sys.executable, "-m", "anabranch.cli.main", "check", "--json", "--no-progress")


def command(library: Library, directory: Path) -> list[str]:
    found = list(CHECK)
    found += [f"-I{directory / include}" for include in library.includes]
    found += [f"-D{define}" for define in library.defines]
    return [*found, *(str(directory / file) for file in library.files)]


def subject(name: str, directory: Path) -> Subject:
    """A copy of a library or a program in a directory."""
    if name in LIBRARIES:
        library = LIBRARIES[name]
        shutil.copytree(prepared(library), directory, symlinks=True)
        return Subject(tuple(directory / file for file in library.files), command(library, directory))
    if name not in PROGRAMS:
        raise BuildError(f"there is no program {name}: choose of {', '.join((*LIBRARIES, *PROGRAMS))}")
    found, program = bitcode(name), PROGRAMS[name].program
    shutil.copytree(found.parents[len(Path(program).parts) - 1], directory, symlinks=True)
    copy = (directory / program).with_name(found.name)

    def rebuild() -> None:
        words = command_of(name, PROGRAMS[name].steps[-1])
        run_step(words[0], words, directory, wrapper_environment(), directory.with_suffix(".log"))

    return Subject(tuple(sorted(copy.parent.glob("*.c"))), [*CHECK, str(copy)], rebuild)


def run(words: Sequence[str], cache: Path) -> Outcome:
    """One command, with what it and its children used."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has bytecode
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words[:6])} ...: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    del document["seconds"]  # the one part that is not the same
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(document, cpu, time.monotonic() - started)


_START = re.compile(
    r"^[A-Za-z_][^;{}#/]*\b(\w+)\s*\([^;{}]*\)\s*\n?(?:[^;{}()#]*;\s*)*\{[ \t]*\n", re.MULTILINE
)


def starts(files: Sequence[Path]) -> list[tuple[Path, int, str]]:
    """Where bodies of functions begin: file, position behind the brace, name."""
    found: list[tuple[Path, int, str]] = []
    for file in files:
        text = file.read_text(errors="surrogateescape")
        bodies = (m for m in _START.finditer(text) if m[1] not in ("if", "while", "for", "switch"))
        found += [(file, match.end(), match[1]) for match in bodies]
    return found


def touched(text: str, position: int) -> str:
    return text[:position] + "    { extern int getpid(void); (void)getpid(); }\n" + text[position:]


def again(names: Sequence[str], functions: int, seed: int) -> int:
    rows, failed = [], False
    for name in names:
        with tempfile.TemporaryDirectory(prefix="anabranch-again-") as place:
            checked = subject(name, Path(place) / "source")
            words = checked.words
            first = run(words, Path(place) / "cache")
            same = run(words, Path(place) / "cache")
            equal = same.document == first.document
            shares, counted = [], 0
            for file, position, function in random.Random(seed).sample(starts(checked.files), functions):
                text = file.read_text(errors="surrogateescape")
                file.write_text(touched(text, position), errors="surrogateescape")
                checked.rebuild()
                shutil.copytree(Path(place) / "cache", Path(place) / "copy")
                second = run(words, Path(place) / "copy")
                fresh = run([*words, "--no-cache"], Path(place) / "none")
                file.write_text(text, errors="surrogateescape")
                shutil.rmtree(Path(place) / "copy")
                shares.append(second.cpu / fresh.cpu)
                counted += 1
                if second.document != fresh.document:
                    equal = False
                    print(f"{name}: {function} touched: not the result of a run without cache")
                print(f"  {name}: {function}: {second.cpu:.2f} s of {fresh.cpu:.2f}", file=sys.stderr)
        shares.sort()
        mean = sum(shares) / counted
        within = sum(share <= BAR for share in shares)
        row = (name, first.cpu, same.cpu, counted, f"{100 * shares[counted // 2]:.1f}%", f"{100 * mean:.1f}%")
        rows.append((*row, f"{100 * shares[-1]:.1f}%", f"{within} of {counted}", "yes" if equal else "NO"))
        failed = failed or not equal
    header = (
        "library",
        "first CPU s",
        "unchanged CPU s",
        "touched",
        "median",
        "mean",
        "largest",
        "within 10%",
    )
    print_table((*header, "equal"), rows)
    return int(failed)


def jobs(names: Sequence[str]) -> int:
    rows, failed = [], False
    for name in names:
        library = LIBRARIES[name]
        words = [*command(library, prepared(library)), "--no-cache"]
        with tempfile.TemporaryDirectory(prefix="anabranch-jobs-") as place:
            one = run(words, Path(place))
            two = run([*words, "--jobs", "2"], Path(place))
        equal = one.document == two.document
        rows.append((name, one.cpu, two.cpu, one.wall, two.wall, "yes" if equal else "NO"))
        failed = failed or not equal
    print_table(("library", "1 job CPU s", "2 jobs CPU s", "1 job wall s", "2 jobs wall s", "equal"), rows)
    return int(failed)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("again", "jobs"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--functions", type=int, default=8, help="touched, one at a time")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    names = arguments.names or list(LIBRARIES)
    try:
        return again(names, arguments.functions, arguments.seed) if arguments.what == "again" else jobs(names)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
