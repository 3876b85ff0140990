"""Whether `--max-time` is what a command takes: ten programs, from a maze to the shell of SQLite.

    python -m bench.limits [--times 5,20,60] [--only NAME]

Every program is compiled before it is measured, so that the front end's cache has it. Then the whole command
runs with each limit: wall time from the start of the process to its end, which is to be the limit, with 5%
and two seconds to spare. A run may of course be done earlier. Wants a machine with a free core: the column
`core` is the share of one that the command had while it ran. Programs of others are downloaded by name and
version and stay in the user's cache directory. Exit code 1 if a command takes too long.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.historic.bugs import BUGS
from bench.historic.trial import flags_of, sources_of
from bench.lib.engine import start_fresh
from bench.lib.registries import SourceError, cache_directory, source
from bench.lib.table import print_table
from bench.lib.work import tell

SUBJECTS = Path(__file__).resolve().parent / "subjects"
SLACK, SECONDS = 0.05, 2.0


@dataclass(frozen=True)
class Program:
    """Something to explore: its name, and what makes the words of the command line for it."""

    name: str
    words: Callable[[], list[str]]


def subject(name: str, *more: str) -> Program:
    return Program(Path(name).stem, lambda: [str(SUBJECTS / name), *more])


def historic(name: str) -> Program:
    """The harness of an old release, as `bench.historic` builds it."""
    bug = next(bug for bug in BUGS if bug.name == name)

    def words() -> list[str]:
        package = bug.package
        tree = source(package.registry, package.name, package.version)
        return [*map(str, sources_of(bug, tree)), *flags_of(bug, tree)]

    return Program(name, words)


def lua() -> list[str]:
    files = source("debian", "lua5.4", "5.4.4") / "src"
    return [*(str(path) for path in sorted(files.glob("*.c")) if path.name != "luac.c"),
            f"-I{files}", "--libc", "musl", "--sym-stdin", "8", "--", "-"]  # fmt: skip


def sqlite() -> list[str]:
    """The amalgamation and the shell, from the archive inside an npm package."""
    package = source("npm", "sqlite3", "5.1.7")
    files = cache_directory() / "npm" / "sqlite-autoconf-3440200"
    if not files.is_dir():
        with tarfile.open(package / "deps" / f"{files.name}.tar.gz") as tar:
            tar.extractall(files.parent, filter="tar")
    return [str(files / "shell.c"), str(files / "sqlite3.c"), f"-I{files}", "-DSQLITE_THREADSAFE=0",
            "-DSQLITE_OMIT_LOAD_EXTENSION", "--libc", "musl", "--sym-args", "0", "2", "4",
            "--sym-stdin", "8"]  # fmt: skip


PROGRAMS = (
    subject("maze.c"),
    subject("regexp.c", "-DSIZE=14"),
    subject("memspn.c", "-DM=40"),
    subject("tokens.c", "--goal", "bugs"),
    subject("drivers/nic.c", "--externals", "fresh", "--goal", "bugs", "--merge", "qce"),
    subject("digest.c", "--libc", "musl"),
    historic("cjson-length"),
    historic("oniguruma-class"),
    Program("lua", lua),
    Program("sqlite", sqlite),
)


@dataclass(frozen=True)
class Taken:
    """One command: seconds, the share of a core that it had, and what its `run.json` says."""

    seconds: float
    core: float
    document: dict[str, Any]


def run(words: list[str], more: list[str], directory: Path) -> Taken:
    own = words[: words.index("--")] if "--" in words else words
    rest = words[len(own) :]
    target = directory / "run"
    began = time.monotonic()
    child = start_fresh(
        ["run", *own, *more, "--quiet", "--output-dir", str(target), *rest],
        directory / "out",
        directory / "err",
    )
    _, status, used = os.wait4(child, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{words[0]}: {(directory / 'err').read_text()[-400:]}")
    core = (used.ru_utime + used.ru_stime) / seconds
    return Taken(seconds, core, json.loads((target / "run.json").read_text()))


def measure(program: Program, limits: list[float]) -> list[tuple[object, ...]]:
    words = program.words()
    with tempfile.TemporaryDirectory(prefix="anabranch-limits-") as name:
        run(words, ["--max-instructions", "1"], Path(name))
    rows: list[tuple[object, ...]] = []
    for limit in limits:
        with tempfile.TemporaryDirectory(prefix="anabranch-limits-") as name:
            taken = run(words, ["--max-time", str(limit)], Path(name))
        done = taken.document
        over = taken.seconds > limit * (1 + SLACK) + SECONDS
        ended = "complete" if done["complete"] else done["stopped"] or "done"
        rows.append(
            (
                program.name,
                limit,
                taken.seconds,
                taken.core,
                done["paths"]["total"],
                ended,
                "OVER" if over else "",
            )
        )
        tell(f"{program.name} {limit:g}: {taken.seconds:.1f} s")
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.limits",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--times", default="5,20,60", metavar="LIST", help="limits (default 5,20,60)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this program (repeatable)")
    arguments = parser.parse_args(argv)
    limits = [float(text) for text in arguments.times.split(",")]
    rows = []
    for program in PROGRAMS:
        if arguments.only and program.name not in arguments.only:
            continue
        try:
            rows += measure(program, limits)
        except SourceError as error:
            tell(f"{program.name}: left out: {error}")
    print_table(("program", "limit", "seconds", "core", "paths", "ended", ""), rows)
    return int(any(row[-1] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
