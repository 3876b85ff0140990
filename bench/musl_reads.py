"""Reads every function of musl: `python bench/musl_reads.py [--keep DIR]`.

Compiles every C file of the musl tree in the ziglang wheel for x86-64, reads each module (plain and after the
front end's default passes, then all of them linked into one) with every body, and prints a table. Exit code 1
if a file for this architecture does not compile, or if anything does not read.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.frontend.compile import run_clang
from anabranch.frontend.libc.sources import ARCHITECTURE, musl_command, musl_root, portable_files
from anabranch.frontend.link import link, load
from anabranch.frontend.passes import run_passes
from anabranch.ir import IRError, read_module

NOT_LINKED = ("ldso/", "crt/", "compat/", "src/malloc/oldmalloc/")
"""Programs of their own, old interfaces and a second allocator: they define what other files define too."""


@dataclass
class Row:
    """Counts of one way of reading."""

    name: str
    modules: int = 0
    functions: int = 0
    instructions: int = 0
    failures: list[str] = field(default_factory=list)
    headers: float = 0.0
    bodies: float = 0.0

    def read(self, label: str, text: str) -> None:
        """Read one module with everything in it; the clocks are CPU time."""
        self.modules += 1
        started = time.process_time()
        try:
            module = read_module(text)
            middle = time.process_time()
            self.headers += middle - started
            for function in module.defined_functions():
                self.functions += 1
                self.instructions += sum(len(block.instructions) for block in function.blocks)
            self.bodies += time.process_time() - middle
            module.read_all()
        except IRError as error:
            self.failures.append(f"{label}: {error}")

    def line(self) -> str:
        each = self.bodies / max(self.instructions, 1) * 1e6
        return (
            f"{self.name:<20}{self.modules:>8}{self.functions:>11}{self.instructions:>14}{len(self.failures):>10}"
            f"{self.headers:>11.2f}{self.bodies:>10.2f}{each:>10.1f}"
        )


HEADING = (
    f"{'':<20}{'modules':>8}{'functions':>11}{'instructions':>14}{'failures':>10}"
    f"{'headers s':>11}{'bodies s':>10}{'us/instr':>10}"
)


def compile_one(source: Path, output: Path) -> str:
    """ "" or what clang said."""
    result = run_clang([*musl_command(), "-o", str(output), str(source)])
    return "" if result.returncode == 0 else result.stderr.strip() or "clang failed"


def compile_tree(root: Path, directory: Path) -> tuple[list[tuple[str, Path]], list[str]]:
    """(name, bitcode) of all that compiled, and the failures."""
    files = portable_files(root, ARCHITECTURE)
    outputs = [directory / (str(path.relative_to(root)).replace("/", "_") + ".bc") for path in files]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        answers = list(pool.map(lambda pair: compile_one(*pair), zip(files, outputs, strict=True)))
    done, failed = [], []
    for path, output, answer in zip(files, outputs, answers, strict=True):
        name = str(path.relative_to(root))
        if answer:
            failed.append(f"{name}: {answer.splitlines()[0]}")
        else:
            done.append((name, output))
    return done, failed


def read_tree(compiled: Iterable[tuple[str, Path]]) -> list[Row]:
    rows = [Row("as compiled"), Row("after -O1"), Row("linked, after -O1")]
    modules = []
    for name, path in compiled:
        rows[0].read(name, str(load(path, mark=False)))
        module = load(path, mark=True)
        run_passes(module, 1)
        rows[1].read(name, str(module))
        if not name.startswith(NOT_LINKED):
            modules.append(module)
    rows[2].read("all", str(link(modules)))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the bitcode in this directory")
    arguments = parser.parse_args()
    root = musl_root()
    # As the engine does it: the cyclic collector would walk the growing module again and again.
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="musl-") as scratch:
        directory = arguments.keep or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        compiled, failed = compile_tree(root, directory)
        print(f"{len(compiled)} files compiled, {len(failed)} failed")
        rows = read_tree(compiled)
    print(HEADING)
    for row in rows:
        print(row.line())
    for problem in [*failed, *(failure for row in rows for failure in row.failures)]:
        print(problem)
    return 1 if failed or any(row.failures for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
