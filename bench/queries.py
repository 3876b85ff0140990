"""Queries of real runs: a corpus of them, and back ends against each other on it.

python -m bench.queries collect DIR [NAME...] [--time 20]   log the queries of runs, units and checks
python -m bench.queries show DIR                            what a corpus holds, by program
python -m bench.queries compare DIR [--each 1] [--z3-each 10]   spear, Bitwuzla and Z3: 0 may differ

`compare` asks the queries of each run in their order, checks every model by evaluation, and compares the
answers with each other and with the one that was logged. It exits with 1 if two answers differ or a model is
wrong; a solver that gives up is counted, not blamed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.expr import evaluate
from anabranch.solver import Backend, BitwuzlaBackend, Z3Backend
from anabranch.solver.corpus import LoggedQuery, corpus_files, read_corpus
from anabranch.solver.decorators import status
from anabranch.solver.spear import SpearBackend
from bench.coreutils import STANDARD
from bench.coreutils_cases import UTILITIES
from bench.lib.check_programs import PROGRAMS
from bench.lib.check_programs import bitcode as checked_bitcode
from bench.lib.coreutils import BuildError, bitcode
from bench.lib.table import print_table
from bench.unit_all import LIBRARIES, prepared

HERE = Path(__file__).resolve().parent
SUBJECTS = (
    "base64",
    "digest",
    "isbn",
    "key_value",
    "number_list",
    "regexp",
    "rle_decode",
    "tokens",
    "utf8_valid",
)


def _commands(seconds: float) -> Iterator[tuple[str, Callable[[Path], list[str]]]]:
    """Name -> the command that logs the queries of a program into a directory."""
    limit = ["--max-time", f"{seconds:g}", "--log-queries", "-q", "--tests", "none"]

    for name in SUBJECTS:
        file = HERE / "subjects" / f"{name}.c"
        yield f"run-{name}", lambda d, f=file: ["run", *limit, "--output-dir", str(d), str(f)]
    for utility in UTILITIES:
        yield (
            f"run-{utility}",
            lambda d, u=utility: [
                *("run", "--libc", "musl", *limit, "--output-dir", str(d), "--program-name", u),
                *(str(bitcode(u)), "--", *STANDARD),
            ],
        )
    for name, library in LIBRARIES.items():
        flags = [f"-D{define}" for define in library.defines]

        def files(lib=library) -> list[str]:
            directory = prepared(lib)
            return [
                *(f"-I{directory / include}" for include in lib.includes),
                *(str(directory / file) for file in lib.files),
            ]

        yield (
            f"check-{name}",
            lambda d, f=flags, files=files: [
                *("check", "--no-cache", "-q", "--no-progress", "--log-queries", str(d), *f, *files()),
            ],
        )
    for name in PROGRAMS:
        yield (
            f"check-{name}",
            lambda d, n=name: [
                *(
                    "check",
                    "--no-cache",
                    "-q",
                    "--no-progress",
                    "--log-queries",
                    str(d),
                    str(checked_bitcode(n)),
                ),
            ],
        )


def collect(directory: Path, names: Sequence[str], seconds: float) -> int:
    """Log the queries of each program that was named, or of all."""
    failed = 0
    for name, make in _commands(seconds):
        if names and name not in names:
            continue
        place = directory / name
        shutil.rmtree(place, ignore_errors=True)
        directory.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        try:
            words = [sys.executable, "-m", "anabranch.cli.main", *make(place)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except BuildError as error:
            print(f"{name}: {error}")
            failed += 1
            continue
        problem = (
            "" if done.returncode == 0 else f", exit code {done.returncode}: {done.stderr.strip()[-200:]}"
        )
        failed += bool(problem)
        print(f"{name}: {time.monotonic() - started:.0f} s{problem}", flush=True)
    return failed


def show(directory: Path) -> None:
    """What there is, by file."""
    rows = []
    for path in corpus_files([directory]):
        queries = list(read_corpus(path))
        if not queries:
            continue
        seconds = sorted(q.seconds for q in queries)
        tenth = sum(seconds[-(-len(seconds) * 9 // 10) :])
        answers = [sum(q.answer == a for q in queries) for a in ("sat", "unsat", "unknown")]
        name, kind = str(path.relative_to(directory).parent), queries[0].kind
        times = (sum(seconds), seconds[len(seconds) // 2], seconds[-1])
        rows.append((name, kind, len(queries), *answers, *times, f"{100 * tenth / sum(seconds):.0f}%"))
    total = sum(row[2] for row in rows)
    print_table(
        ("run", "kind", "queries", "sat", "unsat", "unknown", "s", "median", "max", "slowest 10%"), rows
    )
    print(f"{total:,} queries")


@dataclass
class Tally:
    """One solver on the queries of one kind."""

    queries: int = 0
    seconds: float = 0.0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)


def _ask(backend: Backend, query: LoggedQuery, tally: Tally) -> str:
    started = time.thread_time()
    answer = backend.solve(query.constraints, query.variables)
    tally.seconds += time.thread_time() - started
    tally.queries += 1
    tally.unknown += status(answer) == "unknown"
    if isinstance(answer, dict) and not all(evaluate(c, answer) is True for c in query.constraints):
        tally.wrong.append(f"{query.program}, query {query.number}: the model is wrong")
    return status(answer)


def compare(directory: Path, each: int, z3_each: int) -> int:
    """Answers of the back ends on every query, or on a part of them."""
    tallies: dict[tuple[str, str], Tally] = {}
    differ: list[str] = []
    z3 = Z3Backend()
    for path in corpus_files([directory]):
        print(f"{path.parent.name}/{path.name}", file=sys.stderr, flush=True)
        usual: list[Backend] = [SpearBackend(), BitwuzlaBackend()]
        for number, query in enumerate(read_corpus(path)):
            if number % each:
                continue
            backends = [*usual, z3] if number // each % z3_each == 0 else usual
            answers = {query.solver: query.answer} if query.answer != "unknown" else {}
            for backend in backends:
                tally = tallies.setdefault((query.kind, backend.name), Tally())
                found = _ask(backend, query, tally)
                if found != "unknown":
                    answers[f"{backend.name}, now"] = found
            if len(set(answers.values())) > 1:
                differ.append(f"{path}, query {query.number}: {answers}")
    rows = [(k, s, t.queries, t.seconds, t.unknown, len(t.wrong)) for (k, s), t in sorted(tallies.items())]
    print_table(("kind", "solver", "queries", "CPU s", "gave up", "wrong models"), rows)
    wrong = [*differ, *(text for tally in tallies.values() for text in tally.wrong)]
    for text in wrong[:10]:
        print(text)
    print(f"{len(differ)} answers differ")
    return len(wrong)


def main(argv: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=("collect", "show", "compare"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--time", type=float, default=20.0, help="seconds of a run")
    parser.add_argument("--each", type=int, default=1, metavar="K", help="every Kth query only")
    parser.add_argument("--z3-each", type=int, default=10, metavar="K", help="Z3 on every Kth of these")
    given = parser.parse_args(argv)
    if given.what == "collect":
        return bool(collect(given.directory, given.names, given.time))
    if given.what == "show":
        show(given.directory)
        return 0
    return bool(compare(given.directory, given.each, given.z3_each))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
