"""All inputs of a generated program, run natively: how each ends, what it prints, which lines it covers."""

from __future__ import annotations

import array
from dataclasses import dataclass
from pathlib import Path

from bench.lib.generate import Program, generate
from bench.lib.native import NATIVE, NativeError, build, run_native

ORACLE_FLAGS = (
    "-O0",
    "-DORACLE",
    "-I",
    str(NATIVE),
    "-fsanitize=undefined",
    "-fno-sanitize-recover=all",
    "-fno-sanitize=function,vptr",
    "-fsanitize-coverage=bb,trace-pc-guard,no-prune",
    "-Wno-everything",
)

# A program is drawn again (seed, then its variants) until its control flow has at most so many paths.
MAX_PATHS = 1500
VARIANT = 1_000_003


@dataclass(frozen=True)
class End:
    """How a run ended: "exit" with its code, or the kind and line of an error; and what was printed."""

    kind: str
    line: int
    code: int
    output: bytes


@dataclass(frozen=True)
class Truth:
    """What native runs of every input say."""

    ends: tuple[End, ...]
    covers: tuple[frozenset[int], ...]
    end_of: array.array[int]
    cover_of: array.array[int]
    path_of: array.array[int]

    def excluded(self, number: int) -> bool:
        return self.ends[self.end_of[number]].kind == "assume"

    def reached(self) -> set[End]:
        return {e for e in self.ends if e.kind != "assume"}

    def errors(self) -> set[tuple[str, int]]:
        return {(e.kind, e.line) for e in self.ends if e.kind not in ("exit", "assume")}

    def lines(self) -> set[int]:
        wanted = {self.cover_of[n] for n in range(len(self.cover_of)) if not self.excluded(n)}
        return set().union(*(self.covers[c] for c in wanted))

    def path_count(self) -> int:
        return len({self.path_of[n] for n in range(len(self.path_of)) if not self.excluded(n)})


def build_oracle(program: Program, directory: Path) -> Path:
    source = directory / "program.c"
    source.write_text(program.text)
    return build([source], directory / "oracle", flags=ORACLE_FLAGS, runtimes=(NATIVE / "oracle.c",))


def read_truth(data: bytes) -> Truth:
    """Parse what bench/native/oracle.c prints."""
    at = 0

    def line() -> str:
        nonlocal at
        end = data.index(b"\n", at)
        text = data[at:end].decode()
        at = end + 1
        return text

    def count(word: str) -> int:
        name, number = line().split()
        if name != word:
            raise NativeError(f"the oracle printed {name}, not {word}")
        return int(number)

    ends = []
    for _ in range(count("classes")):
        kind, where, code, *printed = line().split()
        ends.append(End(kind, int(where), int(code), bytes.fromhex(printed[0] if printed else "")))
    covers = [frozenset(map(int, line().split())) for _ in range(count("covers"))]
    count("paths")
    inputs = count("inputs")
    numbers = array.array("I")
    numbers.frombytes(data[at : at + 12 * inputs])
    return Truth(tuple(ends), tuple(covers), numbers[0::3], numbers[1::3], numbers[2::3])


def native_truth(program: Program, directory: Path) -> Truth:
    """Run every input; undefined behaviour that is not meant is an error of the generator."""
    done = run_native(build_oracle(program, directory), time_limit=120)
    if done.code != 0:
        raise NativeError(f"seed {program.seed}: the oracle ended with {done.code}, signal {done.signal}")
    truth = read_truth(done.stdout)
    for end in truth.ends:
        if end.kind.startswith("unintended"):
            raise NativeError(f"seed {program.seed}: {end.kind} at line {end.line}")
    return truth


def draw(seed: int, directory: Path, max_paths: int = MAX_PATHS) -> tuple[Program, Truth]:
    """The program of a seed: the first of its variants with a workable number of paths."""
    directory.mkdir(parents=True, exist_ok=True)
    variant = seed
    while True:
        program = generate(variant)
        truth = native_truth(program, directory)
        if truth.path_count() <= max_paths:
            return program, truth
        variant += VARIANT
