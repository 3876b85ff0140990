"""Corpora: the queries of coreutils, libraries, small programs and checks, for `anabranch tune`.

    python -m bench.corpora DIR [NAME...] [--seconds 15] [--skip-done]    log, and show what there is
    python -m bench.corpora DIR --show                                    only show

Runs are given so many seconds of CPU time; checks go on to their end. What is logged goes to
DIR/CLASS/training/NAME and DIR/CLASS/test/NAME. Which programs are the test is fixed here, so that all tune
and test on the same. The classes: exploration of byte-level parsers (`parser`), with a C library (`libc`), of
arithmetic (`arithmetic`), of functions and drivers over unknown code (`unit`), and `check`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.solver.corpus import corpus_files, read_corpus
from bench.coreutils import STANDARD
from bench.coreutils_cases import UTILITIES
from bench.lib.check_programs import bitcode as checked_bitcode
from bench.lib.coreutils import BuildError, bitcode
from bench.lib.engine import EngineFailure, call_engine
from bench.lib.table import print_table
from bench.lib.work import tell
from bench.unit_all import LIBRARIES, Library, prepared

HERE = Path(__file__).resolve().parent / "subjects"
WALL = 60
"""Seconds that may pass for a second of CPU: a machine that does other things, too."""
AT_MOST = {"check": 120.0, "unit": 40.0}
"""CPU time of commands that end by themselves."""

TEST = frozenset(
    (
        *("od", "expr", "seq", "tr", "pr", "wc", "paste", "comm", "head", "join"),
        *("isbn", "regexp", "utf8_valid", "words", "settings", "crc", "checksum"),
        *("can", "hub", "nic", "uart", "unit-libtasn1"),
        *("check-json-c", "check-spin", "check-tree", "check-ed"),
    )
)
"""The programs that nothing is learnt from."""


@dataclass(frozen=True)
class Source:
    """A program, and the command that explores or checks it."""

    name: str
    kind: str
    """Its class."""
    words: Callable[[Path], list[str]]
    """A directory to log to -> the words of the command."""

    @property
    def directory(self) -> Path:
        """Below the directory of all corpora."""
        return Path(self.kind, "test" if self.name in TEST else "training", self.name)

    @property
    def role(self) -> str:
        """`training` or `test`."""
        return self.directory.parts[1]


def _run(file: Path, *flags: str) -> Callable[[Path], list[str]]:
    # The limit of time is what users have, and what limits hard queries; that of CPU time comes first.
    words = ["run", "-q", "--log-queries", "--tests", "none", "--max-time", "600", *flags, str(file)]
    return lambda directory: [*words, "--output-dir", str(directory)]


def _utility(name: str) -> Callable[[Path], list[str]]:
    flags = ("--libc", "musl", "--program-name", name)
    return lambda directory: [*_run(bitcode(name), *flags)(directory), "--", *STANDARD]


def _unit(library: Library) -> Callable[[Path], list[str]]:
    def words(directory: Path) -> list[str]:
        command = ["unit", "-q", "--all", "--log-queries", "--no-reproduce", "--max-time", "5"]
        return [*command, "--output-dir", str(directory), *_sources(library)]

    return words


def _check(make: Callable[[], list[str]]) -> Callable[[Path], list[str]]:
    words = ["check", "-q", "--no-cache", "--no-progress"]
    return lambda directory: [*words, "--log-queries", str(directory), *make()]


def _sources(library: Library) -> list[str]:
    place = prepared(library)
    return [
        *(f"-D{define}" for define in library.defines),
        *(f"-I{place / include}" for include in library.includes),
        *(str(place / file) for file in library.files),
    ]


def sources() -> Iterator[Source]:
    """Everything that can be logged; built when it is asked for."""
    for name in UTILITIES:
        yield Source(name, "libc", _utility(name))
    for name in ("base64", "isbn", "key_value", "regexp", "rle_decode", "tokens", "utf8_valid"):
        yield Source(name, "parser", _run(HERE / f"{name}.c"))
    for name in ("commands", "names", "numbers", "settings", "words"):
        yield Source(name, "parser", _run(HERE / "strings" / f"{name}.c", "-DSIZE=8", "--strings", "whole"))
    for name in ("digest", "number_list"):
        yield Source(name, "arithmetic", _run(HERE / f"{name}.c"))
    for name in ("sum", "hex", "checksum"):
        yield Source(name, "arithmetic", _run(HERE / "loops" / f"{name}.c", "-DM=20"))
    for name in ("crc", "lz77", "rle"):
        yield Source(name, "arithmetic", _run(HERE / "planted" / f"{name}.c", "--max-len", "16"))
    for file in sorted((HERE / "drivers").glob("*.c")):
        yield Source(file.stem, "unit", _run(file, "--externals", "fresh"))
    for name, library in LIBRARIES.items():
        yield Source(f"unit-{name}", "unit", _unit(library))
        yield Source(f"check-{name}", "check", _check(lambda lib=library: _sources(lib)))
    for name in ("byacc", "tree", "ed", "diffstat", "spin"):
        yield Source(f"check-{name}", "check", _check(lambda name=name: [str(checked_bitcode(name))]))


def collect(directory: Path, names: Sequence[str], seconds: float, skip_done: bool) -> int:
    """Log the queries of each program that was named, or of all; how many failed."""
    failed = 0
    for source in sources():
        place = directory / source.directory
        if (names and source.name not in names) or (skip_done and any(place.rglob("*.corpus"))):
            continue
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = directory / "output" / source.name
        scratch.mkdir(parents=True, exist_ok=True)
        limit = AT_MOST.get(source.name.partition("-")[0], seconds)
        started = time.monotonic()
        try:
            done = call_engine(source.words(place), scratch, WALL * limit, fresh=True, cpu_limit=limit)
            problem = "" if done.code in (0, 130) else f"exit code {done.code}: {done.stderr.strip()[-200:]}"
        except (BuildError, EngineFailure) as error:
            problem = str(error)[:200]
        failed += bool(problem) and not any(place.rglob("*.corpus"))
        tell(f"{source.name}: {time.monotonic() - started:.0f} s{', ' if problem else ''}{problem}")
    return failed


def show(directory: Path) -> None:
    """What there is, by program."""
    rows: list[tuple[object, ...]] = []
    total = {"training": 0, "test": 0}
    for source in sources():
        place = directory / source.directory
        queries = [q for path in corpus_files([place]) for q in read_corpus(path)] if place.exists() else []
        if not queries:
            continue
        seconds = sorted(q.seconds for q in queries)
        tenth = sum(seconds[-(-len(seconds) * 9 // 10) :])
        answers = [sum(q.answer == a for q in queries) for a in ("sat", "unsat", "unknown")]
        times = (sum(seconds), 1000 * seconds[len(seconds) // 2], 1000 * seconds[-1])
        share = f"{100 * tenth / sum(seconds):.0f}%"
        rows.append((source.name, source.kind, source.role, len(queries), *answers, *times, share))
        total[source.role] += len(queries)
    header = ("program", "class", "set", "queries", "sat", "unsat", "unknown", "CPU s", "median ms", "max ms")
    print_table((*header, "slowest 10%"), rows)
    print(", ".join(f"{count:,} queries for {role}" for role, count in total.items()))


def main(argv: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=15.0, help="CPU time of a run")
    parser.add_argument("--skip-done", action="store_true", help="not those that are there already")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args(argv)
    known = {source.name for source in sources()}
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)} (known: {', '.join(sorted(known))})")
    failed = 0 if given.show else collect(given.directory, given.names, given.seconds, given.skip_done)
    show(given.directory)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
