"""Running a check over many seeds: scratch directories, failures kept, several processes if asked for."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def common_arguments(parser: argparse.ArgumentParser, count: int) -> None:
    parser.add_argument("--count", type=int, default=count, metavar="N", help=f"how many (default {count})")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed (default 0)")
    jobs_argument(parser)
    parser.add_argument(
        "--keep",
        type=Path,
        default=Path(tempfile.gettempdir()) / "anabranch-bench",
        metavar="DIR",
        help="where to keep programs that show a difference",
    )


def jobs_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")


def each(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Results in the order of the items."""
    if jobs <= 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(function, items)


def tell(text: str) -> None:
    """What is done so far, beside the table on standard output."""
    print(text, file=sys.stderr, flush=True)


def keep_failure(directory: Path, where: Path, name: str, notes: Sequence[str]) -> Path:
    """Copy a scratch directory with a difference to a place that stays, with the differences beside it."""
    target = where / name
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(directory, target)
    (target / "differences.txt").write_text("\n".join(notes) + "\n")
    return target
