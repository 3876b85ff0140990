"""The kinds of generated programs that the oracles run: how one is drawn, and its flags."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.lib import loop_programs, oracle, size_programs
from bench.lib.generate import Program
from bench.lib.oracle import Truth


@dataclass(frozen=True)
class ProgramKind:
    """One kind: a function of a seed, a directory and the largest number of paths."""

    draw: Callable[[int, Path, int], tuple[Program, Truth]]
    most_paths: int
    flags: tuple[str, ...] = ()

    def drawn(self, seed: int, directory: Path, most: int | None = None) -> tuple[Program, Truth]:
        return self.draw(seed, directory, self.most_paths if most is None else min(most, self.most_paths))


KINDS = {
    "small": ProgramKind(oracle.draw, oracle.MAX_PATHS),
    "sizes": ProgramKind(size_programs.draw_sized, size_programs.MAX_PATHS, size_programs.OBJECTS),
    "loops": ProgramKind(loop_programs.draw_loops, loop_programs.MAX_PATHS, size_programs.OBJECTS),
}


def kind_arguments(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    for name, text in (
        ("sizes", "programs with objects of unknown size"),
        ("loops", "programs of loops over data of unknown size"),
    ):
        kind.add_argument(
            f"--{name}", dest="kind", action="store_const", const=name, default="small", help=text
        )
