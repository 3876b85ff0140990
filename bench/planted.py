"""Fuzz targets with one planted bug each: how much CPU time until it is found, under which goal and order?

    python -m bench.planted [--only NAME] [--seconds 40] [--way "--goal bugs"]

The first line of each program in `subjects/planted` says what its bug is, and who finds it hard. A run stops
at the first error, or after the given seconds of CPU time. Exit code 1 if a bug of `EXPECTED` is not found in
one of the ways.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.lib.engine import ROOT
from bench.lib.table import print_table
from bench.lib.work import tell

SUBJECTS = Path(__file__).resolve().parent / "subjects" / "planted"
EXPECTED = ("tlv", "rle", "magic", "lz77", "ini", "nesting")
LENGTHS = {"nesting": 256}
"""Bytes of input, where the default of the engine is too short for the bug."""
WAYS = ("", "--goal bugs")


def seconds_to_bug(name: str, way: str, limit: int) -> float | None:
    """CPU seconds of the whole command until it has found the bug; None if it does not."""
    with tempfile.TemporaryDirectory(prefix="anabranch-planted-") as scratch:
        out = Path(scratch) / "run"
        command = [
            sys.executable, "-m", "anabranch.cli.main", "run", str(SUBJECTS / f"{name}.c"), *way.split(),
            "--stop-on-error", "--tests", "errors", "--quiet", "--output-dir", str(out),
            "--max-len", str(LENGTHS.get(name, 16)),
        ]  # fmt: skip
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )
        _, _, usage = os.wait4(child.pid, 0)
        return usage.ru_utime + usage.ru_stime if any(out.glob("*.err")) else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.planted", description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="these programs (repeatable)")
    parser.add_argument("--seconds", type=int, default=40, metavar="N", help="CPU time for each (default 40)")
    parser.add_argument("--way", action="append", metavar="FLAGS", help="flags to try (repeatable)")
    options = parser.parse_args(arguments)
    ways = tuple(options.way or WAYS)
    missed = []
    rows = []
    for name in options.only or sorted(path.stem for path in SUBJECTS.glob("*.c")):
        seconds = [seconds_to_bug(name, way, options.seconds) for way in ways]
        rows.append([name, *("no" if found is None else f"{found:.1f} s" for found in seconds)])
        tell(" ".join(map(str, rows[-1])))
        if name in EXPECTED and None in seconds:
            missed.append(name)
    print_table(("bug", *(way or "default" for way in ways)), rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
